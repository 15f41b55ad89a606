package perf_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/perf"
)

// An away is what perf sched timehist states about a thread: how often it lost a CPU, and its time without one in ms.
type away struct {
	switches int
	wait     float64
}

// timehist returns the rows of perf sched timehist by thread.
func timehist(t *testing.T) map[string]away {
	t.Helper()
	totals := map[string]away{}
	for line := range strings.Lines(string(file(t, "sched.timehist"))) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		// 39777.468278 [0000]  shop[20138/20135]    0.000      0.000      0.023
		_, rest, _ := strings.Cut(line, "[")
		_, rest, _ = strings.Cut(rest, "[")
		ids, rest, _ := strings.Cut(rest, "]")
		tid, _, _ := strings.Cut(ids, "/")
		var wait, delay, run float64
		if _, err := fmt.Sscan(rest, &wait, &delay, &run); err != nil {
			t.Fatal(err, line)
		}
		a := totals[tid]
		totals[tid] = away{a.switches + 1, a.wait + wait}
	}
	return totals
}

// The times without a CPU are those of perf sched timehist. It states them when the thread loses its CPU the next time,
// so it does not state the last one of a thread that runs at the end.
func TestTimeWithoutCPU(t *testing.T) {
	events, report, _ := read(t, file(t, "sched.perf.zst"), perf.Options{})
	got, latest, stacks := map[string]away{}, map[string]float64{}, 0
	for i := range events {
		e := &events[i]
		tid := fmt.Sprint(e.Thread.TID)
		a := got[tid]
		switch e.Type.Name {
		case "cswitch":
			v, _ := e.Field("Value")
			latest[tid] = float64(v.Uint()) / 1e6
			if state, _ := e.Field("State"); e.Thread.Name == "shop" && !strings.Contains("S R D R+ X", state.String()) {
				t.Errorf("event %d: state %q", i, state)
			}
			if e.Stack != nil && e.Stack.Frames[0].Func.Name == "__schedule" {
				stacks++
			}
		case "cpu":
			got[tid] = away{a.switches + 1, a.wait + latest[tid]}
			latest[tid] = 0
		}
	}
	want := timehist(t)
	for tid, w := range want {
		// timehist prints microseconds.
		if g := got[tid]; g.switches != w.switches || math.Abs(g.wait-w.wait) > 0.001*float64(w.switches) {
			t.Errorf("thread %s: %+v, perf sched timehist says %+v", tid, g, w)
		}
	}
	if n := report.Count(ntconv.CodeRowSkipped); len(want) != 7 || stacks < 100 || n > 0 {
		t.Errorf("%d threads, %d stacks, %d lines skipped", len(want), stacks, n)
	}
}

// switchText has a context switch per line: seconds, then the threads from and to and the state.
func switchText(form string, switches ...string) string {
	var text strings.Builder
	for _, s := range switches {
		var at float64
		var from, to int
		var state string
		fmt.Sscan(s, &at, &from, &to, &state)
		if form == "plugin" {
			fmt.Fprintf(&text, "a b 1/%d [001] %.6f: sched:sched_switch: a b:%d [120] %s ==> prev_pid=9 c:3:%d [120]\n", from, at, from, state, to)
			continue
		}
		fmt.Fprintf(&text, "a b 1/%d [001] %.6f: sched:sched_switch: prev_comm=a ==> prev_pid=9 prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm= next_pid=8 next_pid=%d next_prio=120\n",
			from, at, from, state, to)
	}
	return text.String()
}

// Both forms of the details give the same times. Threads that were not seen to lose their CPU have none, nor does the
// idle thread; a second loss without a gain between them is reported.
func TestSwitches(t *testing.T) {
	for _, form := range []string{"raw", "plugin"} {
		text := switchText(form, "1 10 11 S", "1.5 11 0 R+", "2 0 10 R", "3 10 11 D|W", "4 11 12 S", "4 12 12 S", "5 13 0 S", "6 13 0 S", "5.5 0 13 R")
		text += "a 1/10 [001] 9.0: sched:sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_st\n" // truncated
		text += "a 1/12 [001] 9.5: sched:sched_switch: prev_comm=a prev_pid=12 prev_prio=120 prev_state=S ==> next_comm=a next_pid=10x\n"
		events, report, _ := read(t, []byte(text), perf.Options{})
		var got []string
		for i := range events {
			if e := &events[i]; e.Type.Name == "cswitch" {
				v, _ := e.Field("Value")
				state, _ := e.Field("State")
				got = append(got, fmt.Sprint(e.Thread.TID, " ", v.Uint()/1e6, "ms ", state, " cpu", e.CPU))
			}
		}
		if s, want := strings.Join(got, ", "), "10 1000ms S cpu1, 11 1500ms R+ cpu1"; s != want {
			t.Errorf("%s: %s, want %s", form, s, want)
		}
		if n := report.Count(ntconv.CodeUnpaired); n != 2 || report.Count(ntconv.CodeRowSkipped) > 0 || len(events) != 13 {
			t.Errorf("%s: %d events, report %v", form, len(events), report.Entries())
		}
	}
}

// Threads that never get a CPU again count as tables, so that their number is bounded although they have no events.
func TestSwitchLimit(t *testing.T) {
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "a 1/1 %d.0: sched:sched_switch: a:%d [120] S ==> b:0 [120]\n", i, i+1)
	}
	_, err := perf.New(strings.NewReader(text.String()), &perf.Options{Limits: perf.Limits{Tables: 100_000}})
	if err == nil || !strings.Contains(err.Error(), perf.LimitTables) {
		t.Error(err)
	}
}
