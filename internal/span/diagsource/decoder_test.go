package diagsource_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/diagsource"
	"github.com/ntconv/ntconv/ntconvtest"
)

const epochTicks = 621_355_968_000_000_000

var (
	wall    = time.Date(2026, 11, 21, 7, 43, 34, 0, time.UTC)
	info    = &ntconv.Info{Format: "test", PointerSize: 8, Clock: ntconv.Clock{Freq: 1e9, Wall: wall}}
	process = &ntconv.Process{PID: 7, PointerSize: 8}
	threads = []*ntconv.Thread{{TID: 1, Process: process}, {TID: 2, Process: process}, {TID: 3, Process: &ntconv.Process{PID: 8, PointerSize: 8}}}
	types   = make(map[string]*ntconv.Type)
)

// usual lists the fields of events with a source, a name and arguments.
func usual() []ntconv.Field {
	text := ntconv.FieldType{Code: ntconv.TypeUTF16String}
	pair := ntconv.FieldType{Code: ntconv.TypeObject, Fields: []ntconv.Field{{Name: "Key", Type: text}, {Name: "Value", Type: text}}}
	return []ntconv.Field{{Name: "SourceName", Type: text}, {Name: "ActivityName", Type: text}, {Name: "Arguments", Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &pair}}}
}

// event returns an event of the provider with the given kind, time in nanoseconds, source, name and key=value lines.
func event(kind string, at ntconv.Ticks, thread int, source, name string, lines ...string) *ntconv.Event {
	if types[kind] == nil {
		types[kind] = &ntconv.Type{Provider: diagsource.Provider, ID: uint32(20 + len(types)), Name: kind, Fields: usual()}
	}
	return &ntconv.Event{Type: types[kind], Time: at, Thread: threads[thread], Capture: threads[thread], Offset: -1, Payload: payload(source, name, lines...)}
}

func payload(source, name string, lines ...string) []byte {
	b := bin.AppendUTF16Z(bin.AppendUTF16Z(nil, source), name)
	b = bin.AppendU16(b, uint16(len(lines)))
	for _, line := range lines {
		key, value, _ := strings.Cut(line, "=")
		b = bin.AppendUTF16Z(bin.AppendUTF16Z(b, key), value)
	}
	return b
}

func withActivity(e *ntconv.Event, id byte) *ntconv.Event {
	e.Labels = ntconv.NewLabels([]ntconv.Label{{Kind: ntconv.LabelActivityID, ID: [16]byte{id}}})
	return e
}

func spansOf(t *testing.T, o diagsource.Options, events ...*ntconv.Event) *decoded {
	t.Helper()
	return decodeSource(t, ntconvtest.Poison(ntconvtest.NewSource(info, events...)), o)
}

const (
	traceText = "0af7651916cd43dd8448eb211c80319c"
	idText    = "b7ad6b7169203331"
)

func ticks(at time.Time) int64 { return at.UnixNano()/100 + epochTicks }

func describe(s *span.Span) string {
	var attributes []string
	for _, x := range s.Attributes {
		attributes = append(attributes, x.Key+"="+x.Value.Str())
	}
	return fmt.Sprintf("%s %s<%s %q kind %d from %d to %d flags %x by %q: %s", s.TraceID, s.Context.ID, s.ParentID, s.Name, s.Kind,
		s.Start, s.End, s.Flags, s.Scope.Name, strings.Join(attributes, " "))
}

