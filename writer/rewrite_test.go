package writer_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/trace/tracecmp"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
)

// FuzzRewrite checks that rewriting a trace that strict mode accepts yields an equal trace, in file order and in time
// order. Rewriting the result again yields the same bytes. Rewriting in time order loses no more events than rewriting
// in file order. The input is a trace, or a program that builds one.
func FuzzRewrite(f *testing.F) {
	for _, name := range []string{"again-104286", "ve-areoneinthesecond", "ve-isdeclaredinthefirst", "ve-mark-590", "ve-opaque-319"} {
		f.Add(corpus.Hostile(f, name+".nettrace").Data, false, uint8(0))
	}
	for i := range 8 {
		f.Add(bytes.Repeat([]byte{0x10, byte(40 * i), 0x81, 0x07, byte(i), 0x35, 0x29, 0xfa, 0x48, byte(3 * i), 0x9b, 0x6c, 0xad}, 2+i), true, uint8(i))
	}
	// Numbers that wrap, flushed threads of equal rows, a mark after a sequence point that is not written.
	for _, p := range []string{
		"U\xd3\x0f\x11\x9f'\x05C2MF\x95P\x91", "j\x9d\xe51\x05\xd1\xca\xac\x86\xb9\x80\xabxk\x1a\xa2=CV", "\x14 \x1b#\xff\xcd\xce\xb0\xdf\xf7l\xf0", "  !XrN\x15\xac\xa8\xcd\x15",
	} {
		f.Add([]byte(p), true, uint8(0))
	}
	f.Fuzz(func(t *testing.T, input []byte, program bool, blocks uint8) {
		if program {
			input = strictTrace(input)
		}
		if err := checkRewriting(input, &writer.Options{AllowLarge: true, BlockBytes: []int{0, 1, 60, 300}[blocks%4]}); err != nil {
			t.Fatal(err)
		}
	})
}

// A tally summarizes a trace in one order.
type tally struct {
	lost  uint64
	moved bool // an event is earlier than one before it that is flagged as sorted
	// namesakes means that two types have the same provider and ID. Microsoft's reader confuses them, so the writer
	// begins a block for each.
	namesakes bool
}

// strictly opens a trace in strict mode.
func strictly(b []byte, order reader.Order) (*reader.Reader, error) {
	return reader.New(bytes.NewReader(b), &reader.Options{Order: order, Strict: true})
}

// tallyOf reads a trace to its end.
func tallyOf(b []byte, order reader.Order) (out tally, err error) {
	r, err := strictly(b, order)
	if err != nil {
		return out, err
	}
	sorted := ntconv.Ticks(math.MinInt64)
	names := map[string]*ntconv.Type{}
	for e, err := range ntconv.Events(r) {
		if err != nil {
			return out, err
		}
		if y := e.Type; y != nil {
			name := fmt.Sprint(y.ID, y.Provider)
			out.namesakes = out.namesakes || names[name] != nil && names[name] != y
			names[name] = y
		}
		switch e.Kind {
		case ntconv.KindLost:
			out.lost += uint64(e.Lost)
		case ntconv.KindEvent:
			out.moved = out.moved || e.Time < sorted
			if e.Flags&ntconv.FlagSorted != 0 {
				sorted = max(sorted, e.Time)
			}
		}
	}
	return out, nil
}

// checkRewriting checks the properties of FuzzRewrite. It accepts a trace that strict mode rejects and a trace whose
// rows exceed the limits of the format.
func checkRewriting(data []byte, opts *writer.Options) error {
	was, err := tallyOf(data, reader.FileOrder)
	if err != nil {
		return nil
	}
	once, err := rewritten(data, reader.FileOrder, opts)
	if err != nil {
		return tooLarge(err)
	}
	again, err := rewritten(once, reader.FileOrder, opts)
	switch {
	case err != nil:
		return fmt.Errorf("rewrite again: %w", err)
	case !was.namesakes && !bytes.Equal(again, once): // definitions of types that share a name may move up each time
		return errors.New("rewriting it again changes its bytes")
	}
	if err := equalIn(reader.FileOrder, data, once, nil); err != nil {
		return fmt.Errorf("in file order: %w", err)
	}
	timed := *opts
	timed.Ordered = true
	if _, err := tallyOf(data, reader.ByTime); err != nil {
		return nil // in time order, a metadata row after a sorted event of the same time is too late for its events
	}
	byTime, err := rewritten(data, reader.ByTime, &timed)
	if err != nil {
		return tooLarge(err)
	}
	now, err := tallyOf(byTime, reader.FileOrder)
	if err != nil || now.lost != was.lost {
		return fmt.Errorf("rewritten in time order: %d events lost, want %d: %v", now.lost, was.lost, err)
	}
	if was.moved {
		return nil // time order then depends on the blocks
	}
	for _, b := range [][]byte{once, byTime} {
		if err := equalIn(reader.ByTime, data, b, &tracecmp.Options{Sorted: true, EmptyMarks: true}); err != nil {
			return fmt.Errorf("in time order: %w", err)
		}
	}
	return nil
}

