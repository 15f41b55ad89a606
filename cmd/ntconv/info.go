package main

import (
	"bytes"
	"encoding/json"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/internal/inventory"
	"github.com/ntconv/ntconv/internal/message"
	"github.com/ntconv/ntconv/internal/pass"
	"github.com/ntconv/ntconv/internal/summary"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) infoCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "info IN",
		Short: "Show the contents of a trace, and commands that extract them",
		Long: "Show the contents of a trace: format and clock, processes, threads, providers and events with counts and bytes, losses,\n" +
			"and the commands that extract data from it.",
		Example: examples(
			formats.Example{Remark: "the contents of a trace", Line: "ntconv info trace.nettrace"},
			formats.Example{
				Remark: "the events of one provider only",
				Line:   "ntconv info --provider 'System.*' trace.nettrace",
			},
			formats.Example{Remark: "for programs", Line: "ntconv info --json trace.nettrace | jq .lost_events"},
		),
		Args:              oneInput,
		ValidArgsFunction: inputCompletion,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("order") {
				a.read.Order = reader.FileOrder // counts do not depend on the order, and file order needs no window
			}
			return a.info(args[0], asJSON)
		},
	}
	if !a.hasFlags(cmd) {
		return cmd
	}
	addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
		flags.BoolVar(&asJSON, "json", false, "print a JSON object, with all threads and events")
	})
	a.addInputFlags(cmd)
	showOrder(cmd, formats.OrderName(reader.FileOrder))
	return cmd
}

func (a *app) info(name string, asJSON bool) error {
	a.begin(&summary.Summary{Input: name, Flags: a.openers.Notes})
	plan, err := a.plan()
	if err != nil {
		return err
	}
	plan.Names = &symbol.Options{}
	return a.over([]string{name}, plan, func(p *pass.Pass) error {
		v := inventory.New(p.Info)
		fatal, partial := a.drain(p, v)
		if fatal != nil {
			return fatal
		}
		if late := v.Late(); p.Order == reader.FileOrder {
			p.Report.Add(ntconv.CodeOutOfOrder, late.Events, late.Offset)
		}
		a.sum.Read(p)
		if p.Kept == 0 && p.Total > 0 && !plan.Selection.Empty() {
			return a.nothing(p, "events", "")
		}
		d := describe(p, v, a.inputWords(p.Input.Name(), groupSelection, groupInput, groupLimits))
		var b bytes.Buffer
		if !asJSON {
			b.Write(d.Text(&inventory.Page{
				File: d.File, Size: d.Size, Notes: d.Notes, Report: p.Report, LossNotes: d.Losses,
			}))
		} else if err := writeJSON(&b, d); err != nil {
			return fail(exitOutput, err)
		}
		a.memory.Stop()
		if err := a.show(b.String()); err != nil {
			return err
		}
		return partial
	})
}

// A description is the output of ntconv info --json.
type description struct {
	File string `json:"file"`
	Size int64  `json:"size,omitempty"` // stored bytes; absent for a pipe
	inventory.Description
	Notes  []string        `json:"notes,omitempty"` // on flags of the command line that do not fit the trace
	Losses []string        `json:"loss_notes,omitempty"`
	Report []summary.Entry `json:"report"`
}

// describe returns the description for the counts of a pass. words refer to the input in proposed commands.
func describe(p *pass.Pass, v *inventory.Sink, words string) *description {
	return &description{
		File:        p.Input.Name(),
		Size:        max(0, p.Input.Size()),
		Description: *v.Describe(p.Info, p.Namer, words),
		Notes:       p.Selector.Notes(),
		Losses:      summary.LossNotes(p.Losses()),
		Report:      summary.Entries(p.Report),
	}
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
