package symbol

import (
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/dotnet"
)

// A Native resolves addresses of code that no event describes, from sources outside the trace such as the files that
// were mapped. A Table asks it only for addresses that it cannot resolve itself, and stores the frames that it gets. An
// implementation may serve several Tables in turn, and must not panic or allocate without bound for any address.
type Native interface {
	// AppendNative appends the frames of the code at an address to dst and returns the extended slice: first the
	// innermost inlined function, last the function that contains the address. Without a symbol it returns dst
	// unchanged. a and its Mapping are borrowed; equal mappings have equal pointers only within one Table.
	AppendNative(dst []NativeFrame, a *NativeAddress) []NativeFrame
}

// A NativeAddress is an address that a Native resolves.
type NativeAddress struct {
	// PC is the address of an instruction. For a return address it is the address before, which lies in the call.
	PC uint64
	// Mapping contains PC. It is nil if the address lies outside of all mappings.
	Mapping *ntconv.Mapping
	// Kernel means that the address belongs to the kernel.
	Kernel bool
	// Host, PID and NamespacePID identify the process. Host is empty if the trace covers one machine. NamespacePID is
	// the process ID inside its own PID namespace, 0 if it was not recorded.
	Host              string
	PID, NamespacePID uint64
}

// A NativeFrame is a function at an address, as a Native returns it.
type NativeFrame struct {
	// Function has the name for display, and the name of the linker as SystemName if it differs. Of a function with
	// Method, the Table sets both and keeps the file and the line.
	Function ntconv.Function
	// Method, if not nil, is the recorded form of a .NET method, which the Table spells as Options.Names says.
	Method *NativeMethod
	// Line and Column are those of the instruction, 0 if unknown.
	Line, Column int32
	// Managed means that the code is managed code, as in ntconv.FrameManaged.
	Managed bool
	// PerfMap means that Function.Name is the text of a perf map. If it is spelled like a .NET method, the Table spells
	// it as Options.Names says.
	PerfMap bool
}

// A NativeMethod names a .NET method as the runtime's events do.
type NativeMethod struct{ Module, Namespace, Name, Signature string }

// maxNative bounds the answers of a Native that a Table keeps. A trace with more addresses asks again for some of them.
const maxNative = 1 << 18

// maxNativeInlined bounds the inlined functions that a Table accepts for one address.
const maxNativeInlined = 64

// fromNative returns the frames that Options.Native has for an address, or none. returns is true for return addresses.
// The result is shared and has the address as PC.
func (t *Table) fromNative(p *process, pc uint64, at ntconv.Ticks, returns bool) []ntconv.Frame {
	if t.native == nil {
		return nil
	}
	m := p.native.at(instruction(pc, returns), at) // the call may even be the last instruction of another mapping
	return t.askNative(p, pc, returns, t.show(m), m != nil && m.isKernel())
}

// instruction returns the address of the instruction to which an address of a stack belongs.
func instruction(pc uint64, returns bool) uint64 {
	if returns && pc > 0 {
		return pc - 1
	}
	return pc
}

// askNative returns the frames that Options.Native has for an address in a mapping, as fromNative does.
func (t *Table) askNative(p *process, pc uint64, returns bool, m *ntconv.Mapping, kernel bool) []ntconv.Frame {
	a := NativeAddress{PC: instruction(pc, returns), Mapping: m, Host: p.host, PID: p.pid, NamespacePID: p.namespacePID}
	a.Kernel = kernel || a.PC >= kernelStart
	key := nativeKey{unresolvedKey{p, pc, m}, returns}
	if known, ok := t.natives[key]; ok {
		return known
	}
	t.scratch = t.native.AppendNative(t.scratch[:0], &a)
	frames := t.nativeFrames(p, &a, pc, t.scratch)
	if len(frames) == 0 {
		return nil // a trace without symbols may have millions of such addresses; the unresolved cache has the recent ones
	}
	if len(t.natives) >= maxNative || t.natives == nil {
		t.natives = make(map[nativeKey][]ntconv.Frame)
	}
	t.natives[key] = frames
	t.named.add(key.unresolvedKey)
	return frames
}

