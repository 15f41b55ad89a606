package split

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
)

// Join returns the trace from which the parts were split, without the events that were added to the parts. Each source
// must deliver the events of a part in file order. The parts may have any order, and some may be absent: then the trace
// has only the events of the others, and Missing returns their numbers. The error wraps ntconv.ErrCorrupt if a source is
// not a part, or ErrOther if it is a part of another split or occurs twice.
//
// If a source fails, the others continue; Next returns the combined error after all parts have ended.
func Join(sources ...ntconv.Source) (*Joined, error) {
	j := &Joined{originals: newOriginals(), ended: map[*ntconv.Thread]bool{}}
	for _, src := range sources {
		p, err := PartOf(src.Info())
		if err == nil && p == nil {
			err = fmt.Errorf("the trace is not a part of a split: %w", ntconv.ErrCorrupt)
		}
		if err != nil {
			return nil, err
		}
		j.parts = append(j.parts, &joinPart{
			Part: p, src: src, latest: math.MinInt64, types: map[*ntconv.Type]joinType{}, threads: map[*ntconv.Thread]*ntconv.Thread{},
		})
	}
	slices.SortStableFunc(j.parts, func(a, b *joinPart) int { return cmp.Compare(a.Number, b.Number) })
	for i, p := range j.parts[1:] {
		first := j.parts[0]
		switch {
		case p.ID != first.ID || p.Count != first.Count || p.Ranked != first.Ranked || p.ByTime != first.ByTime:
			return nil, fmt.Errorf("%w: parts of split %s and of split %s", ErrOther, first.ID, p.ID)
		case p.Number == j.parts[i].Number:
			return nil, fmt.Errorf("%w: part %d occurs twice", ErrOther, p.Number)
		}
	}
	j.info = withoutPart(j.parts[0].src.Info())
	return j, nil
}

// ErrOther means that parts do not belong together.
var ErrOther = errors.New("not parts of one trace")

// A Joined is the source that Join returns. It is not safe for concurrent use.
type Joined struct {
	info      *ntconv.Info
	parts     []*joinPart // those not begun yet, by number
	open      []*joinPart // those with an item, as a heap by position; if the parts follow each other, at most one
	out       *joinPart   // part of the items in queue
	queue     []ntconv.Event
	next      int // index in queue
	event     ntconv.Event
	originals *originals
	numbers   numbers
	ended     map[*ntconv.Thread]bool // threads that a mark has ended
	replicas  int64
	failed    error
	err       error
}

// A joinPart is a part with its next item.
type joinPart struct {
	*Part
	src     ntconv.Source
	item    *ntconv.Event // nil at the end
	latest  ntconv.Ticks  // position of item
	rank    uint64
	before  []ntconv.Event // losses and definitions before item
	stated  []uint32       // numbers of item
	skip    bool           // the next mark is a replica
	types   map[*ntconv.Type]joinType
	threads map[*ntconv.Thread]*ntconv.Thread

	lastType            *ntconv.Type
	joinType            joinType // of lastType
	lastThread, capture [2]*ntconv.Thread
	lastLabels          *ntconv.Labels
	replica             bool // events with lastLabels are replicas
}

// A joinType is the original of a type and what its events mean.
type joinType struct {
	original *ntconv.Type
	mark     string // name of an event that a Splitter adds, or ""
}

// Info implements ntconv.Source.
func (j *Joined) Info() *ntconv.Info { return j.info }

// Replicas returns the number of events so far that were added to the parts and are dropped.
func (j *Joined) Replicas() int64 { return j.replicas }

// Missing returns the numbers of the absent parts and the number of all. Call it before the first Next.
func (j *Joined) Missing() (numbers []int, of int) {
	of = j.parts[0].Count
	for n := 1; n <= of && len(numbers) < 100; n++ {
		if !slices.ContainsFunc(j.parts, func(p *joinPart) bool { return p.Number == n }) {
			numbers = append(numbers, n)
		}
	}
	return numbers, of
}

