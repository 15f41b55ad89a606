package pass

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
)

// Losses counts the events that the recorder lost.
type Losses struct {
	Events uint64
	// Rundown counts the lost events of capture threads that were recording the rundown at that time: the events that
	// describe all methods, which .NET usually writes when a recording ends. Without them, symbols are missing.
	Rundown uint64
}

// A lossObserver attributes losses to the rundown if the event before or after them on their capture thread is a
// rundown event.
//
// in and last change only with an event of a capture thread whose kind, rundown or not, differs from its previous one.
// lose resets checked, because it adds an entry to open.
type lossObserver struct {
	Losses
	last    *ntconv.Thread            // capture thread of the latest rundown event
	in      map[*ntconv.Thread]bool   // capture threads whose latest event is a rundown event
	open    map[*ntconv.Thread]uint64 // losses after another event; the next event of the thread decides
	checked *ntconv.Thread            // a thread without an entry in open
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

// concerns reports whether follow must see an event of KindEvent. Nearly all events are neither rundown events nor
// follow a loss.
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
