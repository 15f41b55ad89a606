package pass

import (
	"errors"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/internal/input"
	"github.com/ntconv/ntconv/reader"
)

// An Ahead is what stages or the selection must know about the whole trace before the first event of a pass, such as its spans. It
// takes a reading of its own in time order. An Ahead serves one input.
type Ahead struct {
	// Learn begins the reading. It returns a function that sees every event, and one that ends the reading.
	Learn func(*ntconv.Info) (see func(*ntconv.Event), end func())
	// Shows, if not nil, reports whether an event shows that there is something to learn. Without such an event there is no reading.
	// Do ends a pass at the first such event and makes another one after the reading, if the input can be read again. Shows borrows the
	// event.
	Shows func(*ntconv.Event) bool
	// Again means that the input must be readable more than once although Shows is not nil.
	Again bool

	done bool // Learn has seen the trace
}

// needsAgain reports whether the input must be readable more than once.
func (a *Ahead) needsAgain() bool { return a != nil && (a.Shows == nil || a.Again) }

// errAhead means that a pass found something to learn ahead of it.
var errAhead = errors.New("the trace must be read ahead")

// lookAhead makes the reading of Plan.Ahead, once.
func (plan *Plan) lookAhead(in *input.Input) error {
	if plan.Ahead.done {
		return nil
	}
	o := plan.Read
	o.Order = reader.ByTime
	end := func() {}
	_, err := plan.scan(in, o, func(info *ntconv.Info) (see func(*ntconv.Event)) {
		see, end = plan.Ahead.Learn(info)
		return see
	})
	if err != nil {
		return err
	}
	end()
	plan.Ahead.done = true
	return nil
}

// scan reads the whole input, shows every event to the function that begin returns, and returns the time of the last event. It
// reports nothing about the input: that is left to the pass that follows.
func (plan *Plan) scan(in *input.Input, o formats.ReadOptions, begin func(*ntconv.Info) (see func(*ntconv.Event))) (last ntconv.Ticks, err error) {
	o.Report = nil
	src, closer, err := in.Source(&o)
	if err != nil {
		return 0, err
	}
	defer closer.Close()
	defer plan.progress(in, "looking ahead")()
	see, seen := begin(src.Info()), false
	for e := range ntconv.Events(src) {
		if e == nil {
			break
		}
		see(e)
		if e.Kind == ntconv.KindEvent && (!seen || e.Time > last) {
			last, seen = e.Time, true
		}
	}
	in.Last, in.Ended = last, true
	return last, nil
}
