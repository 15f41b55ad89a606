package pass

import (
	"errors"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/reader"
)

// A Lookahead is something that must be known about the whole trace before the first event of a pass, such as its
// spans. A reading shared by all Lookaheads of a plan learns it once. A Lookahead serves one input.
type Lookahead struct {
	formats.Lookahead
	shown bool // Shows has returned true
	done  bool // Learn has seen the trace
}

// errLookahead means that a pass must be repeated after a reading that learns a Lookahead.
var errLookahead = errors.New("the trace must be read ahead")

// needsAgain reports whether the input must be readable more than once.
func (a *Lookahead) needsAgain() bool { return a.Shows == nil && !a.Optional || a.Again }

// waits reports whether an event of a pass may show that the Lookahead is needed.
func (a *Lookahead) waits() bool { return a.Shows != nil && !a.shown && !a.done }

// due reports whether the Lookahead must be learned before the next pass.
func (a *Lookahead) due(in *input.Input) bool {
	return !a.done && !a.waits() && (in.Rereadable() || !a.Optional && a.Shows == nil)
}

// lookAhead reads the input before a pass, if something must be known in advance. It shows all events to names, if
// names is not nil, and to the Lookaheads that are due. If the user selected file order for the symbols and a Lookahead
// needs time order, it reads the input twice. It returns the time of the last event if the selection needs it.
func (plan *Plan) lookAhead(in *input.Input, names func(*ntconv.Event)) (last ntconv.Ticks, err error) {
	var due []*Lookahead
	order := reader.FileOrder // the faster one
	for _, a := range plan.Lookaheads {
		if a.due(in) {
			due = append(due, a)
			if !a.AnyOrder {
				order = reader.ByTime
			}
		}
	}
	if names != nil && order == reader.ByTime && plan.Read.Order != order {
		if _, err := plan.Scan(in, names); err != nil {
			return 0, err
		}
		names = nil
	}
	if names != nil {
		order = plan.Read.Order
	}
	toEnd := plan.Selection.NeedsEnd() || plan.Check && plan.Read.Strict && in.Rereadable()
	if names != nil || len(due) > 0 {
		enough := never
		if names == nil && !toEnd && !in.Merged() && !slices.ContainsFunc(due, func(a *Lookahead) bool { return a.Enough == nil }) {
			enough = func() bool { return !slices.ContainsFunc(due, func(a *Lookahead) bool { return !a.Enough() }) }
		}
		_, err := plan.scan(in, order, enough, func(info *ntconv.Info) (see func(*ntconv.Event), end func()) {
			return begin(due, info, names)
		})
		if err != nil {
			return 0, err
		}
	}
	if toEnd {
		return plan.Last(in)
	}
	return 0, nil
}

// begin starts a reading for the Lookaheads that are due, and for names if it is not nil.
func begin(due []*Lookahead, info *ntconv.Info, names func(*ntconv.Event)) (see func(*ntconv.Event), end func()) {
	var sees []func(*ntconv.Event)
	var ends []func()
	if names != nil {
		sees = append(sees, names)
	}
	for _, a := range due {
		see, end := a.Learn(info)
		sees, ends = append(sees, see), append(ends, end)
	}
	see = func(e *ntconv.Event) {
		for _, see := range sees {
			see(e)
		}
	}
	end = func() {
		for i, end := range ends {
			end()
			due[i].done = true
		}
	}
	return see, end
}

// Last returns the time of the last event of an input. It reads the input unless an earlier reading has seen the end.
func (plan *Plan) Last(in *input.Input) (ntconv.Ticks, error) {
	if in.Ended {
		return in.Last, nil
	}
	return plan.scan(in, reader.FileOrder, never, func(*ntconv.Info) (func(*ntconv.Event), func()) {
		return func(*ntconv.Event) {}, func() {}
	})
}

// Scan reads the whole input, shows every event to see, and returns the time of the last event. It writes nothing to a
// report; the pass that follows does, and it also reports if it ends differently. Scan returns the error of an input
// that ends early only if no pass may follow: at a limit and in strict mode.
func (plan *Plan) Scan(in *input.Input, see func(*ntconv.Event)) (last ntconv.Ticks, err error) {
	return plan.scan(in, plan.Read.Order, never, func(*ntconv.Info) (func(*ntconv.Event), func()) { return see, func() {} })
}

// never is the enough of a reading to the end.
func never() bool { return false }

// scan is Scan in a given order. It calls begin with the trace's description, shows the events to the first function
// that begin returns, and calls the second one at the end. It ends early after an event for which enough returns true;
// the time of the last event is then unknown.
func (plan *Plan) scan(in *input.Input, order reader.Order, enough func() bool,
	begin func(*ntconv.Info) (see func(*ntconv.Event), end func())) (last ntconv.Ticks, err error) {
	o := plan.Read
	o.Order, o.Report = order, nil
	src, closer, err := in.Source(&o)
	if err != nil {
		return 0, err
	}
	defer closer.Close()
	defer plan.progress(in, "looking ahead")()
	see, end := begin(src.Info())
	r := input.Reading{}
	for e, err := range ntconv.Events(src) {
		if err != nil {
			r.Err = err
			break
		}
		see(e)
		if e.Kind == ntconv.KindEvent {
			if r.Events++; r.Events == 1 || e.Time > last {
				last = e.Time
			}
		}
		if enough() {
			end()
			return last, nil
		}
	}
	if r.Err == nil {
		r.Err = closer.Finish()
	}
	if errors.Is(r.Err, ntconv.ErrLimit) || r.Err != nil && plan.Read.Strict {
		return 0, &input.Error{Name: in.Name(), Err: r.Err}
	}
	end()
	in.Last, in.Ended = last, true
	in.Finish(r)
	return last, nil
}
