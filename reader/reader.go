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
	"github.com/ntconv/ntconv/internal/bin"
	"github.com/ntconv/ntconv/internal/wire"
	"github.com/ntconv/ntconv/internal/wire/legacy"
)

// A Reader yields the events of one nettrace or netperf input. It is for use by one goroutine.
//
// The Event and its Payload are borrowed until the next call of the source's Next; everything else it points to is
// shared, immutable and may be kept.
type Reader struct {
	opts   Options
	limits Limits
	report *ntconv.Report
	in     *input
	frame  framer
	info   ntconv.Info

	legacy   bool   // before version 6
	ours     bool   // written by ntconv
	unsigned bool   // numbers of integer labels are not zigzag
	pid      uint64 // of threads that do not name a process
	earliest int64  // ticks that are plausible: earliest to earliest+span
	span     uint64
	latest   int64 // time of the latest event delivered

	types   typeTable
	threads threadTable
	stacks  stackTable
	labels  labelTable
	seqs    []wire.ThreadSeq

	events  eventBlock // file order: being read
	window  window     // time order
	barrier block      // a sequence point that waits for the window to be delivered
	waiting bool       // barrier is set

	prerelease bool // event headers have no processor number
	probes     int  // blocks looked at for signs of that

	queue   []ntconv.Event // to be delivered before anything else
	head    int
	event   ntconv.Event // what Next lends out; always of KindEvent
	shown   shown
	row     row
	memo    memo
	err     error // the input has ended with it
	general bool  // tests: every event takes the long way
	ended   bool  // what follows the end of the trace has been examined
	early   bool  // err is that of a block that the input cuts off: its events are still to come
}

var (
	errEmptyBlock = errors.New("event block without an event")
	errStackAgain = errors.New("stack id is already in use")
)

// New reads the header of a trace, decompressing it if it is packed with gzip or zstd. An error wraps ntconv.ErrFormat
// if the input is something else, ErrUnsupported if it is of a version that cannot be read, and ErrTruncated if it ends
// too early. opts may be nil.
func New(in io.Reader, opts *Options) (*Reader, error) {
	return open(newInput(in), opts)
}

// NewBytes is [New] for a trace in memory, which is not copied unless it is packed. data is borrowed as long as the
// Reader is used.
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
	r.limits = r.opts.Limits.withDefaults()
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

// Info returns what the header says.
func (r *Reader) Info() *ntconv.Info { return &r.info }

// Offset returns how many bytes of the decompressed input have been read.
func (r *Reader) Offset() int64 { return r.in.offset }

// traceBlock makes Info of the Trace block.
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

// unknownTime is what ntconv's writer writes where it knows no time.
var unknownTime = time.Date(1601, 1, 2, 0, 0, 0, 0, time.UTC)

// wallTime converts the header's time, and returns the zero Time if it is none.
func wallTime(s wire.SystemTime) time.Time {
	t := time.Date(
		int(s[wire.Year]),
		time.Month(s[wire.Month]),
		int(s[wire.Day]),
		int(s[wire.Hour]),
		int(s[wire.Minute]),
		int(s[wire.Second]),
		int(s[wire.Millisecond])*1e6,
		time.UTC,
	)
	sound := t.Year() == int(s[wire.Year]) && t.Month() == time.Month(s[wire.Month]) && t.Day() == int(s[wire.Day]) &&
		t.Hour() == int(s[wire.Hour]) && t.Minute() == int(s[wire.Minute]) && t.Second() == int(s[wire.Second])
	if !sound || s[wire.Year] < 1601 || s[wire.Millisecond] < 0 || s[wire.Millisecond] > 999 || t.Equal(unknownTime) {
		return time.Time{}
	}
	return t
}

// maxFrequency is the fastest clock that makes sense: a tick a picosecond.
const maxFrequency = 1_000_000_000_000

// century is 100 years in seconds.
const century = 36525 * 24 * 3600

