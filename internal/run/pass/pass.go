package pass

import (
	"errors"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/profile/rounds"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/select/selection"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// A Plan describes how to read an input. Passes do not change it.
type Plan struct {
	// Read holds the options for reading. Its Report is ignored: each pass has its own.
	Read formats.ReadOptions
	// AnyOrder means that the user did not choose Read.Order, and that file order suffices for the sink unless its
	// OrderMatters returns true.
	AnyOrder bool
	// Selection selects the events that reach the sink.
	Selection *selection.Options
	// Names, if not nil, requests a symbol table. It learns from the events of the pass.
	Names *symbol.Options
	// NamesFirst requests a symbol table that knows all symbols before the first event. It requires reading the input
	// twice.
	NamesFirst bool
	// Check requests a reading before a pass in strict mode, so that a rejected input is rejected before anything is
	// written. An input that can be read only once is not checked.
	Check bool
	// Lookaheads lists what must be known about the whole trace before the pass.
	Lookaheads []*Lookahead
	// Live means that the user did not choose an order, and that an input that can be read only once is read in file
	// order: time order would wait for the end of each window.
	Live bool
	// Keep, if not nil, decides which events pass. It receives the decision of the selection.
	Keep func(e *ntconv.Event, selected bool) bool
	// Weights requests events that state the weights of samples that the selection would change, for outputs that hold
	// only samples.
	Weights bool
	// Before lists the stages that see every event, in order.
	Before []Stage
	// After lists the stages that see selected events, in order.
	After []Stage
	// Progress, if not nil, displays the progress of a reading until stop is called.
	Progress func(in *input.Input, what string) (stop func())
}

// A Stage wraps a source. It receives its pass, whose Source is not set yet.
type Stage func(p *Pass, src ntconv.Source) ntconv.Source

// NeedsAgain reports whether the plan requires an input that can be read more than once.
func (p *Plan) NeedsAgain() bool {
	return p.NamesFirst || p.Selection.NeedsEnd() || slices.ContainsFunc(p.Lookaheads, (*Lookahead).needsAgain)
}

// A Pass is one reading of an input.
type Pass struct {
	Plan   *Plan
	Input  *input.Input
	Info   *ntconv.Info   // of the selected part: it states when a selected time begins
	All    ntconv.Source  // all events; read it instead of Source, not in addition
	Source ntconv.Source  // selected events
	Namer  ntconv.Namer   // nil if the plan requests no names
	Report *ntconv.Report // of this pass
	Order  reader.Order   // order of the events
	// Selector is the selection, bound to the trace.
	Selector *selection.Selector

	// Weights is the stage that Plan.Weights requests, or nil if the selection omits nothing.
	Weights *rounds.Weights

	Total, Kept int64 // events read so far, before and after the selection
	Cause       error // why the input is incomplete, or nil if it is complete so far
	// Unlearned means that an event showed that a Lookahead is needed, but the input can be read only once.
	Unlearned bool

	recorded *recording.Range // of all events
	losses   lossObserver
	learn    func(*ntconv.Event) // the symbol table's Observe, or a function that does nothing
	watch    func(*ntconv.Event) // shows every event to the sink; nil if the sink is not a Watcher
	waiting  *Lookahead          // first Lookahead of the plan that no event has shown to be needed, or nil
	found    bool                // an event showed the need, so the pass ended
	shortcut bool                // symbols may be missing and the order may matter
	close    func() error        // ends the reading; idempotent
	finish   func() error        // compares checksums at the end of the input
	endErr   error               // error at the end of the source
}

// errShortcut means that a pass took a shortcut that the trace does not allow.
var errShortcut = errors.New("the trace must be read once more")

// Do calls use with a pass over the input. The pass ends when use returns.
//
// If the input can be read again, the pass takes shortcuts that are valid for nearly all traces: addresses without a
// stack so far get no symbols, because .NET writes the symbols of all methods after the last sample, and a sink that
// aggregates events receives them in file order. If Drain finds that a shortcut was wrong, Do calls use again with a
// pass without shortcuts. It also calls use again if an event shows that a Lookahead is needed (Lookahead.Shows). use
// must therefore be able to start over.
//
// Do returns the error of use, a *SelectionError, or the error of opening or reading the input.
func (plan *Plan) Do(in *input.Input, use func(*Pass) error) error {
	err := plan.first(in).run(plan.NamesFirst, use)
	for errors.Is(err, errLookahead) {
		err = plan.first(in).run(plan.NamesFirst, use)
	}
	if errors.Is(err, errShortcut) {
		p := &Pass{Plan: plan, Input: in, Order: plan.Read.Order}
		err = p.run(true, use)
	}
	return err
}

// first returns a pass that takes shortcuts if the input can be read again.
func (plan *Plan) first(in *input.Input) *Pass {
	p := &Pass{Plan: plan, Input: in, Order: plan.Read.Order, shortcut: !plan.NamesFirst && in.Rereadable()}
	if plan.AnyOrder && p.shortcut || plan.Live && !in.Rereadable() {
		p.Order = reader.FileOrder
	}
	if i := slices.IndexFunc(plan.Lookaheads, (*Lookahead).waits); i >= 0 {
		p.waiting = plan.Lookaheads[i]
	}
	return p
}

// Open begins a single pass, for callers that read Pass.Source themselves and call Close after it. The pass takes no
// shortcuts, and adds to Plan.Read.Report if that is not nil. Its errors are those of Do.
func (plan *Plan) Open(in *input.Input) (*Pass, error) {
	p := &Pass{Plan: plan, Input: in, Order: plan.Read.Order, Report: plan.Read.Report}
	return p, p.begin(plan.NamesFirst)
}

// run performs the pass.
func (p *Pass) run(namesFirst bool, use func(*Pass) error) error {
	if err := p.begin(namesFirst); err != nil {
		return err
	}
	defer p.Close()
	err := use(p)
	if p.found {
		return errLookahead
	}
	return err
}

// begin opens the source of the pass, after a reading for what must be known in advance.
func (p *Pass) begin(namesFirst bool) error {
	if p.Report == nil {
		p.Report = new(ntconv.Report)
	}
	p.learn, p.close = func(*ntconv.Event) {}, func() error { return nil }
	var names func(*ntconv.Event) // learns symbols before the pass
	if p.Plan.Names != nil {
		t := symbol.New(p.Plan.Names)
		if p.Namer = t; namesFirst {
			names = t.Observe
		} else {
			p.learn = t.Observe
		}
	}
	last, err := p.Plan.lookAhead(p.Input, names)
	if err != nil {
		return err
	}
	src, closer, err := p.Input.Source(p.options())
	if err != nil {
		return err
	}
	p.Info = src.Info()
	p.recorded = recording.NewRange(p.Info)
	if p.Selector, err = p.Plan.Selection.For(p.Info.Clock, last); err != nil {
		closer.Close()
		return &SelectionError{err}
	}
	if begin, _ := p.Selector.Clip(p.Info.Clock.Tick, math.MaxInt64); begin > p.Info.Clock.Tick {
		p.Info = recording.Since(p.Info, begin)
	}
	stop := p.Plan.progress(p.Input, "reading")
	p.close = sync.OnceValue(func() error {
		stop()
		return closer.Close()
	})
	p.finish = closer.Finish
	p.Source = p.chain(src)
	return nil
}

// Close ends the reading. Later calls return the same error.
func (p *Pass) Close() error { return p.close() }

// Watch shows every event to see, before the selection; nil ends that.
func (p *Pass) Watch(see func(*ntconv.Event)) { p.watch = see }

// chain adds the stages and the selection to a source.
func (p *Pass) chain(src ntconv.Source) ntconv.Source {
	src = &observed{src, p}
	for _, stage := range p.Plan.Before {
		src = stage(p, src)
	}
	p.All = src
	if p.Plan.Weights && p.Filtered() {
		p.Weights = rounds.NewWeights(src, p.keep, p.Report)
		src = p.Weights
	} else {
		src = &selected{src, p}
	}
	for _, stage := range p.Plan.After {
		src = stage(p, src)
	}
	return src
}

// keep shows an event to the sink if it is a Watcher, and reports whether the event passes.
func (p *Pass) keep(e *ntconv.Event) bool {
	if p.watch != nil {
		p.watch(e)
	}
	kept := p.Selector.Keep(e)
	if p.Plan.Keep != nil {
		kept = p.Plan.Keep(e, kept)
	}
	if kept && e.Kind == ntconv.KindEvent {
		p.Kept++
	}
	return kept
}

// A selected is the source of the selected events. It is no ntconv.Selecting, because Drain knows whether the sink must
// see the other events.
type selected struct {
	ntconv.Source
	pass *Pass
}

// Next implements ntconv.Source.
func (s *selected) Next() (*ntconv.Event, error) {
	for {
		e, err := s.Source.Next()
		if err != nil || s.pass.keep(e) {
			return e, err
		}
	}
}

// An observed is the source of a pass: all events of the input up to the first one that shows that a Lookahead is
// needed.
type observed struct {
	ntconv.Source
	pass *Pass
}

// Next implements ntconv.Source.
func (o *observed) Next() (*ntconv.Event, error) {
	if o.pass.found {
		return nil, io.EOF
	}
	e, err := o.Source.Next()
	if err != nil {
		return nil, o.pass.end(err)
	}
	o.pass.observe(e)
	if o.pass.found {
		return nil, io.EOF
	}
	return e, nil
}

// end records the end of the input, and returns the error to end with. If an earlier reading ended differently, it
// notes this in the report.
func (p *Pass) end(err error) error {
	if p.endErr != nil {
		return p.endErr
	}
	if err == io.EOF {
		err = p.finish()
	}
	if p.endErr = err; err == nil {
		p.endErr = io.EOF
	}
	if changed := p.Input.Finish(input.Reading{Events: p.Total, Err: err}); changed != "" {
		p.Report.Note(ntconv.CodeChanged, 1, -1, changed)
	}
	return p.endErr
}

// observe processes each event of the input.
func (p *Pass) observe(e *ntconv.Event) {
	switch e.Kind {
	case ntconv.KindLost:
		p.losses.lose(e)
	case ntconv.KindEvent:
		p.Total++
		p.recorded.Observe(e)
		if p.losses.concerns(e) {
			p.losses.follow(e)
		}
		if p.waiting != nil && p.waiting.Shows(e) {
			p.waiting.shown, p.found = true, p.Input.Rereadable()
			p.waiting, p.Unlearned = nil, !p.found
		}
	}
	p.learn(e)
}

// options returns the options for the reading of the pass.
func (p *Pass) options() *formats.ReadOptions {
	o := p.Plan.Read
	o.Order, o.Report = p.Order, p.Report
	return &o
}

func (plan *Plan) progress(in *input.Input, what string) (stop func()) {
	if plan.Progress == nil {
		return func() {}
	}
	return plan.Progress(in, what)
}

// A SelectionError means that a selection does not apply to the trace, such as a date for a trace without wall-clock
// time.
type SelectionError struct{ Err error }

func (e *SelectionError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *SelectionError) Unwrap() error { return e.Err }
