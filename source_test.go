package ntconv_test

import (
	"errors"
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/eventgen"
	"github.com/ntconv/ntconv/ntconvtest"
)

var errBroken = errors.New("broken")

// combinators are all functions that make a source of a source, used so that they should change nothing.
var combinators = map[string]func(ntconv.Source) ntconv.Source{
	"Filter":  func(s ntconv.Source) ntconv.Source { return ntconv.Filter(s, func(*ntconv.Event) bool { return true }) },
	"Observe": func(s ntconv.Source) ntconv.Source { return ntconv.Observe(s, func(*ntconv.Event) {}) },
	"Filter of Observe": func(s ntconv.Source) ntconv.Source {
		return ntconv.Filter(ntconv.Observe(s, func(*ntconv.Event) {}), func(*ntconv.Event) bool { return true })
	},
}

func TestIdentities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := eventgen.Traces().Draw(t, "trace")
		for name, wrap := range combinators {
			if err := ntconvtest.EqualStreams(tr.Source(), wrap(ntconvtest.Poison(tr.Source())), nil); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		var a, b ntconvtest.Recorder
		n, err := ntconv.Copy(ntconv.Tee(&a, &b), ntconvtest.Poison(tr.Source()))
		if want := countEvents(tr.Events); err != nil || n != want || len(a.Events) != len(tr.Events) {
			t.Fatalf("Copy: %d events, want %d, %d of %d written, %v", n, want, len(a.Events), len(tr.Events), err)
		}
		for i, r := range []*ntconvtest.Recorder{&a, &b} {
			if err := ntconvtest.EqualStreams(tr.Source(), ntconvtest.NewSource(tr.Info, r.Events...), nil); err != nil {
				t.Fatalf("sink %d of Tee: %v", i, err)
			}
		}
	})
}

// countEvents returns how many of a list have the kind KindEvent.
func countEvents(list []*ntconv.Event) (n int64) {
	for _, e := range list {
		if e.Kind == ntconv.KindEvent {
			n++
		}
	}
	return n
}

// TestCopyCountsEventsOnly checks that a mark, a loss, a definition and an opaque block are written and not counted.
func TestCopyCountsEventsOnly(t *testing.T) {
	var sink ntconvtest.Recorder
	src := ntconvtest.NewSource(nil, &ntconv.Event{Kind: ntconv.KindMark}, &ntconv.Event{}, &ntconv.Event{Kind: ntconv.KindLost},
		&ntconv.Event{Kind: ntconv.KindDefine}, &ntconv.Event{Kind: ntconv.KindOpaque}, &ntconv.Event{})
	if n, err := ntconv.Copy(&sink, src); n != 2 || err != nil || len(sink.Events) != 6 {
		t.Errorf("%d events, %d written, %v; want 2 and 6", n, len(sink.Events), err)
	}
}

func TestErrorsStay(t *testing.T) {
	for name, wrap := range combinators {
		src := ntconvtest.NewSource(nil, &ntconv.Event{})
		src.Err = errBroken
		s := wrap(src)
		if _, err := s.Next(); err != nil {
			t.Errorf("%s: the event before the error: %v", name, err)
		}
		for range 3 {
			if e, err := s.Next(); err != errBroken || e != nil {
				t.Errorf("%s: %v, %v", name, e, err)
			}
		}
		if s.Info() != src.Info() {
			t.Errorf("%s: another Info", name)
		}
	}
}

func TestFilterKeepsWhatItIsTold(t *testing.T) {
	var events []*ntconv.Event
	for i := range uint32(10) {
		events = append(events, &ntconv.Event{Seq: i})
	}
	got, err := ntconvtest.Record(ntconv.Filter(ntconvtest.NewSource(nil, events...), func(e *ntconv.Event) bool { return e.Seq%3 == 1 }))
	if err != nil || len(got) != 3 || got[0].Seq != 1 || got[2].Seq != 7 {
		t.Errorf("%d events, %v", len(got), err)
	}
	got, err = ntconvtest.Record(ntconv.Filter(ntconvtest.NewSource(nil, events...), func(*ntconv.Event) bool { return false }))
	if err != nil || len(got) != 0 {
		t.Errorf("nothing kept: %d events, %v", len(got), err)
	}
}

func TestObserveSeesEveryEventOnce(t *testing.T) {
	src := ntconvtest.NewSource(nil, &ntconv.Event{Seq: 1}, &ntconv.Event{Seq: 2})
	src.Err = errBroken
	var seen []uint32
	s := ntconv.Observe(src, func(e *ntconv.Event) { seen = append(seen, e.Seq) })
	for range 5 {
		e, err := s.Next()
		if err == nil && e.Seq != seen[len(seen)-1] {
			t.Errorf("event %d was not seen before it was returned", e.Seq)
		}
	}
	if len(seen) != 2 {
		t.Errorf("saw %v", seen)
	}
}

