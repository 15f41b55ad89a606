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
	"github.com/ntconv/ntconv/internal/bin"
	"github.com/ntconv/ntconv/internal/wire"
)

// Keys of the trace that tell a reader how the writer wrote.
const (
	keyLabels    = "ntconv.labels"
	zigzag       = "zigzag"
	keyAggregate = "ntconv.aggregate"
	keyStart     = "ntconv.start"
)

// A Writer writes one trace. It is for use by one goroutine. A block, or several, go out with one call of the
// underlying Write: it needs no buffer in front.
type Writer struct {
	out    io.Writer
	opts   Options
	large  int // bytes of an address
	native uint8
	n      int64 // events that were offered
	err    error // of out: everything after it fails alike
	closed bool

	events  eventBlock
	types   typeTable
	threads threadTable
	stacks  stackTable
	labels  labelTable

	latest    int64 // time of the latest event
	inserted  int64 // time of the latest sequence point that was inserted
	after     int64 // n when that was
	unordered bool  // an event came before inserted: no more are inserted
	late      bool  // an event came before latest: Options.Ordered was wrong
}

var errClosed = errors.New("the writer is closed")

// New writes the beginning of a trace. info must be what the source of the events says: its clock must have a
// frequency, and its pointer size is that of all addresses. opts may be nil.
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

// traceRow makes the Trace row of an Info.
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
			t.KeyValues = append(t.KeyValues, wire.KeyValue{Key: text(a.Key), Value: text(a.Value)})
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

// wholeMillisecond returns the last whole millisecond of the wall clock up to the clock's Tick and its tick, as the
// format has no room for more.
func wholeMillisecond(c ntconv.Clock) (time.Time, ntconv.Ticks) {
	rest := time.Duration(c.Wall.Nanosecond()) % time.Millisecond
	if c.Wall.IsZero() || rest == 0 {
		return c.Wall, c.Tick
	}
	return c.Wall.Add(-rest), c.TicksAt(-rest)
}

// unknownTime stands for a time that is unknown; package reader knows it too. It is the second day that Microsoft's
// reader can convert to a file time, in whatever time zone: with an earlier one it opens no trace that has stacks.
var unknownTime = time.Date(1601, 1, 2, 0, 0, 0, 0, time.UTC)

// inRange reports whether Microsoft's reader can open a trace that starts at a time.
func inRange(t time.Time) bool { return t.UTC().Year() >= 1601 && t.UTC().Year() <= 9999 }

// systemTime converts a time; one that is unknown, or not in range, becomes unknownTime.
func systemTime(t time.Time) (s wire.SystemTime) {
	if t = t.UTC(); !inRange(t) {
		t = unknownTime
	}
	s[wire.Year], s[wire.Month], s[wire.Day], s[wire.DayOfWeek] = int16(
		t.Year(),
	), int16(
		t.Month(),
	), int16(
		t.Day(),
	), int16(
		t.Weekday(),
	)
	s[wire.Hour], s[wire.Minute], s[wire.Second] = int16(t.Hour()), int16(t.Minute()), int16(t.Second())
	s[wire.Millisecond] = int16(t.Nanosecond() / 1e6)
	return s
}

// Write writes an event, a mark, a declaration, or a block of unknown kind. An error that is not of the underlying
// writer concerns the event alone.
func (w *Writer) Write(e *ntconv.Event) (err error) {
	switch {
	case w.err != nil:
		return w.err
	case w.closed:
		return errClosed
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

// Flush writes all events so far, and flushes the underlying writer if that can be flushed.
func (w *Writer) Flush() error {
	if err := w.flush(); err != nil {
		return err
	}
	if f, ok := w.out.(ntconv.Flusher); ok {
		w.err = f.Flush()
	}
	return w.err
}

// Close writes the rest of the trace. It does not close the underlying writer. After an error of that one it returns
// the error again.
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

func (w *Writer) write(b []byte) error {
	if w.err == nil {
		var n int
		if n, w.err = w.out.Write(b); w.err == nil && n < len(b) {
			w.err = io.ErrShortWrite
		}
	}
	return w.err
}

// flush writes the blocks that hold anything: definitions first, then the events that use them.
func (w *Writer) flush() error {
	if err := w.events.divide(); err != nil {
		return err
	}
	for _, b := range []*block{w.types.finish(), w.threads.finish(), w.stacks.finish(), w.labels.finish(), w.events.finish()} {
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

// full reports whether it is time to write the blocks. Types and threads do not count: sources may announce them long
// before they are used, and what is written again must be cut in the same places.
func (w *Writer) full() bool {
	most := w.opts.BlockBytes
	return w.events.size() >= most || len(w.stacks.buf) >= most || len(w.labels.buf) >= most ||
		w.events.sealed+w.events.rows >= w.opts.BlockEvents
}

// endWindow makes readers, and this writer, forget stacks and label lists: a sequence point has been written.
func (w *Writer) endWindow() {
	w.stacks.forget()
	w.labels.forget()
}

// mark writes a sequence point or a RemoveThread block.
func (w *Writer) mark(e *ntconv.Event) error {
	if e.Mark == nil {
		return errors.New("mark without its content")
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

// repeats reports whether e is a sequence point that says no more than one that was inserted just before: so what was
// written once, sequence points included, is written the same again.
func (w *Writer) repeats(e *ntconv.Event) bool {
	return w.after > 0 && w.n == w.after+1 && int64(e.Time) == w.inserted && e.Mark.Kind == ntconv.MarkSequencePoint &&
		e.Mark.Flags == 0 && len(e.Mark.Threads) == 0
}

func (w *Writer) sequencePoint(sp wire.SequencePoint) error {
	b := wire.AppendSequencePoint(make([]byte, wire.BlockHeaderSize), &sp)
	if err := w.writeAlone(b, wire.KindSequencePoint); err != nil {
		return err
	}
	w.endWindow()
	if sp.Flags&wire.FlushThreads != 0 {
		w.threads.forget()
	}
	if sp.Flags&wire.FlushMetadata != 0 {
		w.types.forget()
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

// lost remembers that events are missing. The number of the thread's next event will say so.
func (w *Writer) lost(e *ntconv.Event) error {
	s, err := w.thread(e.Capture)
	if err == nil {
		s.lost += e.Lost
	}
	return err
}

// opaque copies a block of a kind that only other programs know.
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

// writeAlone writes everything so far and then a block.
func (w *Writer) writeAlone(b []byte, kind wire.Kind) error {
	if err := putBlockHeader(b, kind); err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	return w.write(b)
}

// putBlockHeader fills in the header of a block for which b has room in front.
func putBlockHeader(b []byte, kind wire.Kind) error {
	_, err := wire.AppendBlockHeader(b[:0], wire.BlockHeader{Kind: kind, Size: len(b) - wire.BlockHeaderSize})
	if err != nil {
		err = fmt.Errorf("%v block: %w", kind, limited(err))
	}
	return err
}

// limited returns err with a limit of the model in place of one of the wire.
func limited(err error) error {
	var l *bin.LimitError
	if !errors.As(err, &l) {
		return err
	}
	return &ntconv.LimitError{Limit: l.Limit, Value: l.Value, Asked: l.Asked, Unit: l.Unit}
}
