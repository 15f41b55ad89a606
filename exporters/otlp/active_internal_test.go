package otlp

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/spangen"
)

// isSample reports whether an event is a sample of a thread.
func isSample(e *ntconv.Event) bool { return clr.ClassOf(e.Type) == clr.ClassSample }

// linked returns the spans of a trace with waits for locks after some events, and the counts of the sink. If ahead is
// set, an earlier reading provides the active spans.
func linked(t *testing.T, f corpus.File, after func(*ntconv.Event) bool, o Options, ahead bool) ([]*span.Span, Summary) {
	t.Helper()
	if ahead {
		src := open(t, f)
		active := NewActiveSpans(src.Info(), &o)
		for e, err := range ntconv.Events(src) {
			if err != nil {
				break // the trace may be truncated
			}
			active.Add(e)
		}
		active.Finish()
		o.Active = active.Find
	}
	src := open(t, f)
	r := &receiver{t: t}
	sink := New(t.Context(), r, src.Info(), nil, &o)
	writeAll(t, sink, spangen.Waits(src, after))
	var spans []*span.Span
	for _, data := range r.raw {
		spans = append(spans, spangen.FromProto(data)...)
	}
	return spans, sink.Summary()
}

// busyTimes returns the spans in which the program was computing, as name and parent, by the times of the samples
// during them. The program states when and on which thread it was computing.
func busyTimes(t *testing.T, f corpus.File) map[string]string {
	t.Helper()
	var truth struct {
		Busy []struct {
			TID                               uint64
			SpanID                            string
			ScanStartQpc, PayStartQpc, EndQpc ntconv.Ticks
		}
	}
	if err := json.Unmarshal(corpus.Read(t, corpus.Shared(t, "data", "otel", "otel-cpu.truth.json")), &truth); err != nil {
		t.Fatal(err)
	}
	// The program takes the times around the call, and the span starts and ends within them.
	const margin = ntconv.Ticks(150 * time.Microsecond)
	clock := open(t, f).Info().Clock
	want := map[string]string{} // the span and its parent, by the time of the wait
	for e, err := range ntconv.Events(open(t, f)) {
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range truth.Busy {
			if e.Kind != ntconv.KindEvent || !isSample(e) || b.TID != e.Thread.TID || e.Time < b.ScanStartQpc+margin || e.Time > b.EndQpc-margin {
				continue
			}
			at := fmt.Sprint(clock.Time(e.Time).UnixNano())
			switch {
			case e.Time < b.PayStartQpc-margin:
				want[at] = "scan of " + b.SpanID
			case e.Time > b.PayStartQpc+margin:
				want[at] = "pay of " + b.SpanID
			}
		}
	}
	return want
}

// A wait for a lock is a child of the Activity that was active on its thread, although only the ends of Activities are
// recorded. The waits have the times of the samples.
func TestIntervalsInStopOnlyActivities(t *testing.T) {
	f := corpus.SharedTrace(t, "otel/otel-cpu")
	want := busyTimes(t, f)
	for _, ahead := range []bool{true, false} {
		spans, sum := linked(t, f, isSample, Options{Sources: DefaultSources | Contention}, ahead)
		byID, got := map[span.Context]*span.Span{}, map[string]string{}
		for _, s := range spans {
			byID[s.Context] = s
		}
		children := int64(0)
		for _, s := range spans {
			p := byID[span.Context{TraceID: s.TraceID, ID: s.ParentID}]
			if s.Name != "Lock contention" || p == nil {
				continue
			}
			children++
			if at := fmt.Sprint(s.Start); want[at] != "" {
				got[at] = p.Name + " of " + p.ParentID.String()
			}
		}
		if children != sum.Linked || sum.Intervals < 100 || sum.Items-sum.Intervals < 50 {
			t.Errorf("%d waits have a parent, the summary is %+v", children, sum)
		}
		switch {
		case ahead && !maps.Equal(got, want), len(want) < 25:
			t.Errorf("waits are in %v, want %v", got, want)
		case !ahead && children > 0:
			t.Errorf("without an earlier reading, %d waits have a parent", children)
		}
	}
}

// For any selection of sources, the parent of an interval and the span that it links to are among the written spans.
func TestActiveSpansAreWritten(t *testing.T) {
	everywhere := func(e *ntconv.Event) bool { return !clr.IsRuntime(e.Type.Provider) }
	const intervals = GC | JIT | Contention | Exceptions | Requests
	total := map[string]int64{}
	for _, f := range append(corpus.Traces(t), corpus.SharedTraces(t)...) {
		for _, c := range []struct {
			name string
			o    Options
		}{
			{"default", Options{Sources: DefaultSources | intervals}},
			{"closed", Options{Sources: DefaultSources | intervals, Unfinished: CloseUnfinished, SpanIDOrder: LittleEndian}},
			{"recorded", Options{Sources: DefaultSources | Contention, OmitNotRecorded: true, OmitExporter: true}},
			{"pairs", Options{Sources: Pairs | Contention}},
			{"activities", Options{Sources: Activities | Contention, Unfinished: OpenUnfinished}},
		} {
			name := c.name
			spans, sum := linked(t, f, everywhere, c.o, true)
			written := map[span.Context]bool{}
			for _, s := range spans {
				written[s.Context] = true
			}
			for _, s := range spans {
				if !sum.intervalsHave(s) {
					continue
				}
				if p := (span.Context{TraceID: s.TraceID, ID: s.ParentID}); !p.ID.IsZero() && !written[p] {
					t.Errorf("%s, %s: %s has the parent %v, which is not written", f.Name, name, s.Name, p)
				}
				for _, l := range s.Links {
					if !written[l.Context] {
						t.Errorf("%s, %s: %s has a link to %v, which is not written", f.Name, name, s.Name, l.Context)
					}
				}
			}
			total[name] += sum.Linked
			if name == "default" && sum.Items == sum.Intervals {
				break // the trace has no spans
			}
		}
	}
	for name, n := range total {
		if n < 10 {
			t.Errorf("%s: only %d intervals are linked", name, n)
		}
	}
}

// intervalsHave reports whether a span may be an interval of the runtime.
func (s *Summary) intervalsHave(sp *span.Span) bool {
	return s.Intervals > 0 && sp.Scope.Name == clr.Runtime
}

// If only intervals are selected, they belong to Activities that are not written, because the program may have sent
// them: only to Activities whose IDs the trace contains.
func TestIntervalsAlone(t *testing.T) {
	f := corpus.SharedTrace(t, "own/spans-both")
	everywhere := func(e *ntconv.Event) bool { return !clr.IsRuntime(e.Type.Provider) }
	all, _ := linked(t, f, everywhere, Options{Sources: DefaultSources | Contention, Unfinished: CloseUnfinished}, true)
	recorded := map[span.Context]bool{}
	for _, s := range all {
		made := false
		for _, a := range s.Attributes {
			made = made || a.Key == "ntconv.synthetic"
		}
		recorded[s.Context] = !made
	}
	for _, ahead := range []bool{true, false} {
		spans, sum := linked(t, f, everywhere, Options{Sources: Contention}, ahead)
		if sum.Items != sum.Intervals || sum.Linked < 10 || sum.MadeIDs != sum.Items {
			t.Errorf("ahead %v: %+v", ahead, sum)
		}
		for _, s := range spans {
			if p := (span.Context{TraceID: s.TraceID, ID: s.ParentID}); !p.ID.IsZero() && !recorded[p] {
				t.Errorf("ahead %v: the parent %v has no ID in the trace", ahead, p)
			}
		}
	}
}
