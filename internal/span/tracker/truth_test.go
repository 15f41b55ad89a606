package tracker_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/schema"
)

// readTruth decodes the records that the program of a recording has written.
func readTruth(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(corpus.Shared(t, "data", "own", name+".truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// edge is a Start or Stop event, decoded without the tracker.
type edge struct {
	provider, task string
	stop           bool
	at             uint64
	tid            uint64
	activity       ntconv.GUID
	related        ntconv.GUID
	fields         map[string]string
}

// edgesOf returns the Start and Stop events of a trace's event sources, identified by opcode, with the task names of
// the program.
func edgesOf(t *testing.T, f corpus.File, tasks map[string]string) (edges []edge, events int) {
	t.Helper()
	src := schema.Describe(open(t, f, reader.ByTime))
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != ntconv.KindEvent || strings.HasPrefix(e.Type.Provider, "Microsoft-DotNETCore") {
			continue
		}
		events++
		if op := e.Opcode(); op != 1 && op != 2 {
			continue
		}
		d := edge{provider: e.Type.Provider, task: tasks[e.Type.Name], stop: e.Opcode() == 2, tid: e.Thread.TID, fields: make(map[string]string)}
		if d.task == "" {
			d.task = strings.TrimSuffix(strings.TrimSuffix(e.Type.Name, "Start"), "Stop")
		}
		d.at = uint64(src.Info().Clock.Time(e.Time).UnixNano())
		d.activity, _ = e.Labels.ID(ntconv.LabelActivityID)
		d.related, _ = e.Labels.ID(ntconv.LabelRelatedActivityID)
		for f, v := range e.Fields() {
			d.fields[f.Name] = v.String()
		}
		edges = append(edges, d)
	}
	return edges, events
}

// spanKey identifies the span of a Start event.
func startKey(provider, task string, at uint64) string {
	return fmt.Sprintf("%s/%s@%d", provider, task, at)
}

func byStart(t *testing.T, spans []*span.Span) map[string]*span.Span {
	t.Helper()
	out := make(map[string]*span.Span)
	for _, s := range spans {
		key := startKey(s.Scope.Name, s.Name, s.Start)
		if s.Evidence != span.FromPair || out[key] != nil {
			t.Errorf("%s: evidence %d, or twice", describe(s), s.Evidence)
		}
		out[key] = s
	}
	return out
}

// Names of events per task in the source of Shop-Activities.
var shopTasks = map[string]string{"Shipping": "Shipping", "Shipped": "Shipping", "DeepBegin": "Deep", "DeepEnd": "Deep"}

type moment struct {
	What     string
	ID       int
	Qpc      int64
	Activity string
}

// Every Start of the program is a span that ends with its Stop and has the program's activity. Its parent is the span
// that the program had begun before.
func TestActivitiesTruth(t *testing.T) {
	var truth struct {
		Moments []moment
		Events  int
	}
	readTruth(t, "activities", &truth)
	f := corpus.SharedTrace(t, "own/activities")
	spans, counts := track(t, open(t, f, reader.ByTime), &tracker.Options{Unfinished: tracker.OpenUnfinished})
	edges, events := edgesOf(t, f, shopTasks)
	if events != truth.Events {
		t.Fatalf("%d events, the program wrote %d", events, truth.Events)
	}
	checkEdges(t, edges, spans)
	if counts.Unfinished != 1 || counts.Unmatched != 0 {
		t.Errorf("counts are %+v, want one unfinished span", counts)
	}

	checkMoments(t, truth.Moments, spans)
}

// checkMoments compares spans with the program's records after each Start: the activity belongs to a span with that
// name, and the activity of its parent is that of the enclosing moment.
func checkMoments(t *testing.T, moments []moment, spans []*span.Span) {
	t.Helper()
	of := make(map[string]*span.Span)
	for _, s := range spans {
		of[s.Activity.String()] = s
	}
	begun := make(map[string]string)
	notes := 0
	for _, m := range moments {
		s := of[m.Activity]
		name, _, _ := strings.Cut(strings.TrimSuffix(m.What, "Begin"), " ")
		switch name {
		case "PlainStart", "Transfer", "after":
			continue
		case "Note":
			if strings.Contains(m.What, "inside") {
				notes++
				if s == nil || s.Name != "Pay" || len(s.Events) != 1 || s.Events[0].Name != "Note" || describeAttributes(s.Events[0].Attributes) != fmt.Sprintf("id=%d text=\"paid\"", m.ID) {
					t.Errorf("%s %d is not an event of its span", m.What, m.ID)
				}
			} else if s != nil {
				t.Errorf("%s: a span has the explicit activity ID", m.What)
			}
			continue
		}
		name = strings.TrimSuffix(name, "Start")
		parent := ""
		switch {
		case name == "Pay" || name == "Shipping":
			parent = begun["Order"+strconv.Itoa(m.ID)]
		case name == "Deep" && m.ID > 0:
			parent = begun["Deep"+strconv.Itoa(m.ID-1)]
		}
		begun[name+strconv.Itoa(m.ID)] = m.Activity
		if s == nil || s.Name != name {
			t.Errorf("%s %d: no span", m.What, m.ID)
			continue
		}
		checkParent(t, s, of[parent])
	}
	if notes != 3 {
		t.Errorf("%d notes, want 3", notes)
	}
}

func checkParent(t testing.TB, s, parent *span.Span) {
	t.Helper()
	switch {
	case parent == nil && !s.ParentID.IsZero():
		t.Errorf("%s has a parent, want none", describe(s))
	case parent != nil && (s.ParentID != parent.ID || s.TraceID != parent.TraceID):
		t.Errorf("%s\nis not a child of\n%s", describe(s), describe(parent))
	}
}

// checkEdges compares spans with events. A Start is paired with the first later Stop of the same task and activity, or
// else with the same first field.
func checkEdges(t *testing.T, edges []edge, spans []*span.Span) {
	t.Helper()
	known := byStart(t, spans)
	starts := 0
	for i, e := range edges {
		if e.stop {
			continue
		}
		starts++
		s := known[startKey(e.provider, e.task, e.at)]
		if s == nil {
			t.Errorf("no span for %+v", e)
			continue
		}
		end := uint64(0)
		endTID := e.tid
		for _, o := range edges[i:] {
			same := o.activity == e.activity && (!e.activity.IsZero() || o.fields["id"] == e.fields["id"] && o.fields["level"] == e.fields["level"])
			if o.stop && o.provider == e.provider && o.task == e.task && same {
				end, endTID = o.at, o.tid
				break
			}
		}
		if s.End != end || s.Unfinished != (end == 0) || s.Thread.TID != e.tid || s.EndThread.TID != endTID || s.Activity != e.activity {
			t.Errorf("%s\nwant end %d on thread %d, activity %v", describe(s), end, endTID, e.activity)
		}
		for name, value := range e.fields {
			v, ok := attribute(s, name)
			if got := strings.Trim(describeValue(v), `"`); !ok || got != value && strings.Trim(strconv.Quote(value), `"`) != got {
				t.Errorf("%s: attribute %s is %s, want %s", s.Name, name, got, value)
			}
		}
		for _, p := range spans {
			if !e.related.IsZero() && p.Activity == e.related {
				checkParent(t, s, p)
			}
		}
	}
	if starts != len(spans) {
		t.Errorf("%d spans of %d Start events", len(spans), starts)
	}
}

// Without activity IDs, the fields of Start and Stop match them, also if awaits move an operation to another thread.
func TestActivitiesWithoutIDsTruth(t *testing.T) {
	var truth struct{ Events int }
	readTruth(t, "activities-notpl", &truth)
	f := corpus.SharedTrace(t, "own/activities-notpl")
	spans, counts := track(t, open(t, f, reader.ByTime), &tracker.Options{Unfinished: tracker.OpenUnfinished})
	edges, events := edgesOf(t, f, shopTasks)
	if events != truth.Events {
		t.Fatalf("%d events, the program wrote %d", events, truth.Events)
	}
	checkEdges(t, edges, spans)
	if counts.Unfinished != 1 || counts.Unmatched != 0 {
		t.Errorf("counts are %+v", counts)
	}
	var deep *span.Span
	for _, s := range slices.Backward(spans) {
		if s.Name == "Deep" {
			checkParent(t, s, deep)
			deep = s
		}
	}
}

func TestHTTPTruth(t *testing.T) {
	var truth struct {
		Requests []struct {
			ID, Status int
			URL, Error string
		}
	}
	readTruth(t, "net-http", &truth)
	f := corpus.SharedTrace(t, "own/net-http")
	spans, counts := track(t, open(t, f, reader.ByTime), nil)
	edges, _ := edgesOf(t, f, nil)
	// The program's host stops in a different activity than it starts in: its Stop has no activity ID.
	for i := range edges {
		if edges[i].task == "Host" {
			edges[i].activity = ntconv.GUID{}
		}
	}
	for _, s := range spans {
		if s.Name == "Host" {
			s.Activity = ntconv.GUID{}
		}
	}
	checkEdges(t, edges, spans)
	if counts.Unfinished != 0 || counts.Unmatched != 0 {
		t.Errorf("counts are %+v", counts)
	}
	want := make(map[string]int) // requests by path and status
	for _, r := range truth.Requests {
		path, status := fmt.Sprintf("/orders/%d?*", r.ID), r.Status
		if r.Error != "" {
			path, status = "/refused", -1
		}
		want[fmt.Sprint(path, status)]++
	}
	got := make(map[string]int)
	kinds := make(map[span.Kind]int)
	for _, s := range spans {
		if s.Scope.Name == "System.Net.Http" && s.Name == "Request" {
			path, _ := attribute(s, "pathAndQuery")
			status, _ := attribute(s, "statusCode")
			got[fmt.Sprint(path.Str(), status.Int())]++
		}
		kinds[s.Kind]++
	}
	if !maps.Equal(got, want) {
		t.Errorf("requests are %v, the program's are %v", got, want)
	}
	if kinds[span.KindClient] != 4 || kinds[span.KindServer] != 3 {
		t.Errorf("kinds are %v, want 4 clients and 3 servers", kinds)
	}
}

// With Requests and without Pairs, only the HTTP requests of event sources are spans.
func TestRequestsWithoutPairs(t *testing.T) {
	spans, _ := track(t, open(t, corpus.SharedTrace(t, "own/net-http"), reader.ByTime), &tracker.Options{Sources: operation.Requests})
	if len(spans) != 4+3+3 {
		t.Errorf("%d spans, want 10", len(spans))
	}
	for _, s := range spans {
		if s.Name != "Request" {
			t.Errorf("span %s", describe(s))
		}
	}
}

// The spans are equal in every run, with poisoned events, and for a trace of version 4 and its copy in version 6.
func TestSameSpans(t *testing.T) {
	for _, f := range corpus.Traces(t) {
		t.Run(f.Name, func(t *testing.T) {
			o := &tracker.Options{Sources: all, Unfinished: tracker.CloseUnfinished}
			first, _ := ntconvtest.Record(open(t, f, reader.ByTime)) // some traces end early
			info := open(t, f, reader.ByTime).Info()
			source := func() ntconv.Source { return ntconvtest.NewSource(info, first...) }
			spans, counts := track(t, source(), o)
			want := describeAll(spans)
			poisoned, _ := track(t, ntconvtest.Poison(source()), o)
			if got := describeAll(poisoned); got != want {
				t.Errorf("poison changes spans:\n%s\n%s", got, want)
			}
			v6, recount := track(t, open(t, rewrite(t, f.Name, source()), reader.ByTime), o)
			if got := describeAll(v6); got != want || counts != recount {
				t.Errorf("the spans of the trace in version 6 differ, counts %+v and %+v", counts, recount)
			}
			seen := make(map[span.Context]bool)
			for _, s := range spans {
				if seen[s.Context] {
					t.Errorf("two spans have the IDs of %s", describe(s))
				}
				seen[s.Context] = true
			}
		})
	}
}

// In file order the events of each thread are in time order, so spans of one thread and spans with activity IDs have
// the same IDs.
func TestFileOrder(t *testing.T) {
	f := corpus.SharedTrace(t, "own/activities")
	var sets [2][]string
	for i, order := range []reader.Order{reader.ByTime, reader.FileOrder} {
		spans, _ := track(t, open(t, f, order), &tracker.Options{Unfinished: tracker.OpenUnfinished})
		for _, s := range spans {
			sets[i] = append(sets[i], s.Context.ID.String())
		}
		slices.Sort(sets[i])
	}
	if !slices.Equal(sets[0], sets[1]) {
		t.Errorf("by time %v, in file order %v", sets[0], sets[1])
	}
}
