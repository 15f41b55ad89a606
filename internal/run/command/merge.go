package command

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/job"
	"github.com/ntconv/ntconv/internal/trace/split"
	"github.com/ntconv/ntconv/merge"
	"github.com/ntconv/ntconv/reader"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A merging is a request to merge traces.
type merging struct {
	conversion
	offsets  []string // --offset
	hosts    []string // --host
	samePIDs bool
	separate bool

	names   []string
	offset  []time.Duration // by input
	host    []string        // by input
	parts   bool            // all inputs are parts of one split
	ordered bool            // the parts are in time order
	notes   []string        // of the latest pass
	twice   []string        // inputs that the command line names more than once, which are read once
	dropped func() int64    // added events of parts that were dropped
}

func (a *app) mergeCmd() *cobra.Command {
	m := &merging{conversion: conversion{Job: job.Job{To: formats.Nettrace()}}}
	cmd := &cobra.Command{
		Use:   "merge IN... OUT",
		Short: "Write several traces as one, or join the parts of a split",
		Long: "Write several traces as one nettrace 6 trace in time order. OUT, which -o can also name, may be - for standard output.\n\n" +
			"Traces of one machine are aligned by their ticks, which is exact: both state the same time at which the machine started.\n" +
			"Other traces are aligned by UTC, which traces state in milliseconds; --offset corrects one of them. The summary states how\n" +
			"each input was aligned. If the frequencies of the clocks differ, times are rounded up to 1 ns.\n\n" +
			"Processes, threads, types and symbols of different inputs stay apart, even if IDs or names are equal: a process ID that is taken\n" +
			"becomes a free one, and the attribute " + ntconv.AttrPID + " holds the recorded one. --same-pids treats equal process IDs of\n" +
			"one machine as one process. Inputs of several machines get the name of their first file as name of the machine, or that\n" +
			"of --host; profiles show it as the label host. The attribute " + ntconv.AttrOrigin + " of each thread names the input.\n\n" +
			"If all inputs are parts that ntconv split has written, merge restores the trace: it drops the copies and keeps the order,\n" +
			"the sequence numbers and the process IDs.",
		Example: examples(
			"two services of one request", "ntconv merge web.nettrace cart.nettrace both.nettrace",
			"the clock of the second machine was 1.2 ms slow",
			"ntconv merge a.nettrace b.nettrace --offset b.nettrace=+1.2ms both.nettrace",
			"a machine-wide trace and one of the runtime",
			"ntconv merge --same-pids machine.nettrace app.nettrace both.nettrace",
			"the parts of a split", "ntconv merge parts/* whole.nettrace",
		),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) == 1 && !cmd.Flags().Changed("output") {
				return errors.New("merge needs inputs and an output: ntconv merge IN... OUT")
			}
			return someInputs(cmd, args)
		},
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, s string) ([]string, cobra.ShellCompDirective) {
			return inputCompletion(cmd, nil, s)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.merge(cmd, m, args) },
	}
	return a.withFlags(cmd, func() {
		addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
			m.bindOut(flags, "the same as OUT: output `file`; - is standard output")
			flags.BoolVarP(&a.force, "force", "f", false, "overwrite an existing output")
			flags.StringArrayVar(&m.offsets, "offset", nil,
				"add a time to all times of an input: `INPUT=TIME`, as b.nettrace=+1.2ms; INPUT is a name or a number from 1; repeatable")
			flags.StringArrayVar(&m.hosts, "host", nil, "name of the machine of an input: `INPUT=NAME`; repeatable")
			flags.BoolVar(&m.samePIDs, "same-pids", false, "equal process IDs of inputs of one machine are one process")
			flags.BoolVar(&m.separate, "separate", false, "align all inputs by UTC, also those of one machine")
			m.bind(flags)
			for _, name := range []string{"split-by", "keep-symbols"} {
				flags.Lookup(name).Hidden = true
			}
		})
		a.addInputFlags(cmd)
		hideSelection(cmd)
	})
}