// tooLarge drops errors for limits of the format: a row may be larger than the row in the input.
func tooLarge(err error) error {
	if errors.Is(err, ntconv.ErrLimit) {
		return nil
	}
	return err
}

func equalIn(order reader.Order, a, b []byte, opts *tracecmp.Options) error {
	x, err := strictly(a, order)
	if err != nil {
		return err
	}
	y, err := strictly(b, order)
	if err != nil {
		return err
	}
	_, err = tracecmp.Streams(x, y, opts)
	return err
}

func rewritten(b []byte, order reader.Order, opts *writer.Options) ([]byte, error) {
	src, err := strictly(b, order)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w, err := writer.New(&out, src.Info(), opts)
	if err != nil {
		return nil, err
	}
	if _, err := ntconv.Copy(w, src); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

// A traceProgram builds a trace from bytes: each operation is one byte, followed by its operands. The trace refers only
// to defined IDs.
type traceProgram struct {
	*wirestream.Stream
	code    []byte
	block   *wirestream.EventBlock
	h       wire.EventHeader
	types   []uint32
	threads []uint64
	next    uint64 // next thread index
	stacks  uint32 // number of stacks defined in the window
	labels  uint32
	seq     map[uint64]uint32
	sorted  uint64
}

// strictTrace returns the trace that a program builds.
func strictTrace(program []byte) []byte {
	var out bytes.Buffer
	p := &traceProgram{Stream: wirestream.New(&out, wire.V6), code: program, seq: map[uint64]uint32{}, h: wire.EventHeader{Time: 1 << 30}}
	p.block = p.Events()
	for len(p.code) > 0 {
		switch op := p.byte(); op % 16 {
		default:
			p.event(op >> 4)
		case 8:
			p.block.Flush()
		case 9:
			p.typ(op >> 4)
		case 10:
			p.thread(op >> 4)
		case 11:
			p.remove(int(op >> 4))
		case 12:
			p.block.Flush()
			p.Block(wire.Kind(9+op>>4), []byte("opaque blocks")[:op>>5])
		case 13:
			p.sequencePoint(op >> 4)
		case 14:
			p.block.Flush()
			p.Stacks(p.stacks+1, wirestream.Addresses(uint64(op>>4)), nil)
			p.stacks += 2
		case 15:
			p.label(op >> 4)
		}
	}
	p.block.Flush()
	p.End()
	return out.Bytes()
}

func (p *traceProgram) byte() (b byte) {
	if len(p.code) > 0 {
		b, p.code = p.code[0], p.code[1:]
	}
	return b
}

// event adds an event. In most cases it has the next number of its thread, and its sorted flag is correct.
func (p *traceProgram) event(how byte) {
	if len(p.types) == 0 {
		p.typ(how)
	}
	if len(p.threads) == 0 {
		p.thread(how)
	}
	who, step := p.byte(), p.byte()
	h := &p.h
	h.CaptureThread = p.threads[int(who&7)%len(p.threads)]
	h.Thread = p.threads[int(who>>3&7)%len(p.threads)]
	h.MetadataID = p.types[int(who>>6)%len(p.types)]
	h.StackID, h.LabelList = uint32(who)%(p.stacks+1), uint32(step)%(p.labels+1)
	h.CPU = uint32(who & 1)
	switch how {
	case 1:
		h.Sequence = 0
	case 2:
		h.Sequence = p.seq[h.CaptureThread] + 1 + uint32(step)
	case 3:
		h.Sequence = p.seq[h.CaptureThread] - uint32(step)
	default:
		h.Sequence = p.seq[h.CaptureThread] + 1
	}
	p.seq[h.CaptureThread] = h.Sequence
	if h.Time += uint64(int64(int8(step)) / 8); h.Time < p.sorted && how != 4 {
		h.Time = p.sorted
	}
	if h.Sorted = how > 9; h.Sorted {
		p.sorted = max(p.sorted, h.Time)
	}
	h.PayloadSize = uint32(step & 3)
	p.block.Add(h, []byte("abc")[:step&3])
}

// typ defines one of a few types, so that some are equal. Some rows state default values explicitly.
func (p *traceProgram) typ(how byte) {
	p.block.Flush()
	id := uint32(p.byte())%32 + 1
	for _, other := range p.types {
		if other == id {
			return
		}
	}
	m := wire.Metadata{ID: id, Provider: "P", EventID: uint32(len(p.code)/50)<<1 | uint32(how&1), Has: wire.OptionalSet(how) << wire.OptKeywords}
	if how&8 != 0 {
		m.Has |= 1<<wire.OptVersion | 1<<wire.OptLevel | 1<<wire.OptOpcode
	}
	row, err := wire.AppendMetadata(wire.AppendMetadataHeader(nil, nil), &m)
	if err != nil {
		panic(err)
	}
	p.Block(wire.KindMetadata, row)
	p.types = append(p.types, id)
}

// thread defines one of a few threads.
func (p *traceProgram) thread(how byte) {
	p.block.Flush()
	p.next++
	row := wire.Thread{Index: p.next, TID: uint64(how & 1), Has: wire.ThreadSet(how>>1) & (1<<wire.ThreadName | 1<<wire.ThreadTID)}
	if how&8 != 0 {
		row.Has, row.PID = row.Has|1<<wire.ThreadPID, 4242
	}
	for b := p.byte(); b&3 == 3; b >>= 2 {
		row.KeyValues = append(row.KeyValues, wire.KeyValue{Key: []string{"host.name", "ntconv.process.x", "a"}[b>>2%3], Value: "v"})
	}
	p.Threads(row)
	p.threads = append(p.threads, p.next)
}

func (p *traceProgram) remove(i int) {
	if len(p.threads) == 0 {
		return
	}
	p.block.Flush()
	i %= len(p.threads)
	index := p.threads[i]
	p.RemoveThreads(wire.ThreadSeq{Thread: index, Sequence: p.bound(index)})
	p.threads = append(p.threads[:i], p.threads[i+1:]...)
	delete(p.seq, index)
	if p.byte()&1 == 0 {
		p.next = index - 1 // reuse its index if possible
		for _, other := range p.threads {
			p.next = max(p.next, other)
		}
	}
}

// bound returns a number for a mark: in most cases that of the last event.
func (p *traceProgram) bound(index uint64) uint32 {
	switch b := p.byte(); {
	case b < 16:
		return 0
	case b < 48:
		return p.seq[index] + uint32(b)
	case b < 64:
		return p.seq[index] - uint32(b)
	}
	return p.seq[index]
}

func (p *traceProgram) sequencePoint(how byte) {
	p.block.Flush()
	var list []wire.ThreadSeq
	for i, index := range p.threads {
		if how>>(2+i%2)&1 != 0 {
			n := p.bound(index)
			list = append(list, wire.ThreadSeq{Thread: index, Sequence: n})
			if int32(n-p.seq[index]) > 0 {
				p.seq[index] = n
			}
		}
	}
	p.SequencePoint(p.h.Time, uint32(how&3), list...)
	p.stacks, p.labels = 0, 0
	if how&wire.FlushThreads != 0 {
		p.threads, p.seq, p.next = nil, map[uint64]uint32{}, uint64(p.byte()&3)
	}
	if how&wire.FlushMetadata != 0 {
		p.types = nil
	}
}

func (p *traceProgram) label(how byte) {
	p.block.Flush()
	list := []wire.Label{{Kind: wire.LabelNumber, Value: wire.Value{Key: "k", Num: int64(how)}}}
	for ; how&1 != 0; how >>= 1 {
		list = append(list, wire.Label{Kind: wire.LabelString, Value: wire.Value{Key: "k#unit", Str: []string{"", "u"}[how>>1&1]}})
	}
	p.Labels(p.labels+1, list)
	p.labels++
}

// TestProgramsAreAccepted checks that strict mode accepts the trace of every program: FuzzRewrite would skip other traces.
func TestProgramsAreAccepted(t *testing.T) {
	state := uint32(1)
	random := func() byte {
		state = state*1664525 + 1013904223
		return byte(state >> 24)
	}
	events := 0
	for i := range 300 {
		program := make([]byte, i)
		for j := range program {
			program[j] = random()
		}
		data := strictTrace(program)
		r, err := strictly(data, reader.ByTime)
		if err != nil {
			t.Fatal(err)
		}
		n, err := ntconv.Copy(counting{&events}, r)
		if err != nil {
			t.Fatalf("program %d, event %d: %v", i, n, err)
		}
		if err := checkRewriting(data, &writer.Options{}); err != nil {
			t.Errorf("program %d %#x: %v", i, program, err)
		}
	}
	if events < 5000 {
		t.Errorf("only %d events", events)
	}
}

// counting is a sink that counts events.
type counting struct{ n *int }

func (c counting) Write(e *ntconv.Event) error {
	if e.Kind == ntconv.KindEvent {
		*c.n++
	}
	return nil
}

func (c counting) Close() error { return nil }
