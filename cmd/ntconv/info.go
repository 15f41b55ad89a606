package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/internal/inventory"
	"github.com/ntconv/ntconv/internal/message"
	"github.com/ntconv/ntconv/internal/pass"
	"github.com/ntconv/ntconv/symbol"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) infoCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "info IN",
		Short: "Show what a trace holds and what can be made of it",
		Long: "Show what a trace holds: its format and clock, processes, threads, providers and events with counts and bytes,\n" +
			"what was lost, and what can be extracted with which command.",
		Example: examples(
			formats.Example{Remark: "what is in the trace", Line: "ntconv info trace.nettrace"},
			formats.Example{Remark: "the events of one provider only", Line: "ntconv info --provider 'System.*' trace.nettrace"},
			formats.Example{Remark: "for programs", Line: "ntconv info --json trace.nettrace | jq .lost_events"},
		),
		Args:              oneInput,
		ValidArgsFunction: inputCompletion,
		RunE:              func(_ *cobra.Command, args []string) error { return a.info(args[0], asJSON) },
	}
	addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
		flags.BoolVar(&asJSON, "json", false, "print a JSON object, with all threads and events")
	})
	a.addInputFlags(cmd)
	return cmd
}

func (a *app) info(name string, asJSON bool) error {
	a.sum = &summary{Input: name}
	plan, err := a.plan()
	if err != nil {
		return err
	}
	plan.Names = &symbol.Options{}
	return a.over([]string{name}, plan, func(p *pass.Pass) error {
		v := inventory.New()
		fatal, partial := a.drain(p, v)
		if fatal != nil {
			return fatal
		}
		a.sum.read(p)
		d := describe(p, v)
		var b bytes.Buffer
		if !asJSON {
			b.Write(d.text())
		} else if err := d.writeJSON(&b); err != nil {
			return fail(exitOutput, err)
		}
		if err := a.show(b.String()); err != nil {
			return err
		}
		return partial
	})
}

// A description is the output of ntconv info --json.
type description struct {
	File string `json:"file"`
	Size int64  `json:"size,omitempty"` // as stored; absent for a pipe
	inventory.Description
	Notes  []string      `json:"notes,omitempty"` // on the command line, in view of the contents of the trace
	Report []reportEntry `json:"report"`
	clock  ntconv.Clock
}

// describe returns the description of what a pass has counted.
func describe(p *pass.Pass, v *inventory.Sink) *description {
	return &description{
		File:        p.Input.Name(),
		Size:        max(0, p.Input.Size()),
		Description: *v.Describe(p.Info, p.Namer, message.ShellWord(p.Input.Name())),
		Notes:       p.Selector.Notes(),
		Report:      reportEntries(p.Report),
		clock:       p.Info.Clock,
	}
}

func (d *description) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(d)
}

// wallFormat is a date and time as texts show it. --from-time reads it.
const wallFormat = "2006-01-02 15:04:05.000 UTC"

// Lists in text end after this many lines; --json has everything.
const maxLines = 12

// maxText is how many characters of a command line or an attribute are shown in text; --json has all.
const maxText = 200

// text returns the description for people. No line ends in a blank.
func (d *description) text() []byte {
	var b, out bytes.Buffer
	d.writeText(&b)
	for line := range bytes.Lines(b.Bytes()) {
		out.Write(append(bytes.TrimRight(line, " \n"), '\n'))
	}
	return out.Bytes()
}

func (d *description) writeText(w io.Writer) {
	size := ""
	if d.Size > 0 {
		size = ", " + message.Count(d.Size, "byte")
	}
	fmt.Fprintf(w, "%s: %s%s\n\n", message.Line(d.File), d.Format, size)
	d.writeFacts(w)
	d.writeProcesses(w)
	d.writeThreads(w)
	d.writeEvents(w)
	d.writeExtract(w)
	d.writeReport(w)
	if len(d.Notes) > 0 {
		fmt.Fprint(w, "\nSelection:\n")
		for _, n := range d.Notes {
			fmt.Fprintf(w, "  %s\n", message.Line(n))
		}
	}
}

