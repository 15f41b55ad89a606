package growth

import (
	"fmt"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// labelInputs returns generators of many label lists or labels.
func labelInputs() []Input {
	return []Input{
		traceInput("labels", 500, func(t *trace, n int) {
			typ := t.typ("P", 1, "E", 0)
			for i := range n {
				t.flush()
				t.add(wire.EventHeader{MetadataID: typ, LabelList: t.list(stringLabel("key", fmt.Sprint("value", i)))}, nil)
			}
		}),
		traceInput("labels-keys", 300, func(t *trace, n int) {
			typ, s := t.sampler(), t.stack(0x1000)
			for i := range n {
				t.flush()
				l := t.list(stringLabel(fmt.Sprint("key", i), "value"), wire.Label{Kind: wire.LabelNumber, Value: wire.Value{Key: fmt.Sprint("number", i), Num: 7}})
				t.add(wire.EventHeader{MetadataID: typ, LabelList: l, StackID: s}, []byte{1})
			}
		}),
		traceInput("labels-long-list", 500, func(t *trace, n int) {
			t.longList(n, func(i int) string { return fmt.Sprint("key", i) })
		}),
		traceInput("labels-same-key", 500, func(t *trace, n int) {
			t.longList(n, func(int) string { return "key" })
		}),
		traceInput("labels-colliding", 500, func(t *trace, n int) {
			t.longList(n, func(i int) string {
				if i < n/2 {
					return fmt.Sprint("key_", i+n/2+2)
				}
				return "key"
			})
		}),
		traceInput("labels-activities", 500, func(t *trace, n int) {
			var list []wire.Label
			for i := range n {
				l := wire.Label{Kind: [...]wire.LabelKind{wire.LabelActivityID, wire.LabelTraceID, wire.LabelSpanID}[i%3]}
				copy(l.ID[:], bin.AppendU64(nil, uint64(i+1)))
				list = append(list, l)
			}
			t.add(wire.EventHeader{MetadataID: t.typ("P", 1, "E", 0), LabelList: t.list(list...)}, nil)
		}),
	}
}

func stringLabel(key, value string) wire.Label {
	return wire.Label{Kind: wire.LabelString, Value: wire.Value{Key: key, Str: value}}
}

// longList writes a sample with n labels.
func (t *trace) longList(n int, key func(i int) string) {
	var list []wire.Label
	for i := range n {
		list = append(list, stringLabel(key(i), "value"))
	}
	h := wire.EventHeader{MetadataID: t.sampler(), LabelList: t.list(list...), StackID: t.stack(0x1000)}
	t.add(h, []byte{1})
	h.MetadataID = t.typ("P", 1, "E", 0)
	t.add(h, nil)
}