// Next implements ntconv.Source.
func (j *Joined) Next() (*ntconv.Event, error) {
	for {
		if j.next < len(j.queue) {
			e := &j.queue[j.next]
			j.next++
			if e.Kind == ntconv.KindLost {
				j.numbers.lose(e)
			} else if e.Thread != nil && j.ended[e.Thread] {
				continue // the definition is that of another part, read before the thread ended
			}
			return e, nil
		}
		j.queue, j.next = j.queue[:0], 0
		if p := j.out; p != nil {
			j.out = nil
			if p.item != nil {
				j.event = *p.item
				j.out, p.item = p, nil // advance it in the next call, because the item is borrowed
				j.restore(p, &j.event)
				return &j.event, nil
			}
			j.advance(p)
		}
		if j.err != nil {
			return nil, j.err
		}
		if !j.choose() {
			if j.err = j.failed; j.err == nil {
				j.err = io.EOF
			}
		}
	}
}

// choose makes the part with the next item the current one. It returns false at the end of all parts.
func (j *Joined) choose() bool {
	for len(j.parts) > 0 && (len(j.open) == 0 || j.parts[0].Ranked) {
		p := j.parts[0]
		j.parts = j.parts[1:]
		j.advance(p)
	}
	if len(j.queue) > 0 {
		return true
	}
	if len(j.open) == 0 {
		return false
	}
	p := heap.Pop((*joinHeap)(j)).(*joinPart)
	j.out = p
	j.queue = append(j.queue, p.before...)
	p.before = p.before[:0]
	return true
}

// advance reads the next item of a part and adds the part to the heap, unless it has ended or failed.
func (j *Joined) advance(p *joinPart) {
	err := j.read(p)
	if err == nil {
		heap.Push((*joinHeap)(j), p)
		return
	}
	j.queue = append(j.queue, p.before...) // definitions that no item follows
	*p = joinPart{Part: p.Part}            // free the buffers of the source
	switch {
	case err == io.EOF:
	case j.failed == nil:
		j.failed = err
	default:
		j.failed = fmt.Errorf("%w; %w", j.failed, err)
	}
}

// read reads a part up to its next item.
func (j *Joined) read(p *joinPart) error {
	p.stated = p.stated[:0]
	for {
		e, err := p.src.Next()
		if err != nil {
			return err
		}
		switch e.Kind {
		case ntconv.KindLost:
			loss := *e
			loss.Capture = j.thread(p, e.Capture)
			p.before = append(p.before, loss)
			continue
		case ntconv.KindDefine:
			j.define(p, e)
			continue
		case ntconv.KindMark:
			if p.skip || p.ByTime && isEmpty(e.Mark) {
				p.skip = false
				continue
			}
		case ntconv.KindEvent:
			added, err := j.added(p, e)
			if err != nil {
				return err
			}
			if added {
				continue
			}
		}
		if ownTime(e) && e.Time > p.latest {
			p.latest, p.rank = e.Time, 0
		}
		p.item = e
		return nil
	}
}

// define keeps a definition, unless only added events use it.
func (j *Joined) define(p *joinPart, e *ntconv.Event) {
	d := *e
	if e.Type != nil {
		if IsMark(e.Type) {
			return
		}
		d.Type = p.typ(j, e.Type).original
	}
	if e.Thread != nil {
		if e.Thread.Name == threadName && e.Thread.TID == ntconv.TIDUnknown {
			return
		}
		d.Thread = j.thread(p, e.Thread)
	}
	p.before = append(p.before, d)
}

// added reports whether an event was added to the part, and notes what it states.
func (j *Joined) added(p *joinPart, e *ntconv.Event) (_ bool, err error) {
	switch p.typ(j, e.Type).mark {
	case recording.SplitOrder:
		p.latest = e.Time
		p.rank, err = parseRank(e.Payload)
	case recording.SplitNumbers:
		p.stated, err = parseNumbers(p.stated, e.Payload)
	case recording.SplitReplica:
		p.skip = true
	case "":
		if e.Labels == nil {
			return false, nil
		}
		if e.Labels != p.lastLabels {
			p.lastLabels, p.replica = e.Labels, recording.IsCopy(e)
		}
		if p.replica {
			j.replicas++
		}
		return p.replica, nil
	}
	j.replicas++
	return true, err
}

