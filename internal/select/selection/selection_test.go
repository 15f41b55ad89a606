package selection

import (
	"math"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/select/where"
	"github.com/ntconv/ntconv/internal/testing/eventgen"
	"github.com/ntconv/ntconv/ntconvtest"
	"pgregory.net/rapid"
)

func TestParseMoment(t *testing.T) {
	wall := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	clock := ntconv.Clock{Freq: 10_000_000, Tick: 1000, Wall: wall}
	const last = 1000 + 60*10_000_000 // a minute
	for text, want := range map[string]ntconv.Ticks{
		"0s": 1000, "1.5s": 15_001_000, "100ns": 1001, "150ns": 1002, "-1s": last - 10_000_000, "-0s": last, "-2m": 1000 - 600_000_000,
		"2026-11-21T06:00:01Z": 10_001_000, "2026-11-21T07:00:00.5+01:00": 5_001_000,
		"2026-11-21 06:00:01.000 UTC": 10_001_000, "2026-11-21 06:00:01": 10_001_000, "2026-11-21T06:00:00.5": 5_001_000,
		"2026-11-21T06:00:01 UTC": 10_001_000, "2026-11-21 06:00:01Z": 10_001_000, "2026-11-21 07:00:00.5+01:00": 5_001_000,
	} {
		m, err := ParseMoment(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, err := m.ticks(clock, last)
		if err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
		if again, err := ParseMoment(m.String()); err != nil || again.kind != m.kind || again.dist != m.dist || !again.wall.Equal(m.wall) {
			t.Errorf("%s: printed as %s, read as %v, %v", text, m, again, err)
		}
	}
	for _, text := range []string{"", "1", "yesterday", "2026-11-21", "5 s", "2026-11-21 06:00", "2026-11-21T06:00:01Z UTC", "2026-11-21 06:00:01 CET", "2026-11-21  06:00:01", " UTC"} {
		if _, err := ParseMoment(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestReversed(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"20s", "10s", true}, {"10s", "20s", false}, {"10s", "10s", false},
		{"-1s", "-2s", true}, {"-2s", "-1s", false}, {"-0s", "-1s", true},
		{"2026-11-21 06:00:02", "2026-11-21 06:00:01", true}, {"2026-11-21 06:00:01", "2026-11-21T07:00:01Z", false},
		{"20s", "-10s", false}, {"20s", "2026-11-21 06:00:01", false}, // depends on the trace
	} {
		if got := (&Options{From: moment(t, c.from), To: moment(t, c.to)}).Reversed(); got != c.want {
			t.Errorf("from %s to %s: %v", c.from, c.to, got)
		}
	}
	if (&Options{From: moment(t, "20s")}).Reversed() || (&Options{To: moment(t, "-20s")}).Reversed() {
		t.Error("one bound is reversed")
	}
}

func TestMomentWithoutWallClock(t *testing.T) {
	m, err := ParseMoment("2026-11-21T06:00:01Z")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&Options{From: m}).Compile(ntconv.Clock{Freq: 1}, 0); err == nil {
		t.Error("no error")
	}
}

func event(provider, name string, id uint32, pid, tid uint64, at ntconv.Ticks) *ntconv.Event {
	return &ntconv.Event{
		Time:   at,
		Type:   &ntconv.Type{Provider: provider, Name: name, ID: id},
		Thread: &ntconv.Thread{TID: tid, Process: &ntconv.Process{PID: pid}},
	}
}

func moment(t *testing.T, s string) Moment {
	t.Helper()
	m, err := ParseMoment(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func expr(t *testing.T, s string) *where.Expr {
	t.Helper()
	x, err := where.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestSelect(t *testing.T) {
	e := event("My.Provider", "sched/wakeup", 12, 5, 7, 1000)
	gc := event("Microsoft-Windows-DotNETRuntime", "", 80, 5, 7, 1000) // the trace does not contain its name
	for _, c := range []struct {
		name  string
		opts  Options
		event *ntconv.Event
		want  bool
	}{
		{"all", Options{}, e, true},
		{"provider", Options{Providers: []string{"my.provider"}}, e, true},
		{"provider glob", Options{Providers: []string{"Other", "My.*"}}, e, true},
		{"other provider", Options{Providers: []string{"My"}}, e, false},
		{"event", Options{Events: []string{"SCHED/wakeup"}}, e, true},
		{"event number", Options{Events: []string{"12"}}, e, true},
		{"number is not a prefix", Options{Events: []string{"1"}}, e, false},
		{"provider/event", Options{Events: []string{"my.*/sched/*"}}, e, true},
		{"provider/number", Options{Events: []string{"My.Provider/12"}}, e, true},
		{"other provider/event", Options{Events: []string{"Your.Provider/12"}}, e, false},
		{"runtime event", Options{Events: []string{"ExceptionThrown"}}, gc, true},
		{"both must hold", Options{Providers: []string{"X"}, Events: []string{"12"}}, e, false},
		{"pid", Options{PIDs: []uint64{1, 5}}, e, true},
		{"other pid", Options{PIDs: []uint64{1}}, e, false},
		{"tid", Options{TIDs: []uint64{7}}, e, true},
		{"other tid", Options{TIDs: []uint64{5}}, e, false},
		{"from is in", Options{From: moment(t, "1us")}, e, true},
		{"to is out", Options{To: moment(t, "1us")}, e, false},
		{"between", Options{From: moment(t, "0s"), To: moment(t, "2us")}, e, true},
		{"too early", Options{From: moment(t, "2us")}, e, false},
		{"expression", Options{Where: []*where.Expr{expr(t, "$tid == 7"), expr(t, "$id in (12, 13)")}}, e, true},
		{"both expressions must hold", Options{Where: []*where.Expr{expr(t, "$tid == 7"), expr(t, "$id in (13, 14)")}}, e, false},
		{"expression and the rest must hold", Options{PIDs: []uint64{1}, Where: []*where.Expr{expr(t, "$tid == 7")}}, e, false},
	} {
		keep, err := c.opts.Compile(ntconv.Clock{Freq: 1e9}, 0)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the result is cached per type
			if got := keep(c.event); got != c.want {
				t.Errorf("%s: %v", c.name, got)
			}
		}
		if c.opts.Empty() != (c.name == "all") {
			t.Errorf("%s: Empty is %v", c.name, c.opts.Empty())
		}
	}
}

func TestLastTickIsNotBeyondReach(t *testing.T) {
	keep, err := new(Options).Compile(ntconv.Clock{Freq: 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !keep(event("P", "", 1, 1, 1, math.MaxInt64)) || !keep(event("P", "", 1, 1, 1, math.MinInt64)) {
		t.Error("an event was dropped")
	}
}

// Marks always pass, losses and definitions pass with what they belong to, blocks of unknown kind only with everything.
func TestSelectWhatIsNoEvent(t *testing.T) {
	in, out := event("P", "", 1, 5, 7, 0), event("Q", "", 1, 6, 8, 0)
	keep, err := (&Options{Providers: []string{"P"}, TIDs: []uint64{7}}).Compile(ntconv.Clock{Freq: 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		event ntconv.Event
		want  bool
	}{
		{ntconv.Event{Kind: ntconv.KindMark, Mark: &ntconv.Mark{}}, true},
		{ntconv.Event{Kind: ntconv.KindLost, Capture: in.Thread}, true},
		{ntconv.Event{Kind: ntconv.KindLost, Capture: out.Thread}, false},
		{ntconv.Event{Kind: ntconv.KindDefine, Type: in.Type}, true},
		{ntconv.Event{Kind: ntconv.KindDefine, Type: out.Type}, false},
		{ntconv.Event{Kind: ntconv.KindDefine, Thread: out.Thread}, false},
		{ntconv.Event{Kind: ntconv.KindOpaque}, false},
	} {
		if got := keep(&c.event); got != c.want {
			t.Errorf("%v: %v", c.event.Kind, got)
		}
	}
}

// The empty selection is the identity.
func TestEmptySelectionKeepsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := eventgen.Traces().Draw(t, "trace")
		keep, err := new(Options).Compile(tr.Info.Clock, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := ntconvtest.EqualStreams(tr.Source(), ntconv.Filter(tr.Source(), keep), nil); err != nil {
			t.Fatal(err)
		}
	})
}

// Conditions that no event can satisfy are reported, and conditions that a clock cannot represent are rejected.
func TestWhereNotes(t *testing.T) {
	o := Options{Where: []*where.Expr{expr(t, "Nothing == 1"), expr(t, "$tid == 9")}}
	sel, err := o.For(ntconv.Clock{Freq: 1e9}, 0)
	if err != nil {
		t.Fatal(err)
	}
	sel.Keep(event("P", "", 1, 5, 7, 0))
	if notes := sel.Notes(); len(notes) != 1 || notes[0] != "--where: no event has a field Nothing" {
		t.Errorf("got %q", notes)
	}
	if s := o.String(); s != "--where 'Nothing == 1' --where '$tid == 9'" {
		t.Error(s)
	}
	o.Where[0] = expr(t, `$time < "2026-11-21T06:52:55Z"`)
	if _, err := o.For(ntconv.Clock{Freq: 1e9}, 0); err == nil {
		t.Error("no error")
	}
}

func TestNoAllocationPerEvent(t *testing.T) {
	o := Options{Providers: []string{"P*"}, Events: []string{"*"}, PIDs: []uint64{5}, TIDs: []uint64{7}, From: moment(t, "0s"), To: moment(t, "1h"),
		Where: []*where.Expr{expr(t, `$pid == 5 && $provider =~ "^P"`)}}
	keep, err := o.Compile(ntconv.Clock{Freq: 1e9}, 0)
	if err != nil {
		t.Fatal(err)
	}
	a, b := event("P1", "", 1, 5, 7, 0), event("P2", "", 2, 5, 7, 0)
	if n := testing.AllocsPerRun(100, func() {
		if !keep(a) || !keep(b) {
			t.Error("dropped")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// Users can copy a time from a message to --from-time and --to-time.
func TestMomentOfMessage(t *testing.T) {
	c := ntconv.Clock{Freq: 1e9, Tick: 1000, Wall: time.Date(2026, 2, 28, 23, 59, 59, 0, time.UTC)}
	for _, after := range []time.Duration{0, time.Millisecond, 1500 * time.Millisecond, 25 * time.Hour} {
		text := message.Time(c.Wall.Add(after))
		m, err := ParseMoment(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if at, err := m.ticks(c, 0); err != nil || at != 1000+ntconv.Ticks(after) {
			t.Errorf("%s: tick %d, %v, want %d", text, at, err, 1000+ntconv.Ticks(after))
		}
	}
}
