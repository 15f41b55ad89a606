package reader

import (
	"fmt"
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/bin"
	"github.com/ntconv/ntconv/internal/wire"
	"github.com/ntconv/ntconv/internal/wire/legacy"
)

// A row is an event header with its references resolved to slots. It holds no pointers, so the rows of a window cost the
// garbage collector nothing.
type row struct {
	time    int64
	block   uint32 // index of the window's block
	header  uint32 // position of the event in the block
	payload uint32 // position of the payload in the block
	size    uint32 // of the payload
	meta    uint32 // metadata id
	thread  uint32
	capture uint32
	stack   uint32
	labels  uint32
	seq     uint32
	lost    uint32 // events of the capture thread that are missing before this one
	cpu     int32
	flags   ntconv.Flags
}

// encoding is how the events of a block are written.
type encoding uint8

const (
	encCompressed encoding = iota
	encUncompressed
	encLegacyCompressed
	encLegacyUncompressed
	encPreRelease
	encVersion3
)

// eventBlock is the block whose events are being read.
type eventBlock struct {
	body    []byte
	pos     int
	offset  int64 // of body[0]
	enc     encoding
	partial bool
	h       wire.EventHeader // of the last event
}

// openEvents begins an event block. It returns false if the block has no events.
func (r *Reader) openEvents(b *block) (bool, error) {
	e := &r.events
	*e = eventBlock{body: b.body, offset: b.offset, partial: b.partial}
	if r.frame.header.Version == wire.V3 {
		e.enc = encVersion3
		return len(b.body) > 0, nil
	}
	c := b.cursor()
	head, err := wire.ParseEventBlockHeader(&c)
	if err != nil {
		e.body = nil
		return false, r.blockError(b, err)
	}
	e.pos = len(b.body) - c.Len()
	switch {
	case head.Compressed() && r.prerelease:
		e.enc = encPreRelease
	case head.Compressed() && r.legacy:
		e.enc = encLegacyCompressed
	case head.Compressed():
		e.enc = encCompressed
	case r.legacy:
		e.enc = encLegacyUncompressed
	default:
		e.enc = encUncompressed
	}
	if c.Len() == 0 && !b.partial {
		err := r.tolerate(ntconv.CodeEmptyBlock, b.offset, "EventBlock", errEmptyBlock)
		return false, err
	}
	return c.Len() > 0, nil
}

// step reads the next event of the block into w. It returns false at the end of the block.
func (r *Reader) step(w *row) (bool, error) {
	e := &r.events
	for {
		b := e.body[e.pos:]
		if len(b) == 0 {
			return false, nil
		}
		if e.enc == encVersion3 {
			again, err := r.stepVersion3(w)
			if again {
				continue
			}
			return err == nil && e.body != nil, err
		}
		h := &e.h
		var n int
		switch e.enc {
		case encCompressed:
			n = h.ParseCompressed(b)
		case encLegacyCompressed:
			n = legacy.ParseCompressed(b, h)
		case encUncompressed:
			n = h.ParseUncompressed(b)
		case encPreRelease:
			n = legacy.ParsePreRelease(b, h)
		default:
			n = legacy.ParseUncompressed(b, h)
		}
		if n <= 0 || uint64(h.PayloadSize) > uint64(len(b)-n) {
			return false, r.cutEvent(b, n)
		}
		w.header = uint32(e.pos)
		w.payload = uint32(e.pos + n)
		w.size = h.PayloadSize
		length := n + int(h.PayloadSize)
		if e.enc == encLegacyUncompressed {
			length = int(legacy.RowSize(h, len(b)))
		}
		e.pos += length
		return true, r.resolve(w, h)
	}
}

// cutEvent ends the block at an event that does not fit into it. If the input ends there that is no news.
func (r *Reader) cutEvent(b []byte, n int) error {
	e := &r.events
	at := e.offset + int64(e.pos)
	e.pos = len(e.body)
	if e.partial {
		return nil
	}
	var err error
	switch {
	case n > 0:
		err = &bin.Error{Offset: at, Where: "PayloadSize", Err: fmt.Errorf("%w: %d bytes, with %d left in the block",
			bin.ErrShort, e.h.PayloadSize, len(b)-n)}
	case e.enc == encCompressed:
		err = wire.CompressedError(b, at)
	case e.enc == encLegacyCompressed:
		err = legacy.CompressedError(b, at)
	}
	if err == nil {
		err = &bin.Error{Offset: at, Where: "event header", Err: bin.ErrShort}
	}
	return r.damaged(wire.KindEvent, err)
}

