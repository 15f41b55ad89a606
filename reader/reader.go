package reader

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/internal/trace/wire/legacy"
)

// A Reader yields the events of one nettrace or netperf input. It is not safe for concurrent use.
//
// Next returns the same Event each time: the Event and its Payload are borrowed until the next call of Next. Everything
// else that the Event points to is shared, immutable and may be kept.
type Reader struct {
	opts   Options
	limits Limits
	report *ntconv.Report
	in     *input
	frame  framer
	info   ntconv.Info

	legacy   bool   // before version 6
	byNtconv bool   // written by ntconv
	unsigned bool   // numbers of integer labels are stored without zigzag encoding
	pid      uint64 // process of threads whose row has no process ID
	earliest int64  // plausible ticks are earliest to earliest+span
	span     uint64
	latest   int64 // latest time of a delivered event

	types   typeTable
	threads threadTable
	stacks  stackTable
	labels  labelTable
	seqs    []wire.ThreadSeq

	events  eventBlock // the event block that is being read
	window  window     // time order; in file order, events that wait for their types
	barrier block      // a sequence point to process once the window is delivered
	waiting bool       // barrier is set

	prerelease bool // event headers have no CPU number
	probes     int  // blocks examined for that

	queue        []ntconv.Event // queue[head:] is delivered before anything else
	head         int
	event        ntconv.Event // the event that Next returns, always of KindEvent
	shown        shown
	row          row
	memo         memo
	err          error // the error that ended the input, returned once everything else is delivered
	slowPathOnly bool  // set by tests: no event takes a fast path
	ended        bool  // the bytes after the end of the trace have been examined
	early        bool  // err belongs to a truncated block whose events are not yet delivered
}

var (
	errEmptyBlock = errors.New("event block without an event")
	errStackAgain = errors.New("stack ID is already in use")
)

// New reads the header of a trace and returns a Reader for its events. It decompresses input that starts as gzip or
// zstd data do. opts may be nil, which means the zero Options. New reads from in on demand and does not close it.
//
// The error wraps ntconv.ErrFormat if the input is something else, ErrUnsupported if it is a version that cannot be
// read, ErrCorrupt if the first block is not a valid Trace block, ErrTruncated if the input ends too early, and
// ErrLimit if it exceeds a limit. Errors of in are wrapped.
func New(in io.Reader, opts *Options) (*Reader, error) {
	return open(newInput(in), opts)
}

// NewBytes is [New] for a trace in memory. Uncompressed data is not copied: payloads are slices of data. The Reader
// borrows data for as long as it is used, and the caller must not change data in that time.
func NewBytes(data []byte, opts *Options) (*Reader, error) {
	return open(newMemory(data), opts)
}

// open reads the header of a trace.
func open(in *input, opts *Options) (*Reader, error) {
	r := &Reader{in: in, latest: math.MinInt64}
	r.window.barrier()
	if opts != nil {
		r.opts = *opts
	}
	r.limits = r.opts.Limits.WithDefaults()
	r.report = r.opts.Report
	r.frame = framer{in: r.in, limit: r.limits.BlockBytes}
	if err := r.frame.open(r.opts.Decompression); err != nil {
		return nil, err
	}
	r.legacy = r.frame.header.Objects()
	r.stacks.flush()
	r.labels.flush()
	if r.frame.header.Version == wire.V3 {
		r.opts.Order = FileOrder // netperf files are in order and have no windows
	}
	r.window.fifo = r.opts.Order == FileOrder
	b, err := r.frame.next()
	if err != nil {
		return nil, err
	}
	if b.kind != wire.KindTrace {
		return nil, &ntconv.FormatError{Format: r.frame.format, Offset: b.offset, Where: b.kind.String() + " block",
			Err: fmt.Errorf("%w: the first block must be the Trace block", ntconv.ErrCorrupt)}
	}
	return r, r.traceBlock(&b)
}

// Info returns the description of the trace from its header. The result is shared, is never nil and does not change.
func (r *Reader) Info() *ntconv.Info { return &r.info }

