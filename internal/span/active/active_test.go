package active_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span/active"
)

// expect compares the spans that were active on a thread with "0-10 a, 10-20 b". Ranges exclude their ends.
type expect struct {
	th       *ntconv.Thread
	from, to int64
	want     string
}

func check(t *testing.T, x *active.Index, r *recording, list ...expect) {
	t.Helper()
	for _, c := range list {
		for at := c.from; at < c.to; at++ {
			if got := found(x, r, c.th, at); got != c.want {
				t.Errorf("pid %d tid %d at %d µs: %q, want %q", c.th.Process.PID, c.th.TID, at, got, c.want)
				break
			}
		}
	}
}

// Threads of another process with equal IDs have different spans, or none.
func TestProcesses(t *testing.T) {
	r := record(t)
	one, two, three := thread(process(1), 10), thread(process(2), 10), thread(&ntconv.Process{PID: 1, Host: "b"}, 10)
	a := activity{trace: 1, id: 1, name: "one", from: 10, to: 50}
	b := activity{trace: 1, id: 1, name: "two", from: 30, to: 70} // with the same IDs
	r.stop(one, a)
	r.stop(two, b)
	x := r.index(nil)
	check(t, x, r, expect{one, 10, 50, "one"}, expect{one, 51, 70, ""}, expect{two, 10, 30, ""}, expect{two, 30, 70, "two"}, expect{three, 0, 99, ""})
	for _, th := range []*ntconv.Thread{one, two, three} {
		e := copyOf(r, th, 0)
		e.Labels = ntconv.NewLabels([]ntconv.Label{traceLabel(1), spanLabel(1)})
		want := map[*ntconv.Thread]string{one: "one", two: "two"}[th]
		if f, ok := x.Find(e, active.All); !ok || f.Name != want || f.ID != spanID(1) {
			t.Errorf("pid %d: %+v", th.Process.PID, f)
		}
	}
}

// If only ends are recorded, spans are active from their start on the thread where they ended. The precision of the
// wall clock in the header, late events and drift do not affect the result.
func TestStopOnly(t *testing.T) {
	for _, skew := range []time.Duration{0, 700 * time.Microsecond, -3 * time.Hour} {
		r := record(t)
		r.skew, r.late = skew, 2*us
		one := thread(process(1), 10)
		for i := range int64(40) {
			id, from := uint64(2*i+1), 1000*i
			if i == 20 {
				r.skew += 30 * time.Second // the system clock is set
			}
			r.stop(one, activity{trace: id, id: id + 1, parent: id, name: "inner", from: from + 100, to: from + 200})
			r.stop(one, activity{trace: id, id: id, name: "outer", from: from, to: from + 400})
		}
		// Explicit times.
		r.stop(one, activity{trace: 99, id: 99, name: "past", from: -1e12, to: -1e12 + 5})
		x := r.index(nil)
		for _, i := range []int64{0, 1, 4, 35, 39} { // far from the jump
			at := 1000 * i
			check(t, x, r,
				expect{one, at + 5, at + 95, "outer"}, expect{one, at + 105, at + 200, "inner"},
				expect{one, at + 205, at + 400, "outer"}, expect{one, at + 405, at + 990, ""})
		}
	}
}

// If several unrelated spans end on one thread, each is active after the end of the previous one, for which the thread
// worked until then.
func TestStopOnlyAsync(t *testing.T) {
	r := record(t)
	p := process(1)
	one, two := thread(p, 10), thread(p, 11)
	r.stop(one, activity{trace: 1, id: 1, name: "a", from: 10, to: 50})
	r.stop(one, activity{trace: 2, id: 2, name: "b", from: 20, to: 70})
	r.stop(one, activity{trace: 3, id: 4, parent: 3, name: "child", from: 80, to: 85})
	r.stop(one, activity{trace: 3, id: 3, name: "c", from: 5, to: 90})
	r.stop(two, activity{trace: 4, id: 5, name: "d", from: 5, to: 90})
	r.work(one, 30, 32) // an operation of a, as only the end of a shows
	check(t, r.index(nil), r,
		expect{one, 0, 10, ""}, expect{one, 10, 50, "a"}, expect{one, 52, 70, "b"}, expect{one, 72, 80, "c"},
		expect{one, 80, 85, "child"}, expect{one, 86, 90, "c"}, expect{two, 5, 90, "d"})
}

// A span that ends on another thread is active only where descendants show it.
func TestAsync(t *testing.T) {
	r := record(t)
	p := process(1)
	one, two := thread(p, 10), thread(p, 11)
	span := func(th, end *ntconv.Thread, a activity) {
		r.start(th, a)
		r.stop(end, a)
	}
	span(one, two, activity{trace: 1, id: 1, name: "request", from: 10, to: 90})
	span(one, one, activity{trace: 1, id: 2, parent: 1, name: "query", from: 20, to: 30})
	span(two, two, activity{trace: 1, id: 3, parent: 1, name: "render", from: 70, to: 80})
	span(one, two, activity{trace: 2, id: 4, name: "lonely", from: 110, to: 190})
	span(one, one, activity{trace: 1, id: 7, parent: 1, name: "late", from: 95, to: 99})
	// A span that never ends.
	r.start(two, activity{trace: 3, id: 5, name: "open", from: 200})
	span(two, two, activity{trace: 3, id: 6, parent: 5, name: "step", from: 210, to: 220})
	r.sample(one, 300)
	check(t, r.index(nil), r,
		expect{one, 10, 20, "request"}, expect{one, 20, 30, "query"}, expect{one, 31, 95, ""}, expect{one, 95, 99, "late"}, expect{one, 100, 190, ""},
		expect{two, 10, 70, ""}, expect{two, 70, 80, "render"}, expect{two, 81, 90, "request"}, expect{two, 91, 200, ""},
		expect{two, 200, 210, "open"}, expect{two, 210, 220, "step"}, expect{two, 221, 300, ""})
}

