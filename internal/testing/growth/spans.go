package growth

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

const clrProvider = "Microsoft-Windows-DotNETRuntime"

// spanInputs returns generators of many intervals: spans, pairs of events, intervals of the runtime. Many are open at a
// time.
func spanInputs() []Input {
	return []Input{
		traceInput("gc-open", 500, func(t *trace, n int) { // starts without an end
			t.pairs(n, clrProvider, 1, 2, gcPayload, nil)
		}),
		traceInput("gc-nested", 500, func(t *trace, n int) {
			t.pairs(n, clrProvider, 1, 2, gcPayload, func(i int) int { return n - 1 - i })
		}),
		traceInput("gc-crossing", 500, func(t *trace, n int) { // each overlaps all others and contains none
			t.pairs(n, clrProvider, 1, 2, gcPayload, func(i int) int { return i })
		}),
		traceInput("gc-ends", 500, func(t *trace, n int) { // ends without a start
			end := t.typ(clrProvider, 2, "", 0)
			for i := range n {
				t.event(end, gcPayload(i))
			}
		}),
		traceInput("suspensions", 500, func(t *trace, n int) {
			t.pairs(n, clrProvider, 9, 3, func(int) []byte { return make([]byte, 10) }, nil)
		}),
		traceInput("contention-open", 500, func(t *trace, n int) {
			t.pairs(n, clrProvider, 81, 91, func(int) []byte { return make([]byte, 27) }, nil)
		}),
		traceInput("contention-nested", 500, func(t *trace, n int) {
			t.pairs(n, clrProvider, 81, 91, func(int) []byte { return make([]byte, 27) }, func(i int) int { return i })
		}),
		traceInput("work-items", 500, func(t *trace, n int) { // arrows that cross each other
			t.pairs(
				n,
				clrProvider,
				61,
				62,
				func(i int) []byte { return append(bin.AppendU64(nil, uint64(i)), 0, 0) },
				func(i int) int { return i },
			)
		}),
		traceInput("work-items-open", 500, func(t *trace, n int) {
			t.pairs(n, clrProvider, 61, 62, func(i int) []byte { return append(bin.AppendU64(nil, uint64(i)), 0, 0) }, nil)
		}),
		traceInput("exceptions-open", 500, func(t *trace, n int) {
			t.pairs(n, clrProvider, 80, 256, func(i int) []byte {
				b := bin.AppendUTF16Z(bin.AppendUTF16Z(nil, fmt.Sprint("N.Exception", i)), "message")
				return append(b, make([]byte, 16)...)
			}, nil)
		}),
		traceInput("jit-open", 500, func(t *trace, n int) {
			start := t.typ(clrProvider, 145, "", 1)
			for i := range n {
				b := bin.AppendU64(bin.AppendU64(nil, uint64(i)), 1)
				b = bin.AppendU32(bin.AppendU32(b, 1), 1)
				b = bin.AppendUTF16Z(bin.AppendUTF16Z(bin.AppendUTF16Z(b, "N.T"), fmt.Sprint("M", i)), "void ()")
				t.event(start, append(b, 0, 0))
			}
		}),
		traceInput("pairs-open", 1200, func(t *trace, n int) { t.sourcePairs(n, false, nil) }),
		traceInput("pairs-nested", 1200, func(t *trace, n int) { t.sourcePairs(n, false, func(i int) int { return n - 1 - i }) }),
		traceInput("pairs-crossing", 2400, func(t *trace, n int) { t.sourcePairs(n, false, func(i int) int { return i }) }),
		traceInput("pairs-tasks", 300, func(t *trace, n int) { // each pair belongs to its own task
			for i := range n {
				t.typ("S", uint32(2*i+1), fmt.Sprintf("Task%dStart", i), 0, field("id", wire.TypeInt32))
				t.event(t.types, bin.AppendU32(nil, uint32(i)))
			}
			for i := range n {
				t.typ("S", uint32(2*i+2), fmt.Sprintf("Task%dStop", i), 0, field("id", wire.TypeInt32))
				t.event(t.types, bin.AppendU32(nil, uint32(i)))
			}
		}),
		traceInput("pairs-activities", 1200, func(t *trace, n int) { t.sourcePairs(n, true, func(i int) int { return i }) }),
		traceInput("pairs-activities-open", 1200, func(t *trace, n int) { t.sourcePairs(n, true, nil) }),
		traceInput("labels-spans", 500, func(t *trace, n int) {
			t.labeled(n, func(i int) uint64 { return uint64(i + 1) })
		}),
		traceInput("labels-one-span", 500, func(t *trace, n int) {
			t.labeled(n, func(int) uint64 { return 1 })
		}),
		traceInput("activities", 300, func(t *trace, n int) {
			t.activities(n, func(i int) (uint64, uint64) { return uint64(i + 1), 0 })
		}),
		traceInput("activities-chain", 800, func(t *trace, n int) { // each is the parent of the next
			t.activities(n, func(i int) (uint64, uint64) { return uint64(i + 1), uint64(i) })
		}),
		traceInput("activities-chain-reverse", 800, func(t *trace, n int) {
			t.activities(n, func(i int) (uint64, uint64) { return uint64(n - i), uint64(n - i - 1) })
		}),
		traceInput("activities-cycle", 300, func(t *trace, n int) {
			t.activities(n, func(i int) (uint64, uint64) { return uint64(i + 1), uint64((i+1)%n + 1) })
		}),
		traceInput("activities-missing-parents", 300, func(t *trace, n int) {
			t.activities(n, func(i int) (uint64, uint64) { return uint64(i + 1), uint64(i+1) << 32 })
		}),
		traceInput("activities-same-id", 300, func(t *trace, n int) {
			t.activities(n, func(int) (uint64, uint64) { return 1, 1 })
		}),
		traceInput("activities-tags", 300, func(t *trace, n int) {
			tags := ""
			for i := range n {
				tags += fmt.Sprintf("[key%d, value],", i)
			}
			t.activity(t.activityType("ActivityStop"), 1, 0, tags)
		}),
		traceInput("activities-same-tags", 300, func(t *trace, n int) {
			tags := ""
			for range n {
				tags += "[key, value],"
			}
			t.activity(t.activityType("ActivityStop"), 1, 0, tags)
		}),
		traceInput("activities-open", 300, func(t *trace, n int) {
			typ := t.activityType("ActivityStart")
			for i := range n {
				t.activity(typ, uint64(i+1), uint64(i), "[a, b]")
			}
		}),
		traceInput(
			"activity-paths",
			300,
			func(t *trace, n int) { // activity IDs of nested tasks: 1, 1/1, 1/1/1 and so on
				typ := t.typ("S", 1, "WorkStart", 0, field("id", wire.TypeInt32))
				for i := range n {
					h := wire.EventHeader{MetadataID: typ}
					l := wire.Label{Kind: wire.LabelActivityID}
					for k := range 12 { // the first bytes identify the root, the rest differs
						l.ID[k] = byte(0x11 + 0x11*(i>>(3*max(k-7, 0))&7))
					}
					sum := uint32(0x599D99AD) // checksum of a path
					for k := 0; k < 12; k += 4 {
						sum += binary.LittleEndian.Uint32(l.ID[k:])
					}
					binary.LittleEndian.PutUint32(l.ID[12:], sum)
					t.flush()
					h.LabelList = t.list(l)
					t.add(h, bin.AppendU32(nil, uint32(i)))
				}
			},
		),
		traceInput("counters", 300, func(t *trace, n int) {
			typ := t.counterType()
			for i := range n {
				t.event(typ, counterPayload(fmt.Sprint("counter", i)))
			}
		}),
		traceInput("counters-same", 500, func(t *trace, n int) {
			typ := t.counterType()
			for range n {
				t.event(typ, counterPayload("counter"))
			}
		}),
		traceInput("gc-dynamic", 300, func(t *trace, n int) { // events that name their own fields
			typ := t.typ(clrProvider, 39, "", 0)
			for i := range n {
				b := bin.AppendUTF16Z(nil, fmt.Sprint("Name", i))
				b = append(bin.AppendU32(b, 8), 1, 2, 3, 4, 5, 6, 7, 8)
				t.event(typ, append(b, 0, 0))
			}
		}),
	}
}

