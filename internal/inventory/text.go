package inventory

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/message"
)

// A Page holds the parts of the text that are not in a Description.
type Page struct {
	File  string   // name of the input
	Size  int64    // stored size of the input in bytes; 0 if unknown
	Notes []string // remarks on the selection
	// LossNotes are remarks on the losses.
	LossNotes []string
	Report    *ntconv.Report // losses and corrupt input
}

// maxLines is the maximum length of a list. If a list of threads or event types has one line more, that line is printed
// as well.
const maxLines = 12

// maxText is the maximum number of characters of a command line or an attribute.
const maxText = 200

// Text returns the description as human-readable text, with the largest entries of each list. No line ends in a space,
// and unprintable characters of the trace are escaped. d must come from Describe.
func (d *Description) Text(p *Page) []byte {
	var b, out bytes.Buffer
	d.writeText(&b, p)
	for line := range bytes.Lines(b.Bytes()) {
		out.Write(append(bytes.TrimRight(line, " \n"), '\n'))
	}
	return out.Bytes()
}

func (d *Description) writeText(w io.Writer, p *Page) {
	size := ""
	if p.Size > 0 {
		size = ", " + message.Count(p.Size, "byte")
	}
	fmt.Fprintf(w, "%s: %s%s\n\n", message.Line(p.File), d.Format, size)
	d.writeFacts(w)
	d.writeProcesses(w)
	d.writeThreads(w)
	d.writeEvents(w)
	d.writeExtract(w)
	writeReport(w, p)
	if len(p.Notes) > 0 {
		fmt.Fprint(w, "\nSelection:\n")
		for _, n := range p.Notes {
			fmt.Fprintf(w, "  %s\n", message.Line(n))
		}
	}
}

func (d *Description) writeFacts(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	recorded := "at an unknown time"
	if !d.clock.Wall.IsZero() {
		recorded = message.Time(d.clock.Wall)
	}
	fmt.Fprintf(t, "recorded\t%s\n", recorded)
	if d.Events.Events > 0 {
		fmt.Fprintf(t, "events\t%s %s after that\n", message.Group(d.Events.Events), message.Range(
			time.Duration(d.clock.Nanos(ntconv.Ticks(d.Events.FirstTicks))),
			time.Duration(d.clock.Nanos(ntconv.Ticks(d.Events.LastTicks)))))
		fmt.Fprintf(t, "\t%s with stacks, %s of payload\n",
			message.Group(d.Events.Stacks), message.Count(d.Events.Bytes, "byte"))
	} else {
		fmt.Fprintf(t, "events\tnone\n")
	}
	fmt.Fprintf(t, "clock\t%s Hz\n", message.Group(d.Clock.Frequency))
	fmt.Fprintf(t, "pointers\t%s\n", message.Count(int64(d.Pointer), "byte"))
	for _, a := range d.attrs {
		fmt.Fprintf(t, "%s\t%s\n", message.Line(a.Key), clip(message.Line(a.Value)))
	}
	t.Flush()
}

func (d *Description) writeProcesses(w io.Writer) {
	threads := int64(0)
	for i := range d.Threads {
		if !d.Threads[i].none() {
			threads++
		}
	}
	fmt.Fprintf(w, "\nProcesses (%s):\n", message.Count(threads, "thread"))
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
		fmt.Fprintf(t, "%d\t%s\t%s\t  %s\n",
			p.PID, message.Count(int64(p.Threads), "thread"), message.Count(p.Events, "event"), name)
	}
	t.Flush()
}

// writeThreads lists the threads, unless there is only one.
func (d *Description) writeThreads(w io.Writer) {
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
		name := message.Line(th.Name)
		if name == "" && th.none() {
			name = "(no thread)"
		}
		fmt.Fprintf(t, "%s/%s\t%s\t  %s%s\n",
			idText(th.PID), idText(th.TID), message.Count(th.Events, "event"), lost, name)
	}
	t.Flush()
}

// clip truncates a string that is too long for a line.
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

func (d *Description) writeEvents(w io.Writer) {
	if len(d.Providers) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "events\tbytes\tstacks\tid\tversion\t  provider, event\n")
	for _, p := range d.Providers {
		fmt.Fprintf(t, "%s\t%s\t%s\t\t\t  %s\n",
			message.Group(p.Events), message.Group(p.Bytes), message.Group(p.Stacks), message.Line(p.Name))
		for i, e := range p.Types {
			if i == maxLines && len(p.Types) > maxLines+1 {
				var rest Tally
				for _, r := range p.Types[i:] {
					rest.Add(r.Tally)
				}
				fmt.Fprintf(t, "%s\t%s\t%s\t\t\t    %d more; --json lists all\n", message.Group(rest.Events),
					message.Group(rest.Bytes), message.Group(rest.Stacks), len(p.Types)-i)
				break
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t    %s\n", message.Group(e.Events), message.Group(e.Bytes),
				message.Group(e.Stacks), e.ID, e.Version, message.Line(e.Name))
		}
	}
	t.Flush()
}

func (d *Description) writeExtract(w io.Writer) {
	if len(d.Extract) == 0 {
		return
	}
	fmt.Fprint(w, "\nTo extract:\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, x := range d.Extract {
		fmt.Fprintf(t, "  %s\t%s\t%s\n", message.Group(x.Events), x.Noun(), message.Line(x.Command))
	}
	t.Flush()
}

func writeReport(w io.Writer, p *Page) {
	var lines []string
	for _, e := range p.Report.Entries() {
		if e.Code.Severity() == ntconv.SeverityInfo {
			continue
		}
		s := fmt.Sprintf("  %s: %s %s", e.Code.Severity(), message.Group(int64(e.Count)), e.Code.TextFor(e.Count))
		if e.Detail != "" {
			s += ": " + e.Detail
		}
		lines = append(lines, message.Line(s))
	}
	for _, n := range p.LossNotes {
		lines = append(lines, message.Line("  "+n))
	}
	if len(lines) == 0 {
		fmt.Fprint(w, "\nLosses: none\n")
		return
	}
	fmt.Fprintf(w, "\nLosses and notices:\n%s\n", strings.Join(lines, "\n"))
}
