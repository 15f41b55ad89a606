package tracegen

import (
	"io"
	"math"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// A Shape is an adversarial stream. The number of its main elements grows with n.
type Shape struct {
	Name, Doc string
	// Many means that the stream is valid: a lenient reader reads it to its end unless it exceeds a limit.
	Many    bool
	Version wire.Version
	fill    func(s *wirestream.Stream, n int)
}

// Write writes the shape with n main elements.
func (h Shape) Write(w io.Writer, n int) error {
	s := wirestream.New(w, h.Version)
	h.fill(s, n)
	return s.Err()
}

// Shapes returns all shapes: first valid streams with many elements, then streams with false counts or sizes.
func Shapes() []Shape {
	many := func(name, doc string, v wire.Version, fill func(*wirestream.Stream, int)) Shape {
		return Shape{name, doc, true, v, func(s *wirestream.Stream, n int) { fill(s, n); s.End() }}
	}
	lie := func(name, doc string, v wire.Version, fill func(*wirestream.Stream, int)) Shape {
		return Shape{name, doc, false, v, fill}
	}
	return []Shape{
		many("no-barrier", "unsorted events without a sequence point", wire.V4, noBarrier),
		many("block-per-event", "blocks of one unsorted event each, of which each is older than the one before", wire.V4, blockPerEvent),
		many("release", "as block-per-event, but every other one is sorted and earlier than all that wait", wire.V4, release),
		many("stuck", "one event far in the future, then sorted ones", wire.V4, stuck),
		many("zero-length", "events of two bytes, empty event blocks, empty stacks, and empty blocks of every kind", wire.V6, zeroLength),
		many("zero-length-v4", "events of two bytes and empty objects", wire.V4, zeroLength),
		many("thread-churn", "threads that come, record an event and go", wire.V6, threadChurn),
		many("thread-churn-waiting", "the same while an unsorted event waits for a barrier", wire.V6, threadChurnWaiting),
		many("thread-flush", "threads that a sequence point flushes, and new ones", wire.V6, threadFlush),
		many("thread-flush-same", "threads of which only the index is known, all flushed and declared again", wire.V6, threadFlushSame),
		many("thread-redefined", "one thread index that is declared over and over", wire.V6, threadRedefined),
		many("threads", "threads that stay", wire.V6, manyThreads),
		many("threads-v4", "thread ids, one event each", wire.V4, manyThreads4),
		many("thread-restart", "one thread ID whose sequence numbers restart with every event", wire.V4, threadRestart),
		many("barrier-threads", "a sequence point that lists the same thread over and over", wire.V6, barrierThreads),
		many("types", "metadata ids", wire.V6, manyTypes),
		many("types-v4", "metadata ids", wire.V4, manyTypes),
		many("type-flush", "types that a sequence point flushes, and new ones", wire.V6, typeFlush),
		many("type-redefined", "one metadata id that is defined over and over", wire.V6, typeRedefined),
		many("type-unknown", "events whose metadata ids are not defined", wire.V6, typeUnknown),
		many("fields", "fields, 4,000 in each metadata row", wire.V6, manyFields),
		many("labels", "label lists that are all the same, over many windows", wire.V6, sameLabels),
		many("labels-distinct", "label lists that differ, over many windows", wire.V6, distinctLabels),
		many("labels-redefined", "one label list id that is defined over and over", wire.V6, labelsRedefined),
		many("stacks", "stacks that differ, without a sequence point", wire.V4, manyStacks),
		many("stacks-redefined", "one stack id that is defined over and over", wire.V4, stacksRedefined),
		many("stack-id-jumps", "stack ids far apart from each other", wire.V4, stackJumps),
		many("activities", "activity ids, one event each, without a sequence point", wire.V4, activities),
		many("activities-waiting", "the same of events that are not sorted", wire.V4, activitiesWaiting),
		many("unknown-blocks", "blocks of unknown kinds", wire.V6, unknownBlocks),
		many("trace-blocks", "further Trace blocks", wire.V6, traceBlocks),

		lie("fields-65535", "a metadata row that claims 65,535 fields and holds as many as fit", wire.V6, fields65535),
		lie("fields-v4", "a metadata row that claims 2^31-1 fields", wire.V4, fieldsV4),
		lie("nested-100", "a field of arrays of arrays, 100 deep", wire.V6, nested),
		lie("nested-100-v4", "objects in objects, 100 deep", wire.V4, nestedV4),
		lie("block-size", "an event block that claims 16 MiB, of which a few bytes follow", wire.V6, claimBlock),
		lie("block-size-v4", "an event block that claims 64 MiB, of which a few bytes follow", wire.V4, claimBlock4),
		lie("block-size-max", "an event block that claims 2 GiB", wire.V4, claimMax),
		lie("payload-size", "an event that claims a payload of 4 GiB", wire.V6, claimPayload),
		lie("stack-size", "a stack that claims 4 GiB", wire.V4, claimStack),
		lie("stack-count", "a stack block that claims 2^32-1 stacks", wire.V4, claimStacks),
		lie("label-count", "a label list block that claims 2^32-1 lists", wire.V6, claimLabels),
		lie("string-size", "a name that claims 4 GiB", wire.V6, claimString),
		lie("barrier-count", "a sequence point that claims 2^32-1 threads", wire.V6, claimBarrier),
		lie("attribute-count", "a Trace block that claims 2^31-1 attributes", wire.V6, claimAttributes),
	}
}

const start = 1_000_000_000

// testType is the type of most events.
func testType(id uint32) wirestream.Type {
	return wirestream.Type{ID: id, Provider: "Shape", Event: id, Name: "E"}
}

// event returns the header of the i-th event of thread 1.
func event(i int, time uint64) *wire.EventHeader {
	return &wire.EventHeader{MetadataID: 1, Time: time, Sequence: uint32(i + 1), Thread: 1, CaptureThread: 1}
}

// single writes a block with one event.
func single(s *wirestream.Stream, h *wire.EventHeader) {
	b := s.Events()
	b.Add(h, nil)
	b.Flush()
}

// one declares thread 1 if the format requires it.
func one(s *wirestream.Stream) {
	s.Types(testType(1))
	if s.Version() == wire.V6 {
		s.Threads(wire.Thread{Index: 1, PID: 1, TID: 1, Has: 1<<wire.ThreadPID | 1<<wire.ThreadTID})
	}
}

func noBarrier(s *wirestream.Stream, n int) {
	one(s)
	b := s.Events()
	for i := range n {
		b.Add(event(i, start+uint64(i*7919%n)), nil)
		if b.Len() > eventBlockSize {
			b.Flush()
		}
	}
	b.Flush()
}

func blockPerEvent(s *wirestream.Stream, n int) {
	one(s)
	for i := range n {
		single(s, event(i, start+uint64(n-i)))
	}
}

func release(s *wirestream.Stream, n int) {
	one(s)
	for i := range n {
		h := event(i, start+uint64(2*n-i))
		if i%2 == 1 {
			h.Sorted, h.Time = true, start+uint64(i)/2
		}
		single(s, h)
	}
}

func stuck(s *wirestream.Stream, n int) {
	one(s)
	single(s, event(0, start+1<<40))
	for i := 1; i <= n; i++ {
		h := event(i, start+uint64(i))
		h.Sorted = true
		single(s, h)
	}
}

func zeroLength(s *wirestream.Stream, n int) {
	one(s)
	empty := s.Events()
	for i := 0; i < n; {
		b := s.Events()
		for range 1000 {
			h := event(i, 0)
			h.Sequence = uint32(i%1000 + 1)
			b.Add(h, nil)
			i++
		}
		b.Flush()
		empty.FlushAs(wire.KindEvent)
		s.Stacks(uint32(i), make([][]byte, 100)...)
		s.SequencePoint(0, 0)
		if s.Version() == wire.V6 {
			s.Block(wire.KindEvent, nil)
			s.Block(wire.KindMetadata, nil)
			s.Block(wire.KindStack, nil)
			s.Block(wire.KindThread, nil)
			s.Block(wire.KindRemoveThread, nil)
			s.Block(wire.KindLabelList, nil)
			s.Block(99, nil)
		}
	}
}

func churn(s *wirestream.Stream, n int) {
	for i := range n {
		id := uint64(i + 2)
		s.Threads(wire.Thread{Index: id, TID: id % 1000, Has: 1 << wire.ThreadTID})
		h := event(0, start+uint64(i))
		h.Thread, h.CaptureThread, h.Sorted = id, id, true
		single(s, h)
		s.RemoveThreads(wire.ThreadSeq{Thread: id, Sequence: 1})
	}
}

func threadChurn(s *wirestream.Stream, n int) {
	one(s)
	churn(s, n)
}

func threadChurnWaiting(s *wirestream.Stream, n int) {
	one(s)
	single(s, event(0, start+1<<40))
	churn(s, n)
}

func threadFlush(s *wirestream.Stream, n int) {
	s.Types(testType(1))
	const window = 1000
	for i := 0; i < n; i += window {
		rows := make([]wire.Thread, window)
		for k := range rows {
			rows[k] = wire.Thread{Index: uint64(k), TID: uint64(i + k), Has: 1 << wire.ThreadTID}
		}
		s.Threads(rows...)
		s.SequencePoint(start, wire.FlushThreads)
	}
}

func threadFlushSame(s *wirestream.Stream, n int) {
	s.Types(testType(1))
	rows := make([]wire.Thread, n)
	for i := range rows {
		rows[i].Index = uint64(n - i)
	}
	for range 3 {
		s.Threads(rows...)
		s.SequencePoint(start, wire.FlushThreads)
	}
}

func threadRedefined(s *wirestream.Stream, n int) {
	one(s)
	rows := make([]wire.Thread, 1000)
	for i := 0; i < n; i += len(rows) {
		for k := range rows {
			rows[k] = wire.Thread{Index: 1, TID: uint64(i + k), Has: 1 << wire.ThreadTID}
		}
		s.Threads(rows...)
		single(s, event(0, start))
	}
}

func manyThreads(s *wirestream.Stream, n int) {
	s.Types(testType(1))
	rows := make([]wire.Thread, 1000)
	for i := 0; i < n; i += len(rows) {
		for k := range rows {
			rows[k] = wire.Thread{Index: uint64(i + k), TID: uint64(i + k), Has: 1 << wire.ThreadTID}
		}
		s.Threads(rows...)
	}
}

func manyThreads4(s *wirestream.Stream, n int) {
	one(s)
	b := s.Events()
	for i := range n {
		h := event(i, start+uint64(i))
		h.Thread, h.CaptureThread, h.Sequence, h.Sorted = uint64(i), uint64(i), 1, true
		b.Add(h, nil)
		if b.Len() > eventBlockSize {
			b.Flush()
		}
	}
	b.Flush()
}

func threadRestart(s *wirestream.Stream, n int) {
	one(s)
	b := s.Events()
	for i := range n {
		h := event(i, start+uint64(n-i))
		h.Sequence = 1
		b.Add(h, nil)
		if b.Len() > eventBlockSize {
			b.Flush()
		}
	}
	b.Flush()
}

func barrierThreads(s *wirestream.Stream, n int) {
	one(s)
	list := make([]wire.ThreadSeq, n)
	for i := range list {
		list[i] = wire.ThreadSeq{Thread: 1, Sequence: uint32(i + 1)}
	}
	s.SequencePoint(start, 0, list...)
}

func manyTypes(s *wirestream.Stream, n int) {
	rows := make([]wirestream.Type, 1000)
	for i := 0; i < n; i += len(rows) {
		for k := range rows {
			rows[k] = testType(uint32(i + k))
		}
		s.Types(rows...)
	}
}

func typeFlush(s *wirestream.Stream, n int) {
	rows := make([]wirestream.Type, 1000)
	for i := 0; i < n; i += len(rows) {
		for k := range rows {
			rows[k] = testType(uint32(i + k))
			rows[k].ID = uint32(k)
		}
		s.Types(rows...)
		s.SequencePoint(start, wire.FlushMetadata)
	}
}

func typeRedefined(s *wirestream.Stream, n int) {
	rows := make([]wirestream.Type, 1000)
	for i := 0; i < n; i += len(rows) {
		for k := range rows {
			rows[k] = testType(uint32(i + k))
			rows[k].ID = 1
		}
		s.Types(rows...)
	}
}

func typeUnknown(s *wirestream.Stream, n int) {
	one(s)
	b := s.Events()
	for i := range n {
		h := event(i, start+uint64(i))
		h.MetadataID, h.Sorted = uint32(1000+i), true
		b.Add(h, nil)
		if b.Len() > eventBlockSize {
			b.Flush()
		}
	}
	b.Flush()
}

func manyFields(s *wirestream.Stream, n int) {
	fields := make([]wire.Field, 4000)
	for i := range fields {
		fields[i].Type.Code = wire.TypeInt32
	}
	for i := 0; i < n; i += len(fields) {
		t := testType(uint32(i))
		t.Fields = fields
		s.Types(t)
	}
}

// labelWindow is the number of label lists per window.
const labelWindow = 10_000

func labels(s *wirestream.Stream, n int, text func(i int) string) {
	one(s)
	for i := 0; i < n; i += labelWindow {
		lists := make([][]wire.Label, labelWindow)
		b := s.Events()
		for k := range lists {
			lists[k] = []wire.Label{{Kind: wire.LabelString, Value: wire.Value{Key: "Error", Str: text(i + k)}}}
			h := event(i+k, start+uint64(i+k))
			h.LabelList, h.Sorted = uint32(1+k), true
			b.Add(h, nil)
		}
		s.Labels(1, lists...)
		b.Flush()
		s.SequencePoint(start+uint64(i), 0)
	}
}

func sameLabels(s *wirestream.Stream, n int) {
	labels(s, n, func(int) string { return "Expected actual values" })
}

func distinctLabels(s *wirestream.Stream, n int) {
	labels(s, n, func(i int) string { return string(bin.AppendU64(nil, uint64(i))) })
}

func labelsRedefined(s *wirestream.Stream, n int) {
	one(s)
	for range n {
		s.Labels(1, []wire.Label{{Kind: wire.LabelOpcode}})
	}
}

func manyStacks(s *wirestream.Stream, n int) {
	one(s)
	list := make([][]byte, 1000)
	for i := 0; i < n; i += len(list) {
		for k := range list {
			list[k] = wirestream.Addresses(methodBase+uint64(i+k), methodBase)
		}
		s.Stacks(uint32(i+1), list...)
	}
}

func stacksRedefined(s *wirestream.Stream, n int) {
	one(s)
	for i := range n {
		s.Stacks(1, wirestream.Addresses(uint64(i)))
	}
}

func stackJumps(s *wirestream.Stream, n int) {
	one(s)
	for i := range n {
		s.Stacks(uint32(i)*0x9E3779B1, wirestream.Addresses(uint64(i)))
	}
}

func activities(s *wirestream.Stream, n int) { everyActivity(s, n, true) }

func activitiesWaiting(s *wirestream.Stream, n int) { everyActivity(s, n, false) }

func everyActivity(s *wirestream.Stream, n int, sorted bool) {
	one(s)
	b := s.Events()
	for i := range n {
		h := event(i, start+uint64(i))
		h.Sorted = sorted
		copy(h.Activity[:], bin.AppendU64(nil, uint64(i+1)))
		b.Add(h, nil)
		if b.Len() > eventBlockSize {
			b.Flush()
		}
	}
	b.Flush()
}

func unknownBlocks(s *wirestream.Stream, n int) {
	one(s)
	body := make([]byte, 200)
	for i := range n {
		s.Block(wire.Kind(9+i%247), body[:i%len(body)])
	}
}

func traceBlocks(s *wirestream.Stream, n int) {
	for range n {
		s.Block(wire.KindTrace, wire.AppendTrace(nil, &wire.Trace{KeyValues: make([]wire.KeyValue, 100)}))
	}
}

// The following functions write false sizes.

func fields65535(s *wirestream.Stream, n int) {
	body := bin.AppendU16(nil, 0)
	row := []byte{1, 1, 'P', 1, 1, 'E', 0xff, 0xff}
	for len(row) < 65_000 {
		row = append(row, 2, 0, 0, byte(wire.TypeInt32)) // size, an empty name, the type
	}
	body = append(bin.AppendU16(body, uint16(len(row))), row...)
	for range n {
		s.Block(wire.KindMetadata, body)
	}
	s.End()
}

func fieldsV4(s *wirestream.Stream, n int) {
	e := s.Events()
	row := (&wirestream.Type{ID: 1, Provider: "P", Name: "E"}).Append(nil, wire.V4)
	row = append(row[:len(row)-4], 0xff, 0xff, 0xff, 0x7f)
	for range n {
		e.Add(&wire.EventHeader{PayloadSize: uint32(len(row))}, row)
	}
	e.FlushAs(wire.KindMetadata)
	s.End()
}

func nested(s *wirestream.Stream, n int) {
	t := wire.Type{Code: wire.TypeInt32}
	for range 100 {
		inner := t
		t = wire.Type{Code: wire.TypeArray, Elem: &inner}
	}
	row := testType(1)
	row.Fields = []wire.Field{{Name: "deep", Type: t}}
	for range n {
		s.Types(row)
	}
	s.End()
}

func nestedV4(s *wirestream.Stream, n int) {
	row := testType(1)
	for range 100 {
		row.Fields = []wire.Field{{Name: "f", Type: wire.Type{Code: wire.TypeObject, Fields: row.Fields}}}
	}
	for range n {
		s.Types(row)
	}
	s.End()
}

func claimBlock(s *wirestream.Stream, _ int) {
	one(s)
	s.Claim(wire.KindEvent, wire.MaxBlockSize, make([]byte, 100))
}

func claimBlock4(s *wirestream.Stream, _ int) {
	one(s)
	s.Claim(wire.KindEvent, 64<<20, make([]byte, 100))
}

func claimMax(s *wirestream.Stream, _ int) {
	one(s)
	s.Claim(wire.KindEvent, math.MaxInt32, make([]byte, 100))
}

func claimPayload(s *wirestream.Stream, n int) {
	one(s)
	for range n {
		h := event(0, start)
		h.PayloadSize = math.MaxUint32
		single(s, h)
	}
	s.End()
}

func claimStack(s *wirestream.Stream, n int) {
	one(s)
	body := wire.AppendIDRange(nil, wire.IDRange{First: 1, Count: 1})
	body = bin.AppendU64(bin.AppendU32(body, math.MaxUint32), 1)
	for range n {
		s.Block(wire.KindStack, body)
	}
	s.End()
}

func claimStacks(s *wirestream.Stream, n int) {
	one(s)
	body := wire.AppendIDRange(nil, wire.IDRange{First: 1, Count: math.MaxUint32})
	body = wire.AppendStack(body, wirestream.Addresses(1))
	for range n {
		s.Block(wire.KindStack, body)
	}
	s.End()
}

func claimLabels(s *wirestream.Stream, n int) {
	one(s)
	body := wire.AppendIDRange(nil, wire.IDRange{First: 1, Count: math.MaxUint32})
	body = wire.AppendLabels(body, []wire.Label{{Kind: wire.LabelOpcode}}, false)
	for range n {
		s.Block(wire.KindLabelList, body)
	}
	s.End()
}

func claimString(s *wirestream.Stream, n int) {
	body := bin.AppendU16(nil, 0)
	row := bin.AppendVaruint([]byte{1}, math.MaxUint32)
	body = append(bin.AppendU16(body, uint16(len(row))), row...)
	for range n {
		s.Block(wire.KindMetadata, body)
	}
	s.End()
}

func claimBarrier(s *wirestream.Stream, n int) {
	one(s)
	body := wire.AppendSequencePoint(nil, &wire.SequencePoint{Time: start})
	body = append(body[:len(body)-4], 0xff, 0xff, 0xff, 0xff, 1, 1)
	for range n {
		s.Block(wire.KindSequencePoint, body)
	}
	s.End()
}

func claimAttributes(s *wirestream.Stream, n int) {
	body := wire.AppendTrace(nil, &wire.Trace{})
	body = append(body[:len(body)-4], 0xff, 0xff, 0xff, 0x7f)
	for range n {
		s.Block(wire.KindTrace, body)
	}
	s.End()
}
