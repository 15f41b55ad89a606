package tracker_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// Activities of scripts: one, its child, its grandchild, and an activity ID set by the program.
var (
	path       = activityID("00000011-0000-0000-0000-000007a79d59")
	child      = activityID("00001011-0000-0000-0000-000007979d59")
	explicit   = activityID("f00dfeed-0000-0000-0000-000000000001")
	activities = map[string]ntconv.GUID{
		"path": path, "child": child, "explicit": explicit, "grandchild": activityID("00001111-0000-0000-0000-000007949d59"),
		"1": {1}, "4": {4}, "9": {9},
	}
)

// play appends the events of a script; its format is explained in testdata/spans.txt.
func (tr *trace) play(script []string) {
	threads := map[string]*ntconv.Thread{"a": tr.thread(1), "b": tr.thread(2), "c": tr.thread(1)}
	for _, line := range script {
		words := strings.Fields(line)
		at, th, name := tr.number(words[0]), threads[words[1]], words[2]
		if name == "removed" {
			tr.remove(at, th)
			continue
		}
		id, labels := tr.number(words[3]), tr.labels(words[4:])
		if name == "contention" {
			tr.contention(at, id, th, labels...)
		} else {
			tr.add(at, th, name, int32(id), labels...)
		}
	}
}

// remove appends the end of a thread.
func (tr *trace) remove(at int64, th *ntconv.Thread) {
	tr.events = append(tr.events, &ntconv.Event{
		Kind: ntconv.KindMark, Time: ntconv.Ticks(at), CPU: ntconv.CPUUnknown, Offset: -1,
		Mark: &ntconv.Mark{Kind: ntconv.MarkThreadsRemoved, Threads: []ntconv.ThreadSeq{{Thread: th, Seq: tr.seq[th]}}},
	})
}

func (tr *trace) number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		tr.t.Fatal(err)
	}
	return n
}

func (tr *trace) labels(words []string) (list []ntconv.Label) {
	for _, w := range words {
		if traceID, spanID, ok := strings.Cut(w, "/"); ok {
			list = append(list, traceLabel(byte(tr.number(traceID))))
			if spanID != "" {
				list = append(list, spanLabel(byte(tr.number(spanID))))
			}
		} else if n, ok := strings.CutPrefix(w, "op="); ok {
			list = append(list, opcodeLabel(tr.number(n)))
		} else if w[0] == '^' {
			list = append(list, relatedLabel(activities[w[1:]]))
		} else {
			list = append(list, activityLabel(activities[w[1:]]))
		}
	}
	return list
}

// short formats a label span: IDs, parent, name, times and events.
func short(s *span.Span) string {
	out := fmt.Sprintf("%d/%d<%d %s %d..%d", s.TraceID[15], s.ID[7], s.ParentID[7], s.Name, int64(s.Start-at(0)), int64(s.End-at(0)))
	for _, e := range s.Events {
		out += fmt.Sprintf(" %s@%d", e.Name, int64(e.Time-at(0)))
	}
	return out
}

func shorts(spans []*span.Span) (out []string) {
	for _, s := range spans {
		out = append(out, short(s))
	}
	return out
}

// outline formats spans of pairs: name with the payload of the Start, name of the parent, and times.
func outline(spans []*span.Span) (out []string) {
	names := make(map[span.ID]string)
	for _, s := range spans {
		id, _ := attribute(s, "id")
		names[s.ID] = fmt.Sprint(s.Name, id.Int())
	}
	for _, s := range spans {
		out = append(out, fmt.Sprintf("%s<%s %d..%d", names[s.ID], names[s.ParentID], int64(s.Start-at(0)), int64(s.End-at(0))))
	}
	return out
}

func TestScripts(t *testing.T) {
	for _, c := range corpus.Cases(t, filepath.Join("testdata", "spans.txt")) {
		t.Run(c.Name, func(t *testing.T) {
			tr := newTrace(t)
			tr.play(c.Input)
			spans, counts := tr.spans(nil)
			var got []string
			switch kind, _, _ := strings.Cut(c.Name, ":"); kind {
			case "pairs":
				got = outline(spans)
			case "labels":
				got = shorts(spans)
				checkLabelSpans(t, spans, counts)
			case "wait":
				got = tr.waitParent(spans)
			}
			if !slices.Equal(got, c.Want) {
				t.Errorf("got  %q\nwant %q", got, c.Want)
			}
		})
	}
}

func checkLabelSpans(t *testing.T, spans []*span.Span, counts tracker.Counts) {
	t.Helper()
	if counts.Spans != int64(len(spans)) || counts.MadeIDs != 0 || counts.Unfinished != 0 {
		t.Errorf("counts are %+v", counts)
	}
	for _, s := range spans {
		if s.Evidence != span.FromLabels || s.Process == nil || s.Process.PID != 42 || s.Thread == nil || s.EndThread == nil {
			t.Errorf("%s: evidence %d, process %v, threads %v and %v", short(s), s.Evidence, s.Process, s.Thread, s.EndThread)
		}
	}
}

// waitParent returns whether the wait is a child of the order. An interval of the runtime is a child of the span that was
// active on its thread, regardless of the span's source; without such intervals the order is the same span.
func (tr *trace) waitParent(without []*span.Span) []string {
	tr.t.Helper()
	spans, _ := tr.spans(&tracker.Options{Sources: all})
	order, wait := named(tr.t, spans, "Order"), named(tr.t, spans, "Lock contention")
	if wait.ParentID.IsZero() && wait.TraceID != order.TraceID {
		return []string{"orphan"}
	}
	checkParent(tr.t, wait, order)
	if len(without) != 1 || order.Evidence != span.FromLabels && describe(without[0]) != describe(order) {
		tr.t.Errorf("without intervals of the runtime the spans are %s", describeAll(without))
	}
	return []string{"child"}
}
