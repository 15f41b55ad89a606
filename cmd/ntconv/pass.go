package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/inventory"
	"github.com/ntconv/ntconv/internal/iox"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/selection"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// A pass is one reading of the input from beginning to end, with what all verbs do on the way: names are learned from
// every event, the selection is applied behind that, and events are counted.
type pass struct {
	app      *app
	in       *input
	info     *ntconv.Info
	src      ntconv.Source // of the selected events
	namer    ntconv.Namer  // nil if no names are needed
	picked   *selection.Options
	total    int64 // events of the input
	kept     int64 // events of the selection
	cause    error // why the input is incomplete, or nil
	sel      *selection.Selector
	recorded profile.Recording // the input
	notes    []string          // on what was made
	watch    func(*ntconv.Event)
	weights  *profile.Weights // of a selection that is written as a trace, or nil
	first    bool             // passOptions.first
	close    func()           // ends it; may be called again
}

// passOptions say what a pass is for.
type passOptions struct {
	// names, if not nil, asks for a table of names that learns as the pass goes on.
	names *symbol.Options
	// first asks for a table that knows all names before the first event, for which the input is read twice.
	first bool
	// keep, if not nil, has the last word on what is kept; it is told whether an event is selected.
	keep func(e *ntconv.Event, selected bool) bool
	// weights asks for events that keep the weights of samples if not all of them are selected.
	weights bool
}

// errShortcut says that a pass took a shortcut that the trace does not allow.
var errShortcut = errors.New("the trace must be read once more")

// pass lets use have a pass over an input, which ends with it. Where the input can be read again the pass takes shortcuts that are
// right for nearly all traces, and is made once more without them if drain finds that they were not: methods that no stack needed so
// far get no names, because the names of all methods come behind the last sample, and what sums events up gets them in the order of
// the file.
func (a *app) pass(in *input, o passOptions, use func(*pass) error) error {
	once := func() error {
		p, err := a.begin(in, o)
		if err != nil {
			return err
		}
		defer p.close()
		return use(p)
	}
	order := a.read.Order
	if a.anyOrder && in.raw.Again() {
		a.read.Order = reader.FileOrder
	}
	err := once()
	if errors.Is(err, errShortcut) {
		a.read.Report = new(ntconv.Report)
		a.read.Order, o.first = order, true
		err = once()
	}
	return err
}

// strayed reports whether the pass took a shortcut that went wrong. It is for before the sink is closed.
func (p *pass) strayed(sink ntconv.Sink) bool {
	if p.first || !p.in.raw.Again() {
		return false
	}
	if t, ok := p.namer.(ntconv.AddressWanter); ok && t.Missed() > 0 {
		return true
	}
	u, ok := sink.(ntconv.OrderSensitive)
	return ok && p.app.read.Order == reader.FileOrder && p.app.anyOrder && u.OrderMatters()
}

// passOver is pass for inputs by their names. Several are read as if they were one.
func (a *app) passOver(names []string, o passOptions, use func(*pass) error) error {
	sel, err := a.pick.options()
	if err != nil {
		return fail(exitUsage, err)
	}
	in, err := a.openInputs(names, o.first || sel.NeedsEnd())
	if err != nil {
		return err
	}
	defer in.close()
	return a.pass(in, o, use)
}

// begin opens the pass whose events count. Where names or the end of the trace must be known for it, another pass goes
// before.
func (a *app) begin(in *input, o passOptions) (*pass, error) {
	sel, err := a.pick.options()
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	p := &pass{app: a, in: in, picked: sel, first: o.first}
	see, last, err := p.prepare(o, sel)
	if err != nil {
		return nil, err
	}
	src, closer, err := in.source(a.read.Report)
	if err != nil {
		return nil, err
	}
	p.info = src.Info()
	if p.sel, err = sel.For(p.info.Clock, last); err != nil {
		closer.Close()
		return nil, fail(exitUsage, err)
	}
	stop := a.progress(in, "reading")
	p.close = sync.OnceFunc(func() {
		stop()
		closer.Close()
	})
	keep := p.sel.Keep
	if o.keep != nil {
		keep = func(e *ntconv.Event) bool { return o.keep(e, p.sel.Keep(e)) }
	}
	src = ntconv.Observe(src, p.counting(see))
	if o.weights && !sel.Empty() {
		p.weights = profile.NewWeights(src, func(e *ntconv.Event) bool { return p.countKept(e, keep(e)) }, a.read.Report)
		p.src = p.weights
	} else {
		p.src = ntconv.Filter(src, func(e *ntconv.Event) bool { return p.countKept(e, keep(e)) })
	}
	return p, nil
}