// TestMonitorHTTP decodes the keys of dotnet-monitor's configuration for HTTP requests, in which Start and Stop have
// different properties.
func TestMonitorHTTP(t *testing.T) {
	start := wall.Add(time.Second)
	id := "ActivityId=00-" + traceText + "-" + idText + "-01"
	ids := []string{"ActivitySpanId=" + idText, "ActivityTraceId=" + traceText, "ActivityParentSpanId=00f067aa0ba902b7", "ActivityIdFormat=W3C"}
	when := fmt.Sprint("ActivityStartTime=", ticks(start))
	in := append([]string{"Scheme=http", "Host=localhost:5199", "PathBase=", "QueryString=?a=b", "Path=/orders/1", "Method=GET", when, id}, ids...)
	out := append([]string{"RequestUri=http://localhost:5199/orders/1", "Method=GET", "Host=localhost", "Port=5199", when, id}, ids...)
	const common = traceText + " " + idText + "<00f067aa0ba902b7 "
	times := fmt.Sprintf("from %d to %d flags 1 ", start.UnixNano(), start.UnixNano()+2000)
	cases := []struct {
		pair, source, name string
		start, stop        []string
		want               string
	}{
		{
			"Activity1", "Microsoft.AspNetCore", "Microsoft.AspNetCore.Hosting.HttpRequestIn", in, []string{id, "Path=/orders/1", "StatusCode=503", "ActivityDuration=20"},
			common + `"Microsoft.AspNetCore.Hosting.HttpRequestIn" kind 2 ` + times + `by "Microsoft.AspNetCore": url.path=/orders/1 http.response.status_code=503 ` +
				"http.request.method=GET url.scheme=http server.address=localhost server.port=5199 url.query=a=b",
		},
		{
			"Activity2", "HttpHandlerDiagnosticListener", "System.Net.Http.HttpRequestOut", out, []string{"ActivityDuration=20", "StatusCode=NotFound", id},
			common + `"System.Net.Http.HttpRequestOut" kind 3 ` + times + `by "HttpHandlerDiagnosticListener": http.response.status_code=404 ` +
				"http.request.method=GET server.address=localhost server.port=5199 url.full=http://localhost:5199/orders/1",
		},
	}
	for _, c := range cases {
		got := spansOf(t, diagsource.Options{}, event(c.pair+"Start", 5, 0, c.source, c.name+".Start", c.start...), event(c.pair+"Stop", 6, 1, c.source, c.name+".Stop", c.stop...))
		if len(got.spans) != 1 || describe(got.spans[0]) != c.want || got.spans[0].Thread != threads[0] || got.spans[0].EndThread != threads[1] {
			t.Errorf("%s: got %d spans %s\nwant %s", c.name, len(got.spans), describe(got.spans[0]), c.want)
		}
	}
}

// properties is a specification of all properties. Each key has several spellings.
var properties = [][2]string{
	{"TraceId|trace_id|ActivityTraceId", traceText}, {"SpanId|span-id|ActivitySpanId", idText}, {"ParentSpanId|parent.span.id", "00f067aa0ba902b7"},
	{"ActivityTraceFlags|TraceFlags|flags", "Recorded"}, {"TraceStateString|TraceState|trace_state", "a=b"}, {"Kind|ActivityKind", "Client"},
	{"DisplayName|Name|display_name", "GET"}, {"StartTimeTicks|StartTicks|ActivityStartTime|Ticks", fmt.Sprint(ticks(wall))},
	{"DurationTicks|ActivityDuration|Ticks", "15"}, {"Status|ActivityStatus|StatusCode", "Error"}, {"StatusDescription|StatusMessage", "late"},
	{"Tags|TagObjects", "[a, b],[c, d]"}, {"ActivitySourceVersion|SourceVersion|Version", "1.2"}, {"Source|SourceName|ActivitySource", "Shop"},
	{"SchemaUrl|TelemetrySchemaUrl|schema_url", "https://x"}, {"SourceTags|ScopeTags", "[team, till]"}, {"HasRemoteParent|remote_parent", "True"},
	{"Recorded", "True"}, {"IsAllDataRequested", "True"}, {"Id|ActivityId", "00-" + traceText + "-" + idText + "-01"},
	{"Events", "[(e,\u200b2026-11-21T07:43:34.0000000+00:00,\u200b[k:\u200bv])]"}, {"Links|ActivityLinks", "[(" + traceText + ",\u200b" + idText + ",\u200bNone,\u200bnull,\u200btrue)]"},
}

// TestAnyKeys decodes the same Activity with keys in many orders and spellings.
func TestAnyKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var first *span.Span
	for range 300 {
		var lines []string
		for _, i := range r.Perm(len(properties)) {
			names := strings.Split(properties[i][0], "|")
			lines = append(lines, names[r.IntN(len(names))]+"="+properties[i][1])
		}
		got := spansOf(t, diagsource.Options{}, event("ActivityStop", 5, 0, "Shop", "operation", lines...))
		if len(got.spans) != 1 {
			t.Fatalf("%d spans of %q", len(got.spans), lines)
		}
		s := got.spans[0]
		if first == nil {
			first = s
			want := traceText + " " + idText + `<00f067aa0ba902b7 "GET" kind 3 from ` + fmt.Sprintf("%d to %d", wall.UnixNano(), wall.UnixNano()+1500) +
				` flags 301 by "Shop": a=b c=d`
			if describe(s) != want || s.Status != span.StatusError || s.StatusMessage != "late" || s.Scope.SchemaURL != "https://x" || s.TraceState != "a=b" ||
				len(s.Events) != 1 || len(s.Links) != 1 || s.Links[0].Flags != 0x300 || s.NotRecorded {
				t.Fatalf("got  %s %+v\nwant %s", describe(s), s, want)
			}
		}
		if !reflect.DeepEqual(s, first) {
			t.Fatalf("keys %q\ngive %s %+v\nwant %s %+v", lines, describe(s), s, describe(first), first)
		}
	}
}

