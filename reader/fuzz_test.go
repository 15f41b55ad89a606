package reader

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/tracegen"
	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/testing/wiretest"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/internal/trace/wire/legacy"
	"github.com/ntconv/ntconv/ntconvtest"
)

// seeds adds small real traces to a fuzz target, and the conformance vectors where they exist next to the checkout.
func seeds(f *testing.F) {
	for _, file := range corpus.Traces(f) {
		if len(file.Data) < 16<<10 { // larger ones make the fuzzer slow
			f.Add(file.Data)
		}
	}
	for _, s := range tracegen.Shapes() {
		var b bytes.Buffer
		if err := s.Write(&b, 10); err != nil {
			f.Fatal(err)
		}
		if b.Len() < 16<<10 {
			f.Add(b.Bytes())
		}
	}
	dir, err := corpus.Find("data", "vectors")
	if err != nil {
		return
	}
	vectors, _ := filepath.Glob(filepath.Join(dir, "*.nettrace"))
	for _, path := range vectors {
		if data := corpus.Read(f, path); len(data) < 4<<10 {
			f.Add(data)
		}
	}
}

// FuzzRead checks the properties that hold for any input, and compares the reader with a simple one.
func FuzzRead(f *testing.F) {
	seeds(f)
	l := newLaws()
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := l.Check(data); err != nil {
			t.Fatal(err)
		}
		if err := comparePlain(data); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzChop checks that the sizes of reads affect neither events, errors nor the report.
func FuzzChop(f *testing.F) {
	f.Add([]byte("Nettrace"), uint8(1))
	f.Add([]byte("Nettrace\x14\x00\x00\x00!FastSerialisation.1"), uint8(5))
	for _, file := range corpus.Traces(f) {
		if len(file.Data) < 8<<10 {
			f.Add(file.Data, uint8(len(file.Name)))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		for _, order := range []Order{FileOrder, ByTime} {
			var whole, cut ntconv.Report
			want, wantErr := digests(bytes.NewReader(data), &Options{Order: order, Report: &whole})
			got, err := digests(ntconvtest.Chop(bytes.NewReader(data), int(size)+1), &Options{Order: order, Report: &cut})
			if !slices.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("reads of %d bytes: %d events, %v; in one piece %d, %v", int(size)+1, len(got), err, len(want), wantErr)
			}
			if a, b := whole.Entries(), cut.Entries(); !slices.Equal(a, b) {
				t.Fatalf("reads of %d bytes: report %v; in one piece %v", int(size)+1, b, a)
			}
		}
	})
}

