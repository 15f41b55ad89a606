package symbol

import (
	"hash/maphash"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/events/dotnet"
)

// resolvedName is the name of an entry, and what follows from it.
type resolvedName struct {
	fn      *ntconv.Function
	mapping *ntconv.Mapping // managed code only: the mapping of native code depends on the address
	flags   ntconv.FrameFlags
}

// memoKey identifies an entry of in, or of the process's methods if in is nil.
type memoKey struct {
	in    *symbols
	entry uint32
}

// unresolvedKey identifies an address without a symbol. The placeholder depends on the mapping at the address.
type unresolvedKey struct {
	in *process
	pc uint64
	at *ntconv.Mapping
}

// AppendFrames appends the frames of s to dst, leaf first, and returns the extended slice. If s.Frames is set, it
// appends these frames, with those in place of unresolved ones that Options.Native returns for their addresses; if s is
// nil, nothing. Otherwise each PC yields one frame, or several if functions were inlined there. p owns the addresses
// and may be nil; at is the time of the event that recorded s and selects among successive owners of an address.
//
// All addresses above the leaf are return addresses, which may lie just after the caller's code. If such an address has
// no symbol, the address before it is resolved.
//
// Equal functions share one *ntconv.Function and equal mappings one *ntconv.Mapping; both stay valid and must not be
// modified. Resolving an address again does not allocate. Placeholders are the exception: the table keeps some
// thousands of them and recreates the others, because a trace without symbols may have millions of addresses.
func (t *Table) AppendFrames(dst []ntconv.Frame, p *ntconv.Process, s *ntconv.Stack, at ntconv.Ticks) []ntconv.Frame {
	if s == nil {
		return dst
	}
	if len(s.Frames) > 0 {
		return t.appendRecorded(dst, p, s.Frames)
	}
	proc := t.process(p)
	if proc.wanted.begin() {
		t.nameAhead(proc)
	}
	inlined := 0
	for i, pc := range s.PCs {
		kind := kindOf(i, s.PCs[max(0, i-1)], pc)
		key := cacheKey{in: proc, pc: pc, version: t.version, kind: kind}
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
			f, inner := t.frame(proc, pc, at, kind)
			if len(inner) > 0 {
				if inlined += len(inner); inlined <= maxInlinedOf(len(s.PCs)) {
					dst = append(append(dst, inner...), f)
					continue
				}
				inlined -= len(inner)
			}
			if len(inner) > 0 || t.epoch(proc, pc) != 0 {
				dst = append(dst, f) // another time may have another owner
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

// A cacheKey identifies an address whose frame is the same at all times.
type cacheKey struct {
	in      *process
	pc      uint64
	version uint32 // of the table
	kind    pcKind
}

// A pcKind says which instruction of a function an address of a stack belongs to.
type pcKind uint8

const (
	pcLeaf        pcKind = iota // the instruction at the address
	pcReturn                    // a call, the instruction before the address
	pcInterrupted               // the instruction at the address, in user code that the kernel interrupted
)

// kindOf returns the kind of an address of a stack, by its number, the leaf being 0, and the address before it.
func kindOf(i int, before, pc uint64) pcKind {
	switch {
	case i == 0:
		return pcLeaf
	case before >= kernelStart && pc < kernelStart:
		return pcInterrupted
	}
	return pcReturn
}

const (
	cacheBits  = 13
	cacheSize  = 1 << cacheBits
	hashFactor = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio spreads neighboring addresses
)

// Epoch identifies the owners that the addresses of s in p have at the given time. If two calls with the same p and s
// return the same number, AppendFrames returns the same frames for both times. Different numbers may still mean equal
// frames. Without reused addresses it returns 0 at the cost of one comparison. Events observed later may change the
// number for earlier times.
func (t *Table) Epoch(p *ntconv.Process, s *ntconv.Stack, at ntconv.Ticks) uint32 {
	if t.epochs == 0 || s == nil || len(s.Frames) > 0 {
		return 0
	}
	proc := t.process(p)
	var m epochHash
	for _, pc := range s.PCs {
		if t.epoch(proc, pc) != 0 {
			t.addMeaning(&m, proc, pc, at)
		}
	}
	return m.number()
}

// Settle makes Epoch exact until the next event is observed; before, one number may cover all earlier owners of an
// address. It returns false if an earlier Epoch call gave up its search, or if the symbols would differ had all events
// arrived in time order.
func (t *Table) Settle() bool {
	settled := !t.outOfOrder
	for _, p := range t.processes {
		settled = p.methods.when.settle() && p.native.when.settle() && settled
	}
	for _, s := range t.symbols {
		settled = s.when.settle() && settled
	}
	return settled
}

// epoch returns the number of the last change of owner of pc or pc-1, or 0 if they have the same owners at all times.
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

// addMeaning adds to m the changes of owner that decide how pc is resolved at a time.
func (t *Table) addMeaning(m *epochHash, p *process, pc uint64, at ntconv.Ticks) {
	p.methods.when.addEpochs(m, pc, at)
	p.native.when.addEpochs(m, pc, at)
	if t.symbolsAt == 0 {
		return
	}
	if in := p.native.at(pc, at); in != nil {
		for _, s := range in.syms {
			s.when.addEpochs(m, pc, at)
		}
	}
	for _, s := range t.outsideAround(p, pc) {
		if s != nil {
			s.when.addEpochs(m, pc, at)
		}
	}
}

// ReportUnresolved adds to r the number of distinct addresses that AppendFrames found no symbol for so far. r may be
// nil.
func (t *Table) ReportUnresolved(r *ntconv.Report) {
	r.Add(ntconv.CodeUnresolved, t.nameless.count, -1)
}

// frame resolves one address. inner are the frames of functions inlined there that Options.Native reports; they are
// shared.
func (t *Table) frame(p *process, pc uint64, at ntconv.Ticks, kind pcKind) (f ntconv.Frame, inner []ntconv.Frame) {
	if d := p.defined[pc]; d != nil {
		f = t.restore(p, pc, at, d)
		if list := t.resolve(p, &f, kind); len(list) > 0 {
			return list[len(list)-1], list[:len(list)-1]
		}
		return f, nil
	}
	m := p.native.at(pc, at)
	if f, ok := t.lookup(p, m, pc, at); ok {
		return t.located(p, f, at, kind == pcReturn), nil
	}
	if kind != pcLeaf && pc > 0 {
		if f, ok := t.lookup(p, p.native.at(pc-1, at), pc-1, at); ok {
			f.PC = pc
			return t.located(p, f, at, kind == pcReturn), nil
		}
	}
	if list := t.fromNative(p, pc, at, kind == pcReturn); len(list) > 0 {
		return list[len(list)-1], list[:len(list)-1]
	}
	shown := t.show(m)
	f = ntconv.Frame{Mapping: shown, PC: pc, Flags: ntconv.FrameUnresolved | kernelFlag(m, pc)}
	key := unresolvedKey{p, pc, shown}
	if known := t.unresolved.Get(pc, &key); known != nil {
		f.Func = *known
		return f, nil
	}
	t.nameless.add(key)
	f.Func = &ntconv.Function{Name: placeholder(shown, pc)}
	t.unresolved.Put(pc, &key, f.Func)
	return f, nil
}

// An unresolvedSet counts distinct addresses without a symbol. It stores only 64-bit hashes: the upper half as the ID
// in the index, the lower half as the hash of the index.
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

// lookup resolves an address whose mapping is m to a method or a symbol.
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

// placeholder returns the placeholder name of an address without a symbol.
func placeholder(m *ntconv.Mapping, pc uint64) string {
	if m == nil {
		m = new(ntconv.Mapping)
	}
	return dotnet.Placeholder(m.File, m.Start, m.Offset, pc)
}

// nameMethod resolves managed code. s is the spelling of m.
func (t *Table) nameMethod(p *process, m *method, s spelling) resolvedName {
	n := resolvedName{flags: ntconv.FrameManaged}
	short := ""
	if mod := p.modules.of(m); mod != nil {
		n.mapping = p.file(mod.file, mod.buildID)
		short = dotnet.ShortModule(mod.file)
	}
	if !m.hasName() {
		n.flags |= ntconv.FrameUnresolved
		n.fn = t.function(ntconv.Function{Name: tokenName(short, m)})
		return n
	}
	n.fn = t.managed(s, short)
	return n
}

// tokenName returns the placeholder name of code of which only the metadata token is known.
func tokenName(module string, m *method) string {
	if module == "" || m.token == 0 {
		return "0x" + strconv.FormatUint(m.start, 16)
	}
	return module + "!0x" + strconv.FormatUint(uint64(m.token), 16)
}

// nameSymbol resolves a symbol. If its name is spelled like that of a .NET method, the result is managed code.
func (t *Table) nameSymbol(p *process, name stringID) resolvedName {
	return t.nameText(p, strings.ToValidUTF8(string(t.strings.get(name)), "\uFFFD"))
}

func (t *Table) nameText(p *process, s string) resolvedName {
	sym, ok := dotnet.ParseSymbol(s)
	if !ok {
		return resolvedName{fn: t.function(ntconv.Function{Name: s})}
	}
	n := spelling{raw: sym.Raw()}
	switch t.names {
	case NamesPretty:
		n.display = sym.Pretty()
	case NamesShort:
		n.display = sym.Short()
	}
	return resolvedName{
		fn:      t.managed(n, sym.Module),
		mapping: t.assembly(p, sym.Module),
		flags:   ntconv.FrameManaged,
	}
}

// managed returns the function of a .NET method.
func (t *Table) managed(n spelling, module string) *ntconv.Function {
	if t.names == NamesRaw {
		return t.function(ntconv.Function{Name: n.raw})
	}
	name, system := dotnet.FunctionNames(n.display, n.raw, module)
	return t.function(ntconv.Function{Name: name, SystemName: system})
}

// function returns the unique function that equals f.
func (t *Table) function(f ntconv.Function) *ntconv.Function {
	p := t.funcs[f]
	if p == nil {
		c := f // f itself would be allocated in any case
		p = &c
		t.funcs[f] = p
	}
	return p
}