// TestOtherKeys checks that unknown keys of a specification become attributes, unless the value is the name of a type.
func TestOtherKeys(t *testing.T) {
	got := spansOf(t, diagsource.Options{}, event("ActivityStop", 5, 0, "Shop", "order", "TraceId="+traceText, "SpanId="+idText, "Customer=Ann", "Context=System.Diagnostics.ActivityContext",
		"Basket=System.Object", "Method=POST", "Nothing=", "Baggage=[a, b]", "OperationName=order"))
	if want := "Customer=Ann Method=POST"; !strings.HasSuffix(describe(got.spans[0]), ": "+want) {
		t.Errorf("got %s, want the attributes %s", describe(got.spans[0]), want)
	}
}

// TestPairsWithoutIDs matches Start and Stop events without IDs.
func TestPairsWithoutIDs(t *testing.T) {
	in := func(kind, name string, at ntconv.Ticks, thread int, lines ...string) *ntconv.Event {
		return event(kind, at, thread, "Listener", name, lines...)
	}
	cases := []struct {
		name   string
		events []*ntconv.Event
		want   string // name, start, end of each span
	}{
		{"on a thread", []*ntconv.Event{in("Activity1Start", "BeginRequest", 10, 0, "Method=GET"), in("Activity1Stop", "EndRequest", 30, 0)}, "BeginRequest 10-30"},
		{"nested on a thread", []*ntconv.Event{
			in("RecursiveActivity1Start", "Call", 10, 0), in("RecursiveActivity1Start", "Call", 20, 0), in("RecursiveActivity1Stop", "Call", 30, 0), in("RecursiveActivity1Stop", "Call", 40, 0),
		}, "Call 20-30 Call 10-40"},
		{"by activity ID", []*ntconv.Event{
			withActivity(in("Activity1Start", "A", 10, 0), 1), withActivity(in("Activity1Start", "B", 20, 0), 2), withActivity(in("Activity1Stop", "A", 30, 1), 1), withActivity(in("Activity1Stop", "B", 40, 1), 2),
		}, "A 10-30 B 20-40"},
		{"by request", []*ntconv.Event{
			in("Event", "Http.In.Start", 10, 0, "TraceIdentifier=x"), in("Event", "Http.In.Start", 20, 0, "TraceIdentifier=y"),
			in("Event", "Http.In.Stop", 30, 1, "TraceIdentifier=x"), in("Event", "Http.In.Stop", 40, 1, "TraceIdentifier=y"),
		}, "Http.In 10-30 Http.In 20-40"},
		{"other pair", []*ntconv.Event{in("Activity1Start", "A", 10, 0), in("Activity2Stop", "A", 20, 0)}, "A 10-unfinished"},
		{"other process", []*ntconv.Event{in("Activity1Start", "A", 10, 0), in("Activity1Stop", "A", 20, 2)}, "A 10-unfinished"},
		{"no phase", []*ntconv.Event{in("Event", "BeginRequest", 10, 0), in("Event", ".Start", 10, 0), in("Message", "x.Start", 10, 0)}, ""},
		{"of a source", []*ntconv.Event{in("ActivityStart", "A", 10, 0), in("ActivityStart", "B", 20, 0), in("ActivityStop", "A", 30, 0), in("ActivityStop", "B", 40, 0)}, "A 10-30 B 20-40"},
		{"stop alone", []*ntconv.Event{in("ActivityStop", "A", 30, 0)}, "A 30-30"},
	}
	for _, c := range cases {
		got := spansOf(t, diagsource.Options{}, c.events...)
		var have []string
		ids := make(map[span.ID]bool)
		for _, s := range got.spans {
			end := "unfinished"
			if !s.Unfinished {
				end = fmt.Sprint(int64(s.End) - wall.UnixNano())
			}
			have = append(have, fmt.Sprintf("%s %d-%s", s.Name, int64(s.Start)-wall.UnixNano(), end))
			ids[s.Context.ID] = true
			if !s.MadeID || s.TraceID.IsZero() || s.Context.ID.IsZero() {
				t.Errorf("%s: span %q has the IDs %v, made %t", c.name, s.Name, s.Context, s.MadeID)
			}
		}
		if strings.Join(have, " ") != c.want || len(ids) != len(got.spans) {
			t.Errorf("%s: got %q with %d IDs, want %q", c.name, have, len(ids), c.want)
		}
	}
}

