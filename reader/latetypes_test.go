package reader

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/ntconvtest"
)

// pendingEvent returns Microsoft's vector V6MetadataAfterPendingEvent: a block with one unsorted event before the
// metadata block that defines its ID.
func pendingEvent(v wire.Version, sorted bool) []byte {
	var out bytes.Buffer
	s := wirestream.New(&out, v)
	if v == wire.V6 {
		s.Threads(wire.Thread{Index: 1, TID: 12, Has: 1 << wire.ThreadTID})
	}
	b := s.Events()
	b.Add(&wire.EventHeader{MetadataID: 1, Thread: 1, CaptureThread: 1, Time: 1e9, Sequence: 1, PayloadSize: 4, Sorted: sorted}, []byte("sale"))
	b.Flush()
	s.Types(wirestream.Type{ID: 1, Provider: "Shop", Event: 7, Name: "Sale"})
	s.End()
	return out.Bytes()
}

// TestPendingEvent checks that both orders accept a type that follows its event, as TraceEvent does, unless the event
// is sorted: TraceEvent needs the types of sorted events at once.
func TestPendingEvent(t *testing.T) {
	for _, v := range []wire.Version{wire.V4, wire.V6} {
		for _, o := range []Options{{}, {Strict: true}, {Order: FileOrder}, {Order: FileOrder, Strict: true}} {
			report := &ntconv.Report{}
			o.Report = report
			_, events, err := readAll(pendingEvent(v, false), &o)
			if err != nil || len(events) != 1 || len(report.Entries()) > 0 {
				t.Errorf("version %d, %+v: %d events, %v, report %v", v, o, len(events), err, report.Entries())
			} else if e := events[0]; e.Type.Name != "Sale" || e.Flags != 0 || string(e.Payload) != "sale" {
				t.Errorf("version %d, %+v: event %+v of type %+v", v, o, e, e.Type)
			}
			_, events, err = readAll(pendingEvent(v, true), &o)
			if o.Strict && !errors.Is(err, ntconv.ErrCorrupt) || !o.Strict && (err != nil || len(events) != 1 || events[0].Flags&ntconv.FlagPlaceholder == 0) {
				t.Errorf("version %d, %+v: the sorted event gives %d events, %v", v, o, len(events), err)
			}
		}
	}
}

// TestPendingEventRefused checks that nothing follows an event that strict mode refuses, not even the sequence point
// that ended its wait.
func TestPendingEventRefused(t *testing.T) {
	for _, order := range []Order{FileOrder, ByTime} {
		var out bytes.Buffer
		s := wirestream.New(&out, wire.V4)
		b := s.Events()
		b.Add(&wire.EventHeader{MetadataID: 1, Thread: 1, CaptureThread: 1, Time: 1e9, Sequence: 1}, nil)
		b.Flush()
		s.SequencePoint(2e9, 0)
		s.End()
		n, err := count(out.Bytes(), &Options{Order: order, Strict: true})
		if !errors.Is(err, ntconv.ErrCorrupt) || n != 1 { // the definition of the thread
			t.Errorf("order %d: %d events, %v", order, n, err)
		}
	}
}

// A lateTrace is a generated trace whose metadata rows may follow their events.
type lateTrace struct {
	version wire.Version
	seed    uint64
	early   bool // each window begins with its metadata rows
	sorted  bool // some events are sorted
	missing bool // some IDs have no row
}

// lateIDs are the metadata IDs of a lateTrace. Rows of the last two are missing.
const lateIDs = 8

// build returns the trace. early affects nothing but the positions of metadata blocks.
func (l lateTrace) build() []byte {
	var out bytes.Buffer
	g := lateGen{lateTrace: l, r: rand.New(rand.NewPCG(l.seed, uint64(l.version))), s: wirestream.New(&out, l.version), seq: map[uint64]uint32{}}
	if l.version == wire.V6 {
		g.s.Threads(wire.Thread{Index: 1, TID: 1, Has: 1 << wire.ThreadTID}, wire.Thread{Index: 2, TID: 2, Has: 1 << wire.ThreadTID})
	}
	for range 1 + g.r.IntN(4) {
		g.window()
	}
	if g.r.IntN(2) == 0 {
		g.s.SequencePoint(g.time, 0)
	}
	g.s.End()
	return out.Bytes()
}

