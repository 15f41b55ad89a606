package ntconv_test

import (
	"testing"
	"time"

	"github.com/ntconv/ntconv"
)

// allocationTick returns an event with the layout and a real payload size of the runtime's GCAllocationTick, version 4.
func allocationTick(tb testing.TB) *ntconv.Event {
	t := &ntconv.Type{Provider: "Microsoft-Windows-DotNETRuntime", ID: 10, Version: 4, Fields: []ntconv.Field{
		field("AllocationAmount", code(ntconv.TypeUint32)),
		field("AllocationKind", code(ntconv.TypeUint32)),
		field("ClrInstanceID", code(ntconv.TypeUint16)),
		field("AllocationAmount64", code(ntconv.TypeUint64)),
		field("TypeID", code(ntconv.TypePointer)),
		field("TypeName", code(ntconv.TypeUTF16String)),
		field("HeapIndex", code(ntconv.TypeUint32)),
		field("Address", code(ntconv.TypePointer)),
		field("ObjectSize", code(ntconv.TypeUint64)),
	}}
	u := ntconv.UintValue
	b, err := ntconv.AppendFields(nil, t.Fields, []ntconv.Value{
		u(106496), u(0), u(9), u(106496), u(0x7fd1_2345_6780), ntconv.StringValue("System.Collections.Generic.Dictionary`2[System.String,Shop.Item]"), u(0), u(0x7fd0_1000_2340), u(80),
	}, 8)
	if err != nil {
		tb.Fatal(err)
	}
	return &ntconv.Event{Type: t, Thread: &ntconv.Thread{Process: &ntconv.Process{PointerSize: 8}}, Payload: b}
}

var (
	sinkInt   uint64
	sinkBytes []byte
	sinkTicks ntconv.Ticks
)

func TestFieldsDoNotAllocate(t *testing.T) {
	tick := allocationTick(t)
	nested := event(8, "0200 01 0100 61 02 0000 01 00000000", of(ntconv.TypeArray, object(fields(code(ntconv.TypeInt8), of(ntconv.TypeArray, code(ntconv.TypeUTF8Unit)))...)),
		code(ntconv.TypeBool8), of(ntconv.TypeRelLoc, code(ntconv.TypeUint8)))
	loc := event(8, "0000 0400 01000200", of(ntconv.TypeRelLoc, code(ntconv.TypeUint16)))
	narrow := event(8, "01 05", code(ntconv.TypeBool32), code(ntconv.TypeInt8))
	buf := make([]byte, 0, 256)
	cases := map[string]func(){
		"fields": func() {
			for _, v := range tick.Fields() {
				sinkInt += v.Uint()
			}
		},
		"field by name": func() {
			v, _ := tick.Field("ObjectSize")
			sinkInt += v.Uint()
		},
		"text": func() {
			v, _ := tick.Field("TypeName")
			sinkBytes = v.AppendString(buf[:0])
		},
		"elements": func() {
			for _, v := range nested.Fields() {
				for e := range v.Elems() {
					for _, m := range e.Fields() {
						sinkInt += m.Uint()
					}
				}
			}
		},
		"location": func() {
			for _, v := range loc.Fields() {
				for e := range v.Elems() {
					sinkInt += e.Uint()
				}
			}
		},
		"narrow": func() {
			for _, v := range narrow.Fields() {
				sinkInt += v.Uint()
			}
		},
		"clock": func() {
			c := ntconv.Clock{Freq: 3_124_099, Wall: time.Unix(0, 0)}
			sinkTicks += ntconv.Ticks(c.Nanos(1<<50)) + c.TicksAt(time.Hour) + ntconv.Ticks(c.Time(5).Nanosecond())
		},
	}
	for name, f := range cases {
		if got := testing.AllocsPerRun(100, f); got > 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}