// TestOpenLimit checks that the oldest Activity ends when too many are open, and all others at the end.
func TestOpenLimit(t *testing.T) {
	var events []*ntconv.Event
	for i := range 5 {
		events = append(events, event("ActivityStart", ntconv.Ticks(i), 0, "Shop", fmt.Sprint(i), "TraceId="+traceText, fmt.Sprintf("SpanId=%016x", i+1)))
	}
	events = append(events, event("ActivityStop", 9, 0, "Shop", "3", "TraceId="+traceText, "SpanId=0000000000000004"))
	got := spansOf(t, diagsource.Options{MaxOpen: 2}, events...)
	if n := got.report.Count(ntconv.CodeNotCarried); n != 3 {
		t.Errorf("%d evictions are reported: %v", n, got.report.Entries())
	}
	var names []string
	for _, s := range got.spans {
		names = append(names, fmt.Sprint(s.Name, s.Unfinished))
	}
	if want := []string{"0true", "1true", "2true", "3false", "4true"}; !slices.Equal(names, want) || got.counts.Evicted != 3 || len(got.started) != 5 {
		t.Errorf("got %q, %d started, %+v; want %q", names, len(got.started), got.counts, want)
	}
}

// TestSourceAndListener checks that a request recorded by a source and by a listener is one span.
func TestSourceAndListener(t *testing.T) {
	ids := []string{"TraceId=" + traceText, "SpanId=" + idText, fmt.Sprint("StartTimeTicks=", ticks(wall))}
	id := "ActivityId=00-" + traceText + "-" + idText + "-01"
	source := func(kind string, at ntconv.Ticks) *ntconv.Event {
		return event(kind, at, 0, "Microsoft.AspNetCore", "In", append(ids, "DurationTicks=1", "Tags=[a, b]")...)
	}
	listener := func(kind string, at ntconv.Ticks, lines ...string) *ntconv.Event {
		return event(kind, at, 0, "Listener", "In", append(lines, id)...)
	}
	got := spansOf(t, diagsource.Options{}, source("ActivityStart", 1), listener("Activity1Start", 2, "Method=GET"), listener("Activity1Stop", 3, "StatusCode=200"), source("ActivityStop", 4))
	if len(got.spans) != 1 || !strings.HasSuffix(describe(got.spans[0]), `by "Microsoft.AspNetCore": a=b http.request.method=GET http.response.status_code=200`) || got.counts != (diagsource.Counts{}) {
		t.Errorf("start and stop: %d spans, %+v: %s", len(got.spans), got.counts, describe(got.spans[0]))
	}
	got = spansOf(t, diagsource.Options{}, listener("Activity1Start", 2, "Method=GET"), listener("Activity1Stop", 3, "StatusCode=200"), source("ActivityStop", 4))
	if len(got.spans) != 1 || got.counts != (diagsource.Counts{Duplicate: 1}) {
		t.Errorf("stop alone: %d spans, %+v", len(got.spans), got.counts)
	}
	got = spansOf(t, diagsource.Options{}, event("Activity1Stop", 3, 0, "Listener", "In"))
	if len(got.spans) != 0 || got.counts != (diagsource.Counts{Unmatched: 1}) {
		t.Errorf("listener's stop alone: %d spans, %+v", len(got.spans), got.counts)
	}
}

// TestBadValues checks that a span with any values has IDs, and an end that is not before its start.
func TestBadValues(t *testing.T) {
	id := []string{"TraceId=" + traceText, "SpanId=" + idText}
	cases := []struct {
		name  string
		lines []string
		want  string
		made  bool
	}{
		{"short IDs", []string{"TraceId=0af765", "SpanId=" + idText + "00", "ParentSpanId=xyz"}, "34000000000+0", true},
		{"no hexadecimal IDs", []string{"TraceId=" + strings.Repeat("g", 32), "SpanId=" + strings.Repeat("é", 16)}, "34000000000+0", true},
		{"zero IDs", []string{"TraceId=" + strings.Repeat("0", 32), "SpanId=" + strings.Repeat("0", 16)}, "34000000000+0", true},
		{"no trace ID", []string{"SpanId=" + idText, "ParentSpanId=" + idText}, "34000000000+0", true},
		{"bad Id", []string{"Id=00-" + traceText + "-" + strings.Repeat("0", 16) + "-01"}, "34000000000+0", true},
		{"the year 9999", append(id, "StartTimeTicks=3155378975999999999", "DurationTicks=10"), "33999999000+1000", false},
		{"more than 64 bits", append(id, "StartTimeTicks=99999999999999999999", "DurationTicks=10"), "33999999000+1000", false},
		{"the year 1", append(id, "StartTimeTicks=0", "DurationTicks=10"), "33999999000+1000", false},
		{"negative duration", append(id, fmt.Sprint("StartTimeTicks=", ticks(wall.Add(time.Hour))), "DurationTicks=-10"), "3634000000000+0", false},
		{"endless", append(id, fmt.Sprint("StartTimeTicks=", ticks(wall)), "DurationTicks=9223372036854775807"), fmt.Sprint("34000000000+", 1<<63-1-wall.UnixNano()), false},
		{"bad strings", append(id, "StartTimeUtc=yesterday", "Duration=1.5 h"), "34000000000+0", false},
	}
	for _, c := range cases {
		got := spansOf(t, diagsource.Options{}, event("ActivityStop", 0, 0, "Shop", "x", c.lines...))
		s := got.spans[0]
		when := fmt.Sprintf("%d+%d", int64(s.Start)-wall.Truncate(time.Minute).UnixNano(), s.End-s.Start)
		if when != c.want || s.MadeID != c.made || s.TraceID.IsZero() || s.Context.ID.IsZero() || !s.ParentID.IsZero() {
			t.Errorf("%s: %s, made %t; want %s, made %t: %s", c.name, when, s.MadeID, c.want, c.made, describe(s))
		}
	}
}