// checkHeader replaces what makes no sense in Info and derives what depends on it.
func (r *Reader) checkHeader(offset int64) {
	note := func(format string, args ...any) {
		r.report.Note(ntconv.CodeBadHeader, 1, offset, fmt.Sprintf(format, args...))
	}
	labels, _ := r.info.Attrs.Get("ntconv.labels")
	r.ours = labels == "zigzag"
	r.info.Attrs = slices.DeleteFunc(r.info.Attrs, func(a ntconv.Attr) bool { return a.Key == attrSequence })
	aggregate, _ := r.info.Attrs.Get("ntconv.aggregate")
	r.info.Aggregate = aggregate == "true"
	c := &r.info.Clock
	if start, ok := r.info.Attrs.Get("ntconv.start"); ok && r.ours && c.Wall.IsZero() {
		if ms, err := strconv.ParseInt(start, 10, 64); err == nil {
			c.Wall = time.UnixMilli(ms).UTC()
		}
	}
	if c.Wall.IsZero() && !r.ours { // ntconv has a time for none
		note("the start time is no date")
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

// Next returns the next event, and io.EOF after the last one. An input that ends before the trace does gives
// ntconv.ErrTruncated after all complete events. After the last event Next reads the input to its end: an input that
// continues with another trace gives an error that wraps ntconv.ErrUnsupported. Bytes from the first one that is not
// zero are counted with ntconv.CodeTrailing.
func (r *Reader) Next() (*ntconv.Event, error) {
	if r.events.direct {
		if e := r.nextDirect(); e != nil {
			return e, nil
		}
	}
	if w := &r.window; w.turn.at < w.turn.end && r.head == len(r.queue) {
		if e := r.lend(&w.rows[w.turn.at]); e != nil {
			w.turn.at++
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
			r.fail(err)
		case e != nil:
			return e, nil
		case r.head < len(r.queue):
		case r.waiting:
			r.waiting, r.shown.valid = false, false
			if err := r.sequencePoint(&r.barrier); err != nil {
				r.fail(err)
			}
		case r.err == io.EOF && !r.ended:
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

// fail makes err the last word of the source, after the events that were read before it.
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

// nextEvent returns the next event of the block in file order, or of the window in time order; nil if there is none
// now.
func (r *Reader) nextEvent() (*ntconv.Event, error) {
	w := &r.window
	if row := w.next(); row != nil {
		if e := r.lend(row); e != nil {
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

// nextInBlock returns the next event of the block. In time order it is one for which nothing earlier can follow; the
// first one of which that is not known goes to the window with all that follow.
func (r *Reader) nextInBlock() (*ntconv.Event, error) {
	w := &r.row
	ok, err := r.step(w)
	switch {
	case !ok || err != nil:
		r.events.body = nil
		return nil, err
	case r.opts.Order == ByTime && w.flags&ntconv.FlagSorted == 0:
		if err := r.fill(true); err != nil {
			r.fail(err)
		}
		if r.head < len(r.queue) {
			return nil, nil // what the block brought along is defined first
		}
		return r.nextEvent() // what the window releases
	}
	e, err := r.deliver(w, r.events.body, r.events.offset)
	r.goDirect()
	return e, err
}

// advance reads the next block.
func (r *Reader) advance() error {
	r.window.trim()
	r.shown.valid = false
	if crowded, err := r.bound(); crowded || err != nil {
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

// read handles one block.
func (r *Reader) read(b *block) error {
	switch b.kind {
	case wire.KindEvent:
		return r.readEvents(b)
	case wire.KindMetadata:
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
		r.report.Note(ntconv.CodeBadHeader, 1, b.offset, "a second Trace block was passed over")
		return nil
	case wire.KindEnd:
		return io.EOF
	}
	r.report.Add(ntconv.CodeUnknownBlock, 1, b.offset)
	if !b.partial {
		r.after(
			ntconv.Event{
				Kind:    ntconv.KindOpaque,
				CPU:     ntconv.CPUUnknown,
				Seq:     uint32(b.kind),
				Offset:  b.offset,
				Payload: b.body,
			},
		)
	}
	return nil
}

// readEvents begins an event block. In time order its events go through the window, unless nothing waits there and they
// are sorted.
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

// fill reads the rest of the block into the window, after the current row if it is to be kept, and releases what is
// safe. A window that is full is delivered before the block goes on.
func (r *Reader) fill(keep bool) error {
	w := &r.window
	offset := r.events.offset
	r.hold()
	if keep {
		w.add(&r.row)
	}
	w.promise = false
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
	case r.err != nil: // the last block of an input that is cut off
		w.release(0, true)
	case w.promise:
		w.release(w.promised, false)
	}
	return err
}

// hold gives the block to the window, if it is not there already.
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

// legacyMetadataBlock reads the events of a metadata block of versions 4 and 5, each of which holds a row.
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

// push queues an event.
func (r *Reader) push(e ntconv.Event) {
	if r.head == len(r.queue) {
		r.queue, r.head = r.queue[:0], 0
	}
	r.queue = append(r.queue, e)
}

// queueDefine queues the definition of a type or a thread.
func (r *Reader) queueDefine(e ntconv.Event) {
	e.Kind, e.CPU = ntconv.KindDefine, ntconv.CPUUnknown
	r.push(e)
}

// pop returns the next queued event.
func (r *Reader) pop() *ntconv.Event {
	e := &r.queue[r.head]
	r.head++
	return e
}
