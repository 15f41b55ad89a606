package split

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/profile/rounds"
)

// A Window is a part of a trace that is divided by time while it is recorded.
type Window struct {
	Number     int          // from 0; numbers without events are omitted
	Begin, End ntconv.Ticks // End is exclusive
}

// WindowOptions configure a Windows.
type WindowOptions struct {
	// Every is the length of a window.
	Every time.Duration
	// Create returns the sink of a window with its first event. Windows closes it when the window is complete. The sink must
	// number the events again and accept them out of time order.
	Create func(Window) (ntconv.Sink, error)
}

// A Windows is a sink that divides a trace into windows while it is recorded, in one reading: each stands alone as a part of a
// Splitter does, with what the trace has stated about its methods so far. A window is complete when a later event shows that
// none of its own can come, or when Advance does; events of threads that wrote later go into the oldest window that is open. It
// is not safe for concurrent use.
//
// Its memory is that of the descriptions of all code that exists in the process: a description replaces that of the code
// that was at the same address before.
type Windows struct {
	info    *ntconv.Info
	options WindowOptions
	every   int64 // ticks
	slack   ntconv.Ticks

	open    []*window // in the order of their numbers
	closed  int       // number of the first window that can be opened
	types   symbolTypes
	symbols symbolStore
	at      map[uint64]int // indexes of symbols by the address of their code
	other   map[string]int // those of other descriptions, by their content
	live    int64          // bytes of the payloads of symbols
	weights *rounds.PartWeights
	begins  *openBegins
	labeler recording.Labeler

	seen  map[uint64]struct{} // addresses in stacks, see Unnamed
	asked []uint64            // those since the last Unnamed

	number  int64
	late    int64
	added   ntconv.Event
	payload []byte
}

// A window is an open window.
type window struct {
	Window
	sink   ntconv.Sink
	stacks addressSet
	last   *ntconv.Stack
	end    ntconv.Ticks // latest time of an event
}

// windowSlack is how long a window waits for events of threads that write late: the runtime writes its buffers every 100 ms.
const windowSlack = time.Second

// NewWindows returns a Windows for a trace with info.
func NewWindows(info *ntconv.Info, o WindowOptions) *Windows {
	ticks := func(d time.Duration) int64 { return max(1, int64(d.Seconds()*float64(info.Clock.Freq))) }
	return &Windows{
		info: info, options: o, every: ticks(o.Every), slack: ntconv.Ticks(ticks(windowSlack)),
		at: map[uint64]int{}, other: map[string]int{}, seen: map[uint64]struct{}{}, weights: rounds.NewPartWeights(info),
		begins: newOpenBegins(ntconv.Ticks(ticks(keepEarlyEnds))),
	}
}

// Late returns the number of events that came after their window was complete, and are in a later one.
func (w *Windows) Late() int64 { return w.late }

// Learn keeps what an event of another recording of the same process states about methods and modules.
func (w *Windows) Learn(e *ntconv.Event) {
	if e.Kind == ntconv.KindEvent && w.types.of(e.Type) != notSymbols {
		w.keep(e, -1)
	}
}

// Write implements ntconv.Sink.
func (w *Windows) Write(e *ntconv.Event) error {
	switch e.Kind {
	case ntconv.KindEvent:
		return w.writeEvent(e)
	case ntconv.KindLost:
		err := w.weigh(w.weights.Event(e, w.current()))
		if err == nil {
			err = w.putBack(w.begins.releaseThread(e.Capture))
		}
		if n := len(w.open); n > 0 && err == nil {
			err = w.open[n-1].sink.Write(e)
		}
		return err
	case ntconv.KindMark:
		if e.Mark.Kind == ntconv.MarkThreadsRemoved {
			for i := range e.Mark.Threads {
				if err := w.putBack(w.begins.releaseThread(e.Mark.Threads[i].Thread)); err != nil {
					return err
				}
			}
		}
	}
	return w.weigh(w.weights.Event(e, w.current())) // a window has its own definitions and marks
}

// current returns the number of the latest open window.
func (w *Windows) current() int {
	if n := len(w.open); n > 0 {
		return w.open[n-1].Number
	}
	return w.closed
}