// TestLayouts decodes payloads with unusual layouts, and payloads of traces whose metadata do not describe arrays.
func TestLayouts(t *testing.T) {
	lines := []string{"TraceId=" + traceText, "SpanId=" + idText, "DisplayName=é", "Tags=[a, b]"}
	usualEvent := event("ActivityStop", 5, 0, "Shop", "x", lines...)
	want := spansOf(t, diagsource.Options{}, usualEvent).spans[0]

	bare := *usualEvent
	bare.Type = &ntconv.Type{Provider: diagsource.Provider, ID: 14, Name: "ActivityStop"}
	unit := ntconv.FieldType{Code: ntconv.TypeUTF8Unit}
	text := ntconv.FieldType{Code: ntconv.TypeArray, Elem: &unit}
	pair := ntconv.FieldType{Code: ntconv.TypeObject, Fields: []ntconv.Field{{Name: "Value", Type: text}, {Name: "Key", Type: text}}}
	other := *usualEvent
	other.Type = &ntconv.Type{Provider: diagsource.Provider, ID: 14, Name: "ActivityStop", Fields: []ntconv.Field{
		{Name: "Arguments", Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &pair}}, {Name: "ActivityName", Type: text}, {Name: "SourceName", Type: text},
	}}
	var pairs []ntconv.Value
	for _, line := range lines {
		key, value, _ := strings.Cut(line, "=")
		pairs = append(pairs, ntconv.ObjectValue(ntconv.StringValue(value), ntconv.StringValue(key)))
	}
	var err error
	other.Payload, err = ntconv.AppendFields(nil, other.Type.Fields, []ntconv.Value{ntconv.ListValue(pairs...), ntconv.StringValue("x"), ntconv.StringValue("Shop")}, 8)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []*ntconv.Event{&bare, &other} {
		if got := spansOf(t, diagsource.Options{}, e); len(got.spans) != 1 || !reflect.DeepEqual(got.spans[0], want) {
			t.Errorf("fields %v: %d spans, counts %+v, want %s", e.Type.Fields, len(got.spans), got.counts, describe(want))
		}
	}
	for n := range len(usualEvent.Payload) {
		cut := *usualEvent
		cut.Payload = cut.Payload[:n]
		if got := spansOf(t, diagsource.Options{}, &cut); len(got.spans) != 0 || got.counts.Invalid != 1 || got.report.Count(ntconv.CodePayload) != 1 {
			t.Fatalf("%d of %d bytes: %d spans, counts %+v", n, len(usualEvent.Payload), len(got.spans), got.counts)
		}
	}
}

// TestRemoteParentOfStart checks that properties of the parent that only the Start event has are preserved.
func TestRemoteParentOfStart(t *testing.T) {
	ids := []string{"TraceId=" + traceText, "SpanId=" + idText, "ActivityTraceFlags=Recorded"}
	for text, want := range map[string]uint32{"True": 0x301, "False": 0x101} {
		got := spansOf(t, diagsource.Options{},
			event("ActivityStart", 1, 0, "Shop", "a", append(ids, "HasRemoteParent="+text)...), event("ActivityStop", 2, 0, "Shop", "a", ids...))
		if len(got.spans) != 1 || got.spans[0].Flags != want {
			t.Errorf("%s: %d spans, flags %#x, want %#x", text, len(got.spans), got.spans[0].Flags, want)
		}
	}
}