func (d *description) writeFacts(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	recorded := "at an unknown time"
	if !d.clock.Wall.IsZero() {
		recorded = d.clock.Wall.Format(wallFormat)
	}
	fmt.Fprintf(t, "recorded\t%s\n", recorded)
	if d.Events.Events > 0 {
		fmt.Fprintf(t, "events\t%s from %s to %s after that\n", message.Group(d.Events.Events),
			message.Duration(time.Duration(d.clock.Nanos(ntconv.Ticks(d.Events.FirstTicks)))),
			message.Duration(time.Duration(d.clock.Nanos(ntconv.Ticks(d.Events.LastTicks)))))
		fmt.Fprintf(t, "\t%s with stacks, %s of payload\n", message.Group(d.Events.Stacks), message.Count(d.Events.Bytes, "byte"))
	} else {
		fmt.Fprintf(t, "events\tnone\n")
	}
	fmt.Fprintf(t, "clock\t%s Hz\n", message.Group(d.Clock.Frequency))
	fmt.Fprintf(t, "pointers\t%s\n", message.Count(int64(d.Pointer), "byte"))
	for _, a := range d.Attrs {
		fmt.Fprintf(t, "%s\t%s\n", message.Line(a.Key), clip(message.Line(a.Value)))
	}
	t.Flush()
}

func (d *description) writeProcesses(w io.Writer) {
	fmt.Fprintf(w, "\nProcesses (%s):\n", message.Count(int64(len(d.Threads)), "thread"))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for i, p := range d.Processes {
		if i == maxLines {
			fmt.Fprintf(t, "\t\t\t  and %d more; --json lists all\n", len(d.Processes)-i)
			break
		}
		name := p.Name
		if p.CommandLine != "" {
			name = p.CommandLine
		}
		name = clip(message.Line(name))
		if p.Host != "" {
			name += " on " + message.Line(p.Host)
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t  %s\n", p.PID, message.Count(int64(p.Threads), "thread"), message.Count(p.Events, "event"), name)
	}
	t.Flush()
}

// writeThreads lists the threads by events, unless there is no more to say than that there is one.
func (d *description) writeThreads(w io.Writer) {
	if len(d.Threads) < 2 {
		return
	}
	fmt.Fprint(w, "\nThreads:\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for i, th := range d.Threads {
		if i == maxLines && len(d.Threads) > maxLines+1 {
			fmt.Fprintf(t, "\t\t  and %d more; --json lists all\n", len(d.Threads)-i)
			break
		}
		lost := ""
		if th.Lost > 0 {
			lost = message.Group(int64(th.Lost)) + " lost  "
		}
		fmt.Fprintf(t, "%s/%s\t%s\t  %s%s\n", idText(th.PID), idText(th.TID), message.Count(th.Events, "event"), lost, message.Line(th.Name))
	}
	t.Flush()
}

// clip cuts a text that is too long for a line.
func clip(s string) string {
	n := 0
	for i := range s {
		if n++; n > maxText {
			return s[:i] + "…"
		}
	}
	return s
}

func idText(id *uint64) string {
	if id == nil {
		return "?"
	}
	return strconv.FormatUint(*id, 10)
}

func (d *description) writeEvents(w io.Writer) {
	if len(d.Providers) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "events\tbytes\tstacks\tid\tversion\t  provider, event\n")
	for _, p := range d.Providers {
		fmt.Fprintf(t, "%s\t%s\t%s\t\t\t  %s\n", message.Group(p.Events), message.Group(p.Bytes), message.Group(p.Stacks), message.Line(p.Name))
		for i, e := range p.Types {
			if i == maxLines && len(p.Types) > maxLines+1 {
				var rest inventory.Tally
				for _, r := range p.Types[i:] {
					rest.Add(r.Tally)
				}
				fmt.Fprintf(t, "%s\t%s\t%s\t\t\t    %d more; --json lists all\n", message.Group(rest.Events), message.Group(rest.Bytes), message.Group(rest.Stacks), len(p.Types)-i)
				break
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t    %s\n", message.Group(e.Events), message.Group(e.Bytes), message.Group(e.Stacks), e.ID, e.Version, message.Line(e.Name))
		}
	}
	t.Flush()
}

func (d *description) writeExtract(w io.Writer) {
	if len(d.Extract) == 0 {
		return
	}
	fmt.Fprint(w, "\nTo extract:\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, x := range d.Extract {
		fmt.Fprintf(t, "  %s\t%s\t%s\n", message.Group(x.Events), x.What, message.Line(x.Command))
	}
	t.Flush()
}

func (d *description) writeReport(w io.Writer) {
	var lines []string
	for _, e := range d.Report {
		if e.Severity == ntconv.SeverityInfo.String() {
			continue
		}
		s := fmt.Sprintf("  %s: %s %s", e.Severity, message.Group(int64(e.Count)), e.Text)
		if e.Detail != "" {
			s += ": " + e.Detail
		}
		lines = append(lines, message.Line(s))
	}
	if len(lines) == 0 {
		fmt.Fprint(w, "\nLosses: none\n")
		return
	}
	fmt.Fprintf(w, "\nLosses and oddities:\n%s\n", strings.Join(lines, "\n"))
}
