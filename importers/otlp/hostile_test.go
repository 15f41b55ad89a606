package otlp_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/otlp"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/testing/spangen"
	"github.com/ntconv/ntconv/ntconvtest"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

func validSpan(name string) *tracepb.Span {
	return &tracepb.Span{TraceId: []byte("sixteen.letters."), SpanId: []byte("8letters"), Name: name, EndTimeUnixNano: 1}
}

// bothForms returns a message as protobuf and as JSON.
func bothForms(t testing.TB, data *tracepb.TracesData) map[string][]byte {
	return map[string][]byte{"protobuf": marshal(t, data), "JSON": spangen.JSON(data, spangen.Style{})}
}

func oneScope(spans ...*tracepb.Span) *tracepb.TracesData {
	return &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: spans}}}}}
}

// Spans with invalid IDs are skipped and counted; the spans around them are not affected.
func TestInvalidIDs(t *testing.T) {
	for name, change := range map[string]func(*tracepb.Span){
		"trace 15":    func(s *tracepb.Span) { s.TraceId = s.TraceId[:15] },
		"trace 0":     func(s *tracepb.Span) { s.TraceId = nil },
		"trace zeros": func(s *tracepb.Span) { s.TraceId = make([]byte, 16) },
		"span 9":      func(s *tracepb.Span) { s.SpanId = make([]byte, 9) },
		"span zeros":  func(s *tracepb.Span) { s.SpanId = make([]byte, 8) },
		"parent 16":   func(s *tracepb.Span) { s.ParentSpanId = make([]byte, 16) },
	} {
		bad := validSpan("bad")
		change(bad)
		for form, input := range bothForms(t, oneScope(validSpan("a"), bad, validSpan("b"))) {
			var report ntconv.Report
			got, err := read(bytes.NewReader(input), &otlp.Options{Report: &report})
			if err != nil || len(got) != 2 || got[0].Name != "a" || got[1].Name != "b" || report.Count(ntconv.CodeRowSkipped) != 1 {
				t.Errorf("%s, %s: %d spans, %v, %v", name, form, len(got), err, report.Entries())
			}
			if detail := report.Entries()[0].Detail; !strings.Contains(detail, "span 1") {
				t.Errorf("%s, %s: no place in %q", name, form, detail)
			}
		}
	}
}

// A parent of zeros means no parent. A link of zeros is kept, and a link with IDs of the wrong length is skipped.
func TestZeroIDs(t *testing.T) {
	s := validSpan("s")
	s.ParentSpanId = make([]byte, 8)
	s.Links = []*tracepb.Span_Link{{TraceId: make([]byte, 16), SpanId: make([]byte, 8)}, {TraceId: make([]byte, 3)}, {}}
	for form, input := range bothForms(t, oneScope(s)) {
		var report ntconv.Report
		got, err := read(bytes.NewReader(input), &otlp.Options{Report: &report})
		if err != nil || len(got) != 1 || !got[0].ParentID.IsZero() || len(got[0].Links) != 2 || report.Count(ntconv.CodeRowSkipped) != 1 {
			t.Errorf("%s: %v, %v, %v", form, got, err, report.Entries())
		}
	}
}

// nested returns a value of that many levels of arrays and lists.
func nested(levels int) *commonpb.AnyValue {
	v := &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: "leaf"}}
	for i := range levels {
		if i%2 == 0 {
			v = &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: &commonpb.ArrayValue{Values: []*commonpb.AnyValue{v}}}}
		} else {
			list := []*commonpb.KeyValue{{Key: "k", Value: v}}
			v = &commonpb.AnyValue{Value: &commonpb.AnyValue_KvlistValue{KvlistValue: &commonpb.KeyValueList{Values: list}}}
		}
	}
	return v
}

func depthOf(v span.Value) int {
	switch v.Kind() {
	case span.ValueArray:
		return 1 + depthOf(v.Elems()[0])
	case span.ValueMap:
		return 1 + depthOf(v.Members()[0].Value)
	}
	return 0
}

