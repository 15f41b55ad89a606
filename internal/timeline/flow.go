package timeline

import (
	"encoding/binary"
	"math"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/span"
)

// An arrow is an arrow that has begun.
type arrow struct {
	id    uint64
	title title
}

// flows emits the arrows to a slice that has just begun: from its parent, from the spans to which it has links, and
// those that wait for the next slice of its track. Both ends of the first two kinds are at the begin of the slice,
// because an item cannot precede the items emitted so far.
func (l *layout) flows(s, parent *slice) error {
	if to := s.row; len(to.waiting) > 0 {
		if err := l.endWaiting(to); err != nil {
			return err
		}
	}
	if l.record.flags&sliceID == 0 || l.record.flags&sliceQuiet != 0 {
		return nil
	}
	if err := l.flow(parent, s); err != nil {
		return err
	}
	for _, k := range l.record.links {
		if from := l.spans[k]; from != parent {
			if err := l.flow(from, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// flow emits both ends of an arrow between slices on different tracks. from may be nil.
func (l *layout) flow(from, to *slice) error {
	if from == nil || from.row == to.row {
		return nil
	}
	id, err := l.flowBegin(from.row, to.title, 0)
	if err != nil {
		return err
	}
	return l.flowEnd(to.row, arrow{id, to.title})
}

// flowBegin emits the begin of a new arrow at the time of the current item, and returns its ID. flags are those of its
// record, 0 if its end follows.
func (l *layout) flowBegin(from *row, t title, flags flowFlags) (id uint64, err error) {
	l.ids++
	l.t.counts.Flows++
	l.item = Item{
		Kind: FlowBegin, Time: l.item.Time, ID: l.ids, Track: from.track, Name: t.name,
		Category: CategoryFlow, Later: flags != 0, ToLane: flags&flowToLane != 0,
	}
	return l.ids, l.emit(&l.item)
}

func (l *layout) flowEnd(to *row, a arrow) error {
	l.item = Item{
		Kind: FlowEnd, Time: l.item.Time, ID: a.id, Track: to.track, Name: a.title.name,
		Category: CategoryFlow,
	}
	return l.emit(&l.item)
}

// arrow emits an end of an arrow that an event of the trace shows. It omits arrows that begin outside all slices.
func (l *layout) arrow(c *bin.Reader, r *row, at int64) error {
	flags, number := flowFlags(c.Byte()), c.Bytes(8)
	if flags&flowAsync != 0 {
		r = l.rowOf(readContext(c))
	}
	t := l.t.titles.read(c)
	if c.Failed {
		return errRecord
	}
	n := binary.LittleEndian.Uint64(number)
	if flags&flowOut != 0 {
		id := uint64(0)
		var err error
		if r != nil && r.top != nil {
			id, err = l.flowBegin(r, t, flags)
		}
		l.arrows[n] = id
		return err
	}
	a := arrow{l.arrows[n], t}
	delete(l.arrows, n)
	switch {
	case a.id == 0 || r == nil:
		return nil
	case r.top == nil || flags&flowNext != 0 && r.top.begin < at:
		r.waiting = append(r.waiting, a)
		return nil
	}
	return l.flowEnd(r, a)
}

// rowOf returns the row of an open span, or nil, for example if the slice is omitted.
func (l *layout) rowOf(k span.Context) *row {
	if s := l.spans[k]; s != nil {
		return s.row
	}
	return nil
}

// endWaiting emits the ends of the arrows that wait for the next slice of a track.
func (l *layout) endWaiting(r *row) error {
	for _, a := range r.waiting {
		if err := l.flowEnd(r, a); err != nil {
			return err
		}
	}
	r.waiting = r.waiting[:0]
	return nil
}

// finish ends everything that is open after the last record. Arrows that wait for a slice end outside slices.
func (l *layout) finish() error {
	l.item.Time = min(l.item.Time, l.t.End()) // the latest record may have no item
	for i := range l.rows {
		if err := l.endWaiting(&l.rows[i]); err != nil {
			return err
		}
	}
	return l.endUntil(math.MaxInt64)
}
