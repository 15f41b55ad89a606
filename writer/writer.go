package writer

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// Keys of the trace that describe to a reader how the trace was written.
const (
	keyLabels    = "ntconv.labels"
	zigzag       = "zigzag"
	keyAggregate = "ntconv.aggregate"
	keyStart     = "ntconv.start"
)

// A Writer writes one trace. It is not safe for concurrent use. It passes whole blocks to the underlying Write, so that
// writer needs no buffer. The Writer keeps the pointers of types and threads to the end, and those of stacks and label
// lists until the next sequence point.
type Writer struct {
	out    io.Writer
	opts   Options
	large  int // size of an address in bytes
	native uint8
	n      int64 // number of calls of Write, for errors
	err    error // error of out; every later call returns it
	closed bool

	events  eventBlock
	types   typeTable
	threads threadTable
	stacks  stackTable
	labels  labelTable

	latest    int64 // latest time of an event
	inserted  int64 // time of the last sequence point that the writer inserted
	after     int64 // n at that time
	unordered bool  // an event was earlier than inserted: insert no more
	late      bool  // an event was earlier than latest: Options.Ordered was wrong
}

var errClosed = errors.New("the writer is closed")

// New writes the header of a trace to w and returns a Writer for its events. info describes the source of the events;
// New does not retain it. Its clock must have a positive frequency, and its pointer size is that of all addresses: 4,
// or 8 for any other value. opts may be nil, which means the zero Options. New returns an error for an invalid clock,
// for attributes that exceed a block (it wraps ntconv.ErrLimit), and the error of w.
func New(w io.Writer, info *ntconv.Info, opts *Options) (*Writer, error) {
	if info.Clock.Freq <= 0 {
		return nil, fmt.Errorf("clock frequency %d: must be positive", info.Clock.Freq)
	}
	wr := &Writer{out: w, large: 8, latest: math.MinInt64, inserted: math.MinInt64}
	if info.PointerSize == 4 {
		wr.large = 4
	}
	wr.native = uint8(wr.large)
	if opts != nil {
		wr.opts = *opts
	}
	wr.opts = wr.opts.withDefaults()
	wr.events.asRecorded = !wr.opts.Ordered
	wr.events.reset()
	wr.types.init()
	wr.threads.init()
	wr.stacks.init()
	wr.labels.init()
	b := wire.AppendStreamHeader(nil, wire.StreamHeader{Version: wire.V6})
	start := len(b)
	t := traceRow(info, wr.large)
	b = wire.AppendTrace(append(b, make([]byte, wire.BlockHeaderSize)...), &t)
	if err := putBlockHeader(b[start:], wire.KindTrace); err != nil {
		return nil, err
	}
	return wr, wr.write(b)
}

// traceRow converts an Info to the Trace row.
func traceRow(info *ntconv.Info, pointerSize int) wire.Trace {
	wall, tick := wholeMillisecond(info.Clock)
	t := wire.Trace{
		Sync:        systemTime(wall),
		SyncTicks:   int64(tick),
		Frequency:   info.Clock.Freq,
		PointerSize: int32(pointerSize),
	}
	for _, a := range info.Attrs {
		if a.Key != keyLabels && a.Key != keyAggregate && a.Key != keyStart {
			t.KeyValues = append(t.KeyValues, wire.KeyValue{Key: validUTF8(a.Key), Value: validUTF8(a.Value)})
		}
	}
	t.KeyValues = append(t.KeyValues, wire.KeyValue{Key: keyLabels, Value: zigzag})
	if info.Aggregate {
		t.KeyValues = append(t.KeyValues, wire.KeyValue{Key: keyAggregate, Value: "true"})
	}
	if !wall.IsZero() && !inRange(wall) {
		t.KeyValues = append(t.KeyValues, wire.KeyValue{Key: keyStart, Value: strconv.FormatInt(wall.UnixMilli(), 10)})
	}
	return t
}

// wholeMillisecond returns the last whole millisecond of the wall clock up to c.Tick, and its tick. The format stores
// milliseconds only.
func wholeMillisecond(c ntconv.Clock) (time.Time, ntconv.Ticks) {
	rest := time.Duration(c.Wall.Nanosecond()) % time.Millisecond
	if c.Wall.IsZero() || rest == 0 {
		return c.Wall, c.Tick
	}
	return c.Wall.Add(-rest), c.TicksAt(-rest)
}

// unknownTime represents an unknown time; package reader has the same value. It is the second day that TraceEvent can
// convert to a file time in every time zone. With an earlier time TraceEvent cannot open traces that have stacks.
var unknownTime = time.Date(1601, 1, 2, 0, 0, 0, 0, time.UTC)

