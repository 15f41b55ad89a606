package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/select/selection"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Groups of flags in the help.
const (
	groupRecording = "Recording"
	groupLive      = "Running process"
	groupOwn       = "Flags"
	groupPipeline  = "Pipeline"
	groupSelection = "Selection of events"
	groupInput     = "Input"
	groupReport    = "Messages"
	groupLimits    = "Limits"
)

var groups = []string{groupRecording, groupOwn, groupLive, groupPipeline, groupSelection, groupInput, groupReport, groupLimits}

const groupKey = "ntconv-group"

// withFlags returns a command, and defines its flags if its name is a word of the command line: no other command can
// run or show its flags, and defining the flags of all takes longer than reading a small trace.
func (a *app) withFlags(cmd *cobra.Command, define func()) *cobra.Command {
	if a.words == nil || slices.Contains(a.words, cmd.Name()) {
		define()
	}
	return cmd
}

// addGroup defines flags of a command and assigns them to a group of the help.
func addGroup(cmd *cobra.Command, group string, define func(*pflag.FlagSet)) {
	set := pflag.NewFlagSet(group, pflag.ContinueOnError)
	define(set)
	set.VisitAll(func(f *pflag.Flag) {
		if f.Annotations == nil {
			f.Annotations = make(map[string][]string)
		}
		f.Annotations[groupKey] = []string{group}
		cmd.Flags().AddFlag(f)
	})
}

// groupOf returns the group of a flag, "" if it was not defined by addGroup.
func groupOf(f *pflag.Flag) string { return strings.Join(f.Annotations[groupKey], "") }

// addInputFlags defines the flags of every command that reads a trace.
func (a *app) addInputFlags(cmd *cobra.Command) {
	addGroup(cmd, groupSelection, a.pick.bind)
	a.addReadFlags(cmd)
	a.completeNames(cmd)
}

// addReadFlags defines the flags of a command that reads a trace and has no selection.
func (a *app) addReadFlags(cmd *cobra.Command) {
	addGroup(cmd, groupInput, func(flags *pflag.FlagSet) {
		flags.StringVar(&a.from, "from", "", "`format` of the input (default: recognized by its content)")
		a.read.BindRead(flags)
		a.addFormatFlags(cmd, flags)
	})
	addGroup(cmd, groupReport, func(flags *pflag.FlagSet) {
		flags.BoolVar(&a.failOnLoss, "fail-on-loss", false, "exit with 3 if the recorder lost events")
		flags.BoolVarP(&a.quiet, "quiet", "q", false, "no summary and no progress on standard error")
		flags.Var(formats.Choice(&a.report, reportText, reportJSON), "report",
			"form of the summary: a line of text or a JSON object")
		flags.Var(
			formats.Choice(&a.progressForm, progressAuto, progressText, progressJSON, progressNone),
			flagProgress,
			"form of the progress on standard error: text, JSON objects, one per line, or none; auto means text if it is a terminal",
		)
	})
	addGroup(cmd, groupLimits, a.bindLimits)
	complete(cmd, "from", formats.NamesOf(formats.Readable()))
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if choices := formats.Choices(f); choices != nil {
			complete(cmd, f.Name, choices)
		}
	})
}

// bindLimits defines the flags of the limits, which are described by the topic limits of the help.
func (a *app) bindLimits(flags *pflag.FlagSet) {
	a.read.BindLimits(flags)
	formats.SizeFlag(flags, &a.memory.Max, formats.FlagMemory,
		"maximum live heap of the command, all jobs together; the peak may exceed it by 25%; 0 means no limit")
	formats.BindCompression(flags, &a.limits)
	formats.BindQuota(flags, &a.quota)
}

// addFormatFlags adds the flags of formats whose inputs may require them, unless the command has them already.
func (a *app) addFormatFlags(cmd *cobra.Command, flags *pflag.FlagSet) {
	var needed []*formats.Format
	for _, f := range formats.Readable() {
		own, defined := pflag.NewFlagSet(f.Name, pflag.ContinueOnError), false
		formats.BindOpeners(own, f)
		own.VisitAll(func(f *pflag.Flag) { defined = defined || cmd.Flags().Lookup(f.Name) != nil })
		if f.In.Needed && !defined {
			needed = append(needed, f)
		}
	}
	if len(needed) == 0 {
		return
	}
	openers := formats.BindOpeners(flags, needed...)
	cmd.PreRun = func(*cobra.Command, []string) { a.openers = openers }
}

// showOrder sets the default of --order in the help.
func showOrder(cmd *cobra.Command, order string) { cmd.Flags().Lookup("order").DefValue = order }

// A momentFlag is a flag for a time.
type momentFlag selection.Moment

func (m *momentFlag) Set(s string) error {
	at, err := selection.ParseMoment(s)
	if err == nil {
		*m = momentFlag(at)
	}
	return err
}

func (m *momentFlag) String() string { return selection.Moment(*m).String() }
func (m *momentFlag) Type() string   { return "time" }

// pickFlags are the flags of a selection.
type pickFlags struct {
	opts       selection.Options
	pids, tids []uint
	where      []string
	during     []string
}

// lists describes flags with several values.
const lists = "; comma-separated, repeatable"

func (p *pickFlags) bind(flags *pflag.FlagSet) {
	flags.StringSliceVar(&p.opts.Providers, "provider", nil, "select events of these `provider`s; * matches any text"+lists)
	flags.StringSliceVar(&p.opts.Events, "event", nil,
		"select these `event`s: name, ID or provider/name; * matches any text"+lists)
	flags.UintSliceVar(&p.pids, "pid", nil, "select events of the `process`es with these IDs, such as 15683,15684; repeatable")
	flags.UintSliceVar(&p.tids, "tid", nil, "select events of the `thread`s with these IDs"+lists)
	for _, name := range []string{"pid", "tid"} {
		flags.Lookup(name).DefValue = "" // pflag would show an empty list
	}
	flags.StringSliceVar(&p.opts.Processes, "process", nil, "select events of processes with these `name`s or executables; "+
		"* matches any text; may read the input twice"+lists)
	flags.StringSliceVar(&p.opts.ThreadNames, "thread-name", nil, "select events of threads with these `name`s; "+
		"* matches any text"+lists)
	flags.Var((*momentFlag)(&p.opts.From), "from-time", "select events from this `time` on: 1.5s after the start, -2s before "+
		"the end, or a date and time (UTC without a time zone)")
	flags.Var((*momentFlag)(&p.opts.To), "to-time", "select events before this `time`")
	flags.StringArrayVar(&p.where, "where", nil, "select events for which this `expression` is true, such as "+
		"'Size > 1000 && $time < 5s'; see ntconv help where")
	flags.StringArrayVar(&p.during, selection.DuringFlag, nil, "select events while something was open for which this `expression` is "+
		"true, such as 'gc.generation == 2' or 'span.name =~ \"GET /cart\"'; reads the input twice; see ntconv help where")
}

// options returns the selection that the flags describe.
func (p *pickFlags) options() (*selection.Options, error) {
	o := p.opts
	for _, n := range p.pids {
		o.PIDs = append(o.PIDs, uint64(n))
	}
	for _, n := range p.tids {
		o.TIDs = append(o.TIDs, uint64(n))
	}
	if o.Reversed() {
		return nil, fmt.Errorf("--from-time %s --to-time %s: the range is reversed, it ends before it begins", o.From,
			o.To)
	}
	if err := o.Parse(p.where, p.during); err != nil {
		return nil, err
	}
	return &o, nil
}
