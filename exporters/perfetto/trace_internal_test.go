package perfetto

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/kind"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/schema"
	"github.com/ntconv/ntconv/symbol"
)

// traces calls f for every real trace.
func traces(t *testing.T, f func(t *testing.T, file corpus.File)) {
	files := corpus.Traces(t)
	if _, err := corpus.Find("data"); err == nil {
		files = append(files, corpus.SharedTraces(t)...)
	}
	for _, file := range files {
		if testing.Short() && len(file.Data) > 1<<20 {
			continue
		}
		t.Run(file.Name, func(t *testing.T) { f(t, file) })
	}
}

// source returns the events of a trace up to the first error.
func source(tb testing.TB, data []byte) (ntconv.Source, *symbol.Table) {
	tb.Helper()
	r, err := reader.NewBytes(data, nil)
	if err != nil {
		tb.Skip(err) // a test of package reader says which
	}
	names := symbol.New(nil)
	return undamaged{tb, ntconvtest.Poison(symbol.Watch(r, names))}, names
}

// undamaged is a source that ends where another one fails because of its input.
type undamaged struct {
	tb testing.TB
	ntconv.Source
}

func (u undamaged) Next() (*ntconv.Event, error) {
	e, err := u.Source.Next()
	if err != nil && (errors.Is(err, ntconv.ErrTruncated) || errors.Is(err, ntconv.ErrCorrupt) || errors.Is(err, ntconv.ErrUnsupported)) {
		return nil, io.EOF
	}
	return e, err
}