// Values deeper than the limit lose only the parts that are too deep, which are counted; all others are complete.
func TestDepthLimit(t *testing.T) {
	for _, test := range []struct{ limit, levels, want int }{
		{0, 64, 64}, {0, 65, 64}, {3, 3, 3}, {3, 4, 3}, {3, 2000, 3}, {5000, 1001, 1000},
	} {
		s := validSpan("s")
		s.Attributes = []*commonpb.KeyValue{{Key: "deep", Value: nested(test.levels)}, {Key: "after"}}
		for form, input := range bothForms(t, oneScope(s)) {
			var report ntconv.Report
			got, err := read(bytes.NewReader(input), &otlp.Options{Report: &report, Limits: otlp.Limits{Depth: test.limit}})
			if err != nil || len(got) != 1 || len(got[0].Attributes) != 2 {
				t.Fatal(form, len(got), err)
			}
			cut := report.Count(ntconv.CodeNotCarried) > 0
			if n := depthOf(got[0].Attributes[0].Value); n != test.want || cut != (test.levels > test.want) {
				t.Errorf("%s: %d levels with limit %d: want %d, got %d, counted: %v", form, test.levels, test.limit, test.want, n, cut)
			}
		}
	}
}

// Invalid UTF-8 is replaced and counted.
func TestInvalidUTF8(t *testing.T) {
	b := proto.Clone(oneScope(validSpan("caf\u00e9"))).(*tracepb.TracesData)
	for form, input := range bothForms(t, b) {
		input = bytes.ReplaceAll(input, []byte("\u00e9"), []byte{0xe9, 'x'})
		var report ntconv.Report
		got, err := read(bytes.NewReader(input), &otlp.Options{Report: &report})
		if err != nil || len(got) != 1 || got[0].Name != "caf\ufffdx" || report.Count(ntconv.CodeRepaired) != 1 {
			t.Errorf("%s: %v, %v, %v", form, got, err, report.Entries())
		}
	}
}

// Unknown fields are counted, on every level.
func TestUnknownFields(t *testing.T) {
	unknown := protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 7)
	s := append(marshal(t, validSpan("s")), unknown...)
	s = append(s, bytesField(15, unknown)...)
	s = append(s, bytesField(11, unknown)...)
	s = append(s, bytesField(13, unknown)...)
	s = append(s, bytesField(9, append(bytesField(2, unknown), unknown...))...)
	scope := append(append(bytesField(2, s), bytesField(1, unknown)...), unknown...)
	group := append(append(bytesField(2, scope), bytesField(1, append(bytesField(3, unknown), unknown...))...), unknown...)
	input := append(bytesField(1, group), unknown...)
	input = append(input, 99<<3&0x7f|3|0x80, 99>>4, 8, 1, 99<<3&0x7f|4|0x80, 99>>4) // a group
	var report ntconv.Report
	got, err := read(bytes.NewReader(input), &otlp.Options{Report: &report})
	if err != nil || len(got) != 1 || got[0].Name != "s" || report.Count(ntconv.CodeNotCarried) != 13 {
		t.Errorf("%d spans, %v, %v", len(got), err, report.Entries())
	}
	text := `{"x":{"y":[1]},"resourceSpans":[{"x":1,"scopeSpans":[{"x":[{}],"scope":{"x":null},"spans":[
		{"x":"y","traceId":"00000000000000000000000000000001","spanId":"0000000000000001","name":"s","attributes":[{"x":1,"value":{"x":1}}]}]}]}]}`
	report = ntconv.Report{}
	got, err = read(strings.NewReader(text), &otlp.Options{Report: &report})
	if err != nil || len(got) != 1 || got[0].Name != "s" || report.Count(ntconv.CodeNotCarried) != 7 {
		t.Errorf("JSON: %d spans, %v, %v", len(got), err, report.Entries())
	}
}