func TestEvents(t *testing.T) {
	src := ntconvtest.NewSource(nil, &ntconv.Event{Seq: 1}, &ntconv.Event{Seq: 2}, &ntconv.Event{Seq: 3})
	src.Err = errBroken
	for e, err := range ntconv.Events(src) {
		if err != nil || e.Seq != 1 {
			t.Fatalf("%v, %v", e, err)
		}
		break
	}
	var seqs []uint32
	var errs []error
	for e, err := range ntconv.Events(src) { // goes on where the first loop stopped
		if err != nil {
			errs = append(errs, err)
			continue
		}
		seqs = append(seqs, e.Seq)
	}
	if len(seqs) != 2 || seqs[0] != 2 || len(errs) != 1 || errs[0] != errBroken {
		t.Errorf("%v, %v", seqs, errs)
	}
	for e, err := range ntconv.Events(ntconvtest.NewSource(nil)) {
		t.Errorf("from an empty source: %v, %v", e, err)
	}
}

func TestCopyTellsWhoseErrorItIs(t *testing.T) {
	src := ntconvtest.NewSource(nil, &ntconv.Event{}, &ntconv.Event{})
	src.Err = io.ErrUnexpectedEOF
	var sink ntconvtest.Recorder
	n, err := ntconv.Copy(&sink, src)
	var source *ntconv.SourceError
	if n != 2 || !errors.As(err, &source) || !errors.Is(err, io.ErrUnexpectedEOF) || err.Error() != io.ErrUnexpectedEOF.Error() {
		t.Errorf("source: %d, %v", n, err)
	}
	n, err = ntconv.Copy(&ntconvtest.Recorder{FailAfter: 1, Err: errBroken}, ntconvtest.NewSource(nil, &ntconv.Event{}, &ntconv.Event{}))
	if n != 1 || errors.As(err, &source) || err != errBroken {
		t.Errorf("sink: %d, %v", n, err)
	}
	if sink.Closed != 0 {
		t.Error("Copy closes the sink")
	}
}

// flusher is a sink whose Flush and Close fail.
type flusher struct {
	ntconvtest.Recorder
	flushed int
	err     error
}

func (f *flusher) Flush() error { f.flushed++; return f.err }
func (f *flusher) Close() error { f.Recorder.Close(); return f.err }

func TestTee(t *testing.T) {
	one, two := errors.New("one"), errors.New("two")
	a, b, c := &flusher{err: one}, &ntconvtest.Recorder{}, &flusher{err: two}
	sink := ntconv.Tee(a, b, c)
	if err := sink.(ntconv.Flusher).Flush(); !errors.Is(err, one) || !errors.Is(err, two) || a.flushed != 1 || c.flushed != 1 {
		t.Errorf("Flush: %v", err)
	}
	if err := sink.Close(); !errors.Is(err, one) || !errors.Is(err, two) || a.Closed+b.Closed+c.Closed != 3 {
		t.Errorf("Close: %v", err)
	}
	b.Err, b.FailAfter = errBroken, 0
	if err := sink.Write(&ntconv.Event{}); err != errBroken || len(a.Events) != 1 || len(c.Events) != 0 {
		t.Errorf("Write: %v, %d, %d", err, len(a.Events), len(c.Events))
	}
	if err := ntconv.Tee().Close(); err != nil {
		t.Errorf("no sinks: %v", err)
	}
}

// A watching sink counts what it sees and what it gets.
type watching struct{ seen, written []ntconv.Ticks }

func (w *watching) Watch(e *ntconv.Event)       { w.seen = append(w.seen, e.Time) }
func (w *watching) Write(e *ntconv.Event) error { w.written = append(w.written, e.Time); return nil }
func (w *watching) Close() error                { return nil }

// TestCopyShowsWatchersAll checks that a watcher sees each event once, in order and before it is written, however many
// selections the source has.
func TestCopyShowsWatchersAll(t *testing.T) {
	var events []*ntconv.Event
	for i := range 100 {
		events = append(events, &ntconv.Event{Type: &ntconv.Type{}, Thread: &ntconv.Thread{}, Time: ntconv.Ticks(i)})
	}
	every := func(n ntconv.Ticks) func(*ntconv.Event) bool {
		return func(e *ntconv.Event) bool { return e.Time%n == 0 }
	}
	observed := 0
	src := ntconv.Filter(ntconvtest.NewSource(&ntconv.Info{}, events...), every(2))
	src = ntconv.Filter(ntconv.Observe(src, func(*ntconv.Event) { observed++ }), every(3))
	var w watching
	if n, err := ntconv.Copy(&w, src); err != nil || n != 17 || len(w.seen) != 100 || len(w.written) != 17 || observed != 50 {
		t.Errorf("%d copied, %v: %d seen, %d written, %d observed", n, err, len(w.seen), len(w.written), observed)
	}
	if !slices.IsSorted(w.seen) {
		t.Error("events were seen twice, or not in order")
	}
	w = watching{}
	if _, err := ntconv.Copy(&w, ntconvtest.NewSource(&ntconv.Info{}, events...)); err != nil || len(w.seen) != 0 || len(w.written) != 100 {
		t.Errorf("%v: %d seen, %d written of a source that selects nothing", err, len(w.seen), len(w.written))
	}
}