type lateGen struct {
	lateTrace
	r       *rand.Rand
	s       *wirestream.Stream
	time    uint64 // no later event is earlier
	count   uint64
	seq     map[uint64]uint32
	defined [lateIDs + 1]bool
	extra   uint64 // threads that ended
}

// window writes blocks in random order. An ID has at most one row.
func (g *lateGen) window() {
	if g.time == 0 {
		g.time = 1_000_000_000
	} else {
		g.time += 1000
		g.s.SequencePoint(g.time, 0)
	}
	g.s.Stacks(1, wirestream.Addresses(g.r.Uint64N(5), 2), wirestream.Addresses(3))
	var rows, others []func()
	first := g.time
	for range g.r.IntN(12) {
		others = append(others, g.block(first))
	}
	for id := uint32(1); id <= lateIDs; id++ {
		if g.missing && id > lateIDs-2 || g.defined[id] || g.r.IntN(3) == 0 {
			continue
		}
		g.defined[id] = true
		rows = append(rows, func() {
			g.s.Types(wirestream.Type{ID: id, Provider: "P", Event: id, Name: fmt.Sprint("E", id)})
		})
	}
	all := slices.Clone(others)
	for _, f := range rows {
		all = slices.Insert(all, g.r.IntN(len(all)+1), f)
	}
	if g.early {
		all = append(rows, others...)
	}
	for _, f := range all {
		f()
	}
}

// block returns a function that writes a block of events, or something that has no time.
func (g *lateGen) block(first uint64) func() {
	if g.version == wire.V6 {
		switch g.r.IntN(6) {
		case 0:
			return func() { g.s.Block(wire.Kind(77), []byte("opaque")) }
		case 1:
			g.extra++
			id, h := 100+g.extra, g.header(first) // the number of this event is a loss of the other thread
			h.Thread, h.CaptureThread, h.Sequence, h.PayloadSize = id, id, 1, 0
			return func() { // a thread with one event
				g.s.Threads(wire.Thread{Index: id, TID: id, Has: 1 << wire.ThreadTID})
				b := g.s.Events()
				b.Add(&h, nil)
				b.Flush()
				g.s.RemoveThreads(wire.ThreadSeq{Thread: id, Sequence: 1})
			}
		}
	}
	var events []wire.EventHeader
	for range g.r.IntN(30) {
		events = append(events, g.header(first))
	}
	return func() {
		b := g.s.Events()
		for i := range events {
			b.Add(&events[i], bytes.Repeat([]byte{byte(events[i].Time)}, int(events[i].PayloadSize)))
		}
		b.Flush()
	}
}

// header returns the header of the next event. No two events have the same time.
func (g *lateGen) header(first uint64) (h wire.EventHeader) {
	g.count++
	h.Time = max(first, g.time) + g.r.Uint64N(20)
	h.Time = h.Time<<12 + g.count
	if h.Sorted = g.sorted && g.r.IntN(20) == 0; h.Sorted {
		g.time = h.Time>>12 + 1
	}
	h.MetadataID = 1 + g.r.Uint32N(lateIDs)
	h.Thread = 1 + g.r.Uint64N(2)
	h.CaptureThread, h.StackID = h.Thread, g.r.Uint32N(3)
	g.seq[h.Thread]++
	h.Sequence = g.seq[h.Thread]
	h.PayloadSize = g.r.Uint32N(100)
	if g.r.IntN(50) == 0 {
		h.PayloadSize = largeBlock
	}
	return h
}