func gcPayload(i int) []byte { return append(bin.AppendU32(nil, uint32(i)), make([]byte, 6)...) }

// pairs writes n start events, and stop events in the order that end returns, or none if end is nil.
func (t *trace) pairs(n int, provider string, begin, end uint32, payload func(i int) []byte, order func(i int) int) {
	b, e := t.typ(provider, begin, "", 0), t.typ(provider, end, "", 0)
	for i := range n {
		t.event(b, payload(i))
	}
	if order != nil {
		for i := range n {
			t.event(e, payload(order(i)))
		}
	}
}

// sourcePairs writes pairs of an event source: each on one of four threads, or with its own activity ID.
func (t *trace) sourcePairs(n int, activities bool, order func(i int) int) {
	start, stop := t.typ("S", 1, "WorkStart", 0, field("id", wire.TypeInt32)), t.typ("S", 2, "WorkStop", 0, field("id", wire.TypeInt32))
	emit := func(typ uint32, i int) {
		h := wire.EventHeader{MetadataID: typ, Thread: thread1 + uint64(i%4)}
		if activities {
			t.flush()
			l := wire.Label{Kind: wire.LabelActivityID}
			copy(l.ID[:], bin.AppendU64(nil, uint64(i+1)))
			l.ID[15] = 0xff // not the form of a path
			h.LabelList = t.list(l)
		}
		t.add(h, bin.AppendU32(nil, uint32(i)))
	}
	for i := range n {
		emit(start, i)
	}
	if order != nil {
		for i := range n {
			emit(stop, order(i))
		}
	}
}

