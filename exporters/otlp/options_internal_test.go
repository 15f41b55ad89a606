package otlp

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/spangen"
	"github.com/ntconv/ntconv/ntconvtest"
)

// TestSources checks that each source yields the spans of its kind and no others.
func TestSources(t *testing.T) {
	for _, c := range []struct {
		trace   string
		sources Sources
		names   []string // some of them
		others  []string
	}{
		{"alloc-verbose", GC, []string{"GC", "GC pause"}, []string{"JIT"}},
		{"jit", JIT, []string{"JIT"}, []string{"GC"}},
		{"exceptions", Exceptions, []string{"Exception", "Exception catch"}, []string{"JIT"}},
		{"activities", Pairs, []string{"Order", "Deep"}, nil},
		{"activities", Labels | Activities | Imported | GC | JIT | Contention | Exceptions | Requests, nil, []string{"Order"}},
		{"spans-stop", Activities, []string{"order", "pay"}, nil},
		{"spans-stop", Labels | Pairs | Imported, nil, []string{"order"}},
	} {
		checkNames(t, corpus.Trace(t, c.trace), c.sources, c.names, c.others)
	}
	for _, c := range []struct {
		trace         string
		sources       Sources
		names, others []string
	}{
		{"own/waits", Contention, []string{"Lock contention"}, []string{"JIT", "Wait"}},
		{"own/waits", Waits, []string{"Wait"}, []string{"JIT", "Lock contention"}},
		{"own/net-http", Requests, []string{"Request"}, []string{"ResponseContent"}},
	} {
		t.Run(c.trace, func(t *testing.T) {
			checkNames(t, corpus.SharedTrace(t, c.trace), c.sources, c.names, c.others)
		})
	}
}

func checkNames(t *testing.T, f corpus.File, sources Sources, want, others []string) {
	t.Helper()
	var names []string
	for _, s := range spangen.FromProto(convert(t, open(t, f), nil, &Options{Sources: sources})) {
		names = append(names, s.Name)
	}
	for _, name := range want {
		if !slices.Contains(names, name) {
			t.Errorf("%s: %b yields no span %q", f.Name, sources, name)
		}
	}
	for _, name := range others {
		if slices.Contains(names, name) {
			t.Errorf("%s: %b yields a span %q", f.Name, sources, name)
		}
	}
}

// An eventList builds the events that the options are about.
type eventList struct {
	thread *ntconv.Thread
	events []*ntconv.Event
	types  map[string]*ntconv.Type
}

func (r *eventList) add(provider, name string, fields []ntconv.Field, payload []byte, labels ...ntconv.Label) {
	typ := r.types[name]
	if typ == nil {
		typ = &ntconv.Type{Provider: provider, Name: name, ID: uint32(len(r.types) + 1), Fields: fields}
		r.types[name] = typ
	}
	r.events = append(r.events, &ntconv.Event{
		Type: typ, Time: ntconv.Ticks(len(r.events)), Thread: r.thread, Capture: r.thread, Payload: payload, Labels: ntconv.NewLabels(labels), Offset: -1,
	})
}

// activity adds the end of an Activity of a client with tags.
func (r *eventList) activity(id, tags string) {
	text := ntconv.FieldType{Code: ntconv.TypeUTF16String}
	pair := ntconv.FieldType{Code: ntconv.TypeObject, Fields: []ntconv.Field{{Name: "Key", Type: text}, {Name: "Value", Type: text}}}
	pairs := []string{"TraceId", strings.Repeat(id, 2), "SpanId", id, "Kind", "Client", "Tags", tags}
	b := bin.AppendUTF16Z(bin.AppendUTF16Z(nil, "Shop"), "call")
	b = bin.AppendU16(b, uint16(len(pairs)/2))
	for _, s := range pairs {
		b = bin.AppendUTF16Z(b, s)
	}
	r.add("Microsoft-Diagnostics-DiagnosticSource", "ActivityStop", []ntconv.Field{
		{Name: "SourceName", Type: text}, {Name: "ActivityName", Type: text}, {Name: "Arguments", Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &pair}},
	}, b)
}

