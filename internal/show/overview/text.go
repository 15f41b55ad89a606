package overview

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/ntconv/ntconv/internal/data/message"
)

// Lengths of lists without TextOptions.All.
const (
	maxParts             = 5
	maxPools             = 1
	maxCounterLines      = 6
	maxCountersWithZeros = 12 // of more counters, those with the value 0 are omitted
	lineWidth            = 110
)

// TextOptions configure Text.
type TextOptions struct {
	All bool // print complete lists
}

// Text returns the overview as human-readable text in sections, each after an empty line. Names of the trace are
// escaped. Lines may end in spaces.
func (o *Overview) Text(options TextOptions) []byte {
	var b bytes.Buffer
	o.writeKinds(&b)
	o.writeTimeline(&b)
	o.writeGC(&b, options)
	writeParts(&b, "Allocated types", o.Allocations, options)
	writeParts(&b, "Exceptions", o.Exceptions, options)
	o.writeRequests(&b)
	o.writeCounters(&b, options)
	o.writePools(&b, options)
	return b.Bytes()
}

// writeKinds lists the kinds with their totals and commands.
func (o *Overview) writeKinds(w io.Writer) {
	if len(o.Kinds) == 0 {
		return
	}
	fmt.Fprint(w, "\nProfiles (view instead of top shows flame graphs):\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := range o.Kinds {
		k := &o.Kinds[i]
		fmt.Fprintf(t, "  %s %s\t%s\t%s\n", message.Group(k.Samples), k.Noun, k.text(), message.Line(k.Command))
	}
	t.Flush()
}

// text returns the totals of a kind.
func (k *Kind) text() string {
	var list []string
	for _, v := range k.Values {
		if v.Unit == "count" && (v.Total == k.Samples || v.Total == 0) {
			continue // it repeats the number of samples, or the samples of this source do not state it
		}
		text := strings.ReplaceAll(v.Type, "_", " ") + " " + v.text()
		if q := v.Quantiles; q != nil && k.Samples > 1 {
			text += ", longest " + quantity(q.Max, v.Unit)
		}
		list = append(list, message.Line(text))
	}
	return strings.Join(list, "; ")
}

// text returns the total with its unit and error.
func (v *Value) text() string {
	text := quantity(v.Total, v.Unit)
	if v.Error > 0 {
		text = "about " + text + fmt.Sprintf(" ±%s", percent(v.Error))
	}
	return text
}

func (o *Overview) writeGC(w io.Writer, options TextOptions) {
	g := o.GC
	if g == nil {
		return
	}
	var generations []string
	for _, p := range g.Generations {
		name := message.Line(p.Name)
		if name == "" {
			name = "of an unknown generation"
		}
		generations = append(generations, message.Group(p.Count)+" "+name)
	}
	if n := len(generations); n > maxParts && !options.All {
		generations = append(generations[:maxParts:maxParts], "…")
	}
	fmt.Fprintf(w, "\nGarbage collections: %s (%s)", message.Group(g.Collections), strings.Join(generations, ", "))
	if g.TotalPause > 0 {
		fmt.Fprintf(w, ", pauses %s in total (%s of the time), at most %s per collection",
			duration(g.TotalPause), percent(g.Share), duration(g.LongestPause))
	}
	fmt.Fprintln(w)
}