// lateTraces calls f for traces of both versions.
func lateTraces(t *testing.T, n uint64, sorted, missing bool, f func(l lateTrace)) {
	for seed := range n {
		for _, v := range []wire.Version{wire.V4, wire.V6} {
			func() {
				defer func() {
					if t.Failed() {
						t.Logf("version %d, seed %d", v, seed)
					}
				}()
				f(lateTrace{version: v, seed: seed, sorted: sorted, missing: missing})
			}()
		}
	}
}

// read reads a trace, in pieces or from memory, and returns its events with their offsets.
func (l lateTrace) read(t *testing.T, o Options, memory bool) (list []*ntconv.Event, err error) {
	data := l.build()
	r, err := New(ntconvtest.Chop(bytes.NewReader(data), 1000), &o)
	if memory {
		r, err = NewBytes(data, &o)
	}
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range ntconv.Events(r) {
		if err != nil {
			return list, err
		}
		list = append(list, e.Clone())
	}
	return list, nil
}

// eventText returns an event without its offset.
func eventText(e *ntconv.Event) string {
	if e.Kind != ntconv.KindEvent {
		return describe(e)
	}
	return fmt.Sprint(e.Time, e.Seq, e.CPU, e.Flags, e.Thread.TID, e.Capture.TID, *e.Type, e.Stack, e.Labels, len(e.Payload), crc32.ChecksumIEEE(e.Payload))
}

// texts returns the events that are, or are not, definitions.
func texts(events []*ntconv.Event, definitions bool) (list []string) {
	for _, e := range events {
		if (e.Kind == ntconv.KindDefine) == definitions {
			list = append(list, eventText(e))
		}
	}
	return list
}

// TestLateRows checks that a trace without sorted events yields the same events, marks and blocks in the same order,
// regardless of whether its metadata rows precede or follow the events of their window. Events are in the order of the
// input, after the definition of their type, and those without a row are placeholders, each counted. Strict mode agrees
// if no row is missing.
func TestLateRows(t *testing.T) {
	for _, missing := range []bool{false, true} {
		late := 0
		lateTraces(t, 40, false, missing, func(l lateTrace) {
			for i, o := range []Options{{Order: FileOrder}, {Order: FileOrder, Strict: true}, {}, {Strict: true}} {
				report := &ntconv.Report{}
				o.Report = report
				events, err := l.read(t, o, l.seed%2 == 0)
				early := l
				early.early = true
				o.Report = nil
				want, earlyErr := early.read(t, o, l.seed%3 == 0)
				if (err == nil) != (earlyErr == nil) || !o.Strict && err != nil {
					t.Fatalf("%d: error %v, with early rows %v", i, err, earlyErr)
				}
				if a, b := texts(events, false), texts(want, false); !slices.Equal(a, b) {
					t.Fatalf("%d: events\n%v\nwith early rows\n%v", i, a, b)
				}
				late += checkDelivery(t, events, o.Order, report)
			}
		})
		if late < 300 {
			t.Errorf("only %d events precede their types", late)
		}
	}
}

// checkDelivery checks the order of events, of definitions and the count of placeholders. It returns the number of
// events before the row of their type.
func checkDelivery(t *testing.T, events []*ntconv.Event, order Order, report *ntconv.Report) (late int) {
	last := int64(-1)
	rows := map[*ntconv.Type]int64{}
	placeholders := uint64(0)
	for _, e := range events {
		switch {
		case e.Kind == ntconv.KindDefine && e.Type != nil:
			rows[e.Type] = e.Offset
		case e.Kind == ntconv.KindDefine || e.Kind == ntconv.KindLost && e.Offset > last: // the event that reveals it is next
		case order == FileOrder && e.Offset <= last:
			t.Fatalf("event at %d after the one at %d", e.Offset, last)
		case e.Kind != ntconv.KindEvent:
			last = e.Offset
		default:
			last = e.Offset
			at, defined := rows[e.Type]
			if !defined {
				placeholders++
			}
			if defined == (e.Flags&ntconv.FlagPlaceholder != 0) {
				t.Fatalf("event at %d: defined %v, flags %v", e.Offset, defined, e.Flags)
			}
			if at > e.Offset {
				late++
			}
		}
	}
	if n := report.Count(ntconv.CodeUnknownType); n != placeholders && !t.Failed() {
		t.Fatalf("%d undefined types are counted, want %d", n, placeholders)
	}
	return late
}