func (w *Windows) writeEvent(e *ntconv.Event) error {
	if err := w.Advance(e.Time); err != nil {
		return err
	}
	number := w.numberOf(e.Time)
	if number < w.closed {
		w.late++
		number = w.oldest()
	}
	due, until, held, lost := w.begins.add(e)
	if err := w.putBack(lost); err != nil {
		return err
	}
	var of *window
	var err error
	if !held {
		if of, err = w.windowOf(until); err != nil {
			return err
		}
	}
	if err := w.weigh(w.weights.Event(e, number)); err != nil || held {
		return err
	}
	if due != nil {
		for i := range due.events {
			if err := w.put(&due.events[i], of); err != nil {
				return err
			}
		}
	}
	return w.put(e, of)
}

// put writes an event into a window.
func (w *Windows) put(e *ntconv.Event, of *window) error {
	if e.Stack != nil && e.Stack != of.last {
		of.last = e.Stack
		of.stacks.addStack(e.Stack)
		w.ask(e.Stack)
	}
	of.end = max(of.end, e.Time)
	if w.types.of(e.Type) != notSymbols {
		w.keep(e, of.Number)
	}
	w.added = *e
	w.added.Flags &^= ntconv.FlagSorted | ntconv.FlagLate // descriptions that are earlier follow at the end
	return of.sink.Write(&w.added)
}

