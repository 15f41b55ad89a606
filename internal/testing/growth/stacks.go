package growth

import (
	"fmt"
	"strings"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// stackInputs returns generators of many stacks, methods, modules, mappings or symbols.
func stackInputs() []Input {
	return []Input{
		traceInput("stacks-unique", 500, func(t *trace, n int) {
			typ := t.sampler()
			for i := range n {
				t.sample(typ, 0x1000+uint64(i)*16, 0x2000, 0x3000)
			}
		}),
		traceInput("stacks-addresses", 300, func(t *trace, n int) { // each address occurs once
			typ := t.sampler()
			for i := range uint64(n) {
				t.sample(typ, 0x1000+i*64, 0x1010+i*64, 0x1020+i*64, 0x1030+i*64)
			}
		}),
		traceInput("stacks-deep", 1000, func(t *trace, n int) {
			pcs := make([]uint64, n)
			for i := range pcs {
				pcs[i] = 0x1000 + uint64(i)*16
			}
			typ := t.sampler()
			for range 3 {
				t.sample(typ, pcs...)
			}
		}),
		traceInput("stacks-recursive", 1000, func(t *trace, n int) {
			t.methods(1)
			pcs := make([]uint64, n)
			for i := range pcs {
				pcs[i] = methodAddress(0)
			}
			t.sample(t.sampler(), pcs...)
		}),
		traceInput("stacks-shared", 300, func(t *trace, n int) { // the outermost frames are equal
			typ := t.sampler()
			for i := range uint64(n) {
				pcs := []uint64{0x1000 + i*16}
				for k := range uint64(30) {
					pcs = append(pcs, 0x1000_0000+k*16)
				}
				t.sample(typ, pcs...)
			}
		}),
		traceInput("stacks-same", 1000, func(t *trace, n int) {
			typ, s := t.sampler(), t.stack(0x1000, 0x2000)
			for range n {
				t.add(wire.EventHeader{MetadataID: typ, StackID: s}, []byte{1})
			}
		}),
		traceInput("methods", 500, func(t *trace, n int) {
			t.methods(n)
			typ := t.sampler()
			for i := range n {
				t.sample(typ, methodAddress(i), methodAddress(n-1-i))
			}
		}),
		traceInput("methods-unused", 500, func(t *trace, n int) {
			t.methods(n)
			t.sample(t.sampler(), methodAddress(0))
		}),
		traceInput("methods-same-name", 500, func(t *trace, n int) {
			typ, method := t.sampler(), t.method()
			for i := range n {
				t.event(method, methodPayload(uint64(i), 1, methodAddress(i), 16, "N.T", "M", "void ()"))
				t.sample(typ, methodAddress(i))
			}
		}),
		traceInput("methods-same-address", 300, func(t *trace, n int) {
			typ, method := t.sampler(), t.method()
			for i := range n {
				t.event(method, methodPayload(uint64(i), 1, methodAddress(0), 16, "N.T", fmt.Sprint("M", i), "void ()"))
				t.sample(typ, methodAddress(0))
			}
		}),
		traceInput("methods-nested", 1200, func(t *trace, n int) { // each contains all later ones
			typ, method := t.sampler(), t.method()
			for i := range n {
				t.event(method, methodPayload(uint64(i), 1, methodAddress(0)+uint64(i), uint32(4*n-2*i), "N.T", fmt.Sprint("M", i), "void ()"))
				t.sample(typ, methodAddress(0)+uint64(i), methodAddress(0)+uint64(2*n))
			}
		}),
		traceInput("methods-long-names", 4, func(t *trace, n int) {
			typ, method := t.sampler(), t.method()
			for i := range n {
				long := strings.Repeat("a`1[[b,c]], int32&<", 100)
				t.event(method, methodPayload(uint64(i), 1, methodAddress(i), 16, "N."+long, "M"+long, "void  ("+long+")"))
				t.sample(typ, methodAddress(i))
			}
		}),
		traceInput("methods-signature", 1000, func(t *trace, n int) {
			t.event(t.method(), methodPayload(1, 1, methodAddress(0), 16, "N.T", "M", "void  ("+strings.Repeat("int32,", n)+"int32)"))
			t.sample(t.sampler(), methodAddress(0))
		}),
		traceInput("methods-type", 1000, func(t *trace, n int) {
			t.event(t.method(), methodPayload(1, 1, methodAddress(0), 16, strings.Repeat("a`1[[", n), strings.Repeat("b`2+", n), strings.Repeat("class c`1<", n)))
			t.sample(t.sampler(), methodAddress(0))
		}),
		traceInput("modules", 500, func(t *trace, n int) {
			t.modules(n, func(i int) uint64 { return uint64(i + 1) })
		}),
		traceInput("modules-same-id", 500, func(t *trace, n int) {
			t.modules(n, func(int) uint64 { return 1 })
		}),
		traceInput("mappings", 500, func(t *trace, n int) {
			t.mappings(n, func(i uint64) (uint64, uint64, uint64) { return i + 1, 0x10000 * (i + 1), 0x10000*(i+1) + 0xffff })
		}),
		traceInput("mappings-same", 500, func(t *trace, n int) {
			t.mappings(n, func(uint64) (uint64, uint64, uint64) { return 1, 0x10000, 0x1ffff })
		}),
		traceInput("mappings-nested", 1200, func(t *trace, n int) {
			t.mappings(n, func(i uint64) (uint64, uint64, uint64) { return i + 1, 0x10000 * (i + 1), 0x10000*(4*uint64(n)-i) - 1 })
		}),
		traceInput("mappings-nested-inner-first", 1200, func(t *trace, n int) {
			t.mappings(n, func(i uint64) (uint64, uint64, uint64) {
				i = uint64(n) - i
				return i + 1, 0x10000 * (i + 1), 0x10000*(4*uint64(n)-i) - 1
			})
		}),
		traceInput("symbols", 500, func(t *trace, n int) {
			t.symbols(n, func(i uint64) (uint64, uint64) { return i * 16, i*16 + 15 })
		}),
		traceInput("symbols-nested", 500, func(t *trace, n int) {
			t.symbols(n, func(i uint64) (uint64, uint64) { return i, 4*uint64(n) - i })
		}),
		traceInput("symbols-same", 500, func(t *trace, n int) {
			t.symbols(n, func(uint64) (uint64, uint64) { return 0, 15 })
		}),
		traceInput("symbols-wide", 500, func(t *trace, n int) { // each extends to the end of the mapping
			t.symbols(n, func(i uint64) (uint64, uint64) { return i * 16, 0xf_ffff })
		}),
	}
}

// sample writes a sample with a new stack.
func (t *trace) sample(typ uint32, pcs ...uint64) {
	t.flush()
	t.add(wire.EventHeader{MetadataID: typ, StackID: t.stack(pcs...)}, []byte{1})
}

func methodAddress(i int) uint64 { return 0x7f00_0000_0000 + uint64(i)*16 }

// method declares the type of method events.
func (t *trace) method() uint32 {
	return t.typ("Microsoft-Windows-DotNETRuntimeRundown", 144, "", 2)
}

// methods writes events for the first n methods.
func (t *trace) methods(n int) {
	method := t.method()
	for i := range n {
		t.event(method, methodPayload(uint64(i), uint64(1+i%7), methodAddress(i), 16, fmt.Sprint("N.T", i%9), fmt.Sprint("M", i), "void ()"))
	}
}

// methodPayload is a MethodDCEndVerbose event of version 2.
func methodPayload(id, module, start uint64, size uint32, namespace, name, signature string) []byte {
	b := bin.AppendU64(bin.AppendU64(bin.AppendU64(nil, id), module), start)
	b = bin.AppendU32(bin.AppendU32(bin.AppendU32(b, size), 0x6000001), 8)
	b = bin.AppendUTF16Z(bin.AppendUTF16Z(bin.AppendUTF16Z(b, namespace), name), signature)
	return bin.AppendU64(bin.AppendU16(b, 0), 0)
}

// modules loads n modules with one method each.
func (t *trace) modules(n int, id func(i int) uint64) {
	load, method, sampler := t.typ("Microsoft-Windows-DotNETRuntime", 152, "", 0), t.method(), t.sampler()
	for i := range n {
		b := bin.AppendU64(bin.AppendU64(nil, id(i)), 5)
		b = bin.AppendUTF16Z(bin.AppendU64(b, 0), fmt.Sprintf("/app/module%d.dll", i))
		t.event(load, bin.AppendUTF16Z(b, ""))
		t.event(method, methodPayload(uint64(i), id(i), methodAddress(i), 16, "N.T", "M", "void ()"))
		t.sample(sampler, methodAddress(i))
	}
}

// mappings writes n mappings and samples in them.
func (t *trace) mappings(n int, of func(i uint64) (id, start, end uint64)) {
	typ, metadata := t.typ("Universal.System", 3, "ProcessMapping", 0), t.typ("Universal.System", 5, "ProcessMappingMetadata", 0)
	sampler := t.sampler()
	for i := range uint64(n) {
		id, start, end := of(i)
		t.event(typ, mappingPayload(id, start, end, fmt.Sprintf("/lib/l%d.so", i)))
		t.event(metadata, sized(sized(bin.AppendVaruint(nil, id), `{"type":"elf","build_id":"00ff"}`), `{}`))
		t.sample(sampler, start+16, end-16)
	}
}

// symbols writes a mapping with n symbols, and samples in them.
func (t *trace) symbols(n int, of func(i uint64) (start, end uint64)) {
	const base = 0x10_0000
	t.event(t.typ("Universal.System", 3, "ProcessMapping", 0), mappingPayload(1, base, base+0xf_ffff, "/lib/l.so"))
	symbol, sampler := t.typ("Universal.System", 4, "ProcessSymbol", 0), t.sampler()
	for i := range uint64(n) {
		start, end := of(i)
		t.event(symbol, symbolPayload(i, 1, base+start, base+end, fmt.Sprint("symbol", i)))
		t.sample(sampler, base+start+1, base+i*16)
	}
}
