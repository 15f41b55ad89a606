package command

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/show/inventory"
	"github.com/ntconv/ntconv/internal/show/overview"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) infoCmd() *cobra.Command {
	var asJSON, all bool
	jobs := defaultJobs()
	cmd := &cobra.Command{
		Use:   "info IN...",
		Short: "Show the contents of a trace, and commands that extract them",
		Long: "Show the contents of a trace: processes, the kinds of profiles with their totals and commands, what happened over time,\n" +
			"garbage collections, allocations and exceptions by type, requests, counters, thread pools, events by type, losses.\n" +
			"docs/info.md describes each line.\n\n" +
			"For several inputs, info prints a table with a line per input, or with --json an array of the objects. An input may be a\n" +
			"directory, which means the traces in it and below it, or a quoted pattern such as 'runs/**/*.nettrace'.",
		Example: examples(
			"the contents of a trace", "ntconv info trace.nettrace",
			"the events of one provider only", "ntconv info --provider 'System.*' trace.nettrace",
			"all threads, event types and attributes", "ntconv info --all trace.nettrace",
			"a table of all traces in a directory", "ntconv info traces/",
			"for programs", "ntconv info --json trace.nettrace | jq .lost_events",
		),
		Args:              someInputs,
		ValidArgsFunction: anyCompletion,
		RunE: func(cmd *cobra.Command, args []string) error {
			anyOrder := !cmd.Flags().Changed("order")
			form := infoOptions{asJSON, all}
			if jobs < 1 {
				return failf(exitUsage, "--%s %d: want at least 1", flagJobs, jobs)
			}
			in, err := a.findInputs(args)
			if err != nil {
				return err
			}
			if in.expanded || len(in.Names) > 1 {
				return a.infoEach(in, jobs, anyOrder, form)
			}
			return a.info(args[0], anyOrder, func(p *pass.Pass, d *description) error { return a.showInfo(p, d, form) })
		},
	}
	return a.withFlags(cmd, func() {
		addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
			flags.BoolVar(&asJSON, "json", false, "print a JSON object, with all threads and events")
			flags.IntVarP(&jobs, flagJobs, "j", jobs, "read this many inputs at a time")
			flags.BoolVar(&all, "all", false, "print complete lists, threads and attributes instead of one screen")
		})
		a.addInputFlags(cmd)
		showOrder(cmd, formats.OrderName(reader.FileOrder))
	})
}

// infoOptions select the form of the output.
type infoOptions struct{ json, all bool }

// info passes the contents of a trace to use. anyOrder means that the user chose no order: counts and nearly all totals
// do not depend on it, and file order needs no window. An input that can be read only once is read in file order.
func (a *app) info(name string, anyOrder bool, use func(*pass.Pass, *description) error) error {
	a.begin(&pass.Summary{Input: name, Flags: a.openers.Notes})
	plan, err := a.plan()
	if err != nil {
		return err
	}
	plan.Names, plan.AnyOrder, plan.Live = &symbol.Options{}, anyOrder, anyOrder
	return a.over([]string{name}, plan, func(p *pass.Pass) error {
		o := overview.Options{Window: p.Window(), TypeName: meters.TypeNameOf(p.Namer)}
		c := &contents{Sink: inventory.New(p.Info), overview: overview.New(p.Info, o)}
		fatal, partial := a.drain(p, c)
		if fatal != nil {
			return fatal
		}
		if late := c.Late(); p.Order == reader.FileOrder {
			p.Report.Add(ntconv.CodeOutOfOrder, late.Events, late.Offset)
		}
		unpaired, detail := c.overview.Unpaired()
		p.Report.Note(ntconv.CodeUnpaired, unpaired, -1, detail)
		long := c.overview.Long()
		long.Note(p.Report, p.Info.Clock)
		a.sum.Read(p)
		if p.Kept == 0 && p.Total > 0 && !plan.Selection.Empty() {
			return a.nothing(p, "events", "")
		}
		d := c.describe(p, a.inputWords(p.Input.Name(), groupSelection, groupInput, groupLimits))
		if err := use(p, d); err != nil {
			return err
		}
		return partial
	})
}

// showInfo prints the contents of a trace.
func (a *app) showInfo(p *pass.Pass, d *description, form infoOptions) error {
	text, err := d.text(p.Report, form)
	if err != nil {
		return fail(exitOutput, err)
	}
	a.memory.Stop()
	return a.show(text)
}

// contents are the counts of a trace and the totals of its profiles.
type contents struct {
	*inventory.Sink
	overview *overview.Sink
}

var (
	_ ntconv.Watcher        = (*contents)(nil)
	_ ntconv.OrderSensitive = (*contents)(nil)
)

// Write implements ntconv.Sink.
func (c *contents) Write(e *ntconv.Event) error {
	if err := c.Sink.Write(e); err != nil {
		return err
	}
	return c.overview.Write(e)
}

// Watch implements ntconv.Watcher.
func (c *contents) Watch(e *ntconv.Event) { c.overview.Watch(e) }

// OrderMatters implements ntconv.OrderSensitive.
func (c *contents) OrderMatters() bool { return c.overview.OrderMatters() }

// Close implements ntconv.Sink.
func (c *contents) Close() error { return errors.Join(c.Sink.Close(), c.overview.Close()) }

// A description is the output of ntconv info --json.
type description struct {
	File string `json:"file"`
	Size int64  `json:"size,omitempty"` // stored bytes; absent for a pipe
	inventory.Description
	overview.Overview
	Notes  []string     `json:"notes,omitempty"` // on flags of the command line that do not fit the trace
	Losses []string     `json:"loss_notes,omitempty"`
	Report []pass.Entry `json:"report"`
}

// describe returns the description for the counts of a pass. words refer to the input in proposed commands.
func (c *contents) describe(p *pass.Pass, words string) *description {
	first, last, ok := p.Span()
	losses := pass.LossNotes(p.Losses())
	if p.Order == reader.FileOrder && c.overview.Disordered() {
		losses = append(losses, "totals of intervals that begin and end on different threads may be inexact, because the "+
			"events were read in file order; pass a file, or use --order time")
	}
	return &description{
		File:        p.Input.Name(),
		Size:        max(0, p.Input.Size()),
		Description: *c.Sink.Describe(p.Info, p.Namer, words),
		Overview:    *c.overview.Describe(first, last, ok, words),
		Notes:       p.Selector.Notes(),
		Losses:      losses,
		Report:      pass.Entries(p.Report),
	}
}

// text returns the output of the command.
func (d *description) text(report *ntconv.Report, o infoOptions) (string, error) {
	if o.json {
		var b bytes.Buffer
		err := writeJSON(&b, d)
		return b.String(), err
	}
	return string(d.Description.Text(&inventory.Page{
		File: d.File, Size: d.Size, Notes: d.Notes, Report: report, LossNotes: d.Losses, All: o.all,
		Overview: d.Overview.Text(overview.TextOptions{All: o.all}),
	})), nil
}

// writeJSON appends a value as indented JSON without terminal control characters.
func writeJSON(b *bytes.Buffer, value any) error {
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(value)
	b.Write(message.JSON(plain.Bytes()))
	return err
}
