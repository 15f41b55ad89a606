package html

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/tables/rows"
	"github.com/ntconv/ntconv/sample"
)

// encode returns the page data of a recording, and the sizes of its parts before compression. narrow is the share of a
// kind's total below which frames are merged.
func encode(r *recording, h *pageHeader, narrow float64) (*fitted, [parts]int, error) {
	w := &pageWriter{header: headerJSON{Version: pageVersion, Generator: h.generator, Tables: map[string]*tableJSON{}}}
	p := &pageTables{pageWriter: w, r: r, start: r.info.StartNanos, nodes: prune(r, narrow)}
	p.writeOwners()
	w.measure(partTree)
	p.writeTree()
	p.indexSpans()
	w.measure(partSamples)
	p.writeKinds()
	w.measure(partActivities)
	p.writeActivities()
	w.measure(partSeries)
	p.writeSeries()
	w.measure(partOwners)
	notes := notesOf(r, narrow)
	p.writeTrace(h, notes)
	blocks, err := w.blocks(h.whole)
	return &fitted{blocks: blocks, notes: notes}, w.sizes, err
}

// pageTables writes the tables of a recording.
type pageTables struct {
	*pageWriter
	r     *recording
	start int64 // of the trace, in nanoseconds since 1970
	nodes *pruned
	spans map[spanKey]int32
}

// since returns a time in nanoseconds after the start of the trace.
func (p *pageTables) since(nanos int64) int64 { return bin.AddClamped(nanos, -p.start) }

// sinceMicros is since for a time in microseconds that may be unknown.
func (p *pageTables) sinceMicros(micros *int64) int64 {
	if micros == nil {
		return 0
	}
	return p.since(bin.MulClamped(*micros, 1000))
}

// writeOwners writes processes and threads.
func (p *pageTables) writeOwners() {
	processes := p.r.processes
	t := p.table("processes", len(processes))
	t.ints("pid", 0, func(i int) int64 { return processes[i].PID })
	t.texts("name", func(i int) string { return processes[i].Name })
	t.texts("command", func(i int) string { return processes[i].CommandLine })
	t.texts("runtime", func(i int) string { return runtime(&processes[i]) })
	threads := p.r.threads
	t = p.table("threads", len(threads))
	t.refs("process", func(i int) int32 { return threads[i].ProcessID - 1 })
	t.ints("tid", 0, func(i int) int64 { return threads[i].TID })
	t.texts("name", func(i int) string { return threads[i].Name })
	t.ints("first", 0, func(i int) int64 { return p.sinceMicros(threads[i].FirstTS) })
	t.ints("last", 0, func(i int) int64 { return p.sinceMicros(threads[i].LastTS) })
}

// writeTree writes frames, functions and nodes.
func (p *pageTables) writeTree() {
	f, n := &p.r.frames, p.nodes
	t := p.table("functions", len(n.functions))
	t.texts("name", func(i int) string { return f.texts.at(f.functions[n.functions[i]].name) })
	t.texts("module", func(i int) string { return f.texts.at(f.functions[n.functions[i]].module) })
	at := func(i int) *frame { return &f.list[n.frames[i]] }
	t = p.table("frames", len(n.frames))
	t.texts("name", func(i int) string { return f.texts.at(at(i).name) })
	t.texts("module", func(i int) string { return f.texts.at(at(i).module) })
	t.texts("file", func(i int) string { return f.texts.at(at(i).file) })
	t.ints("line", 0, func(i int) int64 { return int64(at(i).line) })
	t.ints("kind", 0, func(i int) int64 { return int64(at(i).kind) })
	t.flags("mine", func(i int) bool { return at(i).mine })
	t.flags("waits", func(i int) bool { return at(i).waits })
	t.ints("pool", 0, func(i int) int64 { return int64(at(i).pool) })
	t.refs("function", func(i int) int32 { return n.functionOf[at(i).function] })
	t = p.table("nodes", len(n.nodes))
	t.refs("parent", func(i int) int32 { return n.nodes[i].parent })
	t.refs("frame", func(i int) int32 { return n.nodes[i].frame })
	t.flags("omitted", func(i int) bool { return n.nodes[i].frame < 0 })
}

