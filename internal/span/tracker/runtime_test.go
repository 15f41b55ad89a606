package tracker_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/dotnet"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
)

func TestGCTruth(t *testing.T) {
	var truth struct {
		Induced []struct {
			Gen              int
			StartQpc, EndQpc int64
		}
		Collections  map[string]int
		TotalPauseUs int64
	}
	readTruth(t, "alloc-verbose", &truth)
	src := open(t, corpus.SharedTrace(t, "own/alloc-verbose"), reader.ByTime)
	clock := src.Info().Clock
	spans, counts := track(t, src, &tracker.Options{Sources: operation.GC})
	var gcs []*span.Span
	paused := int64(0)
	var pause *span.Span // of the next collection
	for _, s := range spans {
		switch s.Name {
		case "GC pause":
			pause = s
			paused += int64(s.End - s.Start)
		case "GC":
			gcs = append(gcs, s)
			if !s.ParentID.IsZero() {
				t.Errorf("%s has a parent", describe(s))
			}
			gc, s := s, pause
			checkParent(t, s, gc)
			if v, _ := attribute(gc, "dotnet.gc.pause_ns"); v.Int() != int64(s.End-s.Start) || s.Start > gc.Start || s.End < gc.End {
				t.Errorf("%s\ndoes not enclose its collection\n%s", describe(s), describe(gc))
			}
		}
	}
	if len(gcs) != truth.Collections["gen0+"] || len(gcs) != len(truth.Induced) {
		t.Fatalf("%d collections, the program counted %d and induced %d", len(gcs), truth.Collections["gen0+"], len(truth.Induced))
	}
	for i, s := range gcs {
		in := truth.Induced[i]
		v, _ := attribute(s, "dotnet.gc.heap.generation")
		from, to := clock.Time(ntconv.Ticks(in.StartQpc)).UnixNano(), clock.Time(ntconv.Ticks(in.EndQpc)).UnixNano()
		if v.Str() != fmt.Sprintf("gen%d", in.Gen) || int64(s.Start) < from || int64(s.End) > to {
			t.Errorf("%s, want generation %d between %d and %d", describe(s), in.Gen, from, to)
		}
		if n, _ := attribute(s, "dotnet.gc.number"); n.Int() != int64(i+1) {
			t.Errorf("collection %d has the number %d", i+1, n.Int())
		}
	}
	// The runtime measures pauses between the events of the suspension.
	if us := paused / 1000; us < truth.TotalPauseUs*95/100 || us > truth.TotalPauseUs*115/100 {
		t.Errorf("paused for %d us, the runtime says %d us", us, truth.TotalPauseUs)
	}
	if counts.Unfinished != 0 {
		t.Errorf("counts are %+v", counts)
	}
}

func TestJITTruth(t *testing.T) {
	var truth struct {
		DynamicMethods []struct{ Name string }
		Reuse          []struct {
			Name             string
			StartQpc, EndQpc int64
		}
	}
	readTruth(t, "jit", &truth)
	f := corpus.SharedTrace(t, "own/jit")
	src := open(t, f, reader.ByTime)
	clock := src.Info().Clock
	spans, counts := track(t, src, &tracker.Options{Sources: operation.JIT})
	names := make(map[string]*span.Span)
	for _, s := range spans {
		v, ok := attribute(s, "code.function.name")
		if s.Name != "JIT" || !ok {
			t.Errorf("span %s", describe(s))
		}
		names[v.Str()] = s
	}
	started := 0
	for e, err := range ntconv.Events(open(t, f, reader.FileOrder)) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == ntconv.KindEvent && e.Type.Provider == "Microsoft-Windows-DotNETRuntime" && e.Type.ID == 145 {
			started++
		}
	}
	if len(spans) != started || counts.Unfinished != 0 {
		t.Errorf("%d spans of %d compilations, counts are %+v", len(spans), started, counts)
	}
	for _, m := range truth.DynamicMethods {
		if names["dynamicClass."+m.Name+"(int)"] == nil {
			t.Errorf("no compilation of %s", m.Name)
		}
	}
	for _, m := range truth.Reuse {
		s := names["dynamicClass."+m.Name+"(int)"]
		from, to := clock.Time(ntconv.Ticks(m.StartQpc)).UnixNano(), clock.Time(ntconv.Ticks(m.EndQpc)).UnixNano()
		if s == nil || int64(s.Start) < from || int64(s.End) > to {
			t.Errorf("no compilation of %s between %d and %d", m.Name, from, to)
		}
	}
}