// TestLateRowsSorted checks traces with sorted events, which end the wait of earlier events. File order yields each
// type that time order yields, and accepts in strict mode what time order accepts. All paths agree.
func TestLateRowsSorted(t *testing.T) {
	typed, placeholders := 0, 0
	options := pathOptions()
	lateTraces(t, 100, true, true, func(l lateTrace) {
		byTime, err := l.read(t, Options{}, false)
		report := &ntconv.Report{}
		inFile, fileErr := l.read(t, Options{Order: FileOrder, Report: report}, false)
		if err != nil || fileErr != nil {
			t.Fatal(err, fileErr)
		}
		typed += checkDelivery(t, inFile, FileOrder, report)
		names := map[int64]string{}
		for _, e := range inFile {
			if e.Kind == ntconv.KindEvent {
				names[e.Offset] = e.Type.Name
			}
		}
		for _, e := range byTime {
			if e.Kind == ntconv.KindEvent && e.Type.Name != "" && names[e.Offset] != e.Type.Name {
				t.Fatalf("event at %d is %q in file order, %q in time order", e.Offset, names[e.Offset], e.Type.Name)
			}
		}
		placeholders += int(report.Count(ntconv.CodeUnknownType))
		_, strict := l.read(t, Options{Strict: true}, true)
		if _, err := l.read(t, Options{Order: FileOrder, Strict: true}, true); err != nil && strict == nil {
			t.Fatalf("strict file order refuses it: %v", err)
		}
		o := options[int(l.seed)%len(options)]
		if _, err := compareAccepted(l.build(), o); err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
	})
	if typed < 1000 || placeholders < 1000 {
		t.Errorf("%d events precede their types, %d have none", typed, placeholders)
	}
}

// TestLateRowDecision checks which sorted events end the wait of an event at time 50: those that are later than it.
func TestLateRowDecision(t *testing.T) {
	const start = 1_000_000_000
	for _, test := range []struct {
		sorted []uint64 // times of sorted events before the row
		typed  bool
	}{{nil, true}, {[]uint64{40}, true}, {[]uint64{40, 49}, true}, {[]uint64{50}, true}, {[]uint64{51}, false}, {[]uint64{40, 60}, false}} {
		for _, blocks := range []bool{false, true} {
			var out bytes.Buffer
			s := wirestream.New(&out, wire.V4)
			s.Types(wirestream.Type{ID: 1, Provider: "P", Name: "Known"})
			h := wire.EventHeader{MetadataID: 2, Thread: 1, CaptureThread: 1, Time: start + 50, Sequence: 1}
			b := s.Events()
			b.Add(&h, nil)
			for _, time := range test.sorted {
				if blocks {
					b.Flush()
				}
				h.MetadataID, h.Time, h.Sequence, h.Sorted = 1, start+time, h.Sequence+1, true
				b.Add(&h, nil)
			}
			b.Flush()
			s.Types(wirestream.Type{ID: 2, Provider: "P", Name: "Late"})
			s.End()
			_, events, err := readAll(out.Bytes(), &Options{Order: FileOrder, Strict: true})
			if test.typed != (err == nil) || test.typed && (len(events) != 1+len(test.sorted) || events[0].Type.Name != "Late") {
				t.Errorf("%+v, blocks %v: %d events, %v", test, blocks, len(events), err)
			}
		}
	}
}