// FuzzStream builds a well-formed trace from its input, to exercise the tables and the window rather than the error
// paths. In addition to the properties of any input, each window in time order must be the stable sort of the same
// events in file order, if the flags of sorted events are correct.
func FuzzStream(f *testing.F) {
	f.Add(uint8(4), []byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08"))
	f.Add(uint8(6), []byte("\x05\x01\x02\x00\x01\x10\x00\x81\x00\x06\x33\x00\x01\x44\x03\x00\x55\x02\x04\x07\x01"))
	f.Add(uint8(6), bytes.Repeat([]byte("\x05\x01\x00\x21\x00\x11\x02\x04\x06\x02"), 20))
	f.Add(uint8(3), []byte("\x08\x01\x02\x03\x09\x05\x01\x00\x21\x11\x02\x04\x06\x02\x05\x01\x51\x06"))
	l := newLaws()
	f.Fuzz(func(t *testing.T, version uint8, program []byte) {
		v := wire.V4
		switch {
		case version == 3:
			v = wire.V3
		case version%2 == 0:
			v = wire.V6
		}
		data := perform(v, program)
		if err := l.Check(data); err != nil {
			t.Fatal(err)
		}
		if errors.Is(l.End, ntconv.ErrUnsupported) {
			return // it also happens to be valid as a trace of a preview
		}
		if l.End != nil {
			t.Fatalf("a valid trace is not read to its end: %v", l.End)
		}
		if err := comparePlain(data); err != nil {
			t.Fatal(err)
		}
		if err := compareSorted(data); err != nil {
			t.Fatal(err)
		}
		for _, o := range []Options{{}, {Limits: Limits{WindowEvents: 3}}, {Order: FileOrder}} {
			if _, err := compareAccepted(data, o); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// perform builds a trace from a program. Each operation is one byte, followed by its operands.
func perform(v wire.Version, program []byte) []byte {
	var out bytes.Buffer
	s := wirestream.New(&out, v)
	next := func() (b byte) {
		if len(program) > 0 {
			b, program = program[0], program[1:]
		}
		return b
	}
	block := s.Events()
	h := wire.EventHeader{Time: 1_000_000_000}
	for len(program) > 0 {
		switch op := next(); op % 12 {
		case 0, 1, 2, 3, 4, 5:
			h.Sorted = op&0x80 != 0
			h.Time += uint64(int64(int8(next())))
			who := next()
			h.Thread, h.CaptureThread = uint64(who&3), uint64(who>>2&3)
			h.MetadataID, h.StackID, h.LabelList = uint32(who>>4&3), uint32(who>>6), uint32(op>>4&3)
			h.Sequence += uint32(op>>5) - 1
			if v != wire.V6 {
				h.Activity[0], h.LabelList = op>>4&1, 0
			}
			h.PayloadSize = uint32(op % 3)
			block.Add(&h, make([]byte, h.PayloadSize))
		case 6:
			block.Flush()
		case 7:
			block.Flush()
			s.SequencePoint(h.Time, uint32(next()&3), wire.ThreadSeq{Thread: uint64(next() & 3), Sequence: uint32(next())})
		case 8:
			block.Flush()
			s.Stacks(uint32(next()&3), wirestream.Addresses(uint64(next())), nil, wirestream.Addresses(1, uint64(next())))
		case 9:
			id := next()
			block.Flush()
			s.Types(wirestream.Type{ID: uint32(id & 3), Provider: "P", Event: uint32(id >> 2), Name: "E"})
		case 10:
			block.Flush()
			performThreads(s, v, next(), next())
		default:
			block.Flush()
			if v == wire.V6 {
				first := uint32(next() & 3)
				s.Labels(first, []wire.Label{{Kind: wire.LabelOpcode, Value: wire.Value{Num: int64(next())}}})
			}
		}
	}
	block.Flush()
	s.End()
	return out.Bytes()
}

func performThreads(s *wirestream.Stream, v wire.Version, id, tid byte) {
	switch {
	case v != wire.V6:
	case id&0x80 != 0:
		s.RemoveThreads(wire.ThreadSeq{Thread: uint64(id & 3), Sequence: uint32(tid)})
	default:
		s.Threads(wire.Thread{Index: uint64(id & 3), TID: uint64(tid), Has: 1 << wire.ThreadTID})
	}
}

// compareSorted checks that time order is a stable sort of each window, if the flags of sorted events are correct.
func compareSorted(data []byte) error {
	type item struct {
		time   ntconv.Ticks
		offset int64
	}
	read := func(order Order) (windows [][]item, sorted bool, err error) {
		r, err := New(bytes.NewReader(data), &Options{Order: order})
		if err != nil {
			return nil, false, err
		}
		windows = [][]item{nil}
		sorted = true
		bound := ntconv.Ticks(-1 << 63)
		for e, err := range ntconv.Events(r) {
			switch {
			case err != nil:
				return nil, false, err
			case e.Kind == ntconv.KindMark && e.Mark.Kind == ntconv.MarkSequencePoint:
				windows = append(windows, nil)
			case e.Kind == ntconv.KindEvent:
				last := len(windows) - 1
				windows[last] = append(windows[last], item{e.Time, e.Offset})
				if sorted = sorted && e.Time >= bound; e.Flags&ntconv.FlagSorted != 0 {
					bound = max(bound, e.Time)
				}
			}
		}
		return windows, sorted, nil
	}
	want, sorted, err := read(FileOrder)
	if err != nil || !sorted {
		return err
	}
	got, _, err := read(ByTime)
	if err != nil {
		return err
	}
	for i := range want {
		slices.SortStableFunc(want[i], func(a, b item) int { return int(min(max(a.time-b.time, -1), 1)) })
		if !slices.Equal(got[i], want[i]) {
			return fmt.Errorf("window %d by time has %v, want %v", i, got[i], want[i])
		}
	}
	return nil
}

// TestPlain compares the reader with a simple one on real traces.
func TestPlain(t *testing.T) {
	for _, f := range corpus.Traces(t) {
		if err := comparePlain(f.Data); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	if testing.Short() {
		return
	}
	t.Run("shared", func(t *testing.T) {
		for _, f := range corpus.SharedTraces(t) {
			if err := comparePlain(f.Data); err != nil {
				t.Errorf("%s: %v", f.Name, err)
			}
		}
	})
}

// comparePlain compares the events of a lenient reader in file order with those of a reader that keeps no state between
// events. It compares versions 4 to 6 and accepts the others.
func comparePlain(data []byte) error {
	r, err := New(bytes.NewReader(data), &Options{Order: FileOrder})
	if err != nil || r.frame.header.Version == wire.V3 {
		return nil
	}
	p := newPlainReader(r.legacy, r.info.PointerSize)
	for b := range wiretest.Blocks(data) {
		p.block(&b)
		if limited, err := p.compare(r, b.Kind == wire.KindSequencePoint); limited || err != nil {
			return err
		}
		if p.flush != nil {
			p.flush()
		}
	}
	_, err = p.compare(r, true)
	return err
}

// compare compares the events of the queue up to the first one that waits for its type, or all, with the next events of
// the reader. limited means that the reader refuses the rest.
func (p *plainReader) compare(r *Reader, all bool) (limited bool, err error) {
	for len(p.events) > 0 && (all || !p.waits(&p.events[0])) {
		want := &p.events[0]
		e, err := nextEvent(r)
		switch {
		case errors.Is(err, ntconv.ErrLimit) || errors.Is(err, ntconv.ErrUnsupported):
			return true, nil
		case err != nil:
			return false, fmt.Errorf("no event at %d: %w", want.offset, err)
		}
		if err := want.compare(e, p, r.err); err != nil {
			return false, fmt.Errorf("event at %d: %w", want.offset, err)
		}
		p.events = p.events[1:]
	}
	if len(p.events) == 0 {
		p.waiting, p.sorted = false, math.MinInt64
	}
	return false, nil
}

// waits reports whether the row of the event's type may follow: no sorted event after the first one that waits is
// later.
func (p *plainReader) waits(e *plainEvent) bool {
	_, known := p.types[e.header.MetadataID]
	return !known && !e.header.Sorted && int64(e.header.Time) >= p.sorted
}

// add appends an event to the queue with what its references mean now.
func (p *plainReader) add(e plainEvent) {
	h := &e.header
	e.tid, e.capture = p.tid(h.Thread), p.tid(h.CaptureThread)
	e.stack, e.labels = p.stacks[h.StackID], p.labels[h.LabelList]
	if p.waiting = p.waiting || p.waits(&e); p.waiting && h.Sorted {
		p.sorted = max(p.sorted, int64(h.Time))
	}
	p.events = append(p.events, e)
}

// nextEvent returns the next event that was recorded.
func nextEvent(r *Reader) (*ntconv.Event, error) {
	for {
		e, err := r.Next()
		if err != nil || e.Kind == ntconv.KindEvent {
			return e, err
		}
	}
}

// A plainReader is a slow reader of blocks without any cache: it has maps of rows only.
type plainReader struct {
	legacy  bool
	pointer int
	types   map[uint32]typeRow
	threads map[uint64]wire.Thread
	stacks  map[uint32][]byte
	labels  map[uint32][]wire.Label
	events  []plainEvent // in file order; the first one waits for its type, or all are of the last block
	waiting bool         // one of events waits
	sorted  int64        // latest time of the sorted events after the first one that waits
	flush   func()       // the tables to clear after the last block
}

type typeRow struct {
	provider, name string
	id             uint32
}

type plainEvent struct {
	offset       int64
	header       wire.EventHeader
	payload      []byte
	tid, capture uint64
	stack        []byte
	labels       []wire.Label
}

func newPlainReader(legacy bool, pointer int) *plainReader {
	return &plainReader{
		legacy: legacy, pointer: pointer, sorted: math.MinInt64, types: map[uint32]typeRow{}, threads: map[uint64]wire.Thread{},
		stacks: map[uint32][]byte{}, labels: map[uint32][]wire.Label{},
	}
}

// block processes a block up to the first part that cannot be parsed.
func (p *plainReader) block(b *wiretest.Block) {
	c := b.Cursor()
	p.flush = nil
	switch b.Kind {
	case wire.KindStack:
		p.stackBlock(&c)
	case wire.KindThread:
		for c.Len() > 0 {
			if row, _ := wire.ParseThread(&c); c.Err() == nil {
				p.threads[row.Index] = row
			}
		}
	case wire.KindRemoveThread:
		for c.Len() > 0 {
			if ts := wire.ParseThreadSeq(&c); c.Err() == nil {
				delete(p.threads, ts.Thread)
			}
		}
	case wire.KindLabelList:
		p.labelBlock(&c)
	case wire.KindMetadata:
		p.metadata(b)
	case wire.KindSequencePoint:
		p.sequencePoint(&c)
	case wire.KindEvent:
		p.eventBlock(b, p.add)
	}
}

func (p *plainReader) stackBlock(c *bin.Cursor) {
	head, _ := wire.ParseStackHeader(c)
	for id := head.First; c.Len() > 0; id++ {
		if raw := wire.NextStack(c); c.Err() == nil {
			p.stacks[id] = raw
		}
	}
}

func (p *plainReader) labelBlock(c *bin.Cursor) {
	head, _ := wire.ParseLabelHeader(c)
	for i := uint32(0); i < head.Count && c.Len() > 0; i++ {
		list, _ := wire.ParseLabels(c, nil, false)
		p.labels[head.First+i] = list
	}
}

func (p *plainReader) metadata(b *wiretest.Block) {
	c := b.Cursor()
	limits := wire.Limits{Depth: 32, Fields: 4096}
	if p.legacy {
		p.eventBlock(b, func(e plainEvent) {
			c := bin.New(e.payload, 0)
			m, _ := legacy.ParseMetadata(&c, limits)
			p.types[m.ID] = typeRow{m.Provider, m.Name, m.EventID}
		})
		return
	}
	wire.ParseMetadataHeader(&c)
	for c.Len() > 0 {
		if m, _ := wire.ParseMetadata(&c, limits); c.Err() == nil {
			p.types[m.ID] = typeRow{m.Provider, m.Name, m.EventID}
		}
	}
}

func (p *plainReader) sequencePoint(c *bin.Cursor) {
	sp, err := wire.SequencePoint{}, error(nil)
	if p.legacy {
		sp, err = legacy.ParseSequencePoint(c, nil)
	} else {
		sp, err = wire.ParseSequencePoint(c, nil)
	}
	p.flush = func() {
		clear(p.stacks)
		clear(p.labels)
		if sp.Flags&wire.FlushThreads != 0 {
			clear(p.threads)
		}
		if sp.Flags&wire.FlushMetadata != 0 {
			clear(p.types)
		}
	}
	_ = err // the part before the error counts
}

func (p *plainReader) eventBlock(b *wiretest.Block, yield func(plainEvent)) {
	c := b.Cursor()
	head, err := wire.ParseEventBlockHeader(&c)
	if err != nil {
		return
	}
	var h wire.EventHeader
	for body := b.Body[len(b.Body)-c.Len():]; len(body) > 0; {
		n := 0
		switch {
		case head.Compressed() && p.legacy:
			n = legacy.ParseCompressed(body, &h)
		case head.Compressed():
			n = h.ParseCompressed(body)
		case p.legacy:
			n = legacy.ParseUncompressed(body, &h)
		default:
			n = h.ParseUncompressed(body)
		}
		if n <= 0 || uint64(h.PayloadSize) > uint64(len(body)-n) {
			return
		}
		size := n + int(h.PayloadSize)
		yield(plainEvent{offset: b.Offset + int64(len(b.Body)-len(body)), header: h, payload: body[n:size]})
		if !head.Compressed() && p.legacy {
			size = int(legacy.RowSize(&h, len(body)))
		}
		body = body[size:]
	}
}

// compare compares an event with the event that the reader delivered. end is the error at which the reader has arrived:
// the reader also reads a truncated last block, which may define the type.
func (w *plainEvent) compare(e *ntconv.Event, p *plainReader, end error) error {
	h := &w.header
	typ, known := p.types[h.MetadataID]
	defined := end == nil || end == io.EOF
	switch {
	case e.Offset != w.offset:
		return fmt.Errorf("is at %d", e.Offset)
	case uint64(e.Time) != h.Time || e.Seq != h.Sequence || uint32(e.CPU) != h.CPU || e.Flags&ntconv.FlagSorted != 0 != h.Sorted:
		return fmt.Errorf("header %+v became %+v", h, e)
	case !bytes.Equal(e.Payload, w.payload):
		return fmt.Errorf("payload % x became % x", w.payload, e.Payload)
	case defined && known && typ != typeRow{e.Type.Provider, e.Type.Name, e.Type.ID}:
		return fmt.Errorf("type %v became %+v", typ, e.Type)
	case defined && !known && e.Flags&ntconv.FlagPlaceholder == 0:
		return fmt.Errorf("undefined type %d became %+v", h.MetadataID, e.Type)
	case w.tid != e.Thread.TID || w.capture != e.Capture.TID:
		return fmt.Errorf("threads %d by %d became %d by %d", w.tid, w.capture, e.Thread.TID, e.Capture.TID)
	case !p.sameStack(w.stack, e.Stack):
		return fmt.Errorf("stack % x became %v", w.stack, e.Stack)
	case !p.sameLabels(h, w.labels, e.Labels):
		return fmt.Errorf("labels %v, activity %x, related %x became %v", w.labels, h.Activity, h.Related, e.Labels)
	}
	return nil
}

func (p *plainReader) tid(index uint64) uint64 {
	if p.legacy {
		return index
	}
	if row, ok := p.threads[index]; ok && row.Has.Has(wire.ThreadTID) {
		return row.TID
	}
	return ntconv.TIDUnknown
}

func (p *plainReader) sameStack(raw []byte, s *ntconv.Stack) bool {
	n := min(len(raw)/p.pointer, 10_000)
	if s == nil || n == 0 {
		return s == nil && n == 0
	}
	if len(s.PCs) != n {
		return false
	}
	for i, pc := range s.PCs {
		want := uint64(binary.LittleEndian.Uint32(raw[i*p.pointer:]))
		if p.pointer == 8 {
			want = binary.LittleEndian.Uint64(raw[i*8:])
		}
		if pc != want {
			return false
		}
	}
	return true
}

// sameLabels compares all but the numbers of labels, whose encoding depends on the recorder.
func (p *plainReader) sameLabels(h *wire.EventHeader, want []wire.Label, l *ntconv.Labels) bool {
	if p.legacy {
		want = nil
		if h.Activity != [16]byte{} {
			want = append(want, wire.Label{Kind: wire.LabelActivityID, Value: wire.Value{ID: h.Activity}})
		}
		if h.Related != [16]byte{} {
			want = append(want, wire.Label{Kind: wire.LabelRelatedActivityID, Value: wire.Value{ID: h.Related}})
		}
	} else if h.LabelList == 0 {
		want = nil
	}
	if l == nil {
		return len(want) == 0
	}
	return slices.EqualFunc(want, l.List(), func(a wire.Label, b ntconv.Label) bool {
		return uint8(a.Kind) == uint8(b.Kind) && a.Key == b.Key && a.Str == b.Str && a.ID == b.ID
	})
}
