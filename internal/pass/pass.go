// Package pass reads an input from beginning to end: symbols are learned from every event, the selection is applied
// after that, and events are counted on both sides. It decides how often an input is read, in which order, and with
// which report.
//
//	input → stages before the selection → selection → stages after it → sink
//
// A stage before the selection sees every event. A sink that is an ntconv.Watcher does, too.
//
// An input is read more than once for two reasons. Something must be known before the first event: symbols, the end of
// the trace, what an Ahead learns. One reading before the pass learns all of it. Or a pass that assumed the usual case
// was wrong: that no event shows something to learn (Ahead.Shows), or that neither the order nor late symbols matter
// (Plan.AnyOrder). Then it is made again.
package pass

import (
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/internal/input"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/selection"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// A Plan says how an input is read. It does not change while passes follow it.
type Plan struct {
	// Read has the options of the input. Its Report is not used: each pass has its own.
	Read formats.ReadOptions
	// AnyOrder means that the sink is content with file order if its OrderMatters agrees: Read.Order is not the user's
	// choice.
	AnyOrder bool
	// Selection says which events reach the sink.
	Selection *selection.Options
	// Names, if not nil, asks for a symbol table that learns as the pass goes on.
	Names *symbol.Options
	// NamesFirst asks for a symbol table that knows all symbols before the first event, for which the input is read
	// twice.
	NamesFirst bool
	// Check asks for a reading before the pass if a pass in strict mode follows, so that an input that is refused is
	// refused before anything is written. An input that can be read only once is not checked.
	Check bool
	// Ahead is what must be known about the whole trace before the pass.
	Ahead []*Ahead
	// Live means that the order is not the user's choice, and that an input that can be read only once is read in file
	// order: time order waits for the end of a window.
	Live bool
	// Keep, if not nil, decides which events pass the selection; it is told what the selection says.
	Keep func(e *ntconv.Event, selected bool) bool
	// Weights asks for events that state the weights of samples wherever a selection changes them, for outputs that
	// hold samples only.
	Weights bool
	// Before are stages that see every event, in their order.
	Before []Stage
	// After are stages that see selected events, in their order.
	After []Stage
	// Progress, if not nil, shows how far a reading has come until stop is called.
	Progress func(in *input.Input, what string) (stop func())
}

// A Stage stands between a source and what reads it. It gets the pass that it is a part of, of which Source is not set
// yet.
type Stage func(p *Pass, src ntconv.Source) ntconv.Source

// NeedsAgain reports whether an input must be readable more than once for the plan.
func (p *Plan) NeedsAgain() bool {
	return p.NamesFirst || p.Selection.NeedsEnd() || slices.ContainsFunc(p.Ahead, (*Ahead).needsAgain)
}

// A Pass is one reading of an input.
type Pass struct {
	Plan   *Plan
	Input  *input.Input
	Info   *ntconv.Info
	All    ntconv.Source  // of all events; read it instead of Source, not in addition
	Source ntconv.Source  // of the selected events
	Namer  ntconv.Namer   // nil if the plan asks for no names
	Report *ntconv.Report // of this pass
	Order  reader.Order   // in which events come
	// Selector is the selection, bound to the trace.
	Selector *selection.Selector

	// Weights has the stage that Plan.Weights asks for, nil if the selection omits nothing.
	Weights *profile.Weights

	Total, Kept int64 // events read so far, before and after the selection
	Cause       error // why the input is incomplete, nil as long as nothing is missing
	// Unlearned means that an event has shown that there was something to learn ahead, but the input can be read only
	// once.
	Unlearned bool

	recorded *profile.Recording // all events
	losses   lossObserver
	learn    func(*ntconv.Event)
	watch    func(*ntconv.Event) // shows every event to the sink, nil if the sink need not see it
	waiting  *Ahead              // the first of Plan.Ahead that no event has shown to be needed, nil if there is none
	found    bool                // an event has shown it, and the pass has ended there
	shortcut bool                // names may be missing and the order may matter
	close    func()              // ends the reading; may be called again
	finish   func() error        // compares checksums at the end of the input
	endErr   error               // how the source ended
}

// errShortcut means that a pass took a shortcut that the trace does not allow.
var errShortcut = errors.New("the trace must be read once more")

// Do calls use with a pass over the input that ends with the call. If the input can be read again, the pass takes
// shortcuts that are right for nearly all traces: addresses that no stack had so far get no symbols, because .NET
// writes the symbols of all methods after the last sample, and a sink that adds events up gets them in file order. If
// Drain finds that a shortcut was wrong, use is called again with a pass without shortcuts, so it must be able to start
// over.
//
// Ahead.Shows works the same way: use is also called again if an event shows that there is something to learn ahead.
func (plan *Plan) Do(in *input.Input, use func(*Pass) error) error {
	err := plan.first(in).run(plan.NamesFirst, use)
	for errors.Is(err, errAhead) {
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
	if i := slices.IndexFunc(plan.Ahead, (*Ahead).waits); i >= 0 {
		p.waiting = plan.Ahead[i]
	}
	return p
}

// run makes the pass. What must be known first is learned in a reading that precedes it.
func (p *Pass) run(namesFirst bool, use func(*Pass) error) error {
	p.Report = new(ntconv.Report)
	p.learn = func(*ntconv.Event) {}
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
	p.recorded = profile.NewRecording(p.Info)
	if p.Selector, err = p.Plan.Selection.For(p.Info.Clock, last); err != nil {
		closer.Close()
		return &SelectionError{err}
	}
	stop := p.Plan.progress(p.Input, "reading")
	p.close = sync.OnceFunc(func() {
		stop()
		closer.Close()
	})
	defer p.close()
	p.finish = closer.Finish
	p.Source = p.chain(src)
	if err = use(p); p.found {
		return errAhead
	}
	return err
}

// chain puts the stages and the selection after a source.
func (p *Pass) chain(src ntconv.Source) ntconv.Source {
	src = &observed{src, p}
	for _, stage := range p.Plan.Before {
		src = stage(p, src)
	}
	p.All = src
	if p.Plan.Weights && p.Filtered() {
		p.Weights = profile.NewWeights(src, p.keep, p.Report)
		src = p.Weights
	} else {
		src = ntconv.Filter(src, p.keep)
	}
	for _, stage := range p.Plan.After {
		src = stage(p, src)
	}
	return src
}

// keep shows an event to the sink if it is a Watcher, and reports whether the event passes the selection.
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

// observed is the source of a pass: all events of the input up to one that shows that there is something to learn
// ahead.
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

// end records that the input was read to its end, and returns the error to end with. The report says if an earlier
// reading went otherwise.
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

// observe sees every event of the input.
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

// options returns the options of the reading that the pass is.
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

// A SelectionError means that a selection does not fit the trace, such as a date for a trace without a wall clock.
type SelectionError struct{ Err error }

func (e *SelectionError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *SelectionError) Unwrap() error { return e.Err }