// Offset returns the byte offset in the decompressed input up to which the Reader has read.
func (r *Reader) Offset() int64 { return r.in.offset }

// traceBlock sets Info from the Trace block.
func (r *Reader) traceBlock(b *block) (err error) {
	c := b.cursor()
	var t wire.Trace
	if r.legacy {
		t, err = legacy.ParseTrace(&c)
	} else {
		t, err = wire.ParseTrace(&c)
	}
	switch {
	case b.partial:
		return r.frame.ended(r.in.err, "Trace block")
	case err != nil:
		return r.frame.at(err, ntconv.ErrCorrupt)
	}
	r.info = ntconv.Info{Format: r.frame.format, PointerSize: int(t.PointerSize), Attrs: newAttrs(t.KeyValues)}
	r.info.Clock = ntconv.Clock{Freq: t.Frequency, Tick: ntconv.Ticks(t.SyncTicks), Wall: wallTime(t.Sync)}
	if r.legacy {
		for _, a := range []struct {
			key   string
			value int32
		}{{"HardwareThreadCount", t.Processors}, {"ProcessId", t.ProcessID}, {"ExpectedCPUSamplingRate", t.SamplingRate}} {
			r.info.Attrs = append(r.info.Attrs, ntconv.Attr{Key: a.key, Value: strconv.Itoa(int(a.value))})
		}
	}
	r.checkHeader(b.offset)
	return nil
}

// unknownTime is the start time that package writer stores if the start time is unknown.
var unknownTime = time.Date(1601, 1, 2, 0, 0, 0, 0, time.UTC)

// wallTime converts the start time of a header. It returns the zero Time for unknownTime, for a value that is not a date,
// and for a time whose nanoseconds since 1970 exceed 63 bits, which no output could represent.
func wallTime(s wire.SystemTime) time.Time {
	t := time.Date(int(s[wire.Year]), time.Month(s[wire.Month]), int(s[wire.Day]),
		int(s[wire.Hour]), int(s[wire.Minute]), int(s[wire.Second]), int(s[wire.Millisecond])*1e6, time.UTC)
	valid := t.Year() == int(s[wire.Year]) && t.Month() == time.Month(s[wire.Month]) && t.Day() == int(s[wire.Day]) &&
		t.Hour() == int(s[wire.Hour]) && t.Minute() == int(s[wire.Minute]) && t.Second() == int(s[wire.Second])
	if !valid || !time.Unix(0, t.UnixNano()).Equal(t) || s[wire.Millisecond] < 0 || s[wire.Millisecond] > 999 || t.Equal(unknownTime) {
		return time.Time{}
	}
	return t
}

// maxFrequency is the highest plausible clock frequency: one tick per picosecond.
const maxFrequency = 1_000_000_000_000

// century is 100 years in seconds.
const century = 36525 * 24 * 3600

// checkHeader replaces implausible values in Info, with a note in the report, and sets the members of r that depend on
// Info.
func (r *Reader) checkHeader(offset int64) {
	note := func(format string, args ...any) {
		r.report.Note(ntconv.CodeBadHeader, 1, offset, fmt.Sprintf(format, args...))
	}
	labels, _ := r.info.Attrs.Get("ntconv.labels")
	r.byNtconv = labels == "zigzag"
	r.info.Attrs = slices.DeleteFunc(r.info.Attrs, func(a ntconv.Attr) bool { return a.Key == attrSequence })
	aggregate, _ := r.info.Attrs.Get("ntconv.aggregate")
	r.info.Aggregate = aggregate == "true"
	c := &r.info.Clock
	if start, ok := r.info.Attrs.Get("ntconv.start"); ok && r.byNtconv && c.Wall.IsZero() {
		if ms, err := strconv.ParseInt(start, 10, 64); err == nil {
			c.Wall = time.UnixMilli(ms).UTC()
		}
	}
	if c.Wall.IsZero() && !r.byNtconv { // ntconv's writer stores unknownTime on purpose
		note("the start time is not a date between 1678 and 2262")
	}
	if c.Freq <= 0 || c.Freq > maxFrequency {
		note("clock frequency %d", c.Freq)
		c.Freq = 1_000_000_000
	}
	if r.info.PointerSize != 4 && r.info.PointerSize != 8 {
		note("pointer size %d", r.info.PointerSize)
		r.info.PointerSize = 8
	}
	pid, _ := r.info.Attrs.Get("ProcessId")
	r.pid, _ = strconv.ParseUint(pid, 10, 64)
	r.unsigned = r.opts.LabelNumbers == LabelsUnsigned
	r.earliest, r.span = math.MinInt64, math.MaxUint64
	if hi, reach := bits.Mul64(uint64(c.Freq), century); hi == 0 && reach < math.MaxInt64 {
		if early := int64(c.Tick) - int64(reach); early < int64(c.Tick) {
			r.earliest, r.span = early, 2*reach
		}
	}
}