// A corrupt part affects only itself as long as the lengths around it are correct.
func TestCorruptParts(t *testing.T) {
	good := bytesField(2, marshal(t, validSpan("good")))
	broken := bytesField(2, []byte{0x0a, 0xff})
	for name, input := range map[string][]byte{
		"span":     bytesField(1, bytesField(2, append(broken, good...))),
		"scope":    append(bytesField(1, bytesField(2, []byte{0x0f})), bytesField(1, bytesField(2, good))...),
		"group":    append(bytesField(1, []byte{0x12}), bytesField(1, bytesField(2, good))...),
		"resource": bytesField(1, append(bytesField(1, []byte{0x0a, 0x09}), bytesField(2, good)...)),
	} {
		var report ntconv.Report
		got, err := read(bytes.NewReader(input), &otlp.Options{Report: &report})
		n := report.Count(ntconv.CodeCorrupt) + report.Count(ntconv.CodeRowSkipped)
		if err != nil || len(got) != 1 || got[0].Name != "good" || n != 1 {
			t.Errorf("%s: %v, %v, %v", name, got, err, report.Entries())
		}
	}
	for name, text := range map[string]string{
		"span": `[1,{"traceId":5},{"name":{}},GOOD]`, "resource": `[GOOD]},{"scope":[]}]},{"resource":7,"scopeSpans":[{"spans":[]`,
	} {
		text = strings.ReplaceAll(text, "GOOD", `{"traceId":"00000000000000000000000000000001","spanId":"0000000000000001","name":"good"}`)
		var report ntconv.Report
		got, err := read(strings.NewReader(`{"resourceSpans":[{"scopeSpans":[{"spans":`+text+`}]}]}`), &otlp.Options{Report: &report})
		n := report.Count(ntconv.CodeCorrupt) + report.Count(ntconv.CodeRowSkipped)
		if err != nil || len(got) != 1 || got[0].Name != "good" || n == 0 {
			t.Errorf("JSON %s: %v, %v, %v", name, got, err, report.Entries())
		}
	}
}

// Inputs that are not OTLP, or only the beginning of it, are errors with a sentinel and do not need memory.
func TestHostileInputs(t *testing.T) {
	group := append([]byte{0x0a}, binary.AppendUvarint(nil, 1<<30)...)
	for _, test := range []struct {
		name  string
		input []byte
		want  error
	}{
		{"text", []byte("hello"), ntconv.ErrFormat},
		{"ones", bytes.Repeat([]byte{0xff}, 100), ntconv.ErrFormat},
		{"zeros", make([]byte, 100), ntconv.ErrFormat},
		{"length beyond the input", []byte{0x0a, 0x7f, 0x12}, ntconv.ErrTruncated},
		{"length beyond the limit", group, ntconv.ErrLimit},
		{"huge varint", append([]byte{0x0a}, bytes.Repeat([]byte{0xff}, 20)...), ntconv.ErrCorrupt},
		{"2^64", append([]byte{0x0a}, binary.AppendUvarint(nil, math.MaxUint64)...), ntconv.ErrLimit},
		{"frame beyond the input", append(delimited(marshal(t, oneScope(validSpan("s")))), 0, 0, 0, 9), ntconv.ErrTruncated},
		{"field beyond the frame", append(delimited(marshal(t, oneScope(validSpan("s")))), 0, 0, 0, 3, 0x0a, 0x20, 0x12, 0x0a), ntconv.ErrCorrupt},
		{"end of a group", append(marshal(t, oneScope(validSpan("s"))), 0x14), ntconv.ErrCorrupt},
		{"JSON number", []byte(`[1]`), ntconv.ErrCorrupt},
		{"JSON twice", []byte(`{"resourceSpans":[]} 5`), ntconv.ErrCorrupt},
		{"JSON syntax", []byte(`{"resourceSpans":[{,}]}`), ntconv.ErrCorrupt},
		{"JSON in the middle", []byte(`{"resourceSpans":[{"resource":{"attributes":[`), ntconv.ErrTruncated},
		{"JSON between objects", []byte(`{"resourceSpans":[{}]`), ntconv.ErrTruncated},
		{"JSON beyond the limit", []byte(`{"resourceSpans":[{"resource":"` + strings.Repeat("x", 5<<20)), ntconv.ErrLimit},
	} {
		before := allocated()
		_, err := read(bytes.NewReader(test.input), &otlp.Options{Limits: otlp.Limits{Message: 4 << 20}})
		if !errors.Is(err, test.want) {
			t.Errorf("%s: want %v, got %v", test.name, test.want, err)
		}
		var limit *ntconv.LimitError
		if errors.As(err, &limit) && (limit.Limit != otlp.LimitMessage || limit.Value != 4<<20 || limit.Asked <= limit.Value) {
			t.Errorf("%s: %+v", test.name, limit)
		}
		if n := allocated() - before; n > 64<<20 {
			t.Errorf("%s: allocates %d bytes", test.name, n)
		}
	}
}