// TestLateRowPassed checks that the wait of an event ends although an event before it waits, and that this does not
// depend on the blocks between the sorted event and the row. TraceEvent refuses this trace, too.
func TestLateRowPassed(t *testing.T) {
	const start = 1_000_000_000
	var out bytes.Buffer
	s := wirestream.New(&out, wire.V4)
	s.Types(wirestream.Type{ID: 1, Provider: "P", Name: "Known"})
	b := s.Events()
	for i, h := range []wire.EventHeader{
		{MetadataID: 2, Time: start + 100}, {MetadataID: 3, Time: start + 50}, {MetadataID: 1, Time: start + 60, Sorted: true},
		{MetadataID: 1, Time: start + 110},
	} {
		h.Thread, h.CaptureThread, h.Sequence = 1, 1, uint32(i+1)
		b.Add(&h, nil)
		b.Flush()
	}
	s.Types(wirestream.Type{ID: 2, Provider: "P", Name: "Late"})
	s.Types(wirestream.Type{ID: 3, Provider: "P", Name: "Too late"})
	s.End()
	report := &ntconv.Report{}
	_, events, err := readAll(out.Bytes(), &Options{Order: FileOrder, Report: report})
	var names []string
	for _, e := range events {
		names = append(names, e.Type.Name)
	}
	if want := []string{"Late", "", "Known", "Known"}; err != nil || !slices.Equal(names, want) || report.Count(ntconv.CodeUnknownType) != 1 {
		t.Errorf("events %q, %v, report %v; want %q", names, err, report.Entries(), want)
	}
	if _, _, err := readAll(out.Bytes(), &Options{Order: FileOrder, Strict: true}); !errors.Is(err, ntconv.ErrCorrupt) {
		t.Errorf("strict: %v", err)
	}
}

// TestLateRowPrefixes states the law of prefixes for traces with late rows. A prefix of the input yields a prefix of
// the definitions and a prefix of all else, except that an event whose row follows the end of the prefix is a
// placeholder.
func TestLateRowPrefixes(t *testing.T) {
	cut := 0
	lateTraces(t, 8, true, true, func(l lateTrace) {
		data := l.build()
		whole, err := l.read(t, Options{Order: FileOrder}, true)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(l.seed, 1))
		for n := r.IntN(50); n < len(data); n += 1 + r.IntN(len(data)/50+1) {
			part, err := readPrefix(data[:n])
			if err != nil && !errors.Is(err, ntconv.ErrTruncated) {
				t.Fatal(err)
			}
			cut += comparePrefix(t, part, whole)
		}
	})
	if cut < 100 {
		t.Errorf("only %d events lack the row after a prefix", cut)
	}
}

// readPrefix reads a truncated trace and returns all its events.
func readPrefix(data []byte) (events []*ntconv.Event, err error) {
	r, err := NewBytes(data, &Options{Order: FileOrder})
	if err != nil {
		return nil, err
	}
	for e, err := range ntconv.Events(r) {
		if err != nil {
			return events, err
		}
		events = append(events, e.Clone())
	}
	return events, nil
}

// comparePrefix returns the number of events that are placeholders only in the prefix.
func comparePrefix(t *testing.T, part, whole []*ntconv.Event) (placeholders int) {
	t.Helper()
	if a, b := texts(part, true), texts(whole, true); len(a) > len(b) || !slices.Equal(a, b[:len(a)]) {
		t.Fatalf("definitions %v, of the whole %v", a, b)
	}
	defined := map[string]bool{}
	for _, e := range part {
		if e.Kind == ntconv.KindDefine && e.Type != nil {
			defined[e.Type.Name] = true
		}
	}
	isDefinition := func(e *ntconv.Event) bool { return e.Kind == ntconv.KindDefine }
	part, whole = slices.DeleteFunc(part, isDefinition), slices.DeleteFunc(slices.Clone(whole), isDefinition)
	if len(part) > len(whole) {
		t.Fatalf("%d events, %d of the whole", len(part), len(whole))
	}
	for i, e := range part {
		want := whole[i]
		if e.Flags&ntconv.FlagPlaceholder != 0 && want.Flags&ntconv.FlagPlaceholder == 0 && !defined[want.Type.Name] {
			placeholders++
			typed := *want
			typed.Type, typed.Flags = e.Type, typed.Flags|ntconv.FlagPlaceholder
			want = &typed
		}
		if a, b := eventText(e), eventText(want); a != b || e.Offset != want.Offset {
			t.Fatalf("event %d is\n%s\nof the whole\n%s", i, a, b)
		}
	}
	return placeholders
}

