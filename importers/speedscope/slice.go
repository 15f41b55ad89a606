package speedscope

import (
	"encoding/binary"
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// A slice is an open slice of an evented profile that exporters/speedscope wrote. Such a profile shows operations of a
// thread or track: spans, garbage collections, waits. They are not samples: together with the samples of the thread
// they would count its time twice. Each becomes a complete slice of Chrome's trace event format instead, which
// exporters of spans and timelines show.
type slice struct {
	frame uint32
	at    int64 // start
}

// sliceCategory is the category of slice events.
const sliceCategory = "speedscope"

// hasSlices reports whether the events of an evented profile describe slices, not stacks.
func (p *profile) hasSlices() bool { return p.isOwn() && p.unit.isTime }

// applySlice opens or closes a slice.
func (p *profile) applySlice(e *pendingEvent, at int64) error {
	o := &p.open
	if o.last = max(o.last, at); !e.close {
		o.slices = append(o.slices, slice{e.frame, o.last})
		return nil
	}
	n := len(o.slices) - 1
	for n >= 0 && o.slices[n].frame != e.frame {
		n--
	}
	if n < 0 {
		p.noteUnbalanced()
		return nil
	}
	return p.endSlices(n)
}

// endSlices ends the innermost open slices until n are left.
func (p *profile) endSlices(n int) error {
	o := &p.open
	for ; len(o.slices) > n; o.slices = o.slices[:len(o.slices)-1] {
		s := o.slices[len(o.slices)-1]
		b := binary.AppendUvarint(nil, uint64(p.number))
		b = binary.AppendUvarint(b, uint64(s.frame))
		b = binary.AppendUvarint(b, uint64(o.last-s.at))
		if err := p.b.Record(s.at, b); err != nil {
			return p.Fail(p.Place(), err)
		}
	}
	return nil
}

// events converts the records of slices to events.
type events struct {
	f       *file
	src     *imported.Source
	encoder *chromeevent.Encoder
	ids     []byte
}

// next implements imported.Profile.Event.
func (e *events) next(at ntconv.Ticks, data []byte) (*ntconv.Event, error) {
	if data == nil {
		return e.encoder.Next(), nil
	}
	thread, n := binary.Uvarint(data)
	frame, m := binary.Uvarint(data[n:])
	duration, _ := binary.Uvarint(data[n+m:])
	t := e.src.Thread(uint32(thread))
	e.ids = fmt.Appendf(e.ids[:0], "%d", t.Process.PID)
	n = len(e.ids)
	e.ids = fmt.Appendf(e.ids, "%d", t.TID)
	e.encoder.Encode(&chromeevent.Event{
		Phase: chromeevent.PhaseComplete, Name: e.f.frames[frame].Func.Name, Category: sliceCategory,
		Has:  chromeevent.HasName | chromeevent.HasCategory | chromeevent.HasTime | chromeevent.HasDuration | chromeevent.HasPID | chromeevent.HasTID,
		Time: int64(at), Duration: int64(duration), PID: e.ids[:n:n], TID: e.ids[n:],
	}, &ntconv.Event{Kind: ntconv.KindEvent, CPU: ntconv.CPUUnknown, Offset: -1, Time: at, Thread: t})
	return e.encoder.Next(), nil
}
