// Package symbolgen generates traces from arbitrary bytes for fuzz targets: samples, and symbol events of all kinds,
// including ntconv's own definitions. The events are well-formed, but their contents are inconsistent: ranges overlap,
// IDs are reused, a frame may have no function, and the frames of one address may be in different mappings.
package symbolgen

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
)

// Info describes the traces of Events.
func Info() *ntconv.Info { return &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}, PointerSize: 8} }

// opSize is the number of input bytes per event.
const opSize = 8

// Events returns the events for data: one per 8 bytes, in time order. The first byte selects the kind of the event, the
// others its contents. All addresses, IDs and names are from small sets, so events often refer to each other.
func Events(data []byte) []*ntconv.Event {
	g := newGenerator()
	for len(data) >= opSize {
		g.event(data[0], data[1:opSize])
		data = data[opSize:]
	}
	return g.events
}

// Random returns input for n events, most of them about the same few addresses.
func Random(rng *rand.Rand, n int) []byte {
	data := make([]byte, opSize*n)
	few := byte(2 + rng.IntN(20))
	for i := range data {
		data[i] = byte(rng.Uint32())
		if i%opSize != 0 && rng.IntN(4) > 0 {
			data[i] %= few
		}
	}
	return data
}

// A generator holds the state that events share.
type generator struct {
	processes [2]*ntconv.Process
	threads   [2]*ntconv.Thread
	types     [numKinds]*ntconv.Type
	events    []*ntconv.Event
}

// Kinds of events.
const (
	kindFrame = iota
	kindOwnMapping
	kindMapping
	kindSymbol
	kindMethod
	kindRundown
	kindModule
	kindMetadata
	kindSample
	kindCPU
	numKinds
)

func newGenerator() *generator {
	g := &generator{types: [numKinds]*ntconv.Type{
		kindFrame: {
			Provider: "ntconv",
			ID:       2,
			Name:     "Frame",
			Fields:   fields("Address", "PC", "Flags", "Line", "Column", "Named", "StartLine", "Inner", "$Name", "$SystemName", "$File"),
		},
		kindOwnMapping: {
			Provider: "ntconv",
			ID:       1,
			Name:     "Mapping",
			Fields:   fields("Id", "Known", "Start", "Limit", "Offset", "Flags", "$File", "$BuildID"),
		},
		kindMapping:  {Provider: clr.UniversalSystem, ID: 3, Name: "ProcessMapping"},
		kindSymbol:   {Provider: clr.UniversalSystem, ID: 4, Name: "ProcessSymbol"},
		kindMethod:   {Provider: clr.Runtime, ID: 143, Version: 2},
		kindRundown:  {Provider: clr.Rundown, ID: 144, Version: 2},
		kindModule:   {Provider: clr.Runtime, ID: 152, Version: 2},
		kindMetadata: {Provider: clr.UniversalSystem, ID: 5, Name: "ProcessMappingMetadata"},
		kindSample:   {Provider: clr.SampleProfiler},
		kindCPU:      {Provider: clr.UniversalEvents, ID: 1, Name: "cpu", Fields: fields("Value")},
	}}
	for _, t := range g.types {
		if layout := clr.Lookup(t.Provider, t.ID, t.Version); t.Fields == nil && layout != nil {
			t.Fields = layout.Fields
		}
	}
	for i := range g.processes {
		g.processes[i] = &ntconv.Process{PID: uint64(i + 1), PointerSize: 8}
		g.threads[i] = &ntconv.Thread{TID: uint64(i + 1), Process: g.processes[i]}
	}
	return g
}

// fields returns fields of variable-length numbers, or of counted UTF-8 if the name begins with a dollar sign.
func fields(names ...string) (list []ntconv.Field) {
	for _, name := range names {
		f := ntconv.Field{Name: name, Type: ntconv.FieldType{Code: ntconv.TypeVarUint}}
		if name[0] == '$' {
			f = ntconv.Field{
				Name: name[1:],
				Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &ntconv.FieldType{Code: ntconv.TypeUTF8Unit}},
			}
		}
		list = append(list, f)
	}
	return list
}