// appendRecorded appends the frames of a stack that has frames instead of addresses. Their own addresses are those of a
// stack: profilers write the return address, or the one before it, which lies in the same call.
func (t *Table) appendRecorded(dst []ntconv.Frame, p *ntconv.Process, frames []ntconv.Frame) []ntconv.Frame {
	if t.native == nil {
		return append(dst, frames...)
	}
	proc, inlined := t.process(p), 0
	for i := range frames {
		f := &frames[i]
		list := t.resolve(proc, f, kindOf(i, frames[max(0, i-1)].PC, f.PC))
		if len(list) == 0 {
			dst = append(dst, *f)
			continue
		}
		if inlined += len(list) - 1; inlined > maxInlinedOf(len(frames)) {
			inlined -= len(list) - 1
			list = list[len(list)-1:]
		}
		dst = append(dst, list...)
		dst[len(dst)-1].Flags |= f.Flags & ntconv.FrameFolded
	}
	return dst
}

// resolve returns the frames that Options.Native has for a recorded frame, or none if the frame has a symbol.
func (t *Table) resolve(p *process, f *ntconv.Frame, kind pcKind) []ntconv.Frame {
	if t.native == nil || f.PC == 0 || f.Flags&ntconv.FrameInlined != 0 || !IsUnresolved(f) {
		return nil
	}
	return t.askNative(p, f.PC, kind == pcReturn, f.Mapping, f.Flags&ntconv.FrameKernel != 0)
}

// IsUnresolved reports whether the address of a frame has no symbol: the frame has ntconv.FrameUnresolved, or the name of
// its function is the placeholder for the address. A profile that was written without symbols has such functions.
func IsUnresolved(f *ntconv.Frame) bool {
	return f.Flags&ntconv.FrameUnresolved != 0 ||
		f.Func != nil && strings.Contains(f.Func.Name, "0x") && f.Func.Name == placeholder(f.Mapping, f.PC)
}

// A nativeKey identifies a question to Options.Native.
type nativeKey struct {
	unresolvedKey
	returns bool
}

// nativeFrames returns the answer of a Native as frames of a stack.
func (t *Table) nativeFrames(p *process, a *NativeAddress, pc uint64, list []NativeFrame) []ntconv.Frame {
	if len(list) == 0 {
		return nil
	}
	if len(list) > maxNativeInlined {
		list = list[len(list)-maxNativeInlined:]
	}
	frames := make([]ntconv.Frame, len(list))
	for i := range list {
		n := &list[i]
		f := ntconv.Frame{Mapping: a.Mapping, PC: pc, Line: n.Line, Column: n.Column}
		if a.Kernel {
			f.Flags |= ntconv.FrameKernel
		}
		if n.Managed || n.Method != nil {
			f.Flags |= ntconv.FrameManaged
		}
		if i < len(list)-1 {
			f.Flags |= ntconv.FrameInlined
		}
		if f.Func = t.function(n.Function); n.Method != nil {
			f.Func = t.nativeMethod(n)
		}
		if n.PerfMap {
			t.perfMapName(p, &f)
		}
		frames[i] = f
	}
	return frames
}

// perfMapName replaces the name of a frame if it is spelled like that of a .NET method.
func (t *Table) perfMapName(p *process, f *ntconv.Frame) {
	n := t.nameText(p, strings.ToValidUTF8(f.Func.Name, "\uFFFD"))
	if f.Func = n.fn; n.flags&ntconv.FrameManaged != 0 {
		f.Flags |= n.flags
		f.Mapping = n.mapping
	}
}

// nativeMethod returns the function of a .NET method that a Native has found.
func (t *Table) nativeMethod(n *NativeFrame) *ntconv.Function {
	d := dotnet.Method{Namespace: n.Method.Namespace, Name: n.Method.Name, Signature: n.Method.Signature}
	s := spelling{raw: strings.ToValidUTF8(d.Raw(), "\uFFFD")}
	switch t.names {
	case NamesPretty:
		s.display = d.Pretty()
	case NamesShort:
		s.display = d.Short()
	}
	return t.withSource(t.managed(s, n.Method.Module), n.Function.File, n.Function.StartLine)
}

// A NativeReporter is a Native that reads files.
type NativeReporter interface {
	Native
	// ReportNative adds to r, which may be nil, the files that were refused, and returns the number of files that were
	// used.
	ReportNative(r *ntconv.Report) (files int)
}

// ReportNative adds to r the number of distinct addresses that Options.Native has resolved so far, and what it reports
// itself. It returns the numbers of addresses and of files. r may be nil.
func (t *Table) ReportNative(r *ntconv.Report) (addresses uint64, files int) {
	r.Add(ntconv.CodeFileSymbols, t.named.count, -1)
	if n, ok := t.native.(NativeReporter); ok {
		files = n.ReportNative(r)
	}
	return t.named.count, files
}
