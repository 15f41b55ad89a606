package main

import (
	"errors"
	"fmt"
	"sync"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/iox"
	"github.com/ntconv/ntconv/internal/selection"
	"github.com/ntconv/ntconv/symbol"
)

// A pass is one reading of the input from beginning to end, with what all verbs do on the way: names are learned from
// every event, the selection is applied behind that, and events are counted.
type pass struct {
	app   *app
	in    *input
	info  *ntconv.Info
	src   ntconv.Source // of the selected events
	namer ntconv.Namer  // nil if no names are needed
	total int64         // events of the input
	kept  int64         // events of the selection
	close func()        // ends it; may be called again
}

// passOptions say what a pass is for.
type passOptions struct {
	// names, if not nil, asks for a table of names that learns as the pass goes on.
	names *symbol.Options
	// first asks for a table that knows all names before the first event, for which the input is read twice.
	first bool
}

// needsTwo reports whether the input will be read more than once.
func (a *app) needsTwo(o passOptions) (bool, error) {
	sel, err := a.pick.options()
	if err != nil {
		return false, fail(exitUsage, err)
	}
	return o.first || sel.NeedsEnd(), nil
}

// begin opens the pass whose events count. Where names or the end of the trace must be known for it, another pass goes
// before.
func (a *app) begin(in *input, o passOptions) (*pass, error) {
	sel, err := a.pick.options()
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	p := &pass{app: a, in: in}
	see, last, err := p.prepare(o, sel)
	if err != nil {
		return nil, err
	}
	src, closer, err := in.source(a.read.Report)
	if err != nil {
		return nil, err
	}
	p.info = src.Info()
	keep, err := sel.Compile(p.info.Clock, last)
	if err != nil {
		closer.Close()
		return nil, fail(exitUsage, err)
	}
	stop := a.progress(in, "reading")
	p.close = sync.OnceFunc(func() {
		stop()
		closer.Close()
	})
	p.src = ntconv.Observe(ntconv.Filter(ntconv.Observe(src, p.counting(see)), keep), p.countKept)
	return p, nil
}

// prepare sets the namer, and makes the pass that goes before where one is needed. It returns what must see every event of
// the pass that follows, and the time of the last event if the selection needs it.
func (p *pass) prepare(o passOptions, sel *selection.Options) (see func(*ntconv.Event), last ntconv.Ticks, err error) {
	learn := func(*ntconv.Event) {}
	see = learn
	switch {
	case o.names == nil:
	case o.first:
		r := newRecall(symbol.New(o.names))
		learn, see, p.namer = r.learn, r.meet, r
		defer r.again()
	default:
		t := symbol.New(o.names)
		see, p.namer = t.Observe, t
	}
	if o.first || sel.NeedsEnd() {
		last, err = p.app.scan(p.in, learn)
	}
	return see, last, err
}

// counting returns what sees every event of the input.
func (p *pass) counting(see func(*ntconv.Event)) func(*ntconv.Event) {
	return func(e *ntconv.Event) {
		if e.Kind == ntconv.KindEvent {
			p.total++
		}
		see(e)
	}
}

func (p *pass) countKept(e *ntconv.Event) {
	if e.Kind == ntconv.KindEvent {
		p.kept++
	}
}

// scan reads the whole input, shows every event to see, and returns the time of the last one. What is wrong with the input
// is left for the pass that follows to tell.
func (a *app) scan(in *input, see func(*ntconv.Event)) (last ntconv.Ticks, err error) {
	src, closer, err := in.source(nil)
	if err != nil {
		return 0, err
	}
	defer closer.Close()
	defer a.progress(in, "looking ahead")()
	seen := false
	for e := range ntconv.Events(src) {
		if e == nil {
			break
		}
		see(e)
		if e.Kind == ntconv.KindEvent && (!seen || e.Time > last) {
			last, seen = e.Time, true
		}
	}
	return last, nil
}

// ended judges how a pass ended. err is that of ntconv.Copy: nil, a *ntconv.SourceError, or one of the sink. It returns
// what ends the run at once (nothing may be kept), and what is told after the output was kept.
func (p *pass) ended(err error) (fatal, partial error) {
	var src *ntconv.SourceError
	switch {
	case err == nil:
		return nil, p.incomplete()
	case !errors.As(err, &src):
		return outputFailure(err), nil
	case isLimit(err), p.app.read.Strict, p.total == 0:
		return p.locate(src.Err), nil
	}
	return nil, &failure{exitIncomplete, fmt.Errorf("%w; the %s before that were kept", p.locate(src.Err), count(p.total, "event"))}
}

// locate names the input in an error and gives the code that it has if nothing is kept.
func (p *pass) locate(err error) error { return inputFailure(p.in.name(), err) }

// incomplete returns the error of a pass that came to the end of the input, and nil if nothing is missing.
func (p *pass) incomplete() error {
	r := p.app.read.Report
	if r.Worst() >= ntconv.SeverityLoss {
		return failf(exitIncomplete, "%s: %s", p.in.name(), worst(r))
	}
	if n := r.Count(ntconv.CodeEventsLost); p.app.failOnLoss && n > 0 {
		return failf(exitIncomplete, "%s: %s lost by the recorder (--fail-on-loss); record with a larger buffer or fewer providers",
			p.in.name(), count(int64(n), "event was", "events were"))
	}
	return nil
}

// worst returns the entries of a report that make a conversion incomplete, as one text.
func worst(r *ntconv.Report) string {
	s := ""
	for _, e := range r.Entries() {
		if e.Code.Severity() < ntconv.SeverityLoss {
			continue
		}
		if s != "" {
			s += "; "
		}
		s += e.String()
	}
	return s
}

// nothing is the error of a selection that leaves nothing.
func (p *pass) nothing(what string) error {
	sel, err := p.app.pick.options()
	if err != nil {
		return fail(exitUsage, err)
	}
	switch {
	case p.total == 0:
		return failf(exitEmpty, "%s: the trace holds no events", p.in.name())
	case !sel.Empty():
		return failf(exitEmpty, "%s: no %s left by %s, of %s; ntconv info %s lists what there is",
			p.in.name(), what, sel, count(p.total, "event"), p.in.name())
	}
	return failf(exitEmpty, "%s: no %s among %s; ntconv info %s lists what there is", p.in.name(), what, count(p.total, "event"), p.in.name())
}

// deliver runs a pass into a sink and an output: it keeps the output if that is right, and removes it otherwise.
// result tells after Close whether the output holds anything: an error of it means that it is not to be kept.
func (p *pass) deliver(sink ntconv.Sink, out *iox.Output, result func() error) error {
	_, err := ntconv.Copy(sink, p.src)
	p.close()
	fatal, partial := p.ended(err)
	if fatal != nil {
		return errors.Join(fatal, out.Abort())
	}
	if err := sink.Close(); err != nil {
		return errors.Join(outputFailure(err), out.Abort())
	}
	if err := result(); err != nil {
		return errors.Join(err, out.Abort())
	}
	if err := out.Commit(); err != nil {
		return outputFailure(err)
	}
	return partial
}
