package stored_test

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/stored"
	"github.com/ntconv/ntconv/internal/testing/spangen"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
	"pgregory.net/rapid"
)

var info = &ntconv.Info{Format: "test", Clock: ntconv.Clock{Freq: 1e9}, PointerSize: 8}

// newThread returns a thread of a new process.
func newThread() *ntconv.Thread {
	return &ntconv.Thread{TID: 1, Process: &ntconv.Process{PID: 7, Name: "shop", PointerSize: 8}}
}

// encode returns copies of the events of spans, all on one thread.
func encode(thread *ntconv.Thread, spans ...*span.Span) (events []*ntconv.Event) {
	enc := stored.NewEncoder(stored.Spans)
	for _, s := range spans {
		enc.Encode(s, &ntconv.Event{CPU: ntconv.CPUUnknown, Offset: -1, Time: ntconv.Ticks(len(events)), Thread: thread, Capture: thread})
		for e := enc.Next(); e != nil; e = enc.Next() {
			e.Seq = uint32(len(events) + 1)
			events = append(events, e.Clone())
		}
	}
	return events
}

// nettrace returns a file with the events.
func nettrace(t testing.TB, events []*ntconv.Event) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := writer.New(&file, info, nil)
	if err != nil {
		t.Fatal(err)
	}
	trace := ntconvtest.Trace{Info: info, Events: events}
	if _, err := ntconv.Copy(w, trace.Source()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// throughFile writes the events to a nettrace file and returns a source that reads it.
func throughFile(t testing.TB, events []*ntconv.Event) ntconv.Source {
	t.Helper()
	src, err := reader.NewBytes(nettrace(t, events), nil)
	if err != nil {
		t.Fatal(err)
	}
	return ntconvtest.Poison(src)
}

// decode returns copies of all spans of a source, and the number of invalid spans.
func decode(t testing.TB, src ntconv.Source) (spans []*span.Span, invalid int64) {
	t.Helper()
	d := stored.NewDecoder(stored.Spans, nil)
	for {
		e, err := src.Next()
		if err == io.EOF {
			d.Finish()
			return spans, d.Invalid()
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != ntconv.KindEvent || !stored.Spans.Has(e.Type) {
			continue
		}
		if s, ok := d.Decode(e); ok {
			spans = append(spans, spangen.Clone(s))
		}
	}
}

// Spans round-trip through nettrace.
func TestSpansSurviveNettrace(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		spans := spangen.Spans().Draw(rt, "spans")
		got, invalid := decode(t, throughFile(t, encode(newThread(), spans...)))
		if invalid != 0 {
			rt.Fatalf("%d invalid", invalid)
		}
		spangen.WantEqual(rt, spans, got)
	})
}

// ntconv.DecodeFields finds every field of the payload, and therefore print, --where and other readers do too.
func TestPayloadIsDescribed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		spans := spangen.Spans().Draw(rt, "spans")
		for i, e := range encode(newThread(), spans...) {
			fields := map[string]ntconv.Value{}
			for f, v := range e.Fields() {
				if v.Kind() == ntconv.ValueError || v.Kind() == ntconv.ValueNull {
					rt.Fatalf("%s: %v", f.Name, v)
				}
				fields[f.Name] = v
			}
			s := spans[i]
			parent := ""
			if !s.ParentID.IsZero() {
				parent = s.ParentID.String()
			}
			if fields["name"].String() != s.Name || fields["endTimeUnixNano"].Uint() != s.End || fields["parentSpanId"].String() != parent {
				rt.Fatalf("want %q %d %q, got %v", s.Name, s.End, parent, fields)
			}
			if n := fields["attributes"].Len(); n != len(s.Attributes) || fields["events"].Len() != len(s.Events) || fields["links"].Len() != len(s.Links) {
				rt.Fatalf("want %d attributes, got %d", len(s.Attributes), n)
			}
			n := 0
			for a := range fields["attributes"].Elems() {
				key, _ := a.Field("key")
				value, _ := a.Field("value")
				if want := s.Attributes[n]; key.String() != want.Key || want.Value.Kind() == span.ValueString && value.String() != want.Value.Str() {
					rt.Fatalf("want %q=%v, got %q=%q", want.Key, want.Value, key, value)
				}
				n++
			}
			encoded, err := ntconv.AppendFields(nil, e.Type.Fields, values(e), 8)
			if err != nil || !bytes.Equal(encoded, e.Payload) {
				rt.Fatalf("encoding what was decoded: %v", err)
			}
		}
	})
}