// Next returns the next event, borrowed until the next call of Next, or nil and an error. After the last event the
// error is io.EOF; later calls return the same error. All events before an error are delivered first.
//
// The error wraps ntconv.ErrTruncated if the input ends before the trace does, ErrCorrupt for a format violation that
// the Reader cannot skip, ErrLimit if the trace exceeds a limit, and ErrUnsupported for a part that it cannot read.
// After the last event Next reads the input to its end: another trace there is an error that wraps
// ntconv.ErrUnsupported; other bytes are counted with ntconv.CodeTrailing, beginning with the first byte that is not
// zero.
func (r *Reader) Next() (*ntconv.Event, error) {
	if r.events.direct {
		if e := r.nextFast(); e != nil {
			return e, nil
		}
	}
	if w := &r.window; w.batch.at < w.batch.end && r.head == len(r.queue) {
		if e := r.fillEvent(&w.rows[w.batch.at]); e != nil {
			w.batch.at++
			w.done++
			return e, nil
		}
	}
	for {
		if r.head < len(r.queue) {
			return r.pop(), nil
		}
		e, err := r.nextEvent()
		switch {
		case err != nil:
			r.window.discard()
			r.waiting = false // the sequence point follows the events that are discarded
			r.fail(err)
		case e != nil:
			return e, nil
		case r.head < len(r.queue):
		case r.waiting:
			r.waiting, r.shown.valid = false, false
			if err := r.sequencePoint(&r.barrier); err != nil {
				r.fail(err)
			}
		case r.err == io.EOF && !r.ended && !r.opts.Live:
			r.ended = true
			if err := r.trailing(); err != nil {
				r.fail(err)
			}
		case r.err != nil:
			return nil, r.err
		default:
			if err := r.advance(); err != nil {
				r.fail(err)
			}
		}
	}
}

// fail ends the input with err and releases the window: Next returns err after the events that have been read. The
// first error wins, except that io.EOF and the error of a truncated block may be replaced.
func (r *Reader) fail(err error) {
	if r.err != nil && r.err != io.EOF && !r.early {
		return
	}
	r.err, r.early = err, false
	r.events.body, r.events.direct = nil, false
	if errors.Is(err, ntconv.ErrTruncated) {
		r.report.Add(ntconv.CodeTruncated, 1, r.in.offset)
	} else if errors.Is(err, ntconv.ErrCorrupt) {
		r.report.Add(ntconv.CodeCorrupt, 1, r.in.offset)
	}
	r.window.release(0, true)
}

// nextEvent returns the next released event of the window or, if there is none, the next event of the block. It returns
// nil if the block is exhausted or if it has queued something that precedes the event.
func (r *Reader) nextEvent() (*ntconv.Event, error) {
	w := &r.window
	if row := w.next(); row != nil {
		if e := r.fillEvent(row); e != nil {
			return e, nil
		}
		if row.flags&flagMark != 0 {
			r.pushMarks(w.takeMarks(row.lost))
			return nil, nil
		}
		b := &w.blocks[row.block]
		return r.deliver(row, b.body, b.offset)
	}
	if r.events.body == nil {
		return nil, nil
	}
	return r.nextInBlock()
}

