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
	"github.com/ntconv/ntconv/internal/testing/tracegen"
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

// lateTraces calls f for traces of both versions.
func lateTraces(t *testing.T, n uint64, sorted, missing bool, f func(l tracegen.Late)) {
	for seed := range n {
		for _, v := range []wire.Version{wire.V4, wire.V6} {
			func() {
				defer func() {
					if t.Failed() {
						t.Logf("version %d, seed %d", v, seed)
					}
				}()
				f(tracegen.Late{Version: v, Seed: seed, Sorted: sorted, Missing: missing})
			}()
		}
	}
}

// readLate reads a trace, in pieces or from memory, and returns its events with their offsets.
func readLate(t *testing.T, l tracegen.Late, o Options, memory bool) (list []*ntconv.Event, err error) {
	data := l.Build()
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
		lateTraces(t, 40, false, missing, func(l tracegen.Late) {
			for i, o := range []Options{{Order: FileOrder}, {Order: FileOrder, Strict: true}, {}, {Strict: true}} {
				report := &ntconv.Report{}
				o.Report = report
				events, err := readLate(t, l, o, l.Seed%2 == 0)
				early := l
				early.Early = true
				o.Report = nil
				want, earlyErr := readLate(t, early, o, l.Seed%3 == 0)
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
	lateTraces(t, 100, true, true, func(l tracegen.Late) {
		byTime, err := readLate(t, l, Options{}, false)
		report := &ntconv.Report{}
		inFile, fileErr := readLate(t, l, Options{Order: FileOrder, Report: report}, false)
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
		_, strict := readLate(t, l, Options{Strict: true}, true)
		if _, err := readLate(t, l, Options{Order: FileOrder, Strict: true}, true); err != nil && strict == nil {
			t.Fatalf("strict file order refuses it: %v", err)
		}
		o := options[int(l.Seed)%len(options)]
		if _, err := compareAccepted(l.Build(), o); err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		if err := comparePlain(l.Build()); err != nil {
			t.Fatal(err)
		}
	})
	if typed < 1000 || placeholders < 1000 {
		t.Errorf("%d events precede their types, %d have none", typed, placeholders)
	}
}

// TestLateRowPrefixes states the law of prefixes for traces with late rows. A prefix of the input yields a prefix of
// the definitions and a prefix of all else, except that an event whose row follows the end of the prefix is a
// placeholder.
func TestLateRowPrefixes(t *testing.T) {
	cut := 0
	lateTraces(t, 8, true, true, func(l tracegen.Late) {
		data := l.Build()
		whole, err := readLate(t, l, Options{Order: FileOrder}, true)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(l.Seed, 1))
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
