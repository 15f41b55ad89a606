package pass_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/select/selection"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// isSample reports whether an event is a sample; in these tests, samples show that a Lookahead is needed.
func isSample(e *ntconv.Event) bool { return strings.HasSuffix(e.Type.Provider, "SampleProfiler") }

// A lookout is a plan with one Lookahead, and records what happened to it.
type lookout struct {
	t            *testing.T
	plan         *pass.Plan
	begun, ended int
	last         ntconv.Ticks
	sinks        []*recorder
	unlearned    bool // of the last pass
}

func newLookout(t *testing.T, shows func(*ntconv.Event) bool) *lookout {
	l := &lookout{t: t}
	l.plan = &pass.Plan{AnyOrder: true, Selection: &selection.Options{}, Lookaheads: []*pass.Lookahead{{Lookahead: formats.Lookahead{Learn: l.learn, Shows: shows}}}}
	return l
}

func (l *lookout) learn(*ntconv.Info) (see func(*ntconv.Event), end func()) {
	l.begun++
	return func(e *ntconv.Event) {
		if e.Kind == ntconv.KindEvent && e.Time < l.last {
			l.t.Error("events to learn from are not in time order")
		}
		l.last = max(l.last, e.Time)
	}, func() { l.ended++ }
}

// do runs the passes over an input and returns their number and the samples that each sink received.
func (l *lookout) do(in *input.Input) (samples []int) {
	l.t.Helper()
	l.sinks = nil
	err := l.plan.Do(in, func(p *pass.Pass) error {
		n, sink := 0, newRecorder()
		p.Source = ntconv.Observe(p.Source, func(e *ntconv.Event) {
			if e.Kind == ntconv.KindEvent && isSample(e) {
				n++
			}
		})
		fatal, partial := p.Drain(sink)
		l.sinks, samples, l.unlearned = append(l.sinks, sink), append(samples, n), p.Unlearned
		return errors.Join(fatal, partial)
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return samples
}

// A Lookahead is learned once, in time order, and only if an event shows that it is needed: the pass ends at that
// event, its sink stays open, and another pass sees everything.
func TestAhead(t *testing.T) {
	in := open(t, corpus.Path("cpu-env.nettrace.zst"))
	never := newLookout(t, func(*ntconv.Event) bool { return false })
	all := never.do(in)
	if len(all) != 1 || all[0] == 0 || never.begun != 0 || never.plan.NeedsAgain() {
		t.Fatalf("nothing to learn: %d samples, %d readings ahead", all, never.begun)
	}
	some := newLookout(t, isSample)
	if n := some.do(in); len(n) != 2 || n[0] != 0 || n[1] != all[0] || some.sinks[0].closed || !some.sinks[1].closed || some.plan.NeedsAgain() {
		t.Errorf("something to learn: %d samples, want 0 and %d", n, all)
	}
	always := newLookout(t, nil)
	for _, l := range []*lookout{some, always} {
		if n := l.do(in); len(n) != 1 || n[0] != all[0] || l.begun != 1 || l.ended != 1 || l.unlearned {
			t.Errorf("%d samples, want %d; %d readings ahead", n, all, l.begun)
		}
	}
	if !always.plan.NeedsAgain() {
		t.Error("the input need not be readable again")
	}
	some.plan.Lookaheads[0].Again = true
	if !some.plan.NeedsAgain() {
		t.Error("the input need not be readable again although the user asks for it")
	}
}