// writeKinds writes the samples of all kinds, each as a table.
func (p *pageTables) writeKinds() {
	kinds := p.r.samples.kinds()
	list := make([]pageTable, len(kinds))
	for i, k := range kinds {
		head := kindJSON{
			Name: k.kind.String(), Doc: k.kind.Doc(), One: k.kind.Noun(1), Many: k.kind.Noun(2), Bin: k.bin, Main: p.r.samples.mainType(k),
			Estimated: k.totals.Estimated(), Values: []valueJSON{},
		}
		if k.kind == sample.Wall {
			head.Long = int64(p.r.clock.Duration(p.r.long.Limit))
		}
		_, sums := k.totals.Sums()
		for _, t := range k.types {
			v := valueJSON{Type: t.Type, Unit: t.Unit}
			if i := slices.IndexFunc(sums, func(s profile.Sum) bool { return s.Type == t }); i >= 0 {
				v.Error = sums[i].Error
			}
			head.Values = append(head.Values, v)
		}
		p.header.Kinds = append(p.header.Kinds, head)
		list[i] = p.table("samples_"+k.kind.String(), len(k.rows))
	}
	first := p.shownFirst(kinds)
	for i := range first {
		p.writeStacks(list[i], kinds[i])
	}
	p.cut()
	for i, k := range kinds {
		if i >= first {
			p.writeStacks(list[i], k)
		}
		p.writeSamples(list[i], k)
	}
}

// shownFirst returns the number of kinds that the first picture needs: up to the first kind with a frame, which the page shows
// first, or without one up to the first kind with samples.
func (p *pageTables) shownFirst(kinds []*kindSamples) int {
	framed := func(k *kindSamples) bool {
		return slices.ContainsFunc(k.rows, func(r sampleRow) bool {
			n := p.nodes.of(p.r.tree, r.stack)
			return n >= 0 && p.nodes.nodes[n].frame >= 0
		})
	}
	if i := slices.IndexFunc(kinds, framed); i >= 0 {
		return i + 1
	}
	return slices.IndexFunc(kinds, func(k *kindSamples) bool { return len(k.rows) > 0 }) + 1
}

// writeStacks writes the columns of samples that a flame graph needs.
func (p *pageTables) writeStacks(t pageTable, k *kindSamples) {
	t.refs("node", func(i int) int32 { return p.nodes.of(p.r.tree, k.rows[i].stack) })
	t.texts("subject", func(i int) string { return p.r.samples.texts.at(k.rows[i].subject) })
	t.ints("count", 1, func(i int) int64 { return k.rows[i].count })
	for v, column := range k.values {
		t.ints("value_"+strconv.Itoa(v), 0, func(i int) int64 { return column[i] })
	}
}

// writeSamples writes the other columns of samples.
func (p *pageTables) writeSamples(t pageTable, k *kindSamples) {
	s := p.r.samples
	t.deltas("time", func(i int) int64 { return p.since(k.rows[i].time) })
	t.refs("thread", func(i int) int32 { return k.rows[i].thread - 1 })
	t.texts("state", func(i int) string { return s.texts.at(k.rows[i].state) })
	t.refs("span", func(i int) int32 {
		if n := k.rows[i].span; n > 0 {
			return p.span(s.keys[n-1], true)
		}
		return -1
	})
	t.texts("source", func(i int) string { return rows.SourceName(k.kind, k.rows[i].source) })
}

// indexSpans numbers the spans by their IDs.
func (p *pageTables) indexSpans() {
	p.spans = make(map[spanKey]int32, len(p.r.spans.rows))
	for i := range p.r.spans.rows {
		r := p.r.spans.rows[i].details
		if _, taken := p.spans[r.id]; r.hasID && !taken {
			p.spans[r.id] = int32(i)
		}
	}
}

// span returns the row of a span, or -1.
func (p *pageTables) span(key spanKey, ok bool) int32 {
	if n, found := p.spans[key]; ok && found {
		return n
	}
	return -1
}

// writeActivities writes intervals and spans with their attributes.
func (p *pageTables) writeActivities() {
	intervals, spans := p.r.intervals, p.r.spans
	t := p.writeActivity("intervals", intervals, 0)
	t.refs("span", func(i int) int32 { return p.span(intervals.rows[i].parent, intervals.rows[i].hasParent) })
	t = p.writeActivity("spans", spans, int32(len(intervals.sets)))
	t.refs("parent", func(i int) int32 {
		if n := p.span(spans.rows[i].parent, spans.rows[i].hasParent); int(n) != i {
			return n
		}
		return -1
	})
	t.refs("process", func(i int) int32 { return spans.rows[i].process - 1 })
	text := func(name string, of func(*spanDetails) uint32) {
		t.texts(name, func(i int) string { return spans.texts.at(of(spans.rows[i].details)) })
	}
	text("trace_id", func(d *spanDetails) uint32 { return d.traceID })
	text("span_id", func(d *spanDetails) uint32 { return d.spanID })
	text("status", func(d *spanDetails) uint32 { return d.status })
	text("message", func(d *spanDetails) uint32 { return d.message })
	text("scope", func(d *spanDetails) uint32 { return d.scope })
	text("source", func(d *spanDetails) uint32 { return d.source })
	p.writeAttributes(intervals, spans)
}