// nextInBlock returns the next event of the block. In time order it delivers sorted events at once, because no earlier
// event can follow, and in file order all events whose types are known. At the first other event it moves this event
// and the rest of the block to the window.
func (r *Reader) nextInBlock() (*ntconv.Event, error) {
	w := &r.row
	ok, err := r.step(w)
	switch {
	case !ok || err != nil:
		r.events.body = nil
		return nil, err
	case r.opts.Order == ByTime && w.flags&ntconv.FlagSorted == 0 || r.opts.Order == FileOrder && r.waits(w):
		if err := r.fill(true); err != nil {
			r.fail(err)
		}
		if r.head < len(r.queue) {
			return nil, nil // definitions from the block precede its events
		}
		return r.nextEvent() // the block is empty now: the event is one that the window released
	}
	e, err := r.deliver(w, r.events.body, r.events.offset)
	r.startFastPath()
	return e, err
}

// advance reads the next block, unless the window must be delivered first. A block may change any table, so the next
// event is filled in completely.
func (r *Reader) advance() error {
	r.window.trim()
	r.shown.valid = false
	if windowFull, err := r.bound(); windowFull || err != nil {
		return err
	}
	b, err := r.frame.next()
	if err != nil {
		return err
	}
	if err := r.read(&b); err != nil {
		return err
	}
	if b.partial {
		b.fault = r.frame.ended(r.in.err, "block")
	}
	if b.fault != nil {
		r.endAfter(b.fault)
	}
	return nil
}

// endAfter ends the trace with an error once the events of the current block are delivered.
func (r *Reader) endAfter(err error) {
	events := r.events
	r.fail(err)
	r.events, r.early = events, true
}

// read processes one block.
func (r *Reader) read(b *block) error {
	switch b.kind {
	case wire.KindEvent:
		return r.readEvents(b)
	case wire.KindMetadata:
		defer r.settle()
		if r.legacy {
			return r.legacyMetadataBlock(b)
		}
		return r.metadataBlock(b)
	case wire.KindStack:
		return r.stackBlock(b)
	case wire.KindSequencePoint:
		r.window.release(0, true)
		r.barrier, r.waiting = *b, true
		return nil
	case wire.KindThread:
		return r.threadBlock(b)
	case wire.KindRemoveThread:
		return r.removeThreads(b)
	case wire.KindLabelList:
		return r.labelBlock(b)
	case wire.KindTrace:
		r.report.Note(ntconv.CodeBadHeader, 1, b.offset, "a second Trace block was skipped")
		return nil
	case wire.KindEnd:
		return io.EOF
	}
	r.report.Add(ntconv.CodeUnknownBlock, 1, b.offset)
	if !b.partial {
		r.after(ntconv.Event{
			Kind: ntconv.KindOpaque, CPU: ntconv.CPUUnknown, Seq: uint32(b.kind), Offset: b.offset, Payload: b.body,
		})
	}
	return nil
}

// readEvents starts an event block. If rows wait in the window, all events of the block join them. Otherwise
// nextInBlock delivers its sorted events directly.
func (r *Reader) readEvents(b *block) error {
	if err := r.checkPrerelease(b); err != nil {
		return err
	}
	ok, err := r.openEvents(b)
	switch {
	case !ok || err != nil:
		r.events.body = nil
		return err
	case r.window.pending():
		return r.fill(false)
	}
	return nil
}

// fill reads the rest of the block into the window and releases all rows up to the latest sorted event, in file order
// the rows before the first one that waits. If keep is set, it adds the current row first. If the window reaches its
// limit, fill stops and releases everything; the rest of the block follows once that is delivered.
func (r *Reader) fill(keep bool) error {
	w := &r.window
	offset := r.events.offset
	r.hold()
	if keep {
		w.add(&r.row)
	}
	w.hasSorted = w.hasSorted && w.fifo
	var err error
	for w.left() < r.limits.WindowEvents {
		if r.gather(); w.left() >= r.limits.WindowEvents {
			break
		}
		var ok bool
		if ok, err = r.step(&r.row); !ok || err != nil {
			r.events.body = nil
			break
		}
		w.add(&r.row)
	}
	switch {
	case w.left() >= r.limits.WindowEvents || w.size() >= r.limits.WindowBytes:
		r.report.Add(ntconv.CodeWindowCap, 1, offset)
		w.release(0, true)
	case r.err != nil: // the last block of a truncated input
		w.release(0, true)
	case w.fifo:
		r.settle()
	case w.hasSorted:
		w.release(w.sortedUpTo, false)
	}
	return err
}

