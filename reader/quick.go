package reader

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/wire/legacy"
)

// The quick ways of nearly all events: those that differ little from the one before in the block. They do in one go what parse,
// resolve, add and deliver do for any event, and leave everything else to them. That they say the same twice is what makes them
// quick: do not change them without BenchmarkReader.

// nextDirect returns the next event of the block, in front of which nothing waits, and nil if it is not a simple one, which it may
// have parsed.
func (r *Reader) nextDirect() *ntconv.Event {
	b, h, w := &r.events, &r.events.h, &r.row
	b.direct = false
	body := b.body[b.pos:]
	n := 0
	switch {
	case len(body) == 0:
	case b.enc == encLegacyCompressed:
		n = legacy.ParseCompressed(body, h)
	case b.enc == encCompressed:
		n = h.ParseCompressed(body)
	}
	if n <= 0 || uint64(h.PayloadSize) > uint64(len(body)-n) {
		return nil
	}
	at := b.pos
	b.pos += n + int(h.PayloadSize)
	b.parsed = true
	w.header, w.payload, w.size = uint32(at), uint32(at+n), h.PayloadSize
	m, shown, e := &r.memo, &r.shown, &r.event
	if !m.known || !shown.valid || m.labels != h.LabelList || h.Flags&b.announce != 0 {
		return nil
	}
	if m.capture != h.CaptureThread {
		c := &r.threads.cache[cacheIndex(h.CaptureThread)]
		if c.id != h.CaptureThread || c.version != r.threads.version || !r.threads.list[c.slot].seen {
			return nil
		}
		w.capture, shown.capture, m.capture = c.slot, c.slot, h.CaptureThread
		e.Capture = r.threads.list[c.slot].thread
	}
	s := &r.threads.list[w.capture]
	time := int64(h.Time)
	if s.seq+1 != h.Sequence || uint64(time-r.earliest) > r.span || r.opts.Order == ByTime && (!h.Sorted || time < r.latest) {
		return nil
	}
	if shown.meta != h.MetadataID {
		t := r.types.find(h.MetadataID)
		if t == nil {
			return nil
		}
		shown.meta, e.Type = h.MetadataID, t
	}
	if m.thread != h.Thread {
		c := &r.threads.cache[cacheIndex(h.Thread)]
		if c.id != h.Thread || c.version != r.threads.version {
			return nil
		}
		w.thread, shown.thread, m.thread = c.slot, c.slot, h.Thread
		e.Thread = r.threads.list[c.slot].thread
	}
	if m.stack != h.StackID {
		d := r.stacks.slots.dense
		if uint64(h.StackID) >= uint64(len(d)) || d[h.StackID] == 0 {
			return nil
		}
		slot := d[h.StackID] - 1
		w.stack, shown.stack, m.stack = slot, slot, h.StackID
		e.Stack = r.stacks.list[slot]
	}
	s.seq = h.Sequence
	r.latest = max(r.latest, time)
	e.Flags = 0
	if h.Sorted {
		e.Flags = ntconv.FlagSorted
	}
	e.CPU, e.Seq, e.Time = int32(h.CPU), h.Sequence, ntconv.Ticks(time)
	e.Offset = b.offset + int64(at)
	e.Payload = b.body[at+n : b.pos : b.pos]
	b.direct, b.parsed = true, false
	return e
}

// gather adds the next events of the block to the window, up to one that is not simple, which it may have parsed.
func (r *Reader) gather() {
	b, h, w, m, q := &r.events, &r.events.h, &r.row, &r.memo, &r.window
	for q.left() < r.limits.WindowEvents && m.known && !r.general {
		body := b.body[b.pos:]
		n := 0
		switch {
		case len(body) == 0:
		case b.enc == encLegacyCompressed:
			n = legacy.ParseCompressed(body, h)
		case b.enc == encCompressed:
			n = h.ParseCompressed(body)
		}
		if n <= 0 || uint64(h.PayloadSize) > uint64(len(body)-n) {
			return
		}
		at := b.pos
		b.pos += n + int(h.PayloadSize)
		s := &r.threads.list[w.capture]
		if m.capture != h.CaptureThread || m.labels != h.LabelList || h.Flags&b.announce != 0 ||
			s.seq+1 != h.Sequence || uint64(int64(h.Time)-r.earliest) > r.span || !r.quickThread(h.Thread) || !r.quickStack(h.StackID) {
			w.header, w.payload, w.size = uint32(at), uint32(at+n), h.PayloadSize
			b.parsed = true
			return
		}
		s.seq = h.Sequence
		d := q.grow(int64(h.Time))
		d.time, d.block, d.header, d.payload, d.size = int64(h.Time), w.block, uint32(at), uint32(at+n), h.PayloadSize
		d.meta, d.thread, d.capture, d.stack, d.labels = h.MetadataID, w.thread, w.capture, w.stack, w.labels
		d.seq, d.lost, d.cpu, d.flags = h.Sequence, 0, int32(h.CPU), 0
		if h.Sorted {
			d.flags = ntconv.FlagSorted
			q.keep(d.time)
		}
	}
}

// quickThread makes a thread that was seen lately that of the row.
func (r *Reader) quickThread(id uint64) bool {
	if r.memo.thread != id {
		c := &r.threads.cache[cacheIndex(id)]
		if c.id != id || c.version != r.threads.version {
			return false
		}
		r.row.thread, r.memo.thread = c.slot, id
	}
	return true
}

// quickStack makes a stack with a small id that of the row.
func (r *Reader) quickStack(id uint32) bool {
	if r.memo.stack != id {
		d := r.stacks.slots.dense
		if uint64(id) >= uint64(len(d)) || d[id] == 0 {
			return false
		}
		r.row.stack, r.memo.stack = d[id]-1, id
	}
	return true
}

// lend makes the reader's event of a row of the window, and returns nil if that is not a simple one.
func (r *Reader) lend(w *row) *ntconv.Event {
	s, e := &r.shown, &r.event
	if !s.valid || w.lost != 0 || s.labels != w.labels || w.time < r.latest || r.general {
		return nil
	}
	if s.meta != w.meta {
		t := r.types.find(w.meta)
		if t == nil {
			return nil
		}
		s.meta, e.Type = w.meta, t
	}
	if s.thread != w.thread {
		s.thread, e.Thread = w.thread, r.threads.list[w.thread].thread
	}
	if s.capture != w.capture {
		s.capture, e.Capture = w.capture, r.threads.list[w.capture].thread
	}
	if s.stack != w.stack {
		s.stack, e.Stack = w.stack, r.stacks.list[w.stack]
	}
	r.latest = w.time
	b := &r.window.blocks[w.block]
	e.Flags, e.CPU, e.Seq, e.Time, e.Offset = w.flags, w.cpu, w.seq, ntconv.Ticks(w.time), b.offset+int64(w.header)
	end := w.payload + w.size
	e.Payload = b.body[w.payload:end:end]
	return e
}
