package diagsource_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/diagsource"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/schema"
)

// FuzzTexts splits the text of tags, events and links. Joining the parts yields the original text.
func FuzzTexts(f *testing.F) {
	for _, s := range []string{
		"[a, b],[c, d]", "[a, x],[y],[b, z]", "a:b, c:d", "a:b, c, d:e", "[],[", "[[[[", "]]]],[, ],[", "System.Diagnostics.ActivityEvent,System.Diagnostics.ActivityEvent",
		"[(e,\u200b2026-11-21T07:43:34.0000000+00:00,\u200b[k:\u200bv]),\u200b(f,\u200b2026-11-21T07:43:34Z,\u200b[])]",
		"[(" + traceText + ",\u200b" + idText + ",\u200bRecorded,\u200ba=b,\u200btrue,\u200b[k:\u200bv])]",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tags := diagsource.AppendTags(nil, s)
		if len(tags) > 0 && join(s, tags) != s {
			t.Errorf("%q gives %v, which is %q", s, tags, join(s, tags))
		}
		l := diagsource.NewLists(true)
		lost := l.ParseEvents(s) + l.ParseLinks(s)
		size := 0
		for _, e := range l.Events() {
			size += len(e.Name) + sizeOf(e.Attributes)
		}
		for _, x := range l.Links() {
			size += len(x.TraceState) + sizeOf(x.Attributes)
		}
		if size > len(s) || int(lost) > 2*len(s)+2 || len(l.Events())+len(l.Links()) > len(s) {
			t.Errorf("%d bytes give %d events, %d links, %d dropped, %d bytes of text", len(s), len(l.Events()), len(l.Links()), lost, size)
		}
	})
}

func sizeOf(attributes []span.Attribute) (n int) {
	for _, x := range attributes {
		n += len(x.Key) + len(x.Value.Str())
	}
	return n
}

// join formats tags in the form of the text.
func join(text string, tags []span.Attribute) string {
	before, separator, after, between := "", ":", "", ", "
	if text[0] == '[' && text[len(text)-1] == ']' && len(text) > 1 {
		before, separator, after, between = "[", ", ", "]", ","
	}
	if len(tags) == 1 && !strings.Contains(text, separator) {
		return before + tags[0].Key + after
	}
	parts := make([]string, len(tags))
	for i, x := range tags {
		parts[i] = before + x.Key + separator + x.Value.Str() + after
	}
	return strings.Join(parts, between)
}

// FuzzDecoder decodes any payloads as a Start and a Stop event. Every span must have IDs, a scope and an end that is
// not before its start. There must be no more spans than events, and earlier events must not affect the result.
func FuzzDecoder(f *testing.F) {
	f.Add(payload("Shop", "order", "TraceId="+traceText, "SpanId="+idText, "Tags=[a, b],[c, d]", "StartTimeTicks=639308438133429561"),
		payload("Shop", "order", "TraceId="+traceText, "SpanId="+idText, "DurationTicks=5", "Events=[(e,\u200b2026-11-21T07:43:34.0000000+00:00,\u200b[])]"), byte(0))
	f.Add(payload("Shop", "order.Start", "Id=|a.1.", "ParentId=|a.", "Duration=00:00:01.5", "StartTimeUtc=11/21/2026 07:43:34"), payload("Shop", "order.Stop", "Id=|a.1."), byte(2))
	for _, path := range []string{"testdata/otel-spans-both.nettrace.zst", "testdata/otel-web-stop.nettrace.zst"} {
		_, events := eventsOf(f, corpus.Read(f, path))
		for i := 1; i < len(events); i += 5 {
			f.Add(events[i-1].event.Payload, events[i].event.Payload, byte(i))
		}
	}
	pairs := [...]string{"Activity", "Activity1", "Event", "RecursiveActivity1"}
	f.Fuzz(func(t *testing.T, start, stop []byte, form byte) {
		name, second := pairs[form%4], pairs[form/4%4]
		kinds := [...]string{name + "Start", second + "Stop"}
		for i, n := range [...]string{name, second} {
			if n == "Event" {
				kinds[i] = n
			}
		}
		events := []*ntconv.Event{event(kinds[0], 10, 0, "", ""), event(kinds[1], 20, int(form/16%3), "", "")}
		events[0].Payload, events[1].Payload = start, stop
		want := run(t, events)
		before := event("ActivityStop", 5, 0, "Before", "before", "TraceId="+traceText, "SpanId=ffffffffffffffff", "Tags=[x, y],[z, 1]", "Links=x", "Events=x", "Kind=Client",
			"StartTimeTicks=639308438133429561", "DurationTicks=7", "Other=o", "ActivityTraceFlags=Recorded", "Status=Error", "TraceStateString=x", "Id=x", "ParentId=y")
		if got := run(t, append([]*ntconv.Event{before}, events...)); !reflect.DeepEqual(got[1:], want) && len(got)+len(want) > 1 {
			t.Errorf("spans depend on what was decoded before: %v, want %v", got[1:], want)
		}
	})
}