// values returns the values of all fields of an event.
func values(e *ntconv.Event) (list []ntconv.Value) {
	for _, v := range e.Fields() {
		list = append(list, v)
	}
	return list
}

// large returns spans that do not fit into one event, each for a different reason.
func large() []*span.Span {
	base := func(n byte) *span.Span {
		return &span.Span{
			Context: span.Context{TraceID: span.TraceID{1, n}, ID: span.ID{2, n}}, Name: "large", Start: 1, End: 2,
			Scope: &span.Scope{Name: "scope"}, Resource: &span.Resource{},
		}
	}
	text := strings.Repeat("ä\x00b", 25_000)
	attribute := func(key string, v span.Value) span.Attribute { return span.Attribute{Key: key, Value: v} }
	var spans []*span.Span
	add := func(change func(*span.Span)) {
		s := base(byte(len(spans)))
		change(s)
		spans = append(spans, s, base(byte(len(spans)+1)))
	}
	add(func(s *span.Span) { s.Attributes = []span.Attribute{attribute("long", span.String(text))} })
	add(func(s *span.Span) { s.Attributes = []span.Attribute{attribute(text, span.Bytes(text))} })
	add(func(s *span.Span) { s.Name, s.TraceState, s.StatusMessage = text, text, text })
	add(func(s *span.Span) {
		for range 70_000 {
			s.Attributes = append(s.Attributes, attribute("", span.Value{}))
		}
	})
	add(func(s *span.Span) {
		for i := range 1000 {
			s.Events = append(s.Events, span.Event{Time: uint64(i), Name: "event", Attributes: []span.Attribute{attribute("n", span.Int(int64(i))), attribute("text", span.String(text[:60]))}})
		}
	})
	add(func(s *span.Span) { s.Links = make([]span.Link, 70_000) })
	add(func(s *span.Span) {
		s.Resource = &span.Resource{Attributes: []span.Attribute{attribute("r", span.Array([]span.Value{span.String(text)}))}}
	})
	add(func(s *span.Span) { s.Scope = &span.Scope{Name: text, Version: text, SchemaURL: text} })
	add(func(s *span.Span) {
		for i := range 130 {
			s.Attributes = append(s.Attributes, attribute("key", span.Map([]span.Attribute{attribute(text[:i*50/3*3], span.String(text[:300]))})))
		}
	})
	return spans
}

func TestLargeSpansSurviveNettrace(t *testing.T) {
	spans := large()
	events := encode(newThread(), spans...)
	abridged := 0
	for _, e := range events {
		if len(e.Payload) > math.MaxUint16 {
			t.Errorf("payload of %d bytes", len(e.Payload))
		}
		for f, v := range e.Fields() {
			if v.Kind() == ntconv.ValueError || v.Kind() == ntconv.ValueNull {
				t.Errorf("%s: %v", f.Name, v)
			}
			if f.Name == "parts" && v.Uint() > 0 {
				abridged++
			}
		}
	}
	if abridged != len(spans)/2 {
		t.Errorf("want %d spans of several events, got %d", len(spans)/2, abridged)
	}
	got, invalid := decode(t, throughFile(t, events))
	if invalid != 0 {
		t.Errorf("%d invalid", invalid)
	}
	spangen.WantEqual(t, spans, got)
}

// A span of any size close to the maximum of one event round-trips.
func TestSizesAroundOneEvent(t *testing.T) {
	for size := 64_600; size < 65_010; size++ {
		s := &span.Span{Context: span.Context{ID: span.ID{1}}, Scope: &span.Scope{}, Resource: &span.Resource{}}
		s.Attributes = []span.Attribute{{Key: "k", Value: span.String(strings.Repeat("x", size))}}
		trace := ntconvtest.Trace{Info: info, Events: encode(newThread(), s)}
		got, invalid := decode(t, trace.Source())
		if invalid != 0 {
			t.Fatalf("%d bytes: invalid", size)
		}
		spangen.WantEqual(t, []*span.Span{s}, got)
	}
}