// putBack writes events of intervals that have not ended into their windows.
func (w *Windows) putBack(list []*beginGroup) error {
	for _, g := range list {
		for i := range g.events {
			of, err := w.windowOf(g.events[i].Time)
			if err == nil {
				err = w.put(&g.events[i], of)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// numberOf returns the number of the window of a time.
func (w *Windows) numberOf(at ntconv.Ticks) int {
	return int((int64(at) - int64(w.info.Clock.Tick)) / w.every)
}

// oldest returns the number of the window for events of windows that are complete.
func (w *Windows) oldest() int {
	if len(w.open) > 0 {
		return w.open[0].Number
	}
	return w.closed
}

// windowOf returns the window for an event of a time, and opens it if necessary.
func (w *Windows) windowOf(at ntconv.Ticks) (*window, error) {
	n := w.numberOf(at)
	if n < w.closed {
		n = w.oldest()
	}
	i := 0
	for ; i < len(w.open); i++ {
		if w.open[i].Number == n {
			return w.open[i], nil
		}
		if w.open[i].Number > n {
			break
		}
	}
	begin := w.info.Clock.Tick + ntconv.Ticks(int64(n)*w.every)
	of := &window{
		Window: Window{Number: n, Begin: begin, End: begin + ntconv.Ticks(w.every)}, stacks: make(addressSet, setWords), end: begin,
	}
	var err error
	if of.sink, err = w.options.Create(of.Window); err != nil {
		return nil, err
	}
	w.open = append(w.open[:i], append([]*window{of}, w.open[i:]...)...)
	return of, nil
}

// Advance completes the windows that no event can belong to any more if the process has written everything up to now.
func (w *Windows) Advance(now ntconv.Ticks) error {
	for len(w.open) > 0 && w.open[0].End+w.slack <= now {
		if err := w.shut(w.open[0]); err != nil {
			return err
		}
	}
	return nil
}

// shut completes the oldest window.
func (w *Windows) shut(of *window) error {
	w.open, w.closed = w.open[1:], of.Number+1
	w.weights.Complete(of.Number)
	err := w.replicate(of)
	return errors.Join(err, of.sink.Close())
}

// replicate writes what a window needs of the descriptions in others.
func (w *Windows) replicate(of *window) error {
	methods := map[uint64]bool{}
	for i := range w.symbols.events {
		if x := &w.symbols.events[i]; x.kind == codeSymbol && of.stacks.overlaps(x.first, x.last) {
			methods[x.method] = true
		}
	}
	labels := func(x *symbolEvent) *ntconv.Labels { return w.labeler.Labels(x.labels, recording.Before) }
	for i := range w.symbols.events {
		x := &w.symbols.events[i]
		if x.part == of.Number || x.kind == codeSymbol && !of.stacks.overlaps(x.first, x.last) ||
			x.kind == codeMap && !methods[x.method] {
			continue
		}
		w.added = ntconv.Event{
			Time: of.Begin, CPU: x.cpu, Offset: -1, Type: x.typ, Thread: x.thread, Capture: x.thread, Labels: labels(x), Payload: x.payload,
		}
		if err := of.sink.Write(&w.added); err != nil {
			return err
		}
	}
	return nil
}

// keep keeps a description for all windows that follow. part is the window that has the event itself.
func (w *Windows) keep(e *ntconv.Event, part int) {
	if unloads(e.Type) {
		return // the window of the event has it; later ones have no stack with the code
	}
	w.number++
	w.live += int64(len(e.Payload))
	w.symbols.add(e, e.Type, e.Thread, w.number, part)
	last := len(w.symbols.events) - 1
	x := &w.symbols.events[last]
	if x.kind == codeSymbol {
		putLast(w, w.at, x.first)
	} else {
		putLast(w, w.other, fmt.Sprintf("%s/%d/%d %s", e.Type.Provider, e.Type.ID, e.Type.Version, x.payload))
	}
	if w.symbols.bytes > 2*w.live+minCompaction {
		w.compact()
	}
}

// putLast moves the last description to the place of one with an equal key, or gives it a place.
func putLast[K comparable](w *Windows, places map[K]int, key K) {
	last := len(w.symbols.events) - 1
	old, known := places[key]
	if !known {
		places[key] = last
		return
	}
	w.live -= int64(len(w.symbols.events[old].payload))
	w.symbols.events[old] = w.symbols.events[last]
	w.symbols.events = w.symbols.events[:last]
}

// maxSeen bounds the addresses that are remembered.
const maxSeen = 1 << 20

// ask notes the addresses of a stack that were in none before.
func (w *Windows) ask(s *ntconv.Stack) {
	for _, pc := range s.PCs {
		if _, known := w.seen[pc]; known {
			continue
		}
		if len(w.seen) == maxSeen {
			clear(w.seen)
		}
		w.seen[pc] = struct{}{}
		w.asked = append(w.asked, pc)
	}
}

// Unnamed returns how many addresses appeared in stacks since the last call that no description covers. No event describes
// precompiled code when it is first used; Learn does, with the events of another recording. An address counts once.
func (w *Windows) Unnamed() (n int) {
	if len(w.asked) == 0 {
		return 0
	}
	starts := make([]uint64, 0, len(w.at))
	for first := range w.at {
		starts = append(starts, first)
	}
	slices.Sort(starts)
	for _, pc := range w.asked {
		i, found := slices.BinarySearch(starts, pc)
		if !found && (i == 0 || pc > w.symbols.events[w.at[starts[i-1]]].last) {
			n++
		}
	}
	w.asked = w.asked[:0]
	return n
}

// unloads reports whether events of a type end what others describe.
func unloads(t *ntconv.Type) bool {
	return t.Provider == clr.Runtime && (t.ID == methodUnload || t.ID == methodUnloadVerbose || t.ID == moduleUnload)
}

// minCompaction is the number of bytes of replaced descriptions below which their memory is kept.
const minCompaction = 1 << 20

// compact copies the descriptions that are in use, so that the memory of replaced ones is freed.
func (w *Windows) compact() {
	old := w.symbols.events
	w.symbols = symbolStore{}
	for i := range old {
		x := old[i]
		x.payload = w.symbols.copyOf(x.payload)
		w.symbols.events = append(w.symbols.events, x)
	}
}

// weigh writes weights to the windows that are open.
func (w *Windows) weigh(list []rounds.PartWeight) error {
	for i := range list {
		for _, of := range w.open {
			if of.Number != list[i].Part {
				continue
			}
			w.payload = list[i].AppendPayload(w.payload[:0])
			w.added = ntconv.Event{
				Time: of.end, CPU: ntconv.CPUUnknown, Offset: -1, Payload: w.payload,
				Type: list[i].Type, Thread: list[i].Thread, Capture: list[i].Capture,
			}
			if err := of.sink.Write(&w.added); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close implements ntconv.Sink: it completes all windows.
func (w *Windows) Close() error {
	err := errors.Join(w.putBack(w.begins.releaseAll()), w.weigh(w.weights.End()))
	for len(w.open) > 0 {
		err = errors.Join(err, w.shut(w.open[0]))
	}
	return err
}
