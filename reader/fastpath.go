package reader

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// Fast paths for events that differ little from the previous event of the block, which are nearly all events. nextFast
// (direct delivery) and gather (into the window) decode, resolve and deliver or queue such an event in one function.
// All others take the slow path: parse, resolve, then window.add or deliver. The fast paths decode headers as
// legacy.ParseCompressed and [wire.EventHeader.ParseCompressed] do, but read only the fields whose header flags are
// set: eventBlock.h and Reader.row hold the header and the slots of the previous event.
//
// If a fast path gives up, the slow path parses the event again from its first byte, so partial updates are harmless.
// Three invariants make this true:
//   - A slot in Reader.row and its ID in Reader.memo change together, and so do Reader.shown and Reader.event.
//   - Time and Sequence, which depend on the previous event, are stored only when the event is complete.
//   - eventBlock.pos, the rows of the window and Reader.latest change only when the event is complete.
//
// The duplication is deliberate: a shared decoder costs 20%. Run BenchmarkReader after a change; TestFastPaths compares
// both paths.

// maxFastHeader exceeds the length of every header without activity IDs.
const maxFastHeader = 64

// Header positions are not known in advance, so every header would be a cache miss. The fast paths prefetch by reading
// a byte prefetchDistance bytes further on; its value is not used. This saves a third of the time if payloads have a
// few hundred bytes. A payload of less than cacheLine bytes leaves nothing to prefetch.
const (
	prefetchDistance = 512
	cacheLine        = 64
)

// startFastPath allows nextFast for the next event of the block: nothing is queued, memo and shown are complete, and
// at least maxFastHeader bytes of the block are left.
func (r *Reader) startFastPath() {
	b := &r.events
	b.direct = r.head == len(r.queue) && r.memo.known && r.shown.valid && len(b.body)-b.pos >= maxFastHeader &&
		(b.enc == encCompressed || b.enc == encLegacyCompressed)
}

// nextFast returns the next event of the block, or nil if the event must take the slow path. Nothing precedes the
// event.
func (r *Reader) nextFast() *ntconv.Event {
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
			if !r.fastStack(h.StackID) {
				return nil
			}
			r.shown.stack, e.Stack = r.row.stack, r.stacks.list[r.row.stack]
		}
	}
	if i > maxFastHeader-4 {
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
	if i > len(body) || uint(size) > uint(len(body)-i) || uint64(time-r.earliest) > r.span ||
		h.MetadataID == 0 || seq == 0 ||
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
	if b.direct = len(body)-end >= maxFastHeader; b.direct && size >= cacheLine {
		b.prefetched = body[end]
		if far := end + prefetchDistance; far < len(body) {
			b.prefetched = body[far]
		}
	}
	return e
}

// showCapture is fastCapture, and sets the capture thread and the CPU of the event.
func (r *Reader) showCapture(body []byte, i int) (seq uint32, end int) {
	seq, end = r.fastCapture(body, i)
	if r.shown.capture != r.row.capture {
		r.shown.capture = r.row.capture
		r.event.Capture = r.threads.list[r.row.capture].thread
	}
	r.event.CPU = int32(r.events.h.CPU)
	return seq, end
}

// gather adds the next events of the block to the window, up to the first event that must take the slow path.
func (r *Reader) gather() {
	b, h, w, q := &r.events, &r.events.h, &r.row, &r.window
	if !r.memo.known || r.slowPathOnly || b.enc != encCompressed && b.enc != encLegacyCompressed {
		return
	}
	time, seq, capture := int64(h.Time), h.Sequence, w.capture
	rows, last := q.rows, q.last
	for free := r.limits.WindowEvents - q.left(); free > 0; free-- {
		body := b.body[b.pos:]
		if len(body) < maxFastHeader || body[0]&b.announce != 0 {
			break
		}
		flags, i := body[0], 1
		if len(body) > prefetchDistance {
			b.prefetched = body[prefetchDistance]
		}
		if flags&wire.HasMetadataID != 0 {
			h.MetadataID, i = bin.Varuint32(body, i)
		}
		next := seq + 1
		if flags&wire.HasCapture != 0 {
			h.Sequence = seq
			if next, i = r.fastCapture(body, i); i == 0 {
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
			if h.StackID, i = bin.Varuint32(body, i); r.memo.stack != h.StackID && !r.fastStack(h.StackID) {
				break
			}
		}
		if i > maxFastHeader-4 {
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
			h.MetadataID == 0 || next == 0 {
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

// fastCapture reads the capture fields at body[i:] and makes the capture thread that of the row. It returns the
// sequence number of the event and the index after the fields. end is 0 if the thread is not in the cache or the number
// reveals a loss.
func (r *Reader) fastCapture(body []byte, i int) (seq uint32, end int) {
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

// fastStack makes the stack with this ID that of the row. It returns false if a lookup needs the slow path.
func (r *Reader) fastStack(id uint32) bool {
	place := r.stacks.slots.near(uint64(id))
	if place == 0 {
		return false
	}
	r.row.stack, r.memo.stack = place-1, id
	return true
}

// fillEvent sets the event from a row of the window and returns it. It returns nil if the row needs deliver: it is
// late, follows losses, changes labels, or has a type that the fast lookup does not find.
func (r *Reader) fillEvent(w *row) *ntconv.Event {
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
		e.Thread, e.Capture = r.threads.list[w.thread].thread, r.threads.list[w.capture].thread
		e.Stack = r.stacks.list[w.stack]
	}
	r.latest = w.time
	b := &r.window.blocks[w.block]
	e.Flags, e.CPU, e.Seq, e.Time, e.Offset = w.flags, w.cpu, w.seq, ntconv.Ticks(w.time), b.offset+int64(w.header)
	end := w.payload + w.size
	e.Payload = b.body[w.payload:end:end]
	return e
}
