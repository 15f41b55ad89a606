package tracker_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
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
	tr := tracker.New(chromeInfo(), func(s *span.Span) { spans = append(spans, clone(s)) }, o)
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
			words = append(words, a.Key+"="+valueText(a.Value))
		}
	}
	if len(words) > 0 {
		fmt.Fprintf(b, " {%s}", strings.Join(words, " "))
	}
}

func valueText(v span.Value) string {
	var list []string
	switch v.Kind() {
	case span.ValueString:
		return fmt.Sprintf("%q", v.Str())
	case span.ValueInt:
		return fmt.Sprint(v.Int())
	case span.ValueFloat:
		return fmt.Sprintf("%v(float)", v.Float())
	case span.ValueBool:
		return fmt.Sprint(v.Bool())
	case span.ValueArray:
		for _, x := range v.Elems() {
			list = append(list, valueText(x))
		}
		return "[" + strings.Join(list, " ") + "]"
	case span.ValueMap:
		for _, m := range v.Members() {
			list = append(list, m.Key+":"+valueText(m.Value))
		}
		return "{" + strings.Join(list, " ") + "}"
	}
	return "null"
}

// Events of each phase and the resulting spans. Times of the format are in microseconds.
func TestChrome(t *testing.T) {
	for _, c := range []struct{ name, events, want string }{
		{"complete slices nest by time", `
			{"ph":"X","name":"a","cat":"c","ts":0,"dur":10,"pid":1,"tid":1}
			{"ph":"X","name":"b","cat":"c","ts":1,"dur":5.001,"pid":1,"tid":1}
			{"ph":"X","name":"c","cat":"c","ts":2,"dur":4,"pid":1,"tid":1}
			{"ph":"X","name":"after c","cat":"c","ts":6,"dur":4,"pid":1,"tid":1}
			{"ph":"X","name":"too long","cat":"c","ts":7,"dur":4,"pid":1,"tid":1}
			{"ph":"X","name":"other thread","cat":"c","ts":7,"dur":1,"pid":1,"tid":2}
			{"ph":"X","name":"other process","cat":"c","ts":8,"dur":1,"pid":2,"tid":1}
			{"ph":"X","name":"next","cat":"c","ts":10,"dur":0.5,"pid":1,"tid":1}`, `
			a 0..10000
			b 1000..6001 in a
			c 2000..6000 in b
			after c 6000..10000 in a
			too long 7000..11000
			other thread 7000..8000
			other process 8000..9000
			next 10000..10500 in too long`},
		{"duration only of the thread, none, negative", `
			{"ph":"X","name":"a","ts":0,"tdur":3,"pid":1,"tid":1}
			{"ph":"X","name":"b","ts":5,"pid":1,"tid":1}
			{"ph":"X","name":"c","ts":9,"dur":-2,"pid":1,"tid":1}`, `
			a 0..3000
			b 5000..5000
			c 9000..9000 {ntconv.end_time_unix_nano=` + fmt.Sprint(int64(at(7000))) + `}`},
		{"begin and end", `
			{"ph":"B","name":"a","ts":0,"pid":1,"tid":1,"args":{"x":1,"y":"s"}}
			{"ph":"B","name":"b","ts":1,"pid":1,"tid":1}
			{"ph":"B","name":"c","ts":1,"pid":1,"tid":2}
			{"ph":"X","name":"x","ts":2,"dur":1,"pid":1,"tid":1}
			{"ph":"E","ts":4,"pid":1,"tid":1,"args":{"z":true}}
			{"ph":"E","name":"a","ts":5.5,"pid":1,"tid":1,"args":{"x":1,"y":"other"}}
			{"ph":"E","ts":6,"pid":1,"tid":2}`, `
			a 0..5500 {x=1 y="s" stop.y="other"}
			c 1000..6000
			b 1000..4000 in a {z=true}
			x 2000..3000 in b`},
		{"a begin in a complete slice that ends first", `
			{"ph":"X","name":"a","ts":0,"dur":9,"pid":1,"tid":1}
			{"ph":"X","name":"b","ts":1,"dur":2,"pid":1,"tid":1}
			{"ph":"B","name":"c","ts":2,"pid":1,"tid":1}
			{"ph":"E","ts":4,"pid":1,"tid":1}`, `
			a 0..9000
			b 1000..3000 in a
			c 2000..4000 in a`},
		{"asynchronous slices nest by ID", `
			{"ph":"b","name":"load","cat":"net","id":"0x1","ts":0,"pid":1,"tid":1,"args":{"url":"/"}}
			{"ph":"b","name":"load","cat":"net","id":"0x2","ts":0.5,"pid":1,"tid":1}
			{"ph":"b","name":"dns","cat":"net","id":"0x1","ts":1,"pid":1,"tid":2}
			{"ph":"n","name":"found","cat":"net","id":"0x1","ts":2,"pid":1,"tid":2,"args":{"ip":"::1"}}
			{"ph":"e","name":"dns","cat":"net","id":"0x1","ts":3,"pid":1,"tid":3}
			{"ph":"e","name":"load","cat":"net","id":"0x2","ts":4,"pid":1,"tid":1}
			{"ph":"e","name":"load","cat":"net","id":"0x1","ts":5,"pid":1,"tid":1}`, `
			load 0..5000 {url="/" chrome.id="0x1"}
			load 500..4000 {chrome.id="0x2"}
			dns 1000..3000 in load {chrome.id="0x1"} @2000 found {ip="::1"}`},
		{"local IDs are those of a process", `
			{"ph":"b","name":"a","cat":"k","id2":{"local":"1"},"ts":0,"pid":1,"tid":1}
			{"ph":"b","name":"b","cat":"k","id2":{"local":"1"},"ts":1,"pid":2,"tid":1}
			{"ph":"e","name":"a","cat":"k","id2":{"local":"1"},"ts":2,"pid":1,"tid":1}
			{"ph":"e","name":"b","cat":"k","id2":{"local":"1"},"ts":3,"pid":2,"tid":1}`, `
			a 0..2000 {chrome.id="1"}
			b 1000..3000 {chrome.id="1"}`},
		{"old asynchronous slices and objects", `
			{"ph":"S","name":"job","cat":"k","id":1,"ts":0,"pid":1,"tid":1}
			{"ph":"T","name":"job","cat":"k","id":1,"ts":1,"pid":1,"tid":2,"args":{"step":"half"}}
			{"ph":"F","name":"job","cat":"k","id":1,"ts":2,"pid":1,"tid":3}
			{"ph":"N","name":"tree","cat":"k","id":"9","ts":3,"pid":1,"tid":1}
			{"ph":"O","name":"tree","cat":"k","id":"9","ts":4,"pid":1,"tid":1,"args":{"snapshot":{"size":[1,2.5,null]}}}
			{"ph":"D","name":"tree","cat":"k","id":"9","ts":5,"pid":1,"tid":1}`, `
			job 0..2000 {chrome.id="1"} @1000 job {step="half"}
			tree 3000..5000 {chrome.id="9"} @4000 tree {snapshot={size:[1 2.5(float) null]}}`},
		{"instants of a thread are events of its slice", `
			{"ph":"i","name":"before","ts":0,"s":"t","pid":1,"tid":1}
			{"ph":"X","name":"a","ts":1,"dur":4,"pid":1,"tid":1}
			{"ph":"X","name":"b","ts":2,"dur":1,"pid":1,"tid":1}
			{"ph":"i","name":"in b","ts":2.5,"s":"t","pid":1,"tid":1}
			{"ph":"I","name":"at the end of b","ts":3,"pid":1,"tid":1}
			{"ph":"i","name":"in a","ts":4,"pid":1,"tid":1}
			{"ph":"i","name":"of the process","ts":4,"s":"p","pid":1,"tid":1}
			{"ph":"i","name":"elsewhere","ts":4,"s":"t","pid":1,"tid":2}
			{"ph":"i","name":"after","ts":6,"s":"t","pid":1,"tid":1}`, `
			a 1000..5000 @4000 in a
			b 2000..3000 in a @2500 in b @3000 at the end of b`},
		{"arrows are links", `
			{"ph":"X","name":"from","ts":0,"dur":4,"pid":1,"tid":1}
			{"ph":"s","name":"f","cat":"k","id":7,"ts":1,"pid":1,"tid":1}
			{"ph":"X","name":"over","ts":2,"dur":2,"pid":1,"tid":2}
			{"ph":"t","name":"f","cat":"k","id":7,"ts":3,"pid":1,"tid":2}
			{"ph":"X","name":"enclosing","ts":4,"dur":4,"pid":2,"tid":1}
			{"ph":"f","name":"f","cat":"k","id":7,"ts":5,"bp":"e","pid":2,"tid":1}
			{"ph":"X","name":"again","ts":10,"dur":4,"pid":1,"tid":1}
			{"ph":"s","name":"f","cat":"k","id":7,"ts":11,"pid":1,"tid":1}
			{"ph":"X","name":"not this one","ts":11,"dur":4,"pid":2,"tid":1}
			{"ph":"f","name":"f","cat":"k","id":7,"ts":12,"pid":2,"tid":1}
			{"ph":"X","name":"next","ts":13,"dur":1,"pid":2,"tid":1}
			{"ph":"f","name":"f","cat":"k","id":8,"ts":14,"bp":"e","pid":2,"tid":1}`, `
			from 0..4000
			over 2000..4000 <- from
			enclosing 4000..8000 <- over
			again 10000..14000
			not this one 11000..15000
			next 13000..14000 in not this one <- again`},
		{"slices and arrows precede the slice that begins with them", `
			{"ph":"X","name":"a","ts":0,"dur":9,"pid":1,"tid":1}
			{"ph":"X","name":"d","ts":1,"dur":1,"pid":1,"tid":1}
			{"ph":"X","name":"e","ts":1,"dur":0,"pid":1,"tid":1}
			{"ph":"s","name":"f","cat":"k","id":7,"ts":1,"pid":1,"tid":1}
			{"ph":"X","name":"c","ts":1,"dur":3,"pid":1,"tid":1}
			{"ph":"X","name":"b","ts":1,"dur":4,"pid":1,"tid":1}
			{"ph":"i","name":"in d","ts":2,"pid":1,"tid":1}
			{"ph":"i","name":"in c","ts":3,"pid":1,"tid":1}
			{"ph":"X","name":"x","ts":20,"dur":9,"pid":1,"tid":1}
			{"ph":"t","name":"f","cat":"k","id":7,"ts":21,"pid":1,"tid":1}
			{"ph":"X","name":"y","ts":21,"dur":2,"pid":1,"tid":1}
			{"ph":"X","name":"z","ts":21,"dur":5,"pid":1,"tid":1}
			{"ph":"X","name":"q","ts":30,"dur":1,"pid":1,"tid":1}
			{"ph":"X","name":"p","ts":30,"dur":2,"pid":1,"tid":1}
			{"ph":"f","name":"f","cat":"k","id":7,"bp":"e","ts":31,"pid":1,"tid":1}`, `
			a 0..9000
			b 1000..5000 in a
			c 1000..4000 in b @3000 in c
			d 1000..2000 in c @2000 in d
			e 1000..1000 in d
			x 20000..29000
			z 21000..26000 in x
			y 21000..23000 in z <- e
			p 30000..32000
			q 30000..31000 in p <- y`},
		{"arrows of slices", `
			{"ph":"X","name":"a","ts":0,"dur":1,"bind_id":"0x5","flow_out":true,"pid":1,"tid":1}
			{"ph":"X","name":"b","ts":2,"dur":1,"bind_id":"0x5","flow_in":true,"flow_out":true,"pid":1,"tid":1}
			{"ph":"B","name":"c","ts":4,"bind_id":"0x5","flow_in":true,"pid":1,"tid":2}
			{"ph":"E","ts":5,"pid":1,"tid":2}`, `
			a 0..1000
			b 2000..3000 <- a
			c 4000..5000 <- b`},
		{"arrows to the slice around a slice that is one of their ends, and of asynchronous slices", `
			{"ph":"X","name":"a","ts":0,"dur":9,"pid":1,"tid":1}
			{"ph":"B","name":"flow","cat":"flow","ts":1,"bind_id":"0x5","flow_out":true,"pid":1,"tid":1}
			{"ph":"E","name":"flow","cat":"flow","ts":1,"pid":1,"tid":1}
			{"ph":"b","name":"job","cat":"k","id":"1","ts":1,"bind_id":"0x5","flow_in":true,"pid":1,"tid":2}
			{"ph":"n","name":"job","cat":"k","id":"1","ts":2,"bind_id":"0x6","flow_out":true,"pid":1,"tid":2}
			{"ph":"n","name":"step","cat":"k","id":"1","ts":2,"bind_id":"0x7","flow_out":true,"pid":1,"tid":2}
			{"ph":"X","name":"b","ts":2,"dur":1,"pid":1,"tid":3}
			{"ph":"B","name":"flow","cat":"flow","ts":2,"bind_id":"0x6","flow_in":true,"pid":1,"tid":3}
			{"ph":"E","name":"flow","cat":"flow","ts":2,"pid":1,"tid":3}
			{"ph":"e","name":"job","cat":"k","id":"1","ts":4,"pid":1,"tid":2}
			{"ph":"B","name":"flow","cat":"flow","ts":5,"pid":1,"tid":3}
			{"ph":"E","ts":6,"pid":1,"tid":3}`, `
			a 0..9000
			job 1000..4000 {chrome.id="1"} @2000 step <- a
			b 2000..3000 <- job
			flow 5000..6000`},
		{"values of args", `
			{"ph":"X","name":"a","ts":0,"dur":1,"pid":1,"tid":1,"args":{"big":18446744073709551615,"huge":1e400,"f":1.5,"n":null,"o":{"p":{"q":-1}},"l":["a"],"é":"\u00e9","d":1,"d":2}}
			{"ph":"X","name":"b","ts":2,"dur":1,"pid":1,"tid":1,"args":[1,{}]}`, `
			a 0..1000 {big="18446744073709551615" huge="1e400" f=1.5(float) n=null o={p:{q:-1}} l=["a"] é="é" d=1 d=2}
			b 2000..3000 {args=[1 {}]}`},
		{"other phases do not yield spans", `
			{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"main"}}
			{"ph":"C","name":"memory","ts":0,"pid":1,"tid":1,"args":{"bytes":1}}
			{"ph":"P","name":"Profile","id":"1","ts":0,"pid":1,"tid":1,"args":{"data":{}}}
			{"ph":"?","name":"new","ts":0,"pid":1,"tid":1}
			{"ph":"e","name":"no begin","cat":"k","id":"1","ts":1,"pid":1,"tid":1}
			{"ph":"E","ts":1,"pid":1,"tid":1}`, ``},
	} {
		spans, counts := chromeSpans(t, c.events, nil)
		want := strings.TrimLeft(strings.ReplaceAll(c.want, "\t", ""), "\n")
		if want != "" {
			want += "\n"
		}
		if got := describeSlices(spans); got != want {
			t.Errorf("%s:\n%swant\n%s", c.name, got, want)
		}
		known := map[span.Context]bool{}
		for _, s := range spans {
			known[s.Context] = true
		}
		for _, s := range spans {
			if !s.ParentID.IsZero() && !known[span.Context{TraceID: s.TraceID, ID: s.ParentID}] {
				t.Errorf("%s: %s has another trace ID than its parent", c.name, s.Name)
			}
			for _, l := range s.Links {
				if !known[l.Context] {
					t.Errorf("%s: %s links to no span", c.name, s.Name)
				}
			}
			if s.Evidence != span.FromChrome || !s.MadeID || s.TraceID.IsZero() || s.Unfinished || s.Process == nil || s.Thread == nil {
				t.Errorf("%s: %+v", c.name, s)
			}
		}
		if counts.Spans != int64(len(spans)) || counts.MadeIDs != counts.Spans {
			t.Errorf("%s: %+v of %d spans", c.name, counts, len(spans))
		}
		if spans, _ := chromeSpans(t, c.events, &tracker.Options{Sources: operation.Default &^ operation.Chrome}); len(spans) > 0 {
			t.Errorf("%s: spans without their source:\n%s", c.name, describeSlices(spans))
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

// BenchmarkChrome measures slices in memory.
func BenchmarkChrome(b *testing.B) {
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, `{"ph":"X","name":"a%d","cat":"c","ts":%d,"dur":%d,"pid":1,"tid":%d,"args":{"n":%d,"url":"/a/b"}}`+"\n", i%50, i, 2+i%7, i%4, i)
	}
	events := chromeEvents(b, text.String())
	b.ReportAllocs()
	for b.Loop() {
		tr := tracker.New(chromeInfo(), func(*span.Span) {}, nil)
		for _, e := range events {
			tr.Add(e)
		}
		tr.Finish()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(events)), "ns/event")
}
