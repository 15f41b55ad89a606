package perfetto

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/chrome"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/timelines"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/schema"
	"github.com/ntconv/ntconv/track"
)

// convert writes a trace.
func convert(tb testing.TB, data []byte, o *Options) ([]byte, Summary) {
	tb.Helper()
	src, names := timelines.Open(tb, data)
	var out bytes.Buffer
	sink := New(&out, src.Info(), names, o)
	timelines.Write(tb, src, sink)
	return out.Bytes(), sink.Summary()
}

// TestTraces converts every real trace and compares what an independent reader finds with the items of its timeline.
func TestTraces(t *testing.T) {
	timelines.Traces(t, func(t *testing.T, file corpus.File) {
		src, names := timelines.Open(t, file.Data)
		tl := timeline.New(src.Info(), names, nil)
		defer tl.Close()
		if _, err := ntconv.Copy(tl, src); err != nil {
			t.Fatal(err)
		}
		if err := tl.Finish(); err != nil {
			t.Fatal(err)
		}
		for _, form := range []Samples{StreamingSamples, StackSamples} {
			out, done := convert(t, file.Data, &Options{Samples: form})
			r := read(t, out)
			checkNesting(t, r)
			checkCounts(t, r, done)
			compare(t, r, tl, form, nil)
			if done.Start != tl.Start() || done.Duration != time.Duration(tl.End()) {
				t.Errorf("Summary has %v and %v, want %v and %v", done.Start, done.Duration, tl.Start(), time.Duration(tl.End()))
			}
		}
	})
}

// TestSize: the output has at most a fifth of the bytes of Chrome's JSON for the same trace. Small traces consist of
// names.
func TestSize(t *testing.T) {
	const small = 100_000
	timelines.SmallTraces(t, func(t *testing.T, file corpus.File) {
		src, names := timelines.Open(t, file.Data)
		var json counter
		timelines.Write(t, src, chrome.New(&json, src.Info(), names, nil))
		out, _ := convert(t, file.Data, nil)
		if json > small && len(out) > int(json)/5 {
			t.Errorf("%d bytes, more than a fifth of %d", len(out), json)
		}
	})
}

type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
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
	var got track.Counts
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
		got.Flows += int64(len(e.ends))
	}
	got.Samples = int64(len(r.samples))
	want := s.Counts
	if got.Slices != want.Slices || got.Counters != want.Counters || got.Instants != want.Instants || got.Losses != want.Losses ||
		got.Samples != want.Samples || got.Flows != want.Flows || arrows != s.FlowInstants {
		t.Errorf("read %+v and %d instants of flows, Summary has %+v", got, arrows, s)
	}
}

// TestPayloads compares the args of the events of every real trace with the fields of their payloads.
func TestPayloads(t *testing.T) {
	const eventsPerType = 20
	timelines.Traces(t, func(t *testing.T, file corpus.File) {
		src, _ := timelines.Open(t, file.Data)
		args := newArgEncoder(nil)
		seen, from := map[*ntconv.Type]int{}, new(timeline.Source)
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
			e.Labels, from.Event = nil, e
			list = append(list, pair{args.append(nil, from), want.Bytes()})
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
	case ntconv.ValueBytes:
		return fmt.Sprintf("hex:%x", v.Bytes())
	case ntconv.ValueTime:
		return v.Time().Format("2006-01-02T15:04:05.0000000Z")
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