func run(t *testing.T, events []*ntconv.Event) (spans []*span.Span) {
	t.Helper()
	n := 0
	check := func(s *span.Span, ended bool) {
		if s.TraceID.IsZero() || s.Context.ID.IsZero() || s.Scope == nil || s.Evidence != span.FromActivity {
			t.Fatalf("span without an ID or a scope: %+v", s)
		}
		if ended && int64(s.End) < int64(s.Start) || !ended && s.End != 0 {
			t.Fatalf("span %q from %d to %d", s.Name, int64(s.Start), int64(s.End))
		}
	}
	d := diagsource.New(info, func(e *ntconv.Event, s *span.Span) {
		n++
		check(s, !s.Unfinished)
		c := diagsource.Clone(s)
		if len(c.Attributes) == 0 {
			c.Attributes = nil
		}
		if len(c.Events) == 0 {
			c.Events = nil
		}
		if len(c.Links) == 0 {
			c.Links = nil
		}
		spans = append(spans, c)
	}, &diagsource.Options{MaxOpen: 3, Started: func(_ *ntconv.Event, s *span.Span) { check(s, false) }})
	var table schema.Table
	for _, e := range events {
		d.Add(e, table.Of(e))
	}
	d.Finish()
	if n > len(events) {
		t.Fatalf("%d spans of %d events", n, len(events))
	}
	return spans
}

// TestHostileTexts checks that adversarial strings are decoded in time proportional to their size.
func TestHostileTexts(t *testing.T) {
	const n = 1 << 17
	inputs := []string{
		strings.Repeat("],[", n/3), "[" + strings.Repeat("a, b],[", n/7) + "]", "[" + strings.Repeat("],[", n/3) + "]", "[a, " + strings.Repeat("],[x", n/4) + "]",
		strings.Repeat(":", n), strings.Repeat("a:b, ", n/5), strings.Repeat(", ", n/2), "a:" + strings.Repeat(", a", n/3), strings.Repeat("[", n), strings.Repeat(",", n),
		"[" + strings.Repeat("[otel.status_code, OK],", n/23) + "[otel.status_code, OK]]", "[(" + strings.Repeat("),\u200b(", n/6) + ")]", "[(" + strings.Repeat(",\u200b", n/4) + ")]",
		"[(e,\u200b2026-11-21T07:43:34.0000000+00:00,\u200b[" + strings.Repeat("a:\u200bb,\u200b", n/9) + "])]", strings.Repeat("System.", n/7), "System.Diagnostics.ActivityLink" + strings.Repeat(",", n),
	}
	for _, text := range inputs {
		for _, key := range []string{"Tags", "Events", "Links", "SourceTags", "Id", "ParentId", "StartTimeUtc", "Duration", "DisplayName", "ActivityTraceFlags"} {
			got := spansOf(t, diagsource.Options{Convention: true}, event("ActivityStart", 1, 0, "Shop", "x", key+"="+text), event("ActivityStop", 5, 0, "Shop", "x", key+"="+text))
			for _, s := range got.spans {
				if len(s.Attributes)+len(s.Events)+len(s.Links)+len(s.Scope.Attributes) > len(text) || s.DroppedEvents > math.MaxInt32 {
					t.Errorf("%s with %d bytes: %d attributes, %d events, %d links", key, len(text), len(s.Attributes), len(s.Events), len(s.Links))
				}
			}
		}
	}
}