// writeActivity writes the columns that intervals and spans share. Their attribute sets begin at first.
func (p *pageTables) writeActivity(name string, a *activities, first int32) pageTable {
	t := p.table(name, len(a.rows))
	t.texts("kind", func(i int) string { return a.texts.at(a.rows[i].kind) })
	t.texts("name", func(i int) string { return a.texts.at(a.rows[i].name) })
	t.deltas("time", func(i int) int64 { return p.since(a.rows[i].time) })
	t.ints("duration", -1, func(i int) int64 { return a.rows[i].duration })
	t.refs("thread", func(i int) int32 { return a.rows[i].thread - 1 })
	t.refs("attributes", func(i int) int32 {
		if set := a.rows[i].attributes; set >= 0 {
			return first + set
		}
		return -1
	})
	return t
}

// writeAttributes writes the attribute sets of several lists, one after the other.
func (p *pageTables) writeAttributes(lists ...*activities) {
	type pair struct {
		of *activities
		attribute
	}
	var all []pair
	var ends []int64
	for _, a := range lists {
		for _, set := range a.sets {
			for _, x := range set {
				all = append(all, pair{a, x})
			}
			ends = append(ends, int64(len(all)))
		}
	}
	p.table("attribute_sets", len(ends)).deltas("end", func(i int) int64 { return ends[i] })
	t := p.table("attributes", len(all))
	t.texts("key", func(i int) string { return all[i].of.texts.at(all[i].key) })
	t.texts("value", func(i int) string { return all[i].of.texts.at(all[i].value) })
}

// writeSeries writes counters, the heap and losses.
func (p *pageTables) writeSeries() {
	var values []seriesValue
	p.header.Series = []seriesJSON{}
	for _, s := range []*series{p.r.counters, p.r.heap} {
		first := int32(len(p.header.Series))
		for _, k := range s.list {
			p.header.Series = append(p.header.Series, seriesJSON{
				k.process - 1, k.provider, k.name, k.title, k.unit, k.kind, k.statistic, k.tagText,
			})
		}
		for _, v := range s.values {
			v.series += first
			values = append(values, v)
		}
	}
	slices.SortStableFunc(values, func(a, b seriesValue) int {
		return cmp.Or(cmp.Compare(a.series, b.series), cmp.Compare(a.time, b.time))
	})
	t := p.table("counter_values", len(values))
	t.refs("series", func(i int) int32 { return values[i].series })
	t.deltas("time", func(i int) int64 { return p.since(values[i].time) })
	t.floats("value", func(i int) float64 { return values[i].value })
	lost := p.r.losses.rows
	t = p.table("losses", len(lost))
	t.deltas("time", func(i int) int64 { return p.since(lost[i].time) })
	t.refs("thread", func(i int) int32 { return lost[i].thread - 1 })
	t.ints("lost", 0, func(i int) int64 { return lost[i].lost })
}

// writeTrace sets what the header states of the recording.
func (p *pageTables) writeTrace(h *pageHeader, notes []string) {
	info, main := &p.r.info, p.r.main()
	t := &p.header.Trace
	*t = traceJSON{
		Name: info.SourceFile, Format: info.Format, Program: main.Name, Command: main.CommandLine, Runtime: runtime(&main),
		Start: info.ClockWall, StartNanos: strconv.FormatInt(info.StartNanos, 10), Duration: info.DurationNanos,
		Events: h.events, Lost: info.LostEvents, Incomplete: info.Incomplete, Notes: notes, Can: h.can, Cannot: h.cannot,
	}
	machine := strings.TrimSpace(info.OS + " " + info.Arch)
	if info.ProcessorCount > 0 {
		machine = strings.TrimPrefix(fmt.Sprintf("%s, %d CPUs", machine, info.ProcessorCount), ", ")
	}
	t.Machine = machine
	if p.r.links.Linked() > 0 {
		t.Links = p.r.links.Describe()
	}
	for _, list := range []*[]Answer{&t.Can, &t.Cannot} {
		if *list == nil {
			*list = []Answer{}
		}
	}
	if t.Notes == nil {
		t.Notes = []string{}
	}
	if p.header.Kinds == nil {
		p.header.Kinds = []kindJSON{}
	}
	if start, err := time.Parse(time.RFC3339Nano, t.Start); err == nil {
		t.Start = start.UTC().Format(time.RFC3339Nano)
	}
}
