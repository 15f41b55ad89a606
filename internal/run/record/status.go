package record

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/internal/select/selection"
	"github.com/ntconv/ntconv/symbol"
)

// A Status observes the events of a recording while they are read. Text is safe for concurrent use.
type Status struct {
	// StopOn, if not nil, selects the events of which the first ends the recording.
	StopOn *selection.Options
	// Names, if not nil, is a table that learns from the events, and from which the method with most samples gets its name.
	Names *symbol.Table

	learning sync.Mutex  // guards Names while events are read
	unnamed  atomic.Bool // the hottest address had no name

	recording *Recording
	events    atomic.Int64
	lost      atomic.Int64
	hottest   atomic.Pointer[string]
}

// Of sets the recording that the status is about.
func (s *Status) Of(r *Recording) { s.recording = r }

// Text describes the recording so far: 12 s, 1,234 events, 3 lost, hottest Shop.Cart.Add (31%).
func (s *Status) Text() string {
	text := time.Since(s.recording.Begun()).Round(time.Second).String() + ", " + message.Count(s.events.Load(), "event")
	if n := s.lost.Load(); n > 0 {
		text += ", " + message.Group(n) + " lost"
	}
	if name := s.hottest.Load(); name != nil {
		text += ", hottest " + *name
	}
	return text
}

// namesEvery is the interval at which a process may be asked for the names of its methods, which is only for display.
const namesEvery = 3 * time.Second

// KeepNames learns the names of methods of the process when the hottest one has none, until ctx ends. The first call of
// KnownNames, before most of a program has been compiled, is left to the caller.
func (s *Status) KeepNames(ctx context.Context) {
	s.recording.Target.KeepNames(ctx, namesEvery, func() bool { return s.unnamed.Swap(false) }, func(src ntconv.Source) {
		s.learning.Lock()
		defer s.learning.Unlock()
		_ = s.Names.Scan(src) // what it has before an error is better than nothing
	})
}

// Source returns a source with the events of src that the status observes.
func (s *Status) Source(src ntconv.Source) ntconv.Source {
	w := &watched{Source: src, status: s}
	if s.StopOn != nil {
		if sel, err := s.StopOn.For(src.Info().Clock, src.Info().Clock.Tick); err == nil {
			w.stop = sel.Keep
		}
	}
	if s.Names != nil {
		w.top = &hottest{names: s.Names, counts: map[hot]int{}, shown: time.Now()}
	}
	return w
}

// A watched is a source whose events a Status observes.
type watched struct {
	ntconv.Source
	status *Status
	stop   func(*ntconv.Event) bool // nil: nothing ends the recording
	top    *hottest                 // nil: not wanted
}

// Next implements ntconv.Source.
func (w *watched) Next() (*ntconv.Event, error) {
	e, err := w.Source.Next()
	if err != nil {
		return e, err
	}
	switch e.Kind {
	case ntconv.KindLost:
		w.status.lost.Add(int64(e.Lost))
	case ntconv.KindEvent:
		w.status.events.Add(1)
		if w.stop != nil && w.stop(e) {
			w.stop = nil
			w.status.recording.Stop()
		}
		if w.top != nil {
			w.top.see(e, w.status)
		}
	}
	return e, nil
}

// A hottest finds the method that is most often the innermost one of a sample, of the last seconds.
type hottest struct {
	names  *symbol.Table
	counts map[hot]int
	total  int
	shown  time.Time
}

// A hot is the innermost frame of samples.
type hot struct {
	process *ntconv.Process
	pc      uint64
}

// hottestEvery is the interval after which the hottest method is determined again, from the samples since then.
const hottestEvery = 2 * time.Second

// see observes an event.
func (h *hottest) see(e *ntconv.Event, s *Status) {
	s.learning.Lock()
	defer s.learning.Unlock()
	h.names.Observe(e)
	if !meters.IsSample(e.Type) || meters.IsExternal(e) || e.Stack == nil || len(e.Stack.PCs) == 0 {
		return
	}
	h.total++
	h.counts[hot{meters.ProcessOf(e.Thread), e.Stack.PCs[0]}]++
	if h.total%64 == 0 && time.Since(h.shown) >= hottestEvery {
		h.show(e, s)
	}
}

// show publishes the hottest method, and starts again.
func (h *hottest) show(e *ntconv.Event, s *Status) {
	byName := map[string]int{}
	best, most := "", 0
	unnamed := false // the address with most samples
	for at, n := range h.counts {
		for _, f := range h.names.AppendFrames(nil, at.process, &ntconv.Stack{PCs: []uint64{at.pc}}, e.Time)[:1] {
			name := f.Func.Name
			byName[name] += n
			if n > most {
				most, unnamed = n, f.Flags&ntconv.FrameUnresolved != 0
			}
			if f.Flags&ntconv.FrameUnresolved == 0 && (best == "" || byName[name] > byName[best]) {
				best = name
			}
		}
	}
	if unnamed {
		s.unnamed.Store(true)
	}
	if best != "" {
		text := fmt.Sprintf("%s (%d%%)", best, 100*byName[best]/h.total)
		s.hottest.Store(&text)
	}
	clear(h.counts)
	h.total, h.shown = 0, time.Now()
}