// typ returns the original of a type of a part.
func (p *joinPart) typ(j *Joined, t *ntconv.Type) joinType {
	if t == p.lastType {
		return p.joinType
	}
	x, known := p.types[t]
	if !known {
		if IsMark(t) {
			x.mark = t.Name
		}
		x.original = j.originals.typ(t)
		p.types[t] = x
	}
	p.lastType, p.joinType = t, x
	return x
}

// thread returns the original of a thread of a part.
func (j *Joined) thread(p *joinPart, t *ntconv.Thread) *ntconv.Thread {
	switch {
	case t == nil:
		return nil
	case t == p.lastThread[0]:
		return p.lastThread[1]
	case t == p.capture[0]:
		return p.capture[1]
	}
	out := p.threads[t]
	if out == nil {
		out = j.originals.thread(t)
		p.threads[t] = out
	}
	p.capture, p.lastThread = p.lastThread, [2]*ntconv.Thread{t, out}
	return out
}

// restore replaces what an item of a part refers to, and its numbers, by those of the trace.
func (j *Joined) restore(p *joinPart, e *ntconv.Event) {
	e.Offset = -1
	if e.Type != nil {
		e.Type = p.typ(j, e.Type).original
	}
	e.Thread, e.Capture = j.thread(p, e.Thread), j.thread(p, e.Capture)
	switch e.Kind {
	case ntconv.KindEvent:
		e.Seq = j.numbers.next(e)
		if len(p.stated) > 0 {
			e.Seq = p.stated[0]
		}
		if e.Seq == 0 {
			e.Flags |= ntconv.FlagNumbered
		}
		j.numbers.set(e, e.Seq)
	case ntconv.KindMark:
		j.restoreMark(p, e)
	}
}

func (j *Joined) restoreMark(p *joinPart, e *ntconv.Event) {
	if !ownTime(e) && p.latest != math.MinInt64 {
		e.Time = p.latest
	}
	m := &ntconv.Mark{Kind: e.Mark.Kind, Flags: e.Mark.Flags, Threads: make([]ntconv.ThreadSeq, len(e.Mark.Threads))}
	for i, t := range e.Mark.Threads {
		th := j.thread(p, t.Thread)
		seq := j.numbers.bound(th)
		if i < len(p.stated) {
			seq = p.stated[i]
		}
		j.numbers.setBound(th, seq)
		m.Threads[i] = ntconv.ThreadSeq{Thread: th, Seq: seq}
	}
	if m.Kind == ntconv.MarkThreadsRemoved {
		for _, t := range m.Threads {
			j.ended[t.Thread] = true
		}
	}
	j.numbers.end(m)
	e.Mark = m
}

// A joinHeap orders parts by the position of their next item.
type joinHeap Joined

func (h *joinHeap) Len() int { return len(h.open) }
func (h *joinHeap) Less(i, k int) bool {
	a, b := h.open[i], h.open[k]
	return cmp.Or(cmp.Compare(a.latest, b.latest), cmp.Compare(a.rank, b.rank), cmp.Compare(a.Number, b.Number)) < 0
}
func (h *joinHeap) Swap(i, k int) { h.open[i], h.open[k] = h.open[k], h.open[i] }
func (h *joinHeap) Push(x any)    { h.open = append(h.open, x.(*joinPart)) }
func (h *joinHeap) Pop() any {
	last := h.open[len(h.open)-1]
	h.open = h.open[:len(h.open)-1]
	return last
}

// WithoutReplicas returns src without the events and attributes that were added to it if it is a part.
func WithoutReplicas(src ntconv.Source) ntconv.Source {
	if _, part := src.Info().Attrs.Get(attrID); !part {
		return src
	}
	return &withoutReplicas{ntconv.Filter(src, func(e *ntconv.Event) bool {
		return (e.Type == nil || !IsMark(e.Type)) && (e.Kind != ntconv.KindEvent || !recording.IsCopy(e))
	}), withoutPart(src.Info())}
}

type withoutReplicas struct {
	ntconv.Source
	info *ntconv.Info
}

// Info implements ntconv.Source.
func (s *withoutReplicas) Info() *ntconv.Info { return s.info }