// inRange reports whether TraceEvent can open a trace that starts at t.
func inRange(t time.Time) bool { return t.UTC().Year() >= 1601 && t.UTC().Year() <= 9999 }

// systemTime converts a time. A time that is unknown or out of range becomes unknownTime.
func systemTime(t time.Time) (s wire.SystemTime) {
	if t = t.UTC(); !inRange(t) {
		t = unknownTime
	}
	s[wire.Year], s[wire.Month], s[wire.Day] = int16(t.Year()), int16(t.Month()), int16(t.Day())
	s[wire.DayOfWeek] = int16(t.Weekday())
	s[wire.Hour], s[wire.Minute], s[wire.Second] = int16(t.Hour()), int16(t.Minute()), int16(t.Second())
	s[wire.Millisecond] = int16(t.Nanosecond() / 1e6)
	return s
}

// Write writes an event, a mark, a definition, or a block of unknown kind. It does not retain e or its payload.
//
// An error of the underlying writer is final: every later call returns it. Any other error concerns only this event,
// which is not written, and leaves the Writer usable: it wraps ntconv.ErrLimit if the event exceeds a limit of the
// format and ntconv.ErrUnsupported if nettrace cannot represent it.
func (w *Writer) Write(e *ntconv.Event) (err error) {
	switch {
	case w.err != nil:
		return w.err
	case w.closed:
		return errClosed
	}
	if err := e.Check(); err != nil {
		return err
	}
	w.n++
	switch e.Kind {
	case ntconv.KindEvent:
		err = w.event(e)
	case ntconv.KindMark:
		err = w.mark(e)
	case ntconv.KindLost:
		err = w.lost(e)
	case ntconv.KindDefine:
		err = w.define(e)
	case ntconv.KindOpaque:
		err = w.opaque(e)
	default:
		err = fmt.Errorf("%v: %w", e.Kind, ntconv.ErrUnsupported)
	}
	switch {
	case err == nil:
		return nil
	case w.err != nil:
		return w.err
	case e.Offset >= 0:
		return fmt.Errorf("event %d (byte %d of the input): %w", w.n, e.Offset, err)
	}
	return fmt.Errorf("event %d: %w", w.n, err)
}

// Flush writes all events so far, and calls Flush of the underlying writer if that is an ntconv.Flusher. The Writer
// remains usable. More calls make a larger trace, because blocks get smaller.
func (w *Writer) Flush() error {
	if err := w.flush(); err != nil {
		return err
	}
	if f, ok := w.out.(ntconv.Flusher); ok {
		w.err = f.Flush()
	}
	return w.err
}

// Close writes the rest of the trace. It does not close the underlying writer. It returns the error of the underlying
// writer, also if it is called again. Do not call Write after Close.
func (w *Writer) Close() error {
	if w.closed {
		return w.err
	}
	w.closed = true
	if err := w.flush(); err != nil {
		return err
	}
	end, _ := wire.AppendBlockHeader(nil, wire.BlockHeader{Kind: wire.KindEnd})
	return w.write(end)
}

// write writes b to the underlying writer, unless that has failed before.
func (w *Writer) write(b []byte) error {
	if w.err == nil {
		var n int
		if n, w.err = w.out.Write(b); w.err == nil && n < len(b) {
			w.err = io.ErrShortWrite
		}
	}
	return w.err
}

// flush writes all blocks that have rows: definitions first, then the events that use them.
func (w *Writer) flush() error {
	if err := w.events.divide(); err != nil {
		return err
	}
	for _, b := range []*block{
		w.types.finish(), w.threads.finish(), w.stacks.finish(), w.labels.finish(), w.events.finish(),
	} {
		if b.rows == 0 {
			continue
		}
		if err := putBlockHeader(b.buf[b.start:], b.kind); err != nil {
			return err
		}
		if err := w.write(b.buf); err != nil {
			return err
		}
		b.clear()
	}
	w.events.reset()
	return w.err
}

// full reports whether the blocks must be written. Types and threads do not count: sources may announce them long
// before their first use, and rewriting a trace must yield the same blocks.
func (w *Writer) full() bool {
	limit := w.opts.BlockBytes
	return w.events.size() >= limit || len(w.stacks.buf) >= limit || len(w.labels.buf) >= limit ||
		w.events.sealed+w.events.rows >= w.opts.BlockEvents
}

// endWindow discards stacks and label lists after a sequence point, as readers do.
func (w *Writer) endWindow() {
	w.stacks.flushed()
	w.labels.flushed()
}