// convert writes a trace.
func convert(tb testing.TB, data []byte, o *Options) ([]byte, Summary) {
	tb.Helper()
	src, names := source(tb, data)
	var out bytes.Buffer
	sink := New(&out, src.Info(), names, o)
	if _, err := ntconv.Copy(sink, src); err != nil {
		tb.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes(), sink.Summary()
}

// TestTraces converts every real trace and compares what an independent reader finds with the items of its timeline.
func TestTraces(t *testing.T) {
	traces(t, func(t *testing.T, file corpus.File) {
		for _, form := range []Samples{StreamingSamples, StackSamples} {
			out, done := convert(t, file.Data, &Options{Samples: form})
			r := read(t, out)
			checkNesting(t, r)
			checkCounts(t, r, done)
			compareItems(t, file.Data, r, form, done)
			if form == StreamingSamples {
				t.Logf("%d bytes in %d packets: %+v", len(out), r.packets, done)
			}
		}
	})
}

// checkNesting fails if a slice ends that has not begun, or does not end. A reader matches ends by track only.
func checkNesting(t *testing.T, r *readTrace) {
	open := map[uint64]int{}
	last := uint64(0)
	for i, e := range r.events {
		if e.time < last {
			t.Fatalf("event %d: time %d after %d", i, e.time, last)
		}
		last = e.time
		switch e.kind {
		case 1:
			open[e.track]++
		case 2:
			if open[e.track]--; open[e.track] < 0 {
				t.Fatalf("event %d: track %d has no open slice", i, e.track)
			}
		}
		if isCounter := r.tracks[e.track].kind == "counter"; isCounter != (e.kind == 4) {
			t.Fatalf("event %d: %+v on track %+v", i, e, r.tracks[e.track])
		}
	}
	for track, n := range open {
		if n != 0 {
			t.Fatalf("track %d: %d slices do not end", track, n)
		}
	}
}

func checkCounts(t *testing.T, r *readTrace, s Summary) {
	var got Counts
	flows := map[uint64]int{}
	arrows := int64(0)
	for _, e := range r.events {
		switch {
		case e.kind == 1:
			got.Slices++
		case e.kind == 4:
			got.Counters++
		case e.kind == 3 && e.category == timeline.CategoryFlow:
			arrows++
		case e.kind == 3 && r.tracks[e.track].name == "Lost events":
			got.Losses++
		case e.kind == 3:
			got.Instants++
		}
		for _, id := range e.flows {
			flows[id]++
		}
		for _, id := range e.ends {
			if flows[id] != 1 {
				t.Errorf("flow %d ends after %d begins", id, flows[id])
			}
			flows[id]--
			got.Flows++
		}
	}
	for id, n := range flows {
		if n != 0 {
			t.Errorf("flow %d does not end", id)
		}
	}
	got.Samples = int64(len(r.samples))
	want := s.Counts
	if got.Slices != want.Slices || got.Counters != want.Counters || got.Instants != want.Instants || got.Losses != want.Losses ||
		got.Samples != want.Samples || got.Flows != want.Flows || arrows != s.FlowInstants {
		t.Errorf("read %+v and %d instants of flows, Summary has %+v", got, arrows, s)
	}
}

// compareItems compares what was read with the items of a timeline of the same events.
func compareItems(t *testing.T, data []byte, r *readTrace, form Samples, done Summary) {
	src, names := source(t, data)
	tl := timeline.New(src.Info(), names, nil)
	defer tl.Close()
	for e, err := src.Next(); err != io.EOF; e, err = src.Next() {
		if err == nil {
			err = tl.Write(e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := tl.Finish(); err != nil {
		t.Fatal(err)
	}
	c := comparison{t: t, r: r, tree: tl, start: uint64(max(tl.Start().UnixNano(), 0)), form: form, stackTexts: map[timeline.Node][]string{}}
	if err := tl.Each(c.item); err != nil {
		t.Fatal(err)
	}
	if done.Start != tl.Start() || done.Duration != time.Duration(tl.End()) {
		t.Errorf("Summary has %v and %v, want %v and %v", done.Start, done.Duration, tl.Start(), time.Duration(tl.End()))
	}
	c.compareSamples()
}

type comparison struct {
	t          *testing.T
	r          *readTrace
	tree       tree
	start      uint64
	form       Samples
	next       int // of r.events
	streamed   kind.Kind
	samples    [2][]readSample // want, by whether they are streamed
	stackTexts map[timeline.Node][]string
}

func (c *comparison) item(it *timeline.Item) error {
	switch it.Kind {
	case timeline.Sample:
		c.sample(it)
		return nil
	case timeline.FlowBegin, timeline.FlowEnd:
		return nil // checkCounts pairs them
	}
	for c.next < len(c.r.events) && c.r.events[c.next].category == timeline.CategoryFlow {
		c.next++
	}
	if c.next == len(c.r.events) {
		return fmt.Errorf("no event for item %+v", it)
	}
	e := &c.r.events[c.next]
	c.next++
	kinds := map[timeline.Kind]uint64{timeline.SliceBegin: 1, timeline.SliceEnd: 2, timeline.Instant: 3, timeline.Counter: 4}
	if e.time != c.start+uint64(it.Time) || e.kind != kinds[it.Kind] || e.track != uint64(it.Track.ID) {
		return fmt.Errorf("event %+v, want item %+v", e, it)
	}
	switch it.Kind {
	case timeline.SliceBegin, timeline.Instant:
		if e.name != valid(it.Name) || e.category != it.Category {
			return fmt.Errorf("event %+v, want item %+v", e, it)
		}
		if want := c.text(it.Stack); it.Stack != timeline.NoStack && !slices.Equal(e.stack, want) {
			return fmt.Errorf("event %+v, want stack %q", e, want)
		}
	case timeline.Counter:
		if e.value != it.Value && !math.IsNaN(it.Value) {
			return fmt.Errorf("event %+v, want item %+v", e, it)
		}
	}
	return nil
}

func (c *comparison) sample(it *timeline.Item) {
	if c.streamed == kind.Auto && c.form == StreamingSamples {
		c.streamed = it.Weight.Kind
	}
	at := c.start + uint64(it.Time)
	s := readSample{time: at, pid: uint64(it.Track.Process.PID), tid: uint64(it.Track.TID), stack: c.text(it.Stack)}
	if c.streamed == it.Weight.Kind {
		s.time, s.streamed = at/1000*1000, true
		c.samples[1] = append(c.samples[1], s)
		return
	}
	for _, v := range it.Weight.Values {
		s.weights = append(s.weights, uint64(max(v, 0)))
	}
	slices.Sort(s.weights)
	c.samples[0] = append(c.samples[0], s)
}

func (c *comparison) compareSamples() {
	for streamed, want := range c.samples {
		got := slices.DeleteFunc(slices.Clone(c.r.samples), func(s readSample) bool { return s.streamed != (streamed == 1) })
		if len(got) != len(want) {
			c.t.Errorf("%d samples (streamed: %d), want %d", len(got), streamed, len(want))
			continue
		}
		for i, g := range got {
			slices.Sort(g.weights)
			w := want[i]
			if g.time != w.time || g.pid != w.pid || g.tid != w.tid || !slices.Equal(g.stack, w.stack) || streamed == 0 && !slices.Equal(g.weights, w.weights) {
				c.t.Fatalf("sample %d: %+v, want %+v", i, g, w)
			}
		}
	}
}

// text returns the frames of a node as readTrace.stack does.
func (c *comparison) text(n timeline.Node) []string {
	if n == timeline.NoStack {
		return []string{"[no stack]"}
	}
	list, ok := c.stackTexts[n]
	if ok {
		return list
	}
	parent, number := c.tree.Node(n)
	f := c.tree.Frame(number)
	text, file := functionOf(&f)
	if file != "" {
		text += " " + file
	}
	if f.Line > 0 {
		text += fmt.Sprintf(":%d", f.Line)
	}
	if f.Mapping != nil && f.Mapping.File != "" {
		text += " (" + valid(f.Mapping.File)
		if text[len(text)-len(f.Mapping.File)] == '/' {
			text = text[:len(text)-len(f.Mapping.File)] + f.Mapping.File[1:]
		}
		if id := f.Mapping.BuildID; id != "" {
			if _, err := hex.DecodeString(id); err != nil {
				id = hex.EncodeToString([]byte(id))
			}
			text += " " + id
		}
		text += ")"
	}
	if parent != timeline.NoStack {
		list = slices.Clone(c.text(parent))
	}
	list = append(list, text)
	c.stackTexts[n] = list
	return list
}

// TestPayloads compares the args of the events of every real trace with the fields of their payloads.
func TestPayloads(t *testing.T) {
	const eventsPerType = 20
	traces(t, func(t *testing.T, file corpus.File) {
		src, _ := source(t, file.Data)
		args := newArgEncoder(nil)
		seen := map[*ntconv.Type]int{}
		var schemas schema.Table
		type pair struct{ encoded, want []byte }
		var list []pair
		for e, err := src.Next(); err != io.EOF; e, err = src.Next() {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind != ntconv.KindEvent || seen[e.Type] == eventsPerType {
				continue
			}
			seen[e.Type]++
			var want bytes.Buffer
			for f, v := range schemas.Of(e).Values(e) {
				if v.Kind() != ntconv.ValueNull {
					fmt.Fprintf(&want, "%s=%s\n", valid(f.Name), spell(v))
				}
			}
			labels := e.Labels
			e.Labels = nil
			list = append(list, pair{args.append(nil, &timeline.Source{Event: e}), want.Bytes()})
			e.Labels = labels
		}
		r := &readTrace{t: t}
		s := &sequence{interned: map[protowireNumber]map[uint64][]byte{3: entries(&args.names), 29: entries(&args.values)}}
		for _, p := range list {
			var got bytes.Buffer
			for _, f := range parse(t, p.encoded)[4] {
				name, value := r.annotation(s, parse(t, f.bytes))
				fmt.Fprintf(&got, "%s=%s\n", name, spellAny(value))
			}
			if !bytes.Equal(got.Bytes(), p.want) {
				t.Fatalf("args:\n%s\nwant:\n%s", got.Bytes(), p.want)
			}
		}
	})
}

func entries(t *stringTable) map[uint64][]byte {
	m := map[uint64][]byte{}
	for i, s := range t.list {
		m[uint64(i+1)] = appendBytes(nil, 2, valid(s))
	}
	return m
}

// spell returns a value as spellAny spells what was read for it.
func spell(v ntconv.Value) string {
	switch v.Kind() {
	case ntconv.ValueBool:
		return spellAny(v.Bool())
	case ntconv.ValueInt:
		return spellAny(v.Int())
	case ntconv.ValueUint:
		return spellAny(v.Uint())
	case ntconv.ValueFloat:
		return spellAny(v.Float())
	case ntconv.ValueList:
		list := []any{}
		for e := range v.Elems() {
			list = append(list, spell(e))
		}
		if len(list) == 0 {
			return "[]"
		}
		return fmt.Sprint(list)
	case ntconv.ValueObject:
		text := ""
		for f, m := range v.Fields() {
			text += fmt.Sprintf("%s=%s;", valid(f.Name), spell(m))
		}
		if text == "" {
			return "{}"
		}
		return text
	case ntconv.ValueError:
		return "error: " + v.Err().Error()
	}
	return v.String()
}

func spellAny(v any) string {
	switch v := v.(type) {
	case []any:
		list := []any{}
		for _, e := range v {
			list = append(list, spellAny(e))
		}
		return fmt.Sprint(list)
	case []member:
		text := ""
		for _, m := range v {
			text += fmt.Sprintf("%s=%s;", m.name, spellAny(m.value))
		}
		return text
	case float64:
		return fmt.Sprintf("float %x", math.Float64bits(v))
	}
	return fmt.Sprint(v)
}