// merge writes one trace from several.
func (a *app) merge(cmd *cobra.Command, m *merging, args []string) error {
	if !cmd.Flags().Changed("output") {
		m.out, args = args[len(args)-1], args[:len(args)-1]
	}
	found, err := input.Find(args, formats.Readable())
	if err != nil {
		return a.notOpened(err)
	}
	m.twice = namedTwice(args)
	m.names = found.Names
	m.in, m.others = m.names[0], m.names[1:]
	m.followName()
	m.chooseByName()
	if to, flag := m.Output.Destination, m.Output.Flag; to != formats.ToFile {
		return failf(exitUsage, "merge writes one trace; omit %s", flag)
	}
	if err := m.parse(); err != nil {
		return fail(exitUsage, err)
	}
	if err := a.mergePlan(cmd, m); err != nil {
		return err
	}
	a.combine = m.combine
	m.Adapt = func(t *formats.Target) { t.Ordered = !m.parts || m.ordered }
	m.Remarks = m.remark
	return a.convert(&m.conversion)
}

// followName selects the format that the name of the output states; without one it stays nettrace.
func (m *merging) followName() {
	to := formats.ByFile(formats.Writable(), m.out)
	if to == nil {
		to, _ = formats.ByOutput(m.out)
	}
	if to == nil || to.Out == nil || to.Name == m.To.Name || isStdout(m.out) {
		return
	}
	m.To = to
	m.bind(pflag.NewFlagSet("", pflag.ContinueOnError))
}

// mergePlan determines whether the inputs are parts, and the order in which they are read.
func (a *app) mergePlan(cmd *cobra.Command, m *merging) error {
	if _, err := a.wholeTrace("merge"); err != nil {
		return err
	}
	if m.parts = a.areParts(m.names); m.parts && len(m.offsets)+len(m.hosts) > 0 {
		return failf(exitUsage, "the inputs are parts of one trace, which have one clock; omit --offset and --host")
	}
	if err := a.prepare(cmd, &m.conversion); err != nil {
		return err
	}
	plan := m.Plan
	if cmd.Flags().Changed("order") && plan.Read.Order != reader.ByTime {
		return failf(exitUsage, "merge writes events in time order, and parts in the order of the split; omit --order")
	}
	plan.AnyOrder, plan.Live = false, false
	if plan.Read.Order = reader.ByTime; m.parts {
		plan.Read.Order = reader.FileOrder
	}
	return nil
}

// areParts reports whether all inputs are parts of the same split. It reads only their headers, and no pipes.
func (a *app) areParts(names []string) bool {
	id := ""
	for _, name := range names {
		info := a.header(name)
		if info == nil {
			return false
		}
		p, err := split.PartOf(info)
		if err != nil || p == nil || id != "" && p.ID != id {
			return false
		}
		id = p.ID
	}
	return true
}

// header returns the Info of an input, or nil if it cannot be read now: opening it again reports why.
func (a *app) header(name string) *ntconv.Info {
	if name == "-" {
		return nil
	}
	in, err := input.Open([]string{name}, &input.Options{Limits: &a.limits, Openers: a.openers})
	if err != nil {
		return nil
	}
	defer in.Close()
	if in.Format.Name != "nettrace" || !in.Rereadable() {
		return nil
	}
	src, ending, err := in.Source(&formats.ReadOptions{Order: reader.FileOrder})
	if err != nil {
		return nil
	}
	defer ending.Close()
	return src.Info()
}

// parse parses --offset and --host.
func (m *merging) parse() error {
	m.offset, m.host = make([]time.Duration, len(m.names)), make([]string, len(m.names))
	for _, text := range m.offsets {
		i, value, err := m.inputOf(text)
		if err == nil {
			m.offset[i], err = time.ParseDuration(value)
		}
		if err != nil {
			return fmt.Errorf("--offset %s: %w; want INPUT=TIME, as %s=+1.2ms", text, err, filepath.Base(m.names[0]))
		}
	}
	for _, text := range m.hosts {
		i, value, err := m.inputOf(text)
		if err != nil {
			return fmt.Errorf("--host %s: %w; want INPUT=NAME", text, err)
		}
		m.host[i] = value
	}
	return nil
}

// inputOf returns the index of the input that a value INPUT=TEXT names, and the text.
func (m *merging) inputOf(value string) (int, string, error) {
	at := strings.LastIndexByte(value, '=')
	if at < 0 {
		return 0, "", errors.New("no equals sign")
	}
	name, text := value[:at], value[at+1:]
	if i := slices.Index(m.names, name); i >= 0 {
		return i, text, nil
	}
	found := -1
	for i, n := range m.names {
		if filepath.Base(n) == name {
			if found >= 0 {
				return 0, "", fmt.Errorf("%s and %s have this name; use the number of the input", m.names[found], n)
			}
			found = i
		}
	}
	if n, err := strconv.Atoi(name); found < 0 && err == nil && n >= 1 && n <= len(m.names) {
		found = n - 1
	}
	if found < 0 {
		return 0, "", fmt.Errorf("no input is called %s; the inputs are %s", name, m.numbered())
	}
	return found, text, nil
}

