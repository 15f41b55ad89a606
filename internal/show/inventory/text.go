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
	"github.com/ntconv/ntconv/internal/data/message"
)

// A Page holds the parts of the text that are not in a Description.
type Page struct {
	File  string   // name of the input
	Size  int64    // stored size of the input in bytes; 0 if unknown
	Notes []string // remarks on the selection
	// LossNotes are remarks on the losses.
	LossNotes []string
	Report    *ntconv.Report // losses and corrupt input
	// Overview is text after the processes. It shows the profiles with their commands, so Text proposes no others.
	Overview []byte
	All      bool // print complete lists and all facts; without it, the text fits on one screen
}

// Maximum lengths of lists on one screen. If a list has one line more, that line is printed as well.
const (
	maxProcesses = 5
	maxProviders = 6
	maxTypes     = 3 // per provider
)

// atMost returns the number of the n lines of a list that are printed.
func (p *Page) atMost(n, limit int) int {
	if p.All || n <= limit+1 {
		return n
	}
	return limit
}

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
	d.writeFacts(w, p)
	d.writeProcesses(w, p)
	w.Write(p.Overview)
	if p.All {
		d.writeThreads(w)
	}
	d.writeEvents(w, p)
	d.writeExtract(w, p)
	writeReport(w, p)
	if len(p.Notes) > 0 {
		fmt.Fprint(w, "\nSelection:\n")
		for _, n := range p.Notes {
			fmt.Fprintf(w, "  %s\n", message.Line(n))
		}
	}
}

func (d *Description) writeFacts(w io.Writer, p *Page) {
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
	if p.All {
		fmt.Fprintf(t, "clock\t%s Hz\n", message.Group(d.Clock.Frequency))
		fmt.Fprintf(t, "pointers\t%s\n", message.Count(int64(d.Pointer), "byte"))
		for _, a := range d.attrs {
			fmt.Fprintf(t, "%s\t%s\n", message.Line(a.Key), clip(message.Line(a.Value)))
		}
	}
	t.Flush()
}

func (d *Description) writeProcesses(w io.Writer, p *Page) {
	threads := int64(0)
	for i := range d.Threads {
		if !d.Threads[i].none() {
			threads++
		}
	}
	fmt.Fprintf(w, "\nProcesses (%s):\n", message.Count(threads, "thread"))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	shown := p.atMost(len(d.Processes), maxProcesses)
	for _, p := range d.Processes[:shown] {
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
	if shown < len(d.Processes) {
		fmt.Fprintf(t, "\t\t\t  and %d more; --all lists them\n", len(d.Processes)-shown)
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
	for _, th := range d.Threads {
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

func (d *Description) writeEvents(w io.Writer, p *Page) {
	if len(d.Providers) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "events\tbytes\tstacks\tid\tversion\t  provider, event\n")
	row := func(c Tally, ids, name string) {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t  %s\n",
			message.Group(c.Events), message.Group(c.Bytes), message.Group(c.Stacks), ids, name)
	}
	shown := p.atMost(len(d.Providers), maxProviders)
	for _, provider := range d.Providers[:shown] {
		row(provider.Tally, "\t", message.Line(provider.Name))
		types := p.atMost(len(provider.Types), maxTypes)
		for _, e := range provider.Types[:types] {
			row(e.Tally, fmt.Sprintf("%d\t%d", e.ID, e.Version), "  "+message.Line(e.Name))
		}
		if rest := provider.Types[types:]; len(rest) > 0 {
			row(sum(rest, func(t *Type) Tally { return t.Tally }), "\t", fmt.Sprintf("  %d more; --all lists them", len(rest)))
		}
	}
	if rest := d.Providers[shown:]; len(rest) > 0 {
		row(sum(rest, func(p *Provider) Tally { return p.Tally }), "\t", fmt.Sprintf("%d more; --all lists them", len(rest)))
	}
	t.Flush()
}

// sum adds up the counts of a list.
func sum[T any](list []T, of func(*T) Tally) (total Tally) {
	for i := range list {
		total.Add(of(&list[i]))
	}
	return total
}

func (d *Description) writeExtract(w io.Writer, p *Page) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	title := "\nTo extract:\n"
	for _, x := range d.Extract {
		if x.Kind != "" && p.Overview != nil {
			continue // the overview has it
		}
		fmt.Fprintf(t, "%s  %s\t%s\t%s\n", title, message.Group(x.Events), x.Noun(), message.Line(x.Command))
		title = ""
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