// The activity ID of a sample identifies the open span with that ID, or with the longest prefix of the path.
func TestActivityID(t *testing.T) {
	r := record(t)
	p := process(1)
	one, two := thread(p, 10), thread(p, 11)
	path := func(steps ...byte) ntconv.GUID { return pathID(steps...) }
	r.work(one, 10, 50, activityLabel(path(1, 1)))
	r.work(one, 20, 30, activityLabel(path(1, 1, 2)))
	r.work(two, 70, 90, activityLabel(path(1, 1))) // the ID is reused
	r.work(one, 110, 190, activityLabel(path(1, 4)))
	for i := range int64(5) { // recursion
		r.work(one, 120+10*i, 125+10*i, activityLabel(path(1, 4)))
	}
	x := r.index(nil)
	for _, c := range []struct {
		at   int64
		id   ntconv.GUID
		want int64 // start of the span; 0 means none
	}{
		{5, path(1, 1), 0}, {15, path(1, 1), 10}, {25, path(1, 1), 10}, {25, path(1, 1, 2), 20}, {35, path(1, 1, 2), 10},
		{25, path(1, 1, 2, 3), 20}, {25, path(1, 1, 3), 10}, {25, path(1, 2), 0}, {60, path(1, 1), 0}, {75, path(1, 1, 7), 70},
		{25, ntconv.GUID{1, 2, 3}, 0}, {122, path(1, 4), 120}, {148, path(1, 4), 110}, {180, path(1, 4), 110},
	} {
		e := copyOf(r, thread(p, 99), c.at) // on a different thread
		e.Labels = ntconv.NewLabels([]ntconv.Label{activityLabel(c.id)})
		f, ok := x.Find(e, active.All)
		want, wantOK := active.Found{}, false
		if c.want > 0 {
			first := one
			if c.want == 70 {
				first = two
			}
			want, wantOK = x.Find(copyOf(r, first, c.want), active.Thread)
		}
		if ok != wantOK || f.Context != want.Context || ok && f.Evidence != active.Activity {
			t.Errorf("at %d %v: %+v, want that from %d: %+v", c.at, c.id, f, c.want, want)
		}
		if _, ok := x.Find(e, active.Thread|active.Label); ok {
			t.Errorf("at %d: found without the activity ID", c.at)
		}
		other := copyOf(r, thread(process(2), 10), c.at)
		other.Labels = e.Labels
		if f, ok := x.Find(other, active.All); ok {
			t.Errorf("at %d: found %+v of another process", c.at, f)
		}
	}
}

// The labels of a sample take precedence, and a label with another trace excludes the thread's span.
func TestLabels(t *testing.T) {
	r := record(t)
	one := thread(process(1), 10)
	a := activity{trace: 1, id: 1, name: "request", from: 10, to: 50}
	r.start(one, a)
	r.stop(one, a)
	x := r.index(nil)
	for _, c := range []struct {
		labels []ntconv.Label
		want   string
	}{
		{nil, "{1 1 request thread}"},
		{[]ntconv.Label{traceLabel(1), spanLabel(1)}, "{1 1 request label}"},
		{[]ntconv.Label{spanLabel(1)}, "{1 1 request label}"},
		{[]ntconv.Label{traceLabel(7), spanLabel(8)}, "{7 8  label}"},
		{[]ntconv.Label{traceLabel(7), spanLabel(1)}, "{7 1  label}"},
		{[]ntconv.Label{traceLabel(1)}, "{1 1 request thread}"},
		{[]ntconv.Label{traceLabel(7)}, "none"},
	} {
		e := copyOf(r, one, 20)
		e.Labels = ntconv.NewLabels(c.labels)
		got := "none"
		if f, ok := x.Find(e, active.All); ok {
			got = fmt.Sprintf("{%x %x %s %v}", f.TraceID[15], f.ID[7], f.Name, f.Evidence)
		}
		if got != c.want {
			t.Errorf("%v: %s, want %s", c.labels, got, c.want)
		}
	}
}

// Find does not allocate, regardless of the evidence.
func TestFindAllocates(t *testing.T) {
	r := record(t)
	one := thread(process(1), 10)
	a := activity{trace: 1, id: 1, name: "request", from: 10, to: 50}
	r.start(one, a)
	r.stop(one, a)
	r.work(one, 60, 90, activityLabel(pathID(1, 1)))
	x := r.index(nil)
	events := []*ntconv.Event{copyOf(r, one, 20), copyOf(r, one, 70), copyOf(r, one, 20), copyOf(r, thread(process(2), 3), 20)}
	events[1].Labels = ntconv.NewLabels([]ntconv.Label{activityLabel(pathID(1, 1, 5))})
	events[2].Labels = ntconv.NewLabels([]ntconv.Label{traceLabel(1), spanLabel(1)})
	find := func() {
		for _, e := range events {
			x.Find(e, active.All)
		}
	}
	find()
	if n := testing.AllocsPerRun(100, find); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
