package reader

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/internal/trace/wire/legacy"
)

// stepVersion3 is step for netperf blocks. Their events contain their stack, and metadata rows are stored as events
// with metadata ID 0.
func (r *Reader) stepVersion3(w *row) (bool, error) {
	e := &r.events
	for e.pos < len(e.body) {
		start := e.pos
		at := e.offset + int64(start)
		c := bin.New(e.body[start:], at)
		ev, err := legacy.ParseEventV3(&c)
		if c.Err() != nil {
			e.pos = len(e.body)
			if e.partial {
				return false, nil
			}
			return false, r.corrupt(wire.KindEvent, err)
		}
		if err != nil { // the event is complete, but its stack is deeper than TraceEvent allows
			if err := r.tolerate(ntconv.CodeStackCut, at, "event", err); err != nil {
				return false, err
			}
		}
		e.pos = len(e.body) - c.Len()
		w.header, w.payload = uint32(start), uint32(start+legacy.HeaderSizeV3)
		if ev.Header.MetadataID != 0 {
			return true, r.resolveVersion3(w, &ev)
		}
		if err := r.legacyMetadata(ev.Payload, at+legacy.HeaderSizeV3); err != nil {
			return false, err
		}
	}
	return false, nil
}

// resolveVersion3 is resolve for netperf events. They have no sequence numbers and no CPU numbers, and appear in time
// order.
func (r *Reader) resolveVersion3(w *row, ev *legacy.EventV3) (err error) {
	h := &ev.Header
	w.flags, w.seq, w.lost, w.cpu = ntconv.FlagSorted, 0, 0, ntconv.CPUUnknown
	w.time, w.meta, w.size = int64(h.Time), h.MetadataID, h.PayloadSize
	if w.thread, err = r.threadSlot(h.Thread, r.at(w), &w.flags); err != nil {
		return err
	}
	w.capture = w.thread
	w.stack = r.inlineStack(ev.Stack, r.at(w))
	w.labels = r.activityLabels(h)
	return nil
}