// record returns an eventList of two spans by labels with three events each, a pair without an end, and two Activities.
func record() ntconv.Source {
	r := &eventList{thread: &ntconv.Thread{TID: 1, Process: shop}, types: map[string]*ntconv.Type{}}
	for i := range 6 {
		trace, id := ntconv.Label{Kind: ntconv.LabelTraceID, ID: [16]byte{1}}, ntconv.Label{Kind: ntconv.LabelSpanID, ID: [16]byte{byte(i / 3), 7: 0xff}}
		r.add("Shop", "Note", nil, nil, trace, id)
	}
	r.add("Shop", "WorkStart", nil, nil)
	r.activity("0102030405060708", "[http.response.status_code, 200]")
	r.activity("0102030405060709", "[url.full, http://localhost:4318/v1/traces]")
	return ntconvtest.NewSource(&ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}, PointerSize: 8}, r.events...)
}

// TestSpanOptions checks the effect of each option that affects which spans exist and what they contain.
func TestSpanOptions(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		want map[string]int // how many spans have a property
		sum  Summary        // its counts of what is special
	}{
		{"default", Options{}, map[string]int{"spans": 4, "status code is a number": 1}, Summary{Unfinished: 1}},
		{"little endian", Options{SpanIDOrder: LittleEndian}, map[string]int{"spans": 4, "status code is a number": 1, "reversed": 2}, Summary{Unfinished: 1}},
		{"two events", Options{MaxEvents: 2}, map[string]int{"spans": 4, "status code is a number": 1, "event dropped": 2}, Summary{Unfinished: 1}},
		{"one open", Options{MaxOpen: 1}, map[string]int{"spans": 4, "status code is a number": 1}, Summary{Unfinished: 1, Evicted: 2}},
		{"open", Options{Unfinished: OpenUnfinished}, map[string]int{"spans": 5, "status code is a number": 1, "no end": 1}, Summary{Unfinished: 1, MadeIDs: 1}},
		{"close", Options{Unfinished: CloseUnfinished}, map[string]int{"spans": 5, "status code is a number": 1, "marked": 1}, Summary{Unfinished: 1, MadeIDs: 1}},
		{"text", Options{Attributes: Text}, map[string]int{"spans": 4, "status code is text": 1}, Summary{Unfinished: 1}},
		{"without the exporter", Options{OmitExporter: true}, map[string]int{"spans": 3, "status code is a number": 1}, Summary{Unfinished: 1, Exporter: 1}},
	} {
		r := &receiver{t: t}
		s := newTestSink(t.Context(), r, &c.o)
		writeAll(t, s, record())
		got := map[string]int{}
		for _, data := range r.raw {
			for _, sp := range spangen.FromProto(data) {
				for property, has := range properties(sp) {
					if has {
						got[property]++
					}
				}
			}
		}
		if !maps.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
		sum := s.Summary()
		if got := (Summary{Unfinished: sum.Unfinished, Evicted: sum.Evicted, MadeIDs: sum.MadeIDs, Exporter: sum.Exporter}); got != c.sum {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.sum)
		}
	}
}

func properties(s *span.Span) map[string]bool {
	code, marked := span.ValueAbsent, false
	for _, a := range s.Attributes {
		switch a.Key {
		case "http.response.status_code":
			code = a.Value.Kind()
		case "ntconv.unfinished":
			marked = true
		}
	}
	return map[string]bool{
		"spans": true, "reversed": s.ID[0] == 0xff, "event dropped": s.DroppedEvents == 1, "no end": s.End == 0, "marked": marked,
		"status code is text": code == span.ValueString, "status code is a number": code == span.ValueInt,
	}
}