// prepare sets the namer, and makes the pass that goes before where one is needed. It returns what must see every event of
// the pass that follows, and the time of the last event if the selection needs it.
func (p *pass) prepare(o passOptions, sel *selection.Options) (see func(*ntconv.Event), last ntconv.Ticks, err error) {
	nothing := func(*ntconv.Event) {}
	see, before := nothing, nothing
	if o.names != nil {
		t := symbol.New(o.names)
		see, p.namer = t.Observe, t
		if o.first {
			see, before = nothing, t.Observe
		}
	}
	switch {
	case o.first:
		last, err = p.app.scan(p.in, before)
	case sel.NeedsEnd():
		last, err = p.app.lastOf(p.in)
	}
	return see, last, err
}

// lastOf returns the time of the last event of an input, for which it reads it once.
func (a *app) lastOf(in *input) (ntconv.Ticks, error) {
	if !in.ended {
		last, err := a.scan(in, func(*ntconv.Event) {})
		if err != nil {
			return 0, err
		}
		in.last, in.ended = last, true
	}
	return in.last, nil
}

// counting returns what sees every event of the input.
func (p *pass) counting(see func(*ntconv.Event)) func(*ntconv.Event) {
	return func(e *ntconv.Event) {
		if e.Kind == ntconv.KindEvent {
			p.total++
			p.recorded.Observe(e)
		}
		see(e)
		if p.watch != nil {
			p.watch(e)
		}
	}
}

// span tells what of the time of the recording is selected, as far as the pass has come.
func (p *pass) span() (first, last ntconv.Ticks, ok bool) {
	if first, last, ok = p.recorded.Span(); ok {
		first, last = p.sel.Clip(first, last)
	}
	return first, last, ok
}

// times tells people when the input was recorded.
func (p *pass) times() string {
	c := p.info.Clock
	first, last, _ := p.recorded.Span()
	after := func(t ntconv.Ticks) string { return duration(time.Duration(c.Nanos(t))) }
	s := fmt.Sprintf("its events are from %s to %s after the start", after(first), after(last))
	if !c.Wall.IsZero() {
		s += ", " + c.Wall.Format(wallFormat)
	}
	return s
}

func (p *pass) countKept(e *ntconv.Event, kept bool) bool {
	if kept && e.Kind == ntconv.KindEvent {
		p.kept++
	}
	return kept
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
	case !errors.As(err, &src) && isLimit(err):
		return fail(exitLimit, fmt.Errorf("%w; --allow-large of ntconv to nettrace writes it, for readers other than Microsoft's", err)), nil
	case !errors.As(err, &src):
		return outputFailure(err), nil
	case isLimit(err), p.app.read.Strict, p.total == 0:
		return p.locate(src.Err), nil
	}
	p.cause = src.Err
	return nil, failf(exitIncomplete, "%w; what came before that was kept", withName(p.in.name(), src.Err))
}

// locate names the input in an error and gives the code that it has if nothing is kept.
func (p *pass) locate(err error) error { return inputFailure(p.in.name(), err, p.app.read.Strict) }