// resolve turns the references of a header into slots and counts sequence numbers.
func (r *Reader) resolve(w *row, h *wire.EventHeader) (err error) {
	offset := r.events.offset + int64(w.header)
	w.flags = 0
	if h.Sorted {
		w.flags = ntconv.FlagSorted
	}
	w.time, w.meta, w.seq, w.lost = int64(h.Time), h.MetadataID, h.Sequence, 0
	w.cpu = ntconv.CPUUnknown
	if h.CPU <= math.MaxInt32 {
		w.cpu = int32(h.CPU)
	}
	if uint64(w.time-r.earliest) > r.span {
		r.report.Add(ntconv.CodeBadTime, 1, offset)
	}
	if w.capture, err = r.threadSlot(h.CaptureThread, offset, &w.flags); err != nil {
		return err
	}
	s := &r.threads.list[w.capture]
	if s.seq+1 != h.Sequence || !s.seen {
		w.capture, w.lost = r.jump(w.capture, h.Sequence, offset)
		s = &r.threads.list[w.capture]
	}
	s.seq = h.Sequence
	w.thread = w.capture
	if h.Thread != h.CaptureThread {
		if w.thread, err = r.threadSlot(h.Thread, offset, &w.flags); err != nil {
			return err
		}
	}
	if w.stack, _ = r.stacks.find(h.StackID); w.stack == 0 && h.StackID != 0 {
		r.noStack(h.StackID, offset)
	}
	if r.legacy {
		w.labels = r.activityLabels(h)
		return nil
	}
	w.labels = 0
	if h.LabelList != 0 {
		w.labels, err = r.labelSlot(h.LabelList, offset, &w.flags)
	}
	return err
}

// noStack counts a reference to a stack that is not defined. Empty stacks and id 0 have slot 0 too.
func (r *Reader) noStack(id uint32, offset int64) {
	if _, defined := r.stacks.slots.get(uint64(id)); !defined {
		r.report.Add(ntconv.CodeUnknownStack, 1, offset)
	}
}

// labelSlot returns the slot of a label list.
func (r *Reader) labelSlot(id uint32, offset int64, flags *ntconv.Flags) (uint32, error) {
	slot, ok := r.labels.find(id)
	if !ok {
		*flags |= ntconv.FlagPlaceholder
		return 0, r.tolerate(ntconv.CodeUnknownLabels, offset, "label list id", fmt.Errorf("id %d is not defined", id))
	}
	return slot, nil
}

// stepVersion3 reads one event of a netperf block. again: it was metadata.
func (r *Reader) stepVersion3(w *row) (again bool, err error) {
	e := &r.events
	at := e.offset + int64(e.pos)
	c := bin.New(e.body[e.pos:], at)
	ev, err := legacy.ParseEventV3(&c)
	if err != nil {
		rest := c.Err() == nil
		if rest { // the event is whole, but beyond a limit of Microsoft's reader
			err = r.tolerate(ntconv.CodeStackCut, at, "event", err)
		} else if e.partial {
			err = nil
		} else {
			err = r.damaged(wire.KindEvent, err)
		}
		if err != nil || !rest {
			e.body, e.pos = nil, 0
			return false, err
		}
	}
	start := e.pos
	e.pos = len(e.body) - c.Len()
	if ev.Header.MetadataID == 0 {
		return true, r.legacyMetadata(ev.Payload, at+legacy.HeaderSizeV3)
	}
	h := &ev.Header
	w.header, w.payload, w.size = uint32(start), uint32(start+legacy.HeaderSizeV3), h.PayloadSize
	w.flags, w.seq, w.lost, w.cpu = ntconv.FlagSorted, 0, 0, ntconv.CPUUnknown
	w.time, w.meta = int64(h.Time), h.MetadataID
	if w.thread, err = r.threadSlot(h.Thread, at, &w.flags); err != nil {
		return false, err
	}
	w.capture = w.thread
	w.stack = r.inlineStack(ev.Stack, at)
	w.labels = r.activityLabels(h)
	return false, nil
}

// deliver makes the reader's event of a row and of the block that it lies in, and returns it or what must come before it:
// definitions that it brought along, and the news that events are missing.
func (r *Reader) deliver(w *row, body []byte, offset int64) (*ntconv.Event, error) {
	e := &r.event
	e.Kind = ntconv.KindEvent
	e.Flags = w.flags
	e.CPU = w.cpu
	e.Seq = w.seq
	e.Lost = 0
	e.Time = ntconv.Ticks(w.time)
	e.Offset = offset + int64(w.header)
	e.Thread = r.threads.list[w.thread].thread
	e.Capture = r.threads.list[w.capture].thread
	e.Stack = r.stacks.list[w.stack]
	e.Labels = r.labels.list[w.labels]
	e.Mark = nil
	e.Payload = body[w.payload : w.payload+w.size : w.payload+w.size]
	if e.Type = r.types.find(w.meta); e.Type == nil {
		err := r.tolerate(ntconv.CodeUnknownType, e.Offset, "metadata id", fmt.Errorf("id %d is not defined", w.meta))
		if err != nil {
			return nil, err
		}
		e.Type = r.types.placeholder(w.meta)
		e.Flags |= ntconv.FlagPlaceholder
	}
	if w.time < r.latest {
		if r.opts.Order == ByTime {
			e.Flags |= ntconv.FlagLate
			r.report.Add(ntconv.CodeOutOfOrder, 1, e.Offset)
		}
	} else {
		r.latest = w.time
	}
	if w.lost > 0 {
		r.push(ntconv.Event{Kind: ntconv.KindLost, CPU: ntconv.CPUUnknown, Lost: w.lost, Time: e.Time, Offset: e.Offset, Capture: e.Capture})
	}
	if r.head < len(r.queue) {
		r.push(*e)
		return r.pop(), nil
	}
	return e, nil
}