// A span with any missing event is counted once, and all other spans are decoded. Events of other threads may come in
// between.
func TestMissingEvents(t *testing.T) {
	spans := large()[:6]
	a, b := encode(newThread(), spans...), encode(newThread(), spans...)
	for skip := range a {
		trace := ntconvtest.Trace{Info: info}
		for i := range a {
			if i != skip {
				trace.Events = append(trace.Events, a[i])
			}
			trace.Events = append(trace.Events, b[i])
		}
		d, n := stored.NewDecoder(stored.Spans, nil), 0
		for _, e := range trace.Events {
			if _, ok := d.Decode(e); ok {
				n++
			}
		}
		d.Finish()
		want := int64(1)
		if lonely := a[skip].Type.Name == "Span" && !isAbstract(a[skip]); lonely {
			want = 0 // no remaining event shows the span
		}
		if n != 2*len(spans)-1 || d.Invalid() != want {
			t.Errorf("without event %d (%s): want %d spans and %d invalid, got %d and %d", skip, a[skip].Type.Name, 2*len(spans)-1, want, n, d.Invalid())
		}
	}
}

func isAbstract(e *ntconv.Event) bool {
	v, _ := e.Field("parts")
	return v.Uint() > 0
}

// Values that are nested too deeply are replaced; the values that contain them are preserved.
func TestDepth(t *testing.T) {
	v := span.String("leaf")
	for range span.MaxDepth {
		v = span.Array([]span.Value{v})
	}
	deep := span.Array([]span.Value{v, span.Int(1)})
	s := &span.Span{Scope: &span.Scope{}, Resource: &span.Resource{}, Attributes: []span.Attribute{{Key: "fits", Value: v}, {Key: "deep", Value: deep}}}
	trace := ntconvtest.Trace{Info: info, Events: encode(newThread(), s)}
	got, _ := decode(t, trace.Source())
	if len(got) != 1 {
		t.Fatal("no span")
	}
	if spangen.Equal(s, got[0]) == nil {
		t.Error("too deep a value is not replaced")
	}
	want := got[0].Attributes[1].Value.Elems()
	if len(want) != 2 || want[1].Int() != 1 {
		t.Errorf("got %v", want)
	}
	s.Attributes, got[0].Attributes = s.Attributes[:1], got[0].Attributes[:1]
	if err := spangen.Equal(s, got[0]); err != nil {
		t.Error("a value of exactly MaxDepth levels is replaced")
	}
}

// A thread other than the capture thread is the thread of the span.
func TestThread(t *testing.T) {
	capture, own := newThread(), newThread()
	s := &span.Span{Scope: &span.Scope{}, Resource: &span.Resource{}}
	for _, e := range encode(capture, s) {
		got, _ := stored.NewDecoder(stored.Spans, nil).Decode(e)
		if got.Thread != nil || got.EndThread != nil || got.Process != capture.Process {
			t.Errorf("thread of the capture: %v", got.Thread)
		}
		e.Thread = own
		if got, _ = stored.NewDecoder(stored.Spans, nil).Decode(e); got.Thread != own || got.EndThread != own || got.Process != own.Process {
			t.Errorf("own thread: %v", got.Thread)
		}
	}
}

// Events with the right names and a different layout are invalid.
func TestOtherLayout(t *testing.T) {
	e := encode(newThread(), &span.Span{})[0]
	other := *e.Type
	other.Fields = other.Fields[:len(other.Fields)-1]
	e.Type = &other
	d := stored.NewDecoder(stored.Spans, nil)
	if _, ok := d.Decode(e); ok || d.Invalid() != 1 || !stored.Spans.Has(&other) {
		t.Errorf("decoded %v, %d invalid", ok, d.Invalid())
	}
}

// FuzzDecoder asserts that no payload makes the Decoder panic, and that decoded spans round-trip.
func FuzzDecoder(f *testing.F) {
	thread := newThread()
	for _, e := range encode(thread, append(large()[:2], rapid.Custom(func(t *rapid.T) *span.Span {
		return spangen.Span([]*span.Scope{{Name: "s"}}, []*span.Resource{{}}).Draw(t, "span")
	}).Example(3))...) {
		if len(e.Payload) < 1000 {
			f.Add(e.Payload, e.Type.Name == "SpanPart")
		}
	}
	f.Fuzz(func(t *testing.T, payload []byte, part bool) {
		types := stored.NewEncoder(stored.Spans).Types()
		e := &ntconv.Event{Type: types[0], Payload: payload, Thread: thread, Capture: thread}
		if part {
			e.Type = types[1]
		}
		d := stored.NewDecoder(stored.Spans, nil)
		s, ok := d.Decode(e)
		if d.Finish(); !ok {
			if d.Invalid() == 0 {
				t.Fatal("neither decoded nor invalid")
			}
			return
		}
		want := spangen.Clone(s)
		trace := ntconvtest.Trace{Info: info, Events: encode(thread, want)}
		got, _ := decode(t, trace.Source())
		spangen.WantEqual(t, []*span.Span{want}, got)
	})
}
