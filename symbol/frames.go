package symbol

import (
	"hash/maphash"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/dotnet"
	"github.com/ntconv/ntconv/internal/intern"
)

// named is what an entry is called.
type named struct {
	fn      *ntconv.Function
	mapping *ntconv.Mapping // of managed code only: for native code the address decides
	flags   ntconv.FrameFlags
}

// memoKey is an entry of symbols, or of the process's methods if in is nil.
type memoKey struct {
	in    *symbols
	entry uint32
}

// unresolvedKey is an address without a name. Stand-ins differ by what is mapped there.
type unresolvedKey struct {
	in *process
	pc uint64
	at *ntconv.Mapping
}

// AppendFrames appends the frames of s to dst, leaf first: the source's own where it has them, else one a PC with the
// name that the address had at that time. Addresses above the leaf are return addresses: they may lie right behind the
// caller's code, so where an address has no name, the one before it may have one.
//
// Equal names give the same *ntconv.Function, and the same code the same *ntconv.Mapping. It does not allocate for code
// that was asked for before. Placeholders of addresses without a symbol are made again after thousands of others: a
// trace without symbols may have millions of addresses.
func (t *Table) AppendFrames(dst []ntconv.Frame, p *ntconv.Process, s *ntconv.Stack, at ntconv.Ticks) []ntconv.Frame {
	if s == nil {
		return dst
	}
	if len(s.Frames) > 0 {
		return append(dst, s.Frames...)
	}
	proc := t.process(p)
	if proc.wanted.begin() {
		t.nameAhead(proc)
	}
	inlined := 0
	for i, pc := range s.PCs {
		key := cacheKey{in: proc, pc: pc, version: t.version, returns: i > 0}
		c := t.cache.Get(pc, &key)
		if c == nil {
			if d := proc.defined[pc]; d != nil && d.outer != nil {
				if inlined += int(d.more); inlined > maxInlinedOf(len(s.PCs)) {
					inlined -= int(d.more)
					dst = append(dst, t.omitInlined(d, pc))
					d = d.last
				}
				for ; d != nil; d = d.outer {
					dst = append(dst, t.restore(proc, pc, at, d))
				}
				continue
			}
			f := t.frame(proc, pc, at, i > 0)
			if t.epoch(proc, pc) != 0 {
				dst = append(dst, f) // another time may have another answer
				continue
			}
			t.cache.Put(pc, &key, f)
			dst = append(dst, f)
			continue
		}
		dst = append(dst, *c)
	}
	return dst
}

// A cacheKey is an address whose frame is the same at all times.
type cacheKey struct {
	in      *process
	pc      uint64
	version uint32 // of the table
	returns bool   // the address is a return address
}

const (
	cacheBits  = 13
	cacheSize  = 1 << cacheBits
	hashFactor = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio: neighbors fall far apart
)

// Epoch returns a number of what the addresses of s mean at a time, which changes where code was loaded, mapped or
// named where other code was, or was unloaded. It is 0, and costs one comparison, while nothing of that happened in any
// process. What the table learns after the call of times before it may change the number; otherwise AppendFrames gives
// the same frames for all times with the same number.
func (t *Table) Epoch(p *ntconv.Process, s *ntconv.Stack, at ntconv.Ticks) uint32 {
	if t.epochs == 0 || s == nil || len(s.Frames) > 0 {
		return 0
	}
	proc := t.process(p)
	var m meaning
	for _, pc := range s.PCs {
		if t.epoch(proc, pc) != 0 {
			t.addMeaning(&m, proc, pc, at)
		}
	}
	return m.number()
}

// Settle makes Epoch exact until the next event: before, it may have one number for all meanings of an address but the
// newest. It reports whether that was possible, and whether the table would be the same if all events had come in the
// order of time.
func (t *Table) Settle() bool {
	settled := !t.late
	for _, p := range t.processes {
		settled = p.methods.when.settle() && p.native.when.settle() && settled
	}
	for _, s := range t.symbols {
		settled = s.when.settle() && settled
	}
	return settled
}

// epoch returns the number of the last change of meaning of an address: 0 if it has the same one at all times.
func (t *Table) epoch(p *process, pc uint64) uint32 {
	if t.epochs == 0 {
		return 0
	}
	n := p.methods.when.epoch(pc)
	if len(p.native.list) > 0 && (p.native.when.changed || t.symbolsAt != 0) {
		n = max(n, t.nativeEpoch(p, pc))
	}
	return n
}

// addMeaning adds all changes that decide about an address at a time.
func (t *Table) addMeaning(m *meaning, p *process, pc uint64, at ntconv.Ticks) {
	p.methods.when.meaning(m, pc, at)
	p.native.when.meaning(m, pc, at)
	if t.symbolsAt == 0 {
		return
	}
	if in := p.native.at(pc, at); in != nil {
		for _, s := range in.syms {
			s.when.meaning(m, pc, at)
		}
	}
	for _, s := range t.wideAround(p, pc) {
		if s != nil {
			s.when.meaning(m, pc, at)
		}
	}
}

// ReportUnresolved counts every address that AppendFrames met so far without a name, once each.
func (t *Table) ReportUnresolved(r *ntconv.Report) {
	r.Add(ntconv.CodeUnresolved, t.nameless.count, -1)
}