// waits reports whether an event in file order waits for the metadata row of its type. It waits as long as in
// TraceEvent, which looks up the type when it delivers the event: a sorted event at once, another one before the next
// sorted event of a later time. Only the first row of the queue is asked again after a block, so an event behind it may
// get a type that would be too late for TraceEvent.
func (r *Reader) waits(w *row) bool {
	q := &r.window
	return w.flags&(ntconv.FlagSorted|flagMark) == 0 && r.types.find(w.meta) == nil &&
		!(q.hasSorted && w.time < q.sortedUpTo)
}

// settle releases the rows of file order up to the first one that waits. Call it after a change of the types or the
// rows. A row that does not wait is not examined again, so the time is linear in the number of rows and blocks.
func (r *Reader) settle() {
	w := &r.window
	for w.fifo && w.ready < len(w.rows) && !r.waits(&w.rows[w.ready]) {
		w.ready++
	}
}

// hold gives the block to the window, unless the window has it already: then fill continues in the same block.
func (r *Reader) hold() {
	w, e := &r.window, &r.events
	if e.held { // all its rows in the window are delivered
		w.reset()
		return
	}
	if !r.in.memory {
		mem := w.memory()
		if own := r.in.keep(mem); own != nil {
			e.body = own[:len(e.body)]
		} else {
			e.body = append(mem[:0], e.body...)
		}
	}
	e.held = true
	r.row.block = w.hold(heldBlock{e.body, e.offset, !r.in.memory})
}

// legacyMetadataBlock reads a metadata block of versions 4 and 5. It is laid out as an event block; the payload of each
// event is one metadata row.
func (r *Reader) legacyMetadataBlock(b *block) error {
	if err := r.checkPrerelease(b); err != nil {
		return err
	}
	c := b.cursor()
	head, err := wire.ParseEventBlockHeader(&c)
	if err != nil {
		return r.blockError(b, err)
	}
	parse := legacy.ParseUncompressed
	if r.prerelease {
		parse = legacy.ParsePreRelease
	} else if head.Compressed() {
		parse = legacy.ParseCompressed
	}
	var h wire.EventHeader
	for pos := len(b.body) - c.Len(); pos < len(b.body); {
		rest := b.body[pos:]
		n := parse(rest, &h)
		at := b.offset + int64(pos)
		if n <= 0 || uint64(h.PayloadSize) > uint64(len(rest)-n) {
			return r.blockError(b, &bin.Error{Offset: at, Where: "metadata row", Err: bin.ErrShort})
		}
		end := n + int(h.PayloadSize)
		if err := r.legacyMetadata(rest[n:end], at+int64(n)); err != nil {
			return err
		}
		if !head.Compressed() {
			end = int(legacy.RowSize(&h, len(rest)))
		}
		pos += end
	}
	return nil
}

// push queues an event. It overwrites events that pop has returned only once the queue is empty.
func (r *Reader) push(e ntconv.Event) {
	if r.head == len(r.queue) {
		r.queue, r.head = r.queue[:0], 0
	}
	r.queue = append(r.queue, e)
}

// queueDefine queues the KindDefine event of a type or thread.
func (r *Reader) queueDefine(e ntconv.Event) {
	e.Kind, e.CPU = ntconv.KindDefine, ntconv.CPUUnknown
	r.push(e)
}

// pop returns the next queued event. The queue must not be empty.
func (r *Reader) pop() *ntconv.Event {
	e := &r.queue[r.head]
	r.head++
	return e
}
