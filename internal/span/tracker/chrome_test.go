package tracker_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/spangen"
)

// chromeEvents returns the events of a trace for events of Chrome's format in time order, one per line.
func chromeEvents(t testing.TB, text string) (events []*ntconv.Event) {
	t.Helper()
	var parser chromeevent.Parser
	encoder, owners := chromeevent.NewEncoder(), new(chromeevent.Owners)
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		var c chromeevent.Event
		parser.Parse([]byte(strings.TrimSpace(line)), &c)
		thread := owners.Thread(c.PID, c.TID)
		encoder.Encode(&c, &ntconv.Event{Thread: thread, Capture: thread, CPU: ntconv.CPUUnknown, Time: ntconv.Ticks(c.Time)})
		for e := encoder.Next(); e != nil; e = encoder.Next() {
			kept := *e
			kept.Payload = slices.Clone(e.Payload)
			events = append(events, &kept)
		}
	}
	return events
}

func chromeInfo() *ntconv.Info { return &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9, Wall: wall}} }

// chromeSpans returns the spans of events and the counts of the tracker.
func chromeSpans(t testing.TB, text string, o *tracker.Options) ([]*span.Span, tracker.Counts) {
	t.Helper()
	var spans []*span.Span
	tr := tracker.New(chromeInfo(), func(s *span.Span) { spans = append(spans, spangen.Clone(s)) }, o)
	for _, e := range chromeEvents(t, text) {
		tr.Add(e)
	}
	tr.Finish()
	if err := tr.CheckEmpty(); err != nil {
		t.Errorf("after Finish: %v", err)
	}
	return spans, tr.Counts()
}