// Attributes, events, links and array elements beyond the limit are dropped and counted, at any position.
func TestElementLimit(t *testing.T) {
	const limit = 10
	value := func(v *commonpb.AnyValue) []*commonpb.KeyValue { return []*commonpb.KeyValue{{Key: "k", Value: v}} }
	list := make([]*commonpb.AnyValue, 30)
	pairs := make([]*commonpb.KeyValue, 30)
	for i := range list {
		list[i], pairs[i] = &commonpb.AnyValue{}, &commonpb.KeyValue{Key: "x"}
	}
	elements := func(s *tracepb.Span) int {
		n := len(s.Attributes) + len(s.Events) + len(s.Links)
		for _, e := range s.Events {
			n += len(e.Attributes)
		}
		for _, a := range s.Attributes {
			n += len(a.GetValue().GetArrayValue().GetValues()) + len(a.GetValue().GetKvlistValue().GetValues())
		}
		return n
	}
	for name, s := range map[string]*tracepb.Span{
		"attributes": {Attributes: pairs},
		"events":     {Events: slices.Repeat([]*tracepb.Span_Event{{Name: "e"}}, 30)},
		"links":      {Links: slices.Repeat([]*tracepb.Span_Link{{TraceState: "l"}}, 30)},
		"of events":  {Events: []*tracepb.Span_Event{{Name: "e", Attributes: pairs}}},
		"array":      {Attributes: value(&commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: &commonpb.ArrayValue{Values: list}}})},
		"map":        {Attributes: value(&commonpb.AnyValue{Value: &commonpb.AnyValue_KvlistValue{KvlistValue: &commonpb.KeyValueList{Values: pairs}}})},
	} {
		valid := validSpan("next")
		s.TraceId, s.SpanId = valid.TraceId, []byte("8 other.")
		for form, input := range bothForms(t, oneScope(s, valid)) {
			var report ntconv.Report
			got, err := read(bytes.NewReader(input), &otlp.Options{Report: &report, Limits: otlp.Limits{Elements: limit}})
			if err != nil || len(got) != 2 || got[1].Name != "next" {
				t.Fatalf("%s, %s: %d spans, %v", name, form, len(got), err)
			}
			want := uint64(elements(s) - limit)
			if n := elements(spangen.Proto(got[:1]).ResourceSpans[0].ScopeSpans[0].Spans[0]); n != limit || report.Count(ntconv.CodeNotCarried) != want {
				t.Errorf("%s, %s: %d elements, %d counted; want %d and %d", name, form, n, report.Count(ntconv.CodeNotCarried), limit, want)
			}
		}
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// The times of events never decrease on a thread, and the number of threads is limited, for any order of the spans.
func TestOrder(t *testing.T) {
	const n = 150_000
	for name, end := range map[string]func(i int) uint64{
		"forward": func(i int) uint64 { return uint64(i) }, "backward": func(i int) uint64 { return uint64(n - i) },
		"mixed":                 func(i int) uint64 { return uint64(i*7919) % n },
		"mixed within messages": func(i int) uint64 { return uint64(i/500*500 + i*7919%500) }, "before 1970": func(i int) uint64 { return uint64(-i) },
		"open": func(i int) uint64 { return 0 },
	} {
		var input []byte
		for from := 0; from < n; from += 500 {
			var spans []*tracepb.Span
			for i := from; i < from+500; i++ {
				s := validSpan("s")
				s.StartTimeUnixNano, s.EndTimeUnixNano = uint64(i), end(i)
				spans = append(spans, s)
			}
			input = append(input, marshal(t, oneScope(spans...))...)
		}
		var report ntconv.Report
		src, err := otlp.New(bytes.NewReader(input), &otlp.Options{Report: &report})
		if err != nil {
			t.Fatal(err)
		}
		threads, marks := map[*ntconv.Thread]bool{}, 0
		seen := ntconv.Observe(src, func(e *ntconv.Event) {
			if e.Kind == ntconv.KindMark {
				marks++
				return
			}
			threads[e.Capture] = true
		})
		got, err := drain(seen)
		if err != nil || len(got) != n {
			t.Fatal(name, len(got), err)
		}
		if late := report.Count(ntconv.CodeOutOfOrder) > 0; late != (name == "backward" || name == "mixed") {
			t.Errorf("%s: out of order: %v", name, late)
		}
		if len(threads) > 256 || name == "mixed within messages" && len(threads) > 30 || name == "forward" && len(threads) != 1 || marks != n>>16 {
			t.Errorf("%s: %d threads, %d marks", name, len(threads), marks)
		}
	}
}

// In time order, the events are the sorted events of file order.
func TestByTime(t *testing.T) {
	const n = 70_000
	for name, at := range map[string]func(i int) int{
		"backward": func(i int) int { return n - i }, "mixed": func(i int) int { return i * 7919 % n }, "equal": func(int) int { return 7 },
	} {
		var spans []*tracepb.Span
		for i := range n {
			s := validSpan(fmt.Sprint(i))
			s.EndTimeUnixNano = uint64(at(i))
			spans = append(spans, s)
		}
		input := marshal(t, oneScope(spans...))
		got, err := read(bytes.NewReader(input[:len(input)-1]), &otlp.Options{ByTime: true})
		if !errors.Is(err, ntconv.ErrTruncated) || len(got) != n-1 {
			t.Fatal(name, len(got), err)
		}
		src, err := otlp.New(bytes.NewReader(input), &otlp.Options{ByTime: true})
		if err != nil {
			t.Fatal(err)
		}
		last, events := ntconv.Ticks(0), 0
		for e, err := range ntconv.Events(ntconvtest.Poison(src)) {
			if err != nil || e.Time < last {
				t.Fatalf("%s: event %d at %d after %d: %v", name, events, e.Time, last, err)
			}
			last = e.Time
			if e.Kind == ntconv.KindEvent {
				if v, _ := e.Field("name"); name == "equal" && v.String() != fmt.Sprint(events) {
					t.Fatalf("event %d is %v", events, v)
				}
				events++
			}
		}
		if events != n {
			t.Errorf("%s: %d events", name, events)
		}
	}
}

// Distinct resources are processes with the PIDs that they state, unless a PID is in use; threads are those that
// attributes state.
func TestOwners(t *testing.T) {
	str := func(s string) *commonpb.AnyValue {
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: s}}
	}
	number := func(n int64) *commonpb.AnyValue {
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: n}}
	}
	data := &tracepb.TracesData{}
	for _, r := range [][]*commonpb.KeyValue{
		{{Key: "service.name", Value: str("a")}, {Key: "process.pid", Value: number(42)}, {Key: "host.name", Value: str("h")}},
		{{Key: "process.executable.name", Value: str("b")}, {Key: "process.pid", Value: number(42)}},
		{{Key: "service.name", Value: str("c")}, {Key: "process.pid", Value: number(42)}},
		{{Key: "process.pid", Value: number(-3)}},
		{{Key: "service.name", Value: str("a")}, {Key: "process.pid", Value: number(42)}, {Key: "host.name", Value: str("h")}},
	} {
		s := validSpan("s")
		s.Attributes = []*commonpb.KeyValue{{Key: "thread.id", Value: number(7)}, {Key: "thread.name", Value: str("main")}}
		group := oneScope(s, validSpan("t")).ResourceSpans[0]
		group.Resource = resource(r)
		data.ResourceSpans = append(data.ResourceSpans, group)
	}
	src, err := otlp.New(bytes.NewReader(marshal(t, data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	var first, last *ntconv.Process
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		p := e.Thread.Process
		if first == nil {
			first = p
		}
		last = p
		got = append(got, fmt.Sprintf("%s %d %s %d %s", p.Name, p.PID, p.Host, int64(e.Thread.TID), e.Thread.Name))
		if e.Capture.Process != p || (e.Capture == e.Thread) != (e.Thread.TID == ntconv.TIDUnknown) {
			t.Errorf("capture thread %+v of %+v", e.Capture, e.Thread)
		}
	}
	want := "a 42 h 7 main,a 42 h -1 ,b 42  7 main,b 42  -1 ,c 1  7 main,c 1  -1 , 2  7 main, 2  -1 ,a 42 h 7 main,a 42 h -1 "
	if s := strings.Join(got, ","); s != want || first != last {
		t.Errorf("got %s", s)
	}
}

func resource(attributes []*commonpb.KeyValue) *resourcepb.Resource {
	return &resourcepb.Resource{Attributes: attributes}
}
