package e2e

import (
	"maps"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// answers checks answers in docs/sql.md, by the title of the question, against the measurements of the recorded programs.
// The other answers are samples and events that the law of agreement finds equal in all outputs.
var answers = map[string]func(*testing.T, question, []row){
	"What does one thread do?":                          checkThread,
	"How long are the pauses of the garbage collector?": checkPauses,
	"How many exceptions are thrown per minute?":        checkExceptions,
	"Which locks do threads wait for?":                  checkContention,
	"How long do operations take?":                      checkOperations,
	"What became slower from one build to the next?":    checkRegression,
}

// near fails unless two numbers differ by at most limit.
func near(t *testing.T, what string, got, want, limit float64) {
	t.Helper()
	if !(math.Abs(got-want) <= limit) {
		t.Errorf("%s: got %v, want %v with a tolerance of %v", what, got, want, limit)
	}
}

// truthOf reads the measurements of a recorded program.
func truthOf[T any](t *testing.T, name string) (v T) {
	t.Helper()
	readTruth(t, filepath.Join("..", "testdata", name+".truth.json"), &v)
	return v
}

// timedShares returns the shares that the thread of the timed methods measured, in percent, and the tolerance of
// samples in percentage points.
func timedShares(t *testing.T, name string) (want share, limit float64) {
	t.Helper()
	truth := truthOf[cpuTruth](t, name)
	for _, th := range truth.Threads {
		if th.Name == "till-1" {
			for i, method := range timed {
				want[i] = float64(number(th.Detail[method]))
			}
			_, limit = wallShare(timedSamples(readStacks(t, find(t, name).stacks), thread{truth.PID, th.TID}), 0)
		}
	}
	return want.percent(), max(2, limit)
}

// shareOf returns the shares of the timed methods in a column.
func shareOf(t *testing.T, rows []row, column string) (s share) {
	t.Helper()
	for _, r := range rows {
		for i, method := range timed {
			if strings.HasPrefix(r.text(t, "name"), method+"(") {
				s[i] += r.number(t, column)
			}
		}
	}
	return s.percent()
}

// 2: the program measured the time of the thread in each of the timed methods.
func checkThread(t *testing.T, q question, rows []row) {
	want, limit := timedShares(t, q.traces[0])
	if d := shareOf(t, rows, "total_ms").distance(want); !(d <= limit) {
		t.Errorf("shares %.1f, measured %.1f, which is more than %.1f points off", shareOf(t, rows, "total_ms"), want, limit)
	}
}

// 19: in both recordings the program measured the shares of the timed methods.
func checkRegression(t *testing.T, q question, rows []row) {
	for i, column := range []string{"before", "after"} {
		want, limit := timedShares(t, q.traces[i])
		if d := shareOf(t, rows, column).distance(want); !(d <= limit) {
			t.Errorf("%s: shares %.1f, measured %.1f, which is more than %.1f points off", q.traces[i], shareOf(t, rows, column), want, limit)
		}
	}
}

// 9: the program counted its collections, and the runtime measured their pauses.
func checkPauses(t *testing.T, q question, rows []row) {
	truth := truthOf[struct {
		Induced      []struct{ What string }
		TotalPauseUS float64
	}](t, q.traces[0])
	near(t, "pauses", rows[0].number(t, "pauses"), float64(len(truth.Induced)), 0)
	near(t, "sum", rows[0].number(t, "sum_ms"), truth.TotalPauseUS/1e3, 0.05*truth.TotalPauseUS/1e3)
}

// 11: the program threw as many exceptions of each type.
func checkExceptions(t *testing.T, q question, rows []row) {
	truth := truthOf[struct {
		MainStartUTC time.Time
		Cases        []struct {
			Type   string
			Events float64
		}
	}](t, q.traces[0])
	want := map[string]float64{}
	for _, c := range truth.Cases {
		types := strings.Split(strings.TrimSuffix(c.Type, " (has inner)"), " then ")
		for _, name := range types {
			want[name] += c.Events / float64(len(types))
		}
	}
	got := map[string]float64{}
	for _, r := range rows {
		got[r.text(t, "type")] += r.number(t, "thrown")
		if minute := truth.MainStartUTC.Truncate(time.Minute).Format("2006-01-02 15:04:05+00"); r.text(t, "minute") != minute {
			t.Errorf("minute %v, want %s", r["minute"], minute)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, thrown %v", got, want)
	}
}

// 13: the program's thread waited for its lock as often and about as long.
func checkContention(t *testing.T, q question, rows []row) {
	c := truthOf[struct {
		Contentions struct{ Count, EachMSAbout float64 }
	}](t, q.traces[0]).Contentions
	near(t, "waits", rows[0].number(t, "waits"), c.Count, 0)
	near(t, "threads", rows[0].number(t, "threads"), 1, 0)
	near(t, "sum", rows[0].number(t, "sum_ms"), c.Count*c.EachMSAbout, 0.1*c.Count*c.EachMSAbout)
}

// 17: the program measured the durations of its spans, and counted the failed ones.
func checkOperations(t *testing.T, q question, rows []row) {
	longest, spans, errors := map[string]float64{}, map[string]float64{}, map[string]float64{}
	for _, s := range truthOf[struct {
		Spans []struct {
			DisplayName, Status string
			DurationTicks       float64
			Recorded, Stopped   bool
		}
	}](t, q.traces[0]).Spans {
		if !s.Recorded || !s.Stopped {
			continue
		}
		spans[s.DisplayName]++
		longest[s.DisplayName] = max(longest[s.DisplayName], s.DurationTicks/1e4)
		if s.Status == "Error" {
			errors[s.DisplayName]++
		}
	}
	for _, r := range rows {
		name := r.text(t, "name")
		near(t, name, r.number(t, "spans"), spans[name], 0)
		near(t, name+": max", r.number(t, "max_ms"), longest[name], 0.0005001)
		near(t, name+": errors", r.number(t, "errors"), errors[name], 0)
	}
}