// nameList is the list of names of files and functions.
var nameList = [...]string{
	"", "f", "Main", "/app/shop.dll", "/lib/libc.so", "[vdso]", "/memfd:doublemapper", "vmlinux", "\xff;\n", "void [shop] A.B`1[C]::M(int32)[Tier0]",
	"System.Private.CoreLib.dll", "shop", "instance void  (!0,class D`1<int32>&)", "<M>b__0", "N.T+<>c", `{"type":"ELF","build_id":"00ff"}`,
}

func text(b byte) ntconv.Value    { return ntconv.StringValue(nameList[int(b)%len(nameList)]) }
func number(b byte) ntconv.Value  { return ntconv.UintValue(uint64(b)) }
func address(b byte) ntconv.Value { return ntconv.UintValue(pc(b)) }

// pc returns one of 256 addresses: some of them in the kernel, and the lowest and the highest address.
func pc(b byte) uint64 {
	switch {
	case b == 255:
		return ^uint64(0)
	case b >= 240:
		return 0xffff_8000_0000_0000 + uint64(b)
	case b == 0:
		return 0
	}
	return 0x1000 + uint64(b)
}

// event appends an event of the kind that op selects, with contents from b.
func (g *generator) event(op byte, b []byte) {
	kind := int(op) % numKinds
	e := &ntconv.Event{
		Kind: ntconv.KindEvent, Time: ntconv.Ticks(len(g.events)) * 1e6, Offset: int64(len(g.events)), Type: g.types[kind], CPU: ntconv.CPUUnknown,
		Thread: g.threads[int(op)/numKinds%2], Seq: uint32(len(g.events) + 1),
	}
	e.Capture = e.Thread
	switch kind {
	case kindSample:
		e.Payload = binary.LittleEndian.AppendUint32(nil, uint32(b[6])%4)
	case kindCPU:
		e.Payload = []byte{b[6] & 0x7f}
	default:
		e.Payload = payload(e.Type, values(kind, b))
	}
	if kind == kindSample || kind == kindCPU {
		e.Stack = &ntconv.Stack{}
		for _, n := range b[:6] {
			e.Stack.PCs = append(e.Stack.PCs, pc(n))
		}
	}
	g.events = append(g.events, e)
}

// payload encodes values, which must match the type.
func payload(t *ntconv.Type, values []ntconv.Value) []byte {
	p, err := ntconv.AppendFields(nil, t.Fields, values, 8)
	if err != nil {
		panic(fmt.Sprintf("%s/%d %s: %v", t.Provider, t.ID, t.Name, err))
	}
	return p
}

// values returns the field values of a symbol event.
func values(kind int, b []byte) []ntconv.Value {
	last := ntconv.UintValue(pc(b[0]) + uint64(b[1]))
	switch kind {
	case kindFrame:
		return []ntconv.Value{
			address(b[0]), address(b[1]), number(b[2]), number(b[3]), number(b[3]), number(b[4] & 1), number(b[3]), number(b[4] >> 1 & 3),
			text(b[5]), text(b[6]), text(b[6] >> 4),
		}
	case kindOwnMapping:
		return []ntconv.Value{number(b[2] % 8), number(b[3] & 1), address(b[0]), last, number(b[4]), number(b[3]), text(b[5]), text(b[6])}
	case kindMapping:
		return []ntconv.Value{number(b[2] % 8), address(b[0]), last, number(b[3]), text(b[5]), number(b[4] % 4)}
	case kindSymbol:
		return []ntconv.Value{number(b[3]), number(b[2] % 8), address(b[0]), last, text(b[5])}
	case kindMethod, kindRundown:
		return []ntconv.Value{
			number(
				b[2] % 8,
			), number(b[3] % 4), address(b[0]), number(b[1]), number(b[4]), number(8), text(b[5]), text(b[6]), text(b[6] >> 4),
			number(0), number(0),
		}
	case kindModule:
		none := ntconv.GUIDValue(ntconv.GUID{})
		return []ntconv.Value{
			number(b[3] % 4), number(1), number(0), number(0), text(b[5]), text(b[6]), number(0),
			ntconv.GUIDValue(ntconv.GUID{b[4]}), number(b[2]), text(0), none, number(0), text(0),
		}
	}
	return []ntconv.Value{number(b[0] % 4), text(b[5]), text(b[6])}
}
