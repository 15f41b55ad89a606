package reader

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/bin"
	"github.com/ntconv/ntconv/internal/wire"
)

// The quick ways of nearly all events: those that differ little from the one before in the block. They do in one go
// what parse, resolve, add and deliver do for any event, and leave everything else to them. nextDirect and gather
// decode a header as legacy.ParseCompressed and [wire.EventHeader.ParseCompressed] do, and look only at what its flags
// announce: all else is as in the event before. Where they give up, the event is parsed from its beginning, so that it
// does no harm if a part of it is remembered already.
//
// That they say the same twice is what makes them quick: a decoder that both call costs a fifth. Do not change them
// without BenchmarkReader; TestQuick holds them to the general way.

// quickHeader is more than what a header takes at most that has no activity ids.
const quickHeader = 64

// Nothing says in advance where the next headers are, so that the processor would wait for the memory of each. The
// quick ways therefore read a byte from farAhead bytes behind, which nobody looks at (ahead): a third less time on
// traces with payloads of some hundred bytes. A payload of less than a cacheLine leaves nothing to fetch.
const (
	farAhead  = 512
	cacheLine = 64
)

// goDirect begins the quick way after an event of the block, if nothing is in the way.
func (r *Reader) goDirect() {
	b := &r.events
	b.direct = r.head == len(r.queue) && r.memo.known && r.shown.valid && len(b.body)-b.pos >= quickHeader &&
		(b.enc == encCompressed || b.enc == encLegacyCompressed)
}

// nextDirect returns the next event of the block, in front of which nothing waits, and nil if it is not a simple one.
func (r *Reader) nextDirect() *ntconv.Event {
	b, h, e := &r.events, &r.events.h, &r.event
	b.direct = false
	at := b.pos
	body := b.body[at:]
	flags, i := body[0], 1
	if flags&b.announce != 0 {
		return nil
	}
	if flags&wire.HasMetadataID != 0 {
		if h.MetadataID, i = bin.Varuint32(body, i); r.shown.meta != h.MetadataID {
			t := r.types.near(h.MetadataID)
			if t == nil {
				return nil
			}
			r.shown.meta, e.Type = h.MetadataID, t
		}
	}
	seq := h.Sequence + 1
	if flags&wire.HasCapture != 0 {
		if seq, i = r.showCapture(body, i); i == 0 {
			return nil
		}
	}
	if flags&wire.HasThread != 0 {
		if h.Thread, i = bin.Varuint(body, i); r.memo.thread != h.Thread {
			slot, ok := r.threads.cached(h.Thread)
			if !ok {
				if slot, ok = r.threads.declared(h.Thread); !ok {
					return nil
				}
			}
			r.row.thread, r.memo.thread = slot, h.Thread
			r.shown.thread, e.Thread = slot, r.threads.list[slot].thread
		}
	}
	if flags&wire.HasStackID != 0 {
		if h.StackID, i = bin.Varuint32(body, i); r.memo.stack != h.StackID {
			if !r.quickStack(h.StackID) {
				return nil
			}
			r.shown.stack, e.Stack = r.row.stack, r.stacks.list[r.row.stack]
		}
	}
	if i > quickHeader-4 {
		return nil
	}
	delta, end := bin.VaruintShort(body, i)
	if end > i+4 {
		delta, end = bin.Varuint(body, i)
	}
	i = end
	if flags&wire.HasLabelList != 0 {
		if h.LabelList, i = bin.Varuint32(body, i); r.memo.labels != h.LabelList {
			return nil
		}
	}
	if flags&wire.HasPayloadSize != 0 {
		h.PayloadSize, i = bin.Varuint32(body, i)
	}
	time, size := int64(h.Time+delta), int(h.PayloadSize)
	if i > len(body) || uint(size) > uint(len(body)-i) || uint64(time-r.earliest) > r.span || h.MetadataID == 0 ||
		seq == 0 ||
		r.opts.Order == ByTime && (flags&wire.IsSorted == 0 || time < r.latest) {
		return nil
	}
	h.Time, h.Sequence = uint64(time), seq
	r.threads.list[r.row.capture].seq = seq
	r.latest = max(r.latest, time)
	e.Flags = ntconv.FlagSorted * ntconv.Flags(flags&wire.IsSorted/wire.IsSorted)
	e.Seq, e.Time, e.Offset = seq, ntconv.Ticks(time), b.offset+int64(at)
	end = i + size
	b.pos = at + end
	e.Payload = body[i:end:end]
	if b.direct = len(body)-end >= quickHeader; b.direct && size >= cacheLine {
		b.ahead = body[end]
		if far := end + farAhead; far < len(body) {
			b.ahead = body[far]
		}
	}
	return e
}

// showCapture is quickCapture for the event.
func (r *Reader) showCapture(body []byte, i int) (seq uint32, end int) {
	seq, end = r.quickCapture(body, i)
	if r.shown.capture != r.row.capture {
		r.shown.capture = r.row.capture
		r.event.Capture = r.threads.list[r.row.capture].thread
	}
	r.event.CPU = int32(r.events.h.CPU)
	return seq, end
}