// mark writes a sequence point or a RemoveThread block.
func (w *Writer) mark(e *ntconv.Event) error {
	if e.Mark == nil {
		return errors.New("mark event without a Mark")
	}
	if w.repeats(e) {
		return nil
	}
	threads := make([]wire.ThreadSeq, 0, len(e.Mark.Threads))
	for _, ts := range e.Mark.Threads {
		s, err := w.thread(ts.Thread)
		if err != nil {
			return err
		}
		threads = append(threads, wire.ThreadSeq{Thread: uint64(s.id), Sequence: s.bound(ts.Seq, &w.opts)})
	}
	switch e.Mark.Kind {
	case ntconv.MarkSequencePoint:
		return w.sequencePoint(wire.SequencePoint{Time: uint64(e.Time), Flags: uint32(e.Mark.Flags), Threads: threads})
	case ntconv.MarkThreadsRemoved:
		b := make([]byte, wire.BlockHeaderSize)
		for _, ts := range threads {
			b = wire.AppendThreadSeq(b, ts)
		}
		if err := w.writeAlone(b, wire.KindRemoveThread); err != nil {
			return err
		}
		for _, ts := range e.Mark.Threads {
			w.threads.remove(ts.Thread)
		}
		return nil
	}
	return fmt.Errorf("%v: %w", e.Mark.Kind, ntconv.ErrUnsupported)
}

// repeats reports whether e is a sequence point that adds nothing to the one that the writer has just inserted. So
// rewriting a trace with inserted sequence points does not duplicate them.
func (w *Writer) repeats(e *ntconv.Event) bool {
	return w.after > 0 && w.n == w.after+1 && int64(e.Time) == w.inserted && e.Mark.Kind == ntconv.MarkSequencePoint &&
		e.Mark.Flags == 0 && len(e.Mark.Threads) == 0
}

// sequencePoint writes all events and a sequence point, and starts a new window.
func (w *Writer) sequencePoint(sp wire.SequencePoint) error {
	b := wire.AppendSequencePoint(make([]byte, wire.BlockHeaderSize), &sp)
	if err := w.writeAlone(b, wire.KindSequencePoint); err != nil {
		return err
	}
	w.endWindow()
	if sp.Flags&wire.FlushThreads != 0 {
		w.threads.flushed()
	}
	if sp.Flags&wire.FlushMetadata != 0 {
		w.types.flushed()
	}
	return nil
}

// define writes the row of a type or a thread, whether or not an event will use it.
func (w *Writer) define(e *ntconv.Event) (err error) {
	if e.Type != nil {
		_, err = w.typ(e.Type)
	}
	if err == nil && e.Thread != nil {
		_, err = w.thread(e.Thread)
	}
	return err
}

// lost adds losses to those of the thread. A gap before the number of its next event represents them.
func (w *Writer) lost(e *ntconv.Event) error {
	s, err := w.thread(e.Capture)
	if err == nil {
		s.lost += e.Lost
	}
	return err
}

// opaque copies a block of a kind that this package does not know.
func (w *Writer) opaque(e *ntconv.Event) error {
	kind := wire.Kind(e.Seq)
	if w.opts.DropUnknown && !kind.Known() {
		w.opts.Report.Add(ntconv.CodeUnknownDropped, 1, e.Offset)
		return nil
	}
	if e.Seq > math.MaxUint8 || kind.Known() {
		return fmt.Errorf("opaque block of kind %d: %w", e.Seq, ntconv.ErrUnsupported)
	}
	b := slices.Grow(make([]byte, wire.BlockHeaderSize), len(e.Payload))
	return w.writeAlone(append(b, e.Payload...), kind)
}

// writeAlone writes all events so far and then a block. b starts with space for the block header.
func (w *Writer) writeAlone(b []byte, kind wire.Kind) error {
	if err := putBlockHeader(b, kind); err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	return w.write(b)
}

// putBlockHeader fills in the block header at the start of b.
func putBlockHeader(b []byte, kind wire.Kind) error {
	_, err := wire.AppendBlockHeader(b[:0], wire.BlockHeader{Kind: kind, Size: len(b) - wire.BlockHeaderSize})
	if err != nil {
		err = fmt.Errorf("%v block: %w", kind, limited(err))
	}
	return err
}

// limited converts a limit error of package wire in err to an *ntconv.LimitError. It returns other errors unchanged.
func limited(err error) error {
	var l *bin.LimitError
	if !errors.As(err, &l) {
		return err
	}
	return &ntconv.LimitError{Limit: l.Limit, Value: l.Value, Asked: l.Asked, Unit: l.Unit}
}
