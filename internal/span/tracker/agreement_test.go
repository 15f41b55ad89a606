package tracker_test

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/interval"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
)

// A tally is the number and the total duration of operations in nanoseconds, and of collections the total of their
// pauses.
type tally struct{ n, nanos, paused int64 }

// measure returns the operations of a trace as its profiles, its spans and its intervals show them.
func measure(t *testing.T, f corpus.File) (profiles map[sample.Kind]tally, spans, intervals map[string]tally) {
	t.Helper()
	src, err := reader.NewBytes(f.Data, &reader.Options{Order: reader.ByTime})
	if err != nil {
		return nil, nil, nil // no trace
	}
	profiles, spans, intervals = map[sample.Kind]tally{}, map[string]tally{}, map[string]tally{}
	kinds := []sample.Kind{sample.GC, sample.Wait, sample.TypeLoad}
	var builders []*profile.Builder
	for _, k := range kinds {
		builders = append(builders, profile.New(src.Info(), nil, &profile.Options{Kind: k}))
	}
	tr := tracker.New(src.Info(), func(s *span.Span) {
		n := spans[s.Operation.Name]
		pause, _ := attribute(s, "dotnet.gc.pause_ns")
		spans[s.Operation.Name] = tally{n.n + 1, n.nanos + int64(s.End-s.Start), n.paused + pause.Int()}
	}, &tracker.Options{Sources: operation.Runtime | operation.Suspensions})
	finder := interval.New(src.Info(), interval.Options{
		Wants: func(*operation.Operation) bool { return true },
		Emit: func(v *interval.Interval) {
			n := intervals[v.Of.Name]
			intervals[v.Of.Name] = tally{n.n + 1, n.nanos + int64(v.Duration()), n.paused + int64(v.Paused)}
		},
	})
	for e, err := range ntconv.Events(src) {
		if err != nil {
			break // the events before are complete
		}
		for _, b := range builders {
			b.Add(e)
		}
		tr.Add(e)
		finder.Add(e)
	}
	tr.Finish()
	finder.Finish()
	for i, b := range builders {
		for s := range b.Finish().Samples() {
			n := profiles[kinds[i]]
			profiles[kinds[i]] = tally{n.n + s.Values[0], n.nanos + s.Values[1], 0}
		}
	}
	return profiles, spans, intervals
}

// Profiles, spans and intervals have the same collections, the same pauses and the same waits.
func TestAgreement(t *testing.T) {
	for _, f := range corpus.Traces(t) {
		checkAgreement(t, f)
	}
}

func checkAgreement(t *testing.T, f corpus.File) (pauses int64) {
	t.Helper()
	profiles, spans, intervals := measure(t, f)
	gc := profiles[sample.GC]
	if gc.n != spans["gc"].n || gc.nanos != spans["gc_pause"].nanos {
		t.Errorf("%s: the profile has %+v, spans have %+v and pauses %+v", f.Name, gc, spans["gc"], spans["gc_pause"])
	}
	if wait := profiles[sample.Wait]; wait != spans["wait"] {
		t.Errorf("%s: the profile has waits %+v, spans %+v", f.Name, wait, spans["wait"])
	}
	for name, want := range spans {
		if got := intervals[name]; got != want {
			t.Errorf("%s: %s: %+v intervals, %+v spans", f.Name, name, got, want)
		}
	}
	return spans["gc_pause"].nanos
}

// The total of the pauses is that of the events: for each thread, from the begin of a suspension for a collection to the
// end of the restart.
func TestPauses(t *testing.T) {
	for name, want := range map[string]int64{
		"roslyn-compile-net10": 311_084_763, "perfview-dotnetcore3.0-win-x64": 7_730_339_857, "diagnostics-truncated": 5_912_866_100,
	} {
		if got := checkAgreement(t, corpus.SharedTrace(t, "nettrace/"+name)); got != want {
			t.Errorf("%s: pauses of %d ns, want %d", name, got, want)
		}
	}
}