// gather adds the next events of the block to the window, up to one that is not simple, which is then still to be
// parsed.
func (r *Reader) gather() {
	b, h, w, q := &r.events, &r.events.h, &r.row, &r.window
	if !r.memo.known || r.general || b.enc != encCompressed && b.enc != encLegacyCompressed {
		return
	}
	time, seq, capture := int64(h.Time), h.Sequence, w.capture
	rows, last := q.rows, q.last
	for free := r.limits.WindowEvents - q.left(); free > 0; free-- {
		body := b.body[b.pos:]
		if len(body) < quickHeader || body[0]&b.announce != 0 {
			break
		}
		flags, i := body[0], 1
		if len(body) > farAhead {
			b.ahead = body[farAhead]
		}
		if flags&wire.HasMetadataID != 0 {
			h.MetadataID, i = bin.Varuint32(body, i)
		}
		next := seq + 1
		if flags&wire.HasCapture != 0 {
			h.Sequence = seq
			if next, i = r.quickCapture(body, i); i == 0 {
				break
			}
		}
		if flags&wire.HasThread != 0 {
			if h.Thread, i = bin.Varuint(body, i); r.memo.thread != h.Thread {
				slot, ok := r.threads.cached(h.Thread)
				if !ok {
					if slot, ok = r.threads.declared(h.Thread); !ok {
						break
					}
				}
				w.thread, r.memo.thread = slot, h.Thread
			}
		}
		if flags&wire.HasStackID != 0 {
			if h.StackID, i = bin.Varuint32(body, i); r.memo.stack != h.StackID && !r.quickStack(h.StackID) {
				break
			}
		}
		if i > quickHeader-4 {
			break
		}
		delta, end := bin.VaruintShort(body, i)
		if end > i+4 {
			delta, end = bin.Varuint(body, i)
		}
		i = end
		if flags&wire.HasLabelList != 0 {
			if h.LabelList, i = bin.Varuint32(body, i); r.memo.labels != h.LabelList {
				break
			}
		}
		if flags&wire.HasPayloadSize != 0 {
			h.PayloadSize, i = bin.Varuint32(body, i)
		}
		size := h.PayloadSize
		if i > len(body) || uint(size) > uint(len(body)-i) || uint64(time+int64(delta)-r.earliest) > r.span ||
			h.MetadataID == 0 ||
			next == 0 {
			break
		}
		time += int64(delta)
		seq, capture = next, w.capture
		at := uint32(b.pos)
		b.pos += i + int(size)
		if !q.joins || time < last {
			q.last = last
			q.begin(time, len(rows))
		}
		last = time
		rows = room(rows)[:len(rows)+1]
		d := &rows[len(rows)-1]
		d.time, d.block, d.header, d.payload, d.size = time, w.block, at, at+uint32(i), size
		d.meta, d.thread, d.capture, d.stack, d.labels = h.MetadataID, w.thread, w.capture, w.stack, w.labels
		d.seq, d.lost, d.cpu, d.flags = seq, 0, int32(h.CPU), 0
		if flags&wire.IsSorted != 0 {
			d.flags = ntconv.FlagSorted
			q.keep(time)
		}
	}
	q.rows, q.last = rows, last
	h.Time, h.Sequence = uint64(time), seq
	r.threads.list[capture].seq = seq
}

// quickCapture reads who captured the event at body[i:] and makes that what the row has. It returns the number of the
// event, and 0 as the end unless the thread was seen lately and none of its events is missing.
func (r *Reader) quickCapture(body []byte, i int) (seq uint32, end int) {
	delta, i := bin.Varuint32(body, i)
	id, i := bin.Varuint(body, i)
	cpu, i := bin.Varuint32(body, i)
	h := &r.events.h
	seq = h.Sequence + 1 + delta
	if i > len(body) {
		return 0, 0
	}
	if r.memo.capture == id {
		if delta != 0 {
			return 0, 0
		}
	} else {
		c := &r.threads.cache[cacheIndex(id)]
		if c.id != id || c.version != r.threads.version || r.threads.list[c.slot].seq+1 != seq {
			return 0, 0
		}
		r.threads.list[r.row.capture].seq = h.Sequence
		r.row.capture, r.memo.capture = c.slot, id
	}
	h.CPU, h.CaptureThread = cpu, id
	return seq, i
}

// quickStack makes a stack with a small id that of the row.
func (r *Reader) quickStack(id uint32) bool {
	place := r.stacks.slots.near(uint64(id))
	if place == 0 {
		return false
	}
	r.row.stack, r.memo.stack = place-1, id
	return true
}

// lend makes the reader's event of a row of the window, and returns nil if that is not a simple one.
func (r *Reader) lend(w *row) *ntconv.Event {
	s, e := &r.shown, &r.event
	if !s.valid || w.lost|(s.labels^w.labels) != 0 || w.time < r.latest {
		return nil
	}
	if s.meta != w.meta {
		t := r.types.near(w.meta)
		if t == nil {
			return nil
		}
		s.meta, e.Type = w.meta, t
	}
	if s.thread != w.thread || s.capture != w.capture || s.stack != w.stack {
		s.thread, s.capture, s.stack = w.thread, w.capture, w.stack
		e.Thread, e.Capture, e.Stack = r.threads.list[w.thread].thread, r.threads.list[w.capture].thread, r.stacks.list[w.stack]
	}
	r.latest = w.time
	b := &r.window.blocks[w.block]
	e.Flags, e.CPU, e.Seq, e.Time, e.Offset = w.flags, w.cpu, w.seq, ntconv.Ticks(w.time), b.offset+int64(w.header)
	end := w.payload + w.size
	e.Payload = b.body[w.payload:end:end]
	return e
}