// incomplete returns the error of a pass that came to the end of the input, and nil if nothing is missing.
func (p *pass) incomplete() error {
	r := p.app.read.Report
	if r.Worst() >= ntconv.SeverityLoss {
		p.cause = errors.New(worst(r))
		return failf(exitIncomplete, "%s: %w", p.in.name(), p.cause)
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

// nothing is the error of a pass that leaves nothing to write: it tells what there is instead, and what to do.
func (p *pass) nothing(what, advice string) error {
	name, sel := p.in.name(), p.picked
	text := fmt.Sprintf("no %s among %s", what, count(p.total, "event"))
	switch {
	case p.total == 0 && p.in.format.Name == "pprof":
		text, advice = "the profile holds no samples", "write it again, while the program works and for longer"
	case p.total == 0:
		text, advice = "the trace holds no events", "record again, with providers that have something to tell"
	case !sel.Empty():
		text = fmt.Sprintf("no %s left by %s, of %s", what, sel, count(p.total, "event"))
		if _, _, known := p.recorded.Span(); known && sel.Timed() {
			text += "; " + p.times()
		}
		advice = strings.Join(append(p.sel.Notes(), p.inventoryAdvice()), "; ")
	case p.in.raw.Again():
		has, use := p.content()
		text += " (" + has + ")"
		if use != "" {
			advice = use
		}
	}
	if p.cause != nil {
		text += "; the trace is incomplete: " + p.cause.Error()
	}
	if advice != "" {
		text += "; " + advice
	}
	return failf(exitEmpty, "%s: %s", name, text)
}

// inventoryAdvice tells how to see what the input holds. What came through a pipe is gone.
func (p *pass) inventoryAdvice() string {
	if p.in.raw.Name() == iox.StdinName {
		return "ntconv info lists what there is; keep the input in a file for that, or send it once more"
	}
	return "ntconv info " + shellWord(p.in.raw.Name()) + " lists what there is"
}

// content reads the input once more and tells what it holds: the largest providers, and what can be extracted.
func (p *pass) content() (has, use string) {
	v := inventory.New()
	_, err := p.app.scan(p.in, func(e *ntconv.Event) { _ = v.Write(e) }) // an inventory takes everything
	if err != nil {
		return err.Error(), ""
	}
	list := v.Providers()
	for i, provider := range list {
		if i == 3 {
			has += fmt.Sprintf(", %d more", len(list)-i)
			break
		}
		if i > 0 {
			has += ", "
		}
		has += provider.Name + " " + group(provider.Events)
	}
	for i, x := range v.Extract(shellWord(p.in.raw.Name())) {
		if i == 2 {
			break
		}
		if i > 0 {
			use += "; "
		}
		use += "for its " + x.What + ": " + x.Command
	}
	return has, use
}

// drain runs a pass into a sink and closes it. partial is told after what the sink has made is kept.
func (p *pass) drain(sink ntconv.Sink) (fatal, partial error) {
	if w, ok := sink.(ntconv.Watcher); ok && !p.picked.Empty() {
		p.watch = w.Watch
	}
	_, err := ntconv.Copy(sink, p.src)
	p.close()
	if fatal, partial = p.ended(err); fatal != nil {
		return fatal, nil
	}
	if p.strayed(sink) {
		return errShortcut, nil
	}
	if err := sink.Close(); err != nil { // what is wrong with an event may come out only now
		fatal, _ = p.ended(err)
		return fatal, nil
	}
	return nil, partial
}

// deliver runs a pass into the output of a name, through the sink that create makes: it keeps the output if that is right, removes
// it otherwise, and sums up. empty tells after Close whether the output holds nothing, and is not to be kept therefore; advice is
// for that.
func (p *pass) deliver(name string, create func(*iox.Output) (ntconv.Sink, error), empty func() (what string, yes bool), advice string) error {
	out, err := p.app.createOutput(name)
	if err != nil {
		return err
	}
	if !out.Atomic() {
		p.app.onInterrupt("interrupted, the output is not complete")
	}
	sink, err := create(out)
	if err != nil {
		return errors.Join(fail(exitUsage, err), out.Abort())
	}
	err = p.keep(sink, out, empty, advice)
	s := p.sumUp()
	s.Output, s.Bytes = out.Name(), out.Written()
	s.done = codeOf(err) == exitOK || codeOf(err) == exitIncomplete
	return err
}

// keep is deliver with an output and a sink.
func (p *pass) keep(sink ntconv.Sink, out *iox.Output, empty func() (string, bool), advice string) error {
	fatal, partial := p.drain(sink)
	if fatal != nil {
		return errors.Join(fatal, out.Abort())
	}
	if what, yes := empty(); yes {
		return errors.Join(p.nothing(what, advice), out.Abort())
	}
	p.app.onInterrupt("")
	if err := out.Commit(); err != nil {
		return outputFailure(err)
	}
	return partial
}