// describeSlices returns spans as text in the order of their start: name, start..end in nanoseconds, the name of the
// parent, attributes, events and the names of linked spans.
func describeSlices(spans []*span.Span) string {
	names := map[span.ID]string{}
	for _, s := range spans {
		names[s.ID] = s.Name
	}
	slices.SortStableFunc(spans, func(a, b *span.Span) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Name, b.Name))
	})
	var b strings.Builder
	for _, s := range spans {
		end := "?"
		if s.End != 0 {
			end = fmt.Sprint(int64(s.End - at(0)))
		}
		fmt.Fprintf(&b, "%s %d..%s", s.Name, int64(s.Start-at(0)), end)
		if !s.ParentID.IsZero() {
			fmt.Fprintf(&b, " in %s", names[s.ParentID])
		}
		attributes(&b, s.Attributes)
		for _, e := range s.Events {
			fmt.Fprintf(&b, " @%d %s", int64(e.Time-at(0)), e.Name)
			attributes(&b, e.Attributes)
		}
		for _, l := range s.Links {
			fmt.Fprintf(&b, " <- %s", names[l.ID])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func attributes(b *strings.Builder, list []span.Attribute) {
	var words []string
	for _, a := range list {
		if a.Key != "ntconv.synthetic" {
			words = append(words, a.Key+"="+describeValue(a.Value))
		}
	}
	if len(words) > 0 {
		fmt.Fprintf(b, " {%s}", strings.Join(words, " "))
	}
}

// Events of each phase and the resulting spans.
func TestChrome(t *testing.T) {
	for _, c := range corpus.Cases(t, filepath.Join("testdata", "chrome.txt")) {
		events := strings.Join(c.Input, "\n")
		spans, counts := chromeSpans(t, events, nil)
		want := strings.Join(append(c.Want, ""), "\n")
		if got := describeSlices(spans); got != want {
			t.Errorf("%s:\n%swant\n%s", c.Name, got, want)
		}
		known := map[span.Context]bool{}
		for _, s := range spans {
			known[s.Context] = true
		}
		for _, s := range spans {
			if !s.ParentID.IsZero() && !known[span.Context{TraceID: s.TraceID, ID: s.ParentID}] {
				t.Errorf("%s: %s has another trace ID than its parent", c.Name, s.Name)
			}
			for _, l := range s.Links {
				if !known[l.Context] {
					t.Errorf("%s: %s links to no span", c.Name, s.Name)
				}
			}
			if s.Evidence != span.FromChrome || !s.MadeID || s.TraceID.IsZero() || s.Unfinished || s.Process == nil || s.Thread == nil {
				t.Errorf("%s: %+v", c.Name, s)
			}
		}
		if counts.Spans != int64(len(spans)) || counts.MadeIDs != counts.Spans {
			t.Errorf("%s: %+v of %d spans", c.Name, counts, len(spans))
		}
		if spans, _ := chromeSpans(t, events, &tracker.Options{Sources: operation.Default &^ operation.Chrome}); len(spans) > 0 {
			t.Errorf("%s: spans without their source:\n%s", c.Name, describeSlices(spans))
		}
	}
}

// A slice of a tree has the trace ID of its root, all IDs differ, and every run yields the same IDs.
func TestChromeIDs(t *testing.T) {
	const events = `
		{"ph":"B","name":"a","ts":0,"pid":1,"tid":1}
		{"ph":"B","name":"a","ts":0,"pid":1,"tid":1}
		{"ph":"X","name":"a","ts":0,"dur":1,"pid":1,"tid":1}
		{"ph":"E","ts":2,"pid":1,"tid":1}
		{"ph":"E","ts":2,"pid":1,"tid":1}
		{"ph":"X","name":"a","ts":0,"dur":1,"pid":1,"tid":2}
		{"ph":"X","name":"a","ts":0,"dur":1,"pid":2,"tid":1}`
	spans, _ := chromeSpans(t, events, nil)
	again, _ := chromeSpans(t, events, nil)
	ids, traces := map[span.ID]bool{}, map[span.TraceID]int{}
	for i, s := range spans {
		ids[s.ID] = true
		traces[s.TraceID]++
		if s.Context != again[i].Context {
			t.Errorf("another run: %v, %v", s.Context, again[i].Context)
		}
	}
	if len(ids) != 5 || len(traces) != 3 {
		t.Errorf("%d IDs, %d traces, want 5 and 3", len(ids), len(traces))
	}
}

// Slices without an end are unfinished. Slices with a known end are not, even if no event follows.
func TestChromeUnfinished(t *testing.T) {
	const events = `
		{"ph":"B","name":"a","ts":0,"pid":1,"tid":1}
		{"ph":"b","name":"b","cat":"k","id":1,"ts":1,"pid":1,"tid":1}
		{"ph":"X","name":"c","ts":2,"dur":9,"pid":1,"tid":1}
		{"ph":"E","ts":3,"pid":1,"tid":2}`
	for unfinished, want := range map[tracker.Unfinished]string{
		tracker.DropUnfinished:  "c 2000..11000 in \n",
		tracker.OpenUnfinished:  "a 0..?\nb 1000..? {chrome.id=\"1\"}\nc 2000..11000 in a\n",
		tracker.CloseUnfinished: "a 0..3000 {ntconv.unfinished=true}\nb 1000..3000 {chrome.id=\"1\" ntconv.unfinished=true}\nc 2000..11000 in a\n",
	} {
		spans, counts := chromeSpans(t, events, &tracker.Options{Unfinished: unfinished})
		if got := describeSlices(spans); got != want {
			t.Errorf("%d:\n%swant\n%s", unfinished, got, want)
		}
		if counts.Unfinished != 2 || counts.Unmatched != 1 {
			t.Errorf("%d: %+v", unfinished, counts)
		}
	}
}

// Memory is proportional to the open slices, regardless of how many slices there were, and is within its limits.
func TestChromeBounds(t *testing.T) {
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, `{"ph":"X","name":"a","ts":%d,"dur":1.5,"pid":1,"tid":%d}`+"\n", i, i%3)
		fmt.Fprintf(&text, `{"ph":"i","name":"i","ts":%d,"pid":1,"tid":%d}`+"\n", i, i%3)
		fmt.Fprintf(&text, `{"ph":"s","name":"f","id":%d,"ts":%d,"pid":1,"tid":%d}`+"\n", i, i, i%3)
	}
	spans, most := 0, 0
	tr := tracker.New(chromeInfo(), func(*span.Span) { spans++ }, nil)
	for _, e := range chromeEvents(t, text.String()) {
		tr.Add(e)
		most = max(most, tr.Open())
	}
	tr.Finish()
	if spans != 3000 || most > 4 {
		t.Errorf("%d spans, %d at a time", spans, most)
	}

	text.Reset()
	for i := range 300 {
		fmt.Fprintf(&text, `{"ph":"B","name":"a","ts":%d,"pid":1,"tid":1}`+"\n", i)
	}
	all, counts := chromeSpans(t, text.String()+strings.Repeat(`{"ph":"i","name":"i","ts":300,"pid":1,"tid":1}`+"\n", 10)+
		strings.Repeat(`{"ph":"E","ts":301,"pid":1,"tid":1}`+"\n", 300), &tracker.Options{MaxOpen: 100, MaxEvents: 4, Unfinished: tracker.OpenUnfinished})
	events, dropped := 0, uint32(0)
	for _, s := range all {
		events += len(s.Events)
		dropped += s.DroppedEvents
	}
	if len(all) != 300 || counts.Evicted != 200 || counts.Unmatched != 0 || events != 4 || dropped != 6 {
		t.Errorf("%d spans, %d events, %d dropped, %+v", len(all), events, dropped, counts)
	}
}
