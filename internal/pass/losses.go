package pass

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
)

// Losses counts the events that the recorder lost.
type Losses struct {
	Events uint64
	// Rundown counts those of Events that were lost while their capture thread recorded the rundown: the events with
	// which .NET describes all methods, usually when a recording ends. Without them symbols are missing.
	Rundown uint64
}

// lossObserver finds out which losses belong to the rundown: those before or after a rundown event of their capture
// thread.
type lossObserver struct {
	Losses
	last    *ntconv.Thread            // capture thread of the latest event of the rundown
	in      map[*ntconv.Thread]bool   // capture threads whose latest event is of the rundown
	open    map[*ntconv.Thread]uint64 // losses after an event of another kind, until the next event shows more
	checked *ntconv.Thread            // has no entry in open
}

// lose adds an event of KindLost.
func (l *lossObserver) lose(e *ntconv.Event) {
	n := uint64(e.Lost)
	l.Events += n
	switch {
	case e.Capture == nil:
	case l.in[e.Capture]:
		l.Rundown += n
	default:
		if l.open == nil {
			l.open = make(map[*ntconv.Thread]uint64)
		}
		l.open[e.Capture] += n
		l.checked = nil
	}
}

// concerns reports whether follow must see an event of KindEvent: nearly all are neither of the rundown nor after a
// loss.
func (l *lossObserver) concerns(e *ntconv.Event) bool {
	return len(e.Type.Provider) == len(clr.Rundown) || len(l.in)+len(l.open) > 0
}

// follow adds an event of KindEvent.
func (l *lossObserver) follow(e *ntconv.Event) {
	rundown := e.Type.Provider == clr.Rundown
	switch {
	case rundown && e.Capture != l.last:
		if l.in == nil {
			l.in = make(map[*ntconv.Thread]bool)
		}
		l.last, l.in[e.Capture] = e.Capture, true
	case !rundown && len(l.in) > 0 && l.in[e.Capture]:
		l.last = nil
		delete(l.in, e.Capture)
	}
	if len(l.open) == 0 || e.Capture == l.checked {
		return
	}
	l.checked = e.Capture
	if n, ok := l.open[e.Capture]; ok {
		delete(l.open, e.Capture)
		if rundown {
			l.Rundown += n
		}
	}
}

// Losses returns the losses that the pass has seen so far.
func (p *Pass) Losses() Losses { return p.losses.Losses }
