package pass_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/select/selection"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

func open(t *testing.T, path string) *input.Input {
	t.Helper()
	in, err := input.Open([]string{path}, &input.Options{Openers: new(formats.Openers)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	return in
}

// A recorder is a sink that counts events by ID. It reports that the order mattered as often as it is configured to.
type recorder struct {
	written, watched map[uint32]int
	matters          bool
	err              error // of Write
	closed           bool
}

// keyOf returns the ID of an event of the runtime, and another number for other providers.
func keyOf(e *ntconv.Event) uint32 {
	if e.Type.Provider == "Microsoft-Windows-DotNETRuntime" {
		return e.Type.ID
	}
	return 1 << 16
}

func newRecorder() *recorder {
	return &recorder{written: map[uint32]int{}, watched: map[uint32]int{}}
}

func (r *recorder) Write(e *ntconv.Event) error {
	if e.Kind == ntconv.KindEvent {
		r.written[keyOf(e)]++
	}
	return r.err
}

func (r *recorder) Watch(e *ntconv.Event) {
	if e.Kind == ntconv.KindEvent {
		r.watched[keyOf(e)]++
	}
}

func (r *recorder) OrderMatters() bool { return r.matters }

func (r *recorder) Close() error {
	r.closed = true
	return nil
}

func total(counts map[uint32]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// gcStart and gcEnd are events of the runtime. Those that the selection omits must reach the stages before it.
const gcStart, gcEnd = 1, 2

// A stage before the selection and a sink that watches see every event. The sink's Write and the stages after the
// selection see only selected events.
func TestStages(t *testing.T) {
	in := open(t, corpus.Path("alloc-verbose.nettrace.zst"))
	before, after := newRecorder(), newRecorder()
	stage := func(r *recorder) pass.Stage {
		return func(_ *pass.Pass, src ntconv.Source) ntconv.Source {
			return ntconv.Observe(src, func(e *ntconv.Event) { _ = r.Write(e) })
		}
	}
	plan := &pass.Plan{
		Selection: &selection.Options{Events: []string{"GCStart"}}, Before: []pass.Stage{stage(before)}, After: []pass.Stage{stage(after)},
	}
	sink := newRecorder()
	err := plan.Do(in, func(p *pass.Pass) error {
		fatal, partial := p.Drain(sink)
		if int(p.Total) != total(before.written) || int(p.Kept) != sink.written[gcStart] {
			t.Errorf("%d of %d events", p.Kept, p.Total)
		}
		return errors.Join(fatal, partial)
	})
	if err != nil || !sink.closed {
		t.Fatal(err)
	}
	if before.written[gcEnd] == 0 || before.written[gcStart] == 0 || total(before.written) != total(sink.watched) {
		t.Errorf("before the selection: %d starts, %d ends, %d events, %d watched", before.written[gcStart], before.written[gcEnd], total(before.written), total(sink.watched))
	}
	if sink.written[gcStart] != before.written[gcStart] || total(sink.written) != sink.written[gcStart] || total(after.written) != total(sink.written) {
		t.Errorf("after the selection: %v", sink.written)
	}
}

// A sink whose OrderMatters returns true receives the events again, in time order, with a new report and with all
// symbols known. The plan does not change.
func TestShortcut(t *testing.T) {
	in := open(t, corpus.Path("cpu-env.nettrace.zst"))
	plan := &pass.Plan{AnyOrder: true, Selection: &selection.Options{}, Names: &symbol.Options{}}
	same := *plan
	var orders []reader.Order
	var reports []*ntconv.Report
	var sinks []*recorder
	err := plan.Do(in, func(p *pass.Pass) error {
		orders, reports = append(orders, p.Order), append(reports, p.Report)
		sink := newRecorder()
		sink.matters = true
		sinks = append(sinks, sink)
		fatal, partial := p.Drain(sink)
		return errors.Join(fatal, partial)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(orders) != 2 || orders[0] != reader.FileOrder || orders[1] != reader.ByTime || reports[0] == reports[1] {
		t.Fatalf("orders %v", orders)
	}
	if sinks[0].closed || !sinks[1].closed || total(sinks[0].written) != total(sinks[1].written) {
		t.Error("the first sink was closed, or the second one was not, or saw other events")
	}
	if plan.Read.Order != same.Read.Order || plan.NamesFirst != same.NamesFirst || plan.Read.Report != nil {
		t.Error("the pass has changed its plan")
	}
}

// Drain distinguishes errors of the source with and without a usable output, and errors of the sink.
func TestDrainErrors(t *testing.T) {
	data := corpus.Trace(t, "cpu-env").Data
	cut := filepath.Join(t.TempDir(), "cut.nettrace")
	if err := os.WriteFile(cut, data[:200_000], 0o600); err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	for name, c := range map[string]struct {
		read           formats.ReadOptions
		sink           error
		fatal, partial error
	}{
		"truncated":        {partial: ntconv.ErrTruncated},
		"strict":           {read: formats.ReadOptions{Strict: true}, fatal: ntconv.ErrTruncated},
		"a limit":          {read: formats.ReadOptions{Limits: reader.Limits{Types: 2}}, fatal: ntconv.ErrLimit},
		"the sink's error": {sink: full, fatal: full},
	} {
		plan := &pass.Plan{Read: c.read, Selection: &selection.Options{}}
		err := plan.Do(open(t, cut), func(p *pass.Pass) error {
			sink := newRecorder()
			sink.err = c.sink
			fatal, partial := p.Drain(sink)
			var of *pass.SinkError
			if !errors.Is(fatal, c.fatal) || !errors.Is(partial, c.partial) || errors.As(fatal, &of) != (c.sink != nil) || sink.closed != (fatal == nil) {
				t.Errorf("%s: fatal %v, partial %v, closed %v", name, fatal, partial, sink.closed)
			}
			if (p.Cause != nil) != (partial != nil) {
				t.Errorf("%s: cause %v", name, p.Cause)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// ahead returns a Lookahead that learns the number of events.
func ahead(events *int) *pass.Lookahead {
	return &pass.Lookahead{Lookahead: formats.Lookahead{Learn: func(*ntconv.Info) (see func(*ntconv.Event), end func()) {
		return func(*ntconv.Event) { *events++ }, func() {}
	}}}
}

// glance returns a Lookahead that is learned only if the input can be read again, in any order.
func glance(events *int) *pass.Lookahead {
	a := ahead(events)
	a.AnyOrder, a.Optional = true, true
	return a
}

// A separate reading learns what must be known before a pass: symbols, the end of the trace, or a Lookahead.
func TestReadingBefore(t *testing.T) {
	in := open(t, corpus.Path("cpu-env.nettrace.zst"))
	last, err := selection.ParseMoment("-1s")
	if err != nil {
		t.Fatal(err)
	}
	learned := 0
	for name, plan := range map[string]*pass.Plan{
		"names": {Names: &symbol.Options{}, NamesFirst: true, Selection: &selection.Options{}},
		"end":   {Selection: &selection.Options{From: last}},
		"learn": {Lookaheads: []*pass.Lookahead{ahead(&learned)}, Selection: &selection.Options{}},
	} {
		readings := []string{}
		plan.Progress = func(_ *input.Input, what string) func() {
			readings = append(readings, what)
			return func() {}
		}
		if !plan.NeedsAgain() {
			t.Errorf("%s: the input need not be readable again", name)
		}
		err := plan.Do(in, func(p *pass.Pass) error {
			if table, ok := p.Namer.(*symbol.Table); name == "names" && (!ok || table == nil) {
				t.Error("no symbols")
			}
			fatal, _ := p.Drain(newRecorder())
			return fatal
		})
		if err != nil || len(readings) != 2 && name != "end" || len(readings) > 2 || !in.Ended {
			t.Errorf("%s: %q, %v", name, readings, err)
		}
	}
	if learned < 1786 {
		t.Errorf("%d events learned", learned)
	}
}

// A lossReporter is a sink that learns only in Close that something is missing.
type lossReporter struct {
	*recorder
	report *ntconv.Report
}

func (l lossReporter) Close() error {
	l.report.Add(ntconv.CodeRejected, 1, -1)
	return l.recorder.Close()
}

// Losses that a sink reports in Close make the output incomplete.
func TestLossInClose(t *testing.T) {
	plan := &pass.Plan{Selection: &selection.Options{}}
	err := plan.Do(open(t, corpus.Path("threads.nettrace.zst")), func(p *pass.Pass) error {
		fatal, partial := p.Drain(lossReporter{newRecorder(), p.Report})
		if fatal != nil || partial == nil || p.Cause == nil {
			t.Errorf("fatal %v, partial %v, cause %v", fatal, partial, p.Cause)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// One reading learns everything that must be known before a pass, once, even if the pass is repeated. There is a second
// reading only if the user selected file order for symbols and a Lookahead needs time order.
func TestReadingIsShared(t *testing.T) {
	end, err := selection.ParseMoment("-1s")
	if err != nil {
		t.Fatal(err)
	}
	for order, want := range map[reader.Order]int{reader.ByTime: 2, reader.FileOrder: 3} {
		var counts [3]int
		readings := 0
		plan := &pass.Plan{
			Read: formats.ReadOptions{Order: order}, Names: &symbol.Options{}, NamesFirst: true, Selection: &selection.Options{From: end},
			Lookaheads: []*pass.Lookahead{ahead(&counts[0]), glance(&counts[1]), {Lookahead: formats.Lookahead{Learn: ahead(&counts[2]).Learn, Shows: func(*ntconv.Event) bool { return false }}}},
			Progress:   func(*input.Input, string) func() { readings++; return func() {} },
		}
		in := open(t, corpus.Path("cpu-env.nettrace.zst"))
		for range 2 {
			err := plan.Do(in, func(p *pass.Pass) error {
				fatal, _ := p.Drain(newRecorder())
				return fatal
			})
			if err != nil {
				t.Fatal(err)
			}
			if readings != want || counts[0] < 1786 || counts[1] != counts[0] || counts[2] != 0 {
				t.Errorf("%v: %d readings, want %d; learned %d", order, readings, want, counts)
			}
			readings, want = 0, 2 // symbols are learned for each pass
		}
	}
}

// An optional Lookahead is learned before the pass begins, but does not require a rereadable input.
func TestOptionalAhead(t *testing.T) {
	in := open(t, corpus.Path("threads.nettrace.zst"))
	glanced := 0
	plan := &pass.Plan{Selection: &selection.Options{}, Lookaheads: []*pass.Lookahead{glance(&glanced)}}
	if plan.NeedsAgain() {
		t.Error("a pipe would be copied to a file")
	}
	err := plan.Do(in, func(p *pass.Pass) error {
		seen := newRecorder()
		before := glanced
		fatal, _ := p.Drain(seen)
		if before < total(seen.written) || before != glanced || before == 0 {
			t.Errorf("%d events seen ahead before the pass, %d after it, which has %d", before, glanced, total(seen.written))
		}
		return fatal
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A live output of an input that can be read only once uses file order, and all others the order of the plan.
func TestLive(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	makePipe(t, pipe, corpus.Trace(t, "threads").Data)
	for path, want := range map[string]reader.Order{pipe: reader.FileOrder, corpus.Path("threads.nettrace.zst"): reader.ByTime} {
		glanced := 0
		plan := &pass.Plan{Selection: &selection.Options{}, Live: true, Lookaheads: []*pass.Lookahead{glance(&glanced)}}
		err := plan.Do(open(t, path), func(p *pass.Pass) error {
			if p.Order != want || (glanced > 0) != (path != pipe) {
				t.Errorf("%s: %v, %d events seen ahead", path, p.Order, glanced)
			}
			fatal, _ := p.Drain(newRecorder())
			return fatal
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