// labeled writes events with labels of spans.
func (t *trace) labeled(n int, span func(i int) uint64) {
	typ := t.typ("P", 1, "E", 0)
	for i := range n {
		trace, id := wire.Label{Kind: wire.LabelTraceID}, wire.Label{Kind: wire.LabelSpanID}
		trace.ID[0] = 1
		copy(id.ID[:], bin.AppendU64(nil, span(i)))
		t.flush()
		t.add(wire.EventHeader{MetadataID: typ, LabelList: t.list(trace, id)}, nil)
	}
}

func (t *trace) activityType(name string) uint32 {
	text := func(name string) wire.Field {
		return wire.Field{Name: name, Type: wire.Type{Code: wire.TypeUTF16String}}
	}
	pair := wire.Type{Code: wire.TypeObject, Fields: []wire.Field{text("Key"), text("Value")}}
	return t.typ("Microsoft-Diagnostics-DiagnosticSource", 16, name, 0, text("SourceName"), text("ActivityName"),
		wire.Field{Name: "Arguments", Type: wire.Type{Code: wire.TypeArray, Elem: &pair}})
}

func (t *trace) activities(n int, ids func(i int) (span, parent uint64)) {
	typ := t.activityType("ActivityStop")
	for i := range n {
		id, parent := ids(i)
		t.activity(typ, id, parent, fmt.Sprintf("[key, value %d]", i))
	}
}

// activity writes an event of an Activity.
func (t *trace) activity(typ uint32, id, parent uint64, tags string) {
	b := bin.AppendU16(bin.AppendUTF16Z(bin.AppendUTF16Z(nil, "Source"), "operation"), 9)
	for _, kv := range [...][2]string{
		{"TraceId", "0000000000000000000000000000abcd"}, {"SpanId", fmt.Sprintf("%016x", id)}, {"ParentSpanId", fmt.Sprintf("%016x", parent)},
		{"ActivityTraceFlags", "Recorded"}, {"Kind", "Internal"}, {"DisplayName", "operation"},
		{"StartTimeTicks", fmt.Sprint(uint64(639_000_000_000_000_000) + t.clock/100)}, {"DurationTicks", "1000"}, {"Tags", tags},
	} {
		b = bin.AppendUTF16Z(bin.AppendUTF16Z(b, kv[0]), kv[1])
	}
	t.event(typ, b)
}

func (t *trace) counterType() uint32 {
	text := func(name string) wire.Field {
		return wire.Field{Name: name, Type: wire.Type{Code: wire.TypeUTF16String}}
	}
	inner := wire.Type{Code: wire.TypeObject, Fields: []wire.Field{
		text("Name"), text("DisplayName"), field("Mean", wire.TypeDouble), field("StandardDeviation", wire.TypeDouble), field("Count", wire.TypeInt32),
		field("Min", wire.TypeDouble), field("Max", wire.TypeDouble), field("IntervalSec", wire.TypeSingle), text("Series"), text("CounterType"),
		text("Metadata"), text("DisplayUnits"),
	}}
	return t.typ("System.Runtime", 3, "EventCounters", 0, wire.Field{Name: "Payload", Type: inner})
}

func counterPayload(name string) []byte {
	b := bin.AppendUTF16Z(bin.AppendUTF16Z(nil, name), name)
	b = bin.AppendU64(bin.AppendU64(b, math.Float64bits(1)), 0)
	b = bin.AppendU64(bin.AppendU64(bin.AppendU32(b, 1), math.Float64bits(1)), math.Float64bits(1))
	b = bin.AppendU32(b, math.Float32bits(1))
	for _, s := range []string{"Interval=1000", "Mean", "", "MB"} {
		b = bin.AppendUTF16Z(b, s)
	}
	return b
}
