package symbol_test

import (
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/symbol"
)

// asked is a Lines that answers with the IL offset as the line and records what it was asked.
type asked struct {
	off  bool
	code []symbol.ManagedCode
}

func (a *asked) HasLines() bool { return !a.off }

func (a *asked) ManagedLine(c *symbol.ManagedCode) symbol.SourceLine {
	a.code = append(a.code, *c)
	return symbol.SourceLine{File: "a.cs", Line: c.ILOffset + 100, Column: 7, StartLine: 100}
}

// ilMap reports the map of a method.
func (s *stream) ilMap(at ntconv.Ticks, action clr.MethodAction, method uint64, il, native []uint64) {
	s.tb.Helper()
	list := func(values []uint64) ntconv.Value {
		var l []ntconv.Value
		for _, v := range values {
			l = append(l, ntconv.UintValue(v))
		}
		return ntconv.ListValue(l...)
	}
	provider, id := clr.Runtime, uint32(190)
	if action == clr.MethodRundownEnd {
		provider, id = clr.Rundown, 150
	}
	s.event(at, provider, id, 0, ntconv.UintValue(method), ntconv.UintValue(0), ntconv.UintValue(0), ntconv.UintValue(uint64(len(il))),
		list(il), list(native), ntconv.UintValue(0))
}

// linesOf returns the lines of frames.
func linesOf(frames []ntconv.Frame) (list []int32) {
	for _, f := range frames {
		list = append(list, f.Line)
	}
	return list
}

// TestLines checks which map belongs to which code of a method: events of the runtime follow the load, those of a
// rundown precede the method, and both state only the ID that all code of the method has.
func TestLines(t *testing.T) {
	const prolog, none = 0xfffffffe, 0xffffffff
	a := new(asked)
	table := symbol.New(&symbol.Options{Lines: a})
	s := newStream(t, table)
	s.module(1, testModule, "/app/My.dll", ntconv.GUID{1})
	s.method(2, clr.MethodLoaded, code{0x1000, 0x100, 1, "Run"})
	s.ilMap(2, clr.MethodLoaded, 1, []uint64{prolog, 0, 9, none}, []uint64{0, 0x10, 0x20, 0x80})
	s.method(3, clr.MethodLoaded, code{0x2000, 0x40, 1, "Run"}) // optimized
	s.ilMap(3, clr.MethodLoaded, 1, []uint64{3}, []uint64{0})
	s.ilMap(9, clr.MethodRundownEnd, 2, []uint64{4, 5}, []uint64{0, 0x10})
	s.method(9, clr.MethodRundownEnd, code{0x3000, 0x20, 2, "Old"})
	s.ilMap(9, clr.MethodRundownEnd, 3, []uint64{4}, []uint64{0x500}) // of other code
	s.method(9, clr.MethodRundownEnd, code{0x4000, 0x20, 3, "None"})

	stack := &ntconv.Stack{PCs: []uint64{0x1020, 0x1020, 0x1090, 0x2040, 0x3010, 0x4008, 0x9999}}
	frames := table.AppendFrames(nil, s.proc, stack, 10)
	// A return address belongs to the call before it, and the last one is just after the code.
	if got, want := linesOf(frames), []int32{109, 100, 109, 103, 104, 99, 0}; !slices.Equal(got, want) {
		t.Errorf("lines %d, want %d", got, want)
	}
	for i, f := range frames[:6] {
		if f.Func.File != "a.cs" || f.Func.StartLine != 100 || f.Column != 7 || f.PC != stack.PCs[i] {
			t.Errorf("frame %d: %+v %+v", i, f, f.Func)
		}
	}
	if c := a.code[0]; c.Module != "/app/My.dll" || c.Token != 0x6000001 || c.PDB == "" || c.NativeOffset != 0x20 || c.Type != "" {
		t.Errorf("asked for %+v", c)
	}
	if c := a.code[5]; c.ILOffset != -1 || c.NativeOffset != 7 || c.Type != "My.Type" {
		t.Errorf("asked for %+v, want the offset in the code and the type", c)
	}
	n := len(a.code)
	if again := table.AppendFrames(nil, s.proc, stack, 10); !slices.Equal(linesOf(again), linesOf(frames)) || len(a.code) != n {
		t.Errorf("a second call returned lines %d after %d further questions", linesOf(again), len(a.code)-n)
	}
}

// TestNoLines checks that a Lines that does not want lines is not asked.
func TestNoLines(t *testing.T) {
	a := &asked{off: true}
	table := symbol.New(&symbol.Options{Lines: a})
	s := newStream(t, table)
	s.module(1, testModule, "/app/My.dll", ntconv.GUID{1})
	s.method(2, clr.MethodLoaded, code{0x1000, 0x100, 1, "Run"})
	s.ilMap(2, clr.MethodLoaded, 1, []uint64{0}, []uint64{0})
	frames := table.AppendFrames(nil, s.proc, &ntconv.Stack{PCs: []uint64{0x1020}}, 10)
	if len(a.code) > 0 || frames[0].Line != 0 || frames[0].Func.File != "" {
		t.Errorf("asked %d times, frame %+v", len(a.code), frames[0])
	}
}