// numbered lists the inputs with the numbers by which flags name them.
func (m *merging) numbered() string {
	const shown = 4
	var list []string
	for i, name := range m.names {
		if i == shown {
			list = append(list, fmt.Sprintf("... %d", len(m.names)))
			break
		}
		list = append(list, fmt.Sprintf("%d %s", i+1, name))
	}
	return strings.Join(list, ", ")
}

// combine returns one source for those of the inputs.
func (m *merging) combine(sources []ntconv.Source) (ntconv.Source, error) {
	m.notes, m.dropped = nil, nil
	if m.parts {
		return m.join(sources)
	}
	traces := make([]split.ClockedTrace, len(sources))
	for i, src := range sources {
		traces[i] = split.ClockedTrace{
			Name: originName(m.names[i]), Info: src.Info(), Offset: m.offset[i],
			Recorded: strings.HasPrefix(src.Info().Format, "nettrace") || strings.HasPrefix(src.Info().Format, "netperf"),
		}
	}
	aligned := split.AlignClocks(traces, m.separate)
	o := &merge.Options{Hosts: make([]string, len(sources))}
	if m.samePIDs {
		o.Spaces = make([]int, len(sources))
	}
	several := slices.ContainsFunc(aligned, func(x split.AlignedTrace) bool { return x.Machine > 0 })
	for i, x := range aligned {
		m.notes = append(m.notes, x.Note)
		o.Origins = append(o.Origins, traces[i].Name)
		first := slices.IndexFunc(aligned, func(y split.AlignedTrace) bool { return y.Machine == x.Machine })
		if o.Hosts[i] = m.host[i]; o.Hosts[i] == "" && several {
			if o.Hosts[i] = m.host[first]; o.Hosts[i] == "" {
				o.Hosts[i] = hostName(traces[first].Name)
			}
		}
		if m.samePIDs {
			o.Spaces[i] = x.Machine
		}
		src := split.WithoutReplicas(sources[i])
		sources[i] = &aligning{src, split.DescribeClock(src.Info(), &x)}
	}
	return merge.With(o, sources...), nil
}

// An aligning is a source with another clock.
type aligning struct {
	ntconv.Source
	info *ntconv.Info
}

// Info implements ntconv.Source.
func (s *aligning) Info() *ntconv.Info { return s.info }

// originName returns the name of an input without its directory.
func originName(name string) string { return filepath.Base(input.NameOf(name, 0)) }

// hostName returns the name of an input without its extensions.
func hostName(name string) string {
	name, _ = formats.CutCompression(name)
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// join returns the trace whose parts the inputs are.
func (m *merging) join(sources []ntconv.Source) (ntconv.Source, error) {
	j, err := split.Join(sources...)
	if err != nil {
		return nil, err
	}
	first, err := split.PartOf(sources[0].Info())
	if err != nil {
		return nil, err
	}
	m.ordered, m.dropped = first.ByTime, j.Replicas
	if missing, of := j.Missing(); len(missing) > 0 {
		var list []string
		for _, n := range missing {
			list = append(list, strconv.Itoa(n))
		}
		m.notes = append(m.notes, fmt.Sprintf("of %d parts these are missing: %s", of, message.List(list)))
	}
	return j, nil
}

// namedTwice returns the files that arguments name more than once.
func namedTwice(args []string) (twice []string) {
	seen := make(map[string]int)
	for _, name := range args {
		clean := filepath.Clean(name)
		if seen[clean]++; seen[clean] == 2 && name != "-" {
			twice = append(twice, name)
		}
	}
	return twice
}

// remark returns what the summary says about the inputs.
func (m *merging) remark() string {
	text := m.clockRemark()
	if len(m.twice) == 0 {
		return text
	}
	return fmt.Sprintf("named twice and read once: %s; %s", message.List(m.twice), text)
}

// clockRemark returns how the inputs were joined or aligned.
func (m *merging) clockRemark() string {
	if m.dropped != nil {
		note := fmt.Sprintf("%s joined, %s dropped", message.Count(int64(len(m.names)), "part"),
			message.Count(m.dropped(), "added event"))
		return strings.Join(append([]string{note}, m.notes...), "; ")
	}
	return strings.Join(m.notes, "; ")
}