// TestLateRowLimits checks that the limits of the window hold in file order, too: events that wait are delivered as
// placeholders, in order and completely, and the window is counted.
func TestLateRowLimits(t *testing.T) {
	const events, payload = 5000, 100
	for _, v := range []wire.Version{wire.V4, wire.V6} {
		var out bytes.Buffer
		s := wirestream.New(&out, v)
		s.Types(wirestream.Type{ID: 1, Provider: "P", Name: "Known"})
		if v == wire.V6 {
			s.Threads(wire.Thread{Index: 1, TID: 1, Has: 1 << wire.ThreadTID})
		}
		b := s.Events()
		for i := range uint32(events) {
			b.Add(&wire.EventHeader{MetadataID: 1 + i%2, Thread: 1, CaptureThread: 1, Time: 1e9 + uint64(i), Sequence: 1 + i, PayloadSize: payload}, make([]byte, payload))
			if i%100 == 99 {
				b.Flush()
			}
		}
		s.Types(wirestream.Type{ID: 2, Provider: "P", Name: "Late"})
		s.End()
		for _, test := range []struct {
			limits  Limits
			waiting int // events that still wait when the row appears
		}{{Limits{}, events}, {Limits{WindowEvents: 1}, 1}, {Limits{WindowEvents: 700}, 700}, {Limits{WindowBytes: 100_000}, 1000}} {
			report := &ntconv.Report{}
			r, err := New(bytes.NewReader(out.Bytes()), &Options{Order: FileOrder, Limits: test.limits, Report: report})
			if err != nil {
				t.Fatal(err)
			}
			seq, late, placeholders, rows, held := uint32(0), 0, uint64(0), 0, 0
			for {
				e, err := r.Next()
				if err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				rows, held = max(rows, r.window.left()), max(held, r.window.bytes)
				if e.Kind != ntconv.KindEvent {
					continue
				}
				if seq++; e.Seq != seq || len(e.Payload) != payload {
					t.Fatalf("%+v: event %d with %d bytes follows event %d", test, e.Seq, len(e.Payload), seq-1)
				}
				if e.Type.Name == "Late" {
					late++
				} else if e.Flags&ntconv.FlagPlaceholder != 0 {
					placeholders++
				}
			}
			full := report.Count(ntconv.CodeWindowCap)
			if seq != events || late > test.waiting/2+1 || late+int(placeholders) != events/2 || report.Count(ntconv.CodeUnknownType) != placeholders {
				t.Errorf("version %d, %+v: %d events, %d typed late, %d placeholders: %v", v, test, seq, late, placeholders, report.Entries())
			}
			if (full == 0) != (placeholders == 0) || rows > r.limits.WindowEvents || held > r.limits.WindowBytes+64<<10 {
				t.Errorf("version %d, %+v: %d full windows, %d rows and %d bytes", v, test, full, rows, held)
			}
		}
	}
}

// TestLateRowLive checks that an event appears as soon as the row of its type does, and that events do not wait for
// rows of events before them that have arrived.
func TestLateRowLive(t *testing.T) {
	data := pendingEvent(wire.V6, false)
	in := &gated{data: data, limit: len(data)}
	r, err := New(in, &Options{Order: FileOrder})
	if err != nil {
		t.Fatal(err)
	}
	edges := blockEdges(t, data)
	for {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != ntconv.KindEvent {
			continue
		}
		if last := len(data) - wire.BlockHeaderSize; in.furthest > last || e.Type.Name != "Sale" {
			t.Errorf("event of type %q after %d bytes of %d were read; blocks at %v", e.Type.Name, in.furthest, len(data), edges)
		}
		return
	}
}