// writeParts lists the largest parts of a kind.
func writeParts(w io.Writer, title string, p *Parts, options TextOptions) {
	if p == nil || len(p.Types) == 0 {
		return
	}
	total, unit := p.Count, "count"
	if p.Value != nil {
		total, unit = p.Value.Total, p.Value.Unit
		title += " by " + strings.ReplaceAll(p.Value.Type, "_", " ")
		if p.Value.Error > 0 {
			title += " (estimated)"
		}
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(v int64, name string) {
		share := ""
		if total > 0 {
			share = percent(float64(v) / float64(total))
		}
		fmt.Fprintf(t, "%s\t%s\t  %s\n", quantity(v, unit), share, name)
	}
	rest := int64(0)
	for i := range p.Types {
		part := &p.Types[i]
		v := part.Count
		if p.Value != nil {
			v = part.Value
		}
		if i >= maxParts && !options.All && len(p.Types) > maxParts+1 {
			rest += v
			continue
		}
		name := clip(message.Line(part.Name))
		switch {
		case part.Rest:
			name = "(other types)"
		case name == "":
			name = "(unknown)"
		}
		row(v, name)
	}
	if rest > 0 {
		row(rest, fmt.Sprintf("%d more; --all lists them", len(p.Types)-maxParts))
	}
	t.Flush()
}

func (o *Overview) writeRequests(w io.Writer) {
	for i, r := range o.Requests {
		if i == 0 {
			fmt.Fprintln(w)
		}
		side := ""
		if r.Side != "" {
			side = " (" + message.Line(r.Side) + ")"
		}
		q := &r.Duration
		fmt.Fprintf(w, "Requests%s: %s, %s per second; duration: p50 %s, p95 %s, p99 %s, longest %s\n", side,
			message.Group(r.Count), number(r.PerSecond), duration(q.P50), duration(q.P95), duration(q.P99), duration(q.Max))
	}
}

// writeCounters prints the last values of counters as a paragraph per provider.
func (o *Overview) writeCounters(w io.Writer, options TextOptions) {
	list := o.Counters
	if len(list) > maxCountersWithZeros && !options.All {
		list = slices.DeleteFunc(slices.Clone(list), Counter.isZero)
	}
	if len(o.Counters) == 0 {
		return
	}
	lines, shown := counterLines(list, options)
	fmt.Fprint(w, "\nCounters, last values:\n")
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
	if hidden := len(o.Counters) - shown; hidden > 0 {
		fmt.Fprintf(w, "  and %d more; --all lists them\n", hidden)
	}
}

// counterLines returns a paragraph per provider, and the number of counters in them.
func counterLines(list []Counter, options TextOptions) (lines []string, shown int) {
	provider, line := "", ""
	for i := range list {
		c := &list[i]
		item := " " + clip(message.Line(c.text()))
		switch {
		case i == 0 || c.Provider != provider:
			if i > 0 {
				lines = append(lines, line)
			}
			provider = c.Provider
			line = "  " + clip(message.Line(provider)) + ":" + item
		case len(line)+len(item) >= lineWidth:
			lines = append(lines, line+",")
			line = "   " + item
		default:
			line += "," + item
		}
		if len(lines) == maxCounterLines && !options.All {
			return lines, i
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines, len(list)
}

// clip truncates a name that is too long for a line.
func clip(s string) string {
	const maxName = 100
	if len(s) <= maxName {
		return s
	}
	for i := range s {
		if i > maxName {
			return s[:i] + "…"
		}
	}
	return s
}

func (o *Overview) writePools(w io.Writer, options TextOptions) {
	for i, p := range o.ThreadPools {
		if i == 0 {
			fmt.Fprintln(w)
		}
		if i == maxPools && !options.All {
			fmt.Fprintf(w, "  and %d more; --all lists them\n", len(o.ThreadPools)-i)
			return
		}
		process := ""
		if len(o.ThreadPools) > 1 {
			process = fmt.Sprintf(" of process %d", p.PID)
		}
		fmt.Fprintf(w, "Thread pool%s, worker threads: %d at first, %d at last, at least %d, at most %d\n",
			process, p.First, p.Last, p.Min, p.Max)
	}
}

// writeTimeline draws the timeline.
func (o *Overview) writeTimeline(w io.Writer) {
	t := o.Timeline
	if t == nil {
		return
	}
	from := ""
	if o.Begin > 0 {
		from = " from " + duration(o.Begin) + " after the start"
	}
	fmt.Fprintf(w, "\nOver %s%s (%s per column):\n", duration(o.Recorded), from, duration(t.Column))
	var events []float64
	for _, n := range t.Events {
		events = append(events, float64(n))
	}
	rows := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(rows, "  events\t|%s|\tat most %s\n", sparkline(events, typicalTop(events)), message.Group(int64(slices.Max(events))))
	if t.CPU != nil {
		most := slices.Max(t.CPU)
		text := number(most)
		name := "CPUs in use"
		switch t.CPUSource {
		case CPUCounter:
			name, text = "CPU use", percent(most)+" of all CPUs (counter cpu-usage)"
		case CPUManaged:
			name, text = "in managed code", text+" threads, running or waiting"
		}
		fmt.Fprintf(rows, "  %s\t|%s|\tat most %s\n", name, sparkline(t.CPU, slices.Max(t.CPU)), text)
	}
	if t.GCPauses != nil {
		fmt.Fprintf(rows, "  GC pauses\t|%s|\tat most %s of a column\n", sparkline(t.GCPauses, slices.Max(t.GCPauses)), percent(slices.Max(t.GCPauses)))
	}
	rows.Flush()
}