func TestContentionTruth(t *testing.T) {
	var truth struct {
		Threads []struct {
			Name string
			TID  uint64
		}
		Contentions struct {
			Thread, Owner      string
			Count, EachMsAbout int
		}
	}
	readTruth(t, "waits", &truth)
	tids := make(map[string]uint64)
	for _, th := range truth.Threads {
		tids[th.Name] = th.TID
	}
	spans, counts := track(t, open(t, corpus.SharedTrace(t, "own/waits"), reader.ByTime), &tracker.Options{Sources: operation.Contention | operation.Waits})
	found, waits := 0, make(map[uint64]int)
	for _, s := range spans {
		length := int64(s.End - s.Start)
		switch s.Name {
		case "Lock contention":
			owner, _ := attribute(s, "dotnet.lock.owner_thread_id")
			wait, _ := attribute(s, "dotnet.lock.wait_ns")
			if d := wait.Int() - length; d < -1e6 || d > 1e6 {
				t.Errorf("%s takes %d ns, the runtime says %d", describe(s), length, wait.Int())
			}
			if s.Thread.TID == tids[truth.Contentions.Thread] && uint64(owner.Int()) == tids[truth.Contentions.Owner] {
				found++
				if ms := int(length / 1e6); ms < truth.Contentions.EachMsAbout/2 || ms > truth.Contentions.EachMsAbout*2 {
					t.Errorf("%s takes %d ms, want about %d", describe(s), ms, truth.Contentions.EachMsAbout)
				}
			}
		case "Wait":
			waits[s.Thread.TID]++
		default:
			t.Errorf("span %s", describe(s))
		}
	}
	if found != truth.Contentions.Count {
		t.Errorf("%d waits for the lock, the program had %d", found, truth.Contentions.Count)
	}
	if waits[tids["event-wait"]] == 0 {
		t.Errorf("no wait of the thread that waits for a handle, waits by thread are %v", waits)
	}
	t.Logf("counts are %+v", counts)
}

func TestExceptionsTruth(t *testing.T) {
	var truth struct {
		Cases []struct {
			What, Type, Message string
			Events              int
			StartQpc, EndQpc    int64
		}
	}
	readTruth(t, "exceptions", &truth)
	src := open(t, corpus.SharedTrace(t, "own/exceptions"), reader.ByTime)
	clock := src.Info().Clock
	spans, _ := track(t, src, &tracker.Options{Sources: operation.Exceptions, Unfinished: tracker.CloseUnfinished})
	thrown := 0
	for _, s := range spans {
		if s.Name != "Exception" {
			for _, p := range spans {
				if p.ID == s.ParentID && p.Name != "Exception" {
					t.Errorf("%s\nis a child of\n%s", describe(s), describe(p))
				}
			}
			continue
		}
		thrown++
	}
	want := 0
	for _, c := range truth.Cases {
		want += c.Events
		from, to := clock.Time(ntconv.Ticks(c.StartQpc)).UnixNano(), clock.Time(ntconv.Ticks(c.EndQpc)).UnixNano()
		inside := 0
		for _, s := range spans {
			typ, _ := attribute(s, "exception.type")
			message, _ := attribute(s, "exception.message")
			if s.Name == "Exception" && int64(s.Start) >= from && int64(s.Start) <= to {
				inside++
				if c.Events == 1 && (typ.Str() != dotnet.TypeName(c.Type, false) || c.What == "simple" && message.Str() != c.Message) {
					t.Errorf("%s: exception %s with message %q", c.What, typ.Str(), message.Str())
				}
			}
		}
		if inside != c.Events {
			t.Errorf("%s: %d exceptions, want %d", c.What, inside, c.Events)
		}
	}
	if thrown != want {
		t.Errorf("%d exceptions, the program threw %d", thrown, want)
	}
}

// TestIntegerFields checks that a number beyond the range of int64 is not converted, because the result would depend on
// the machine.
func TestIntegerFields(t *testing.T) {
	for _, f := range []float64{0, 1.5, -3, 1 << 62} {
		if v := tracker.Integer(f); v.Kind() != span.ValueInt || v.Int() != int64(f) {
			t.Errorf("%g: %d", f, v.Int())
		}
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1 << 63, -1e300} {
		if v := tracker.Integer(f); v.Kind() != span.ValueFloat || math.Float64bits(v.Float()) != math.Float64bits(f) {
			t.Errorf("%g: kind %d, %g", f, v.Kind(), v.Float())
		}
	}
}