// frame names an address. returns is set for return addresses.
func (t *Table) frame(p *process, pc uint64, at ntconv.Ticks, returns bool) ntconv.Frame {
	if d := p.defined[pc]; d != nil {
		return t.restore(p, pc, at, d)
	}
	m := p.native.at(pc, at)
	if f, ok := t.lookup(p, m, pc, at); ok {
		return f
	}
	if returns && pc > 0 {
		if f, ok := t.lookup(p, p.native.at(pc-1, at), pc-1, at); ok {
			f.PC = pc
			return f
		}
	}
	shown := t.show(m)
	f := ntconv.Frame{Mapping: shown, PC: pc, Flags: ntconv.FrameUnresolved | kernelFlag(m, pc)}
	key := unresolvedKey{p, pc, shown}
	if known := t.unresolved.Get(pc, &key); known != nil {
		f.Func = *known
		return f
	}
	t.nameless.add(key)
	f.Func = &ntconv.Function{Name: standIn(shown, pc)}
	t.unresolved.Put(pc, &key, f.Func)
	return f
}

// An unresolvedSet counts distinct addresses without a symbol. It keeps 64-bit hashes of them, half of each as the
// number of an index.
type unresolvedSet struct {
	seed  maphash.Seed
	index intern.Index
	count uint64
}

func (s *unresolvedSet) add(k unresolvedKey) {
	hash := maphash.Comparable(s.seed, k)
	id := uint32(hash>>32) | 1
	p := s.index.Probe(hash << 32)
	for p.Next() {
		if p.ID == id {
			return
		}
	}
	s.index.Insert(&p, id)
	s.count++
}

// lookup finds the name of an address whose mapping is m.
func (t *Table) lookup(p *process, m *mapping, pc uint64, at ntconv.Ticks) (ntconv.Frame, bool) {
	if i, ok := p.methods.when.at(pc, at); ok {
		key := memoKey{entry: i}
		n, ok := p.memo[key]
		if !ok {
			m := &p.methods.list[i]
			n = t.nameMethod(p, m, t.speller.method(m))
			p.memo[key] = n
		}
		return ntconv.Frame{Func: n.fn, Mapping: n.mapping, PC: pc, Flags: n.flags}, true
	}
	in, i, ok := t.symbolAt(p, m, pc, at)
	if !ok {
		return ntconv.Frame{}, false
	}
	key := memoKey{in, i}
	n, ok := p.memo[key]
	if !ok {
		n = t.nameSymbol(p, in.list[i].name)
		p.memo[key] = n
	}
	f := ntconv.Frame{Func: n.fn, Mapping: n.mapping, PC: pc, Flags: n.flags}
	if f.Flags&ntconv.FrameManaged == 0 {
		f.Mapping = t.show(m)
		f.Flags |= kernelFlag(m, pc)
	}
	return f, true
}

func kernelFlag(m *mapping, pc uint64) ntconv.FrameFlags {
	if m != nil && m.isKernel() || pc >= kernelStart {
		return ntconv.FrameKernel
	}
	return 0
}

// standIn returns a name for an address that has none.
func standIn(m *ntconv.Mapping, pc uint64) string {
	if m == nil || m.File == "" {
		return "0x" + strconv.FormatUint(pc, 16)
	}
	return dotnet.ShortModule(m.File) + "+0x" + strconv.FormatUint(pc-m.Start+m.Offset, 16)
}

// nameMethod makes the name of managed code.
func (t *Table) nameMethod(p *process, m *method, s spelling) named {
	n := named{flags: ntconv.FrameManaged}
	short := ""
	if mod := p.modules.of(m); mod != nil {
		n.mapping = p.file(mod.file, mod.buildID)
		short = dotnet.ShortModule(mod.file)
	}
	if !m.named() {
		n.flags |= ntconv.FrameUnresolved
		n.fn = t.function(ntconv.Function{Name: tokenName(short, m)})
		return n
	}
	n.fn = t.managed(s, short)
	return n
}

// tokenName stands in for the name of code of which only the metadata token is known.
func tokenName(module string, m *method) string {
	if module == "" || m.token == 0 {
		return "0x" + strconv.FormatUint(m.start, 16)
	}
	return module + "!0x" + strconv.FormatUint(uint64(m.token), 16)
}

// nameSymbol makes the name of a symbol: that of a .NET method if it is spelled like one.
func (t *Table) nameSymbol(p *process, name text) named {
	s := strings.ToValidUTF8(string(t.texts.get(name)), "\uFFFD")
	sym, ok := dotnet.ParseSymbol(s)
	if !ok {
		return named{fn: t.function(ntconv.Function{Name: s})}
	}
	n := spelling{raw: sym.Raw()}
	switch t.names {
	case NamesPretty:
		n.display = sym.Pretty()
	case NamesShort:
		n.display = sym.Short()
	}
	return named{
		fn:      t.managed(n, sym.Module),
		mapping: t.assembly(p, sym.Module),
		flags:   ntconv.FrameManaged,
	}
}

// managed returns the function of a .NET method. Name and SystemName always differ where both are set: pprof takes a
// function whose names are equal for one that it should demangle, which cuts overloads and type arguments off.
func (t *Table) managed(n spelling, module string) *ntconv.Function {
	if t.names == NamesRaw {
		return t.function(ntconv.Function{Name: n.raw})
	}
	f := ntconv.Function{Name: n.display, SystemName: n.raw}
	if f.Name == "" { // there is text that nothing is left of
		f.Name = n.raw
	}
	if module != "" {
		f.SystemName = module + "!" + n.raw
	}
	if f.SystemName == f.Name {
		f.SystemName = ""
	}
	return t.function(f)
}

// function returns the one function of that content.
func (t *Table) function(f ntconv.Function) *ntconv.Function {
	p := t.funcs[f]
	if p == nil {
		c := f // f itself would be allocated in any case
		p = &c
		t.funcs[f] = p
	}
	return p
}
