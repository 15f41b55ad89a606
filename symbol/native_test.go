package symbol_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/symbol"
)

// answers is a Native that knows some addresses and records what it was asked.
type answers struct {
	frames map[uint64][]symbol.NativeFrame
	asked  []symbol.NativeAddress
}

func (a *answers) AppendNative(dst []symbol.NativeFrame, at *symbol.NativeAddress) []symbol.NativeFrame {
	a.asked = append(a.asked, *at)
	return append(dst, a.frames[at.PC]...)
}

// TestNativeRecorded checks that a Native resolves the frames without a symbol of a stack that has frames, and no others.
func TestNativeRecorded(t *testing.T) {
	native := &answers{frames: map[uint64][]symbol.NativeFrame{
		0x400010: named("leaf"), 0x40001f: named("inner", "outer"), 0x40002f: named("placeholder"), 0x40003f: named("wrong"),
	}}
	table := symbol.New(&symbol.Options{Native: native})
	app := &ntconv.Mapping{Start: 0x400000, Limit: 0x500000, Offset: 0x1000, File: "/app", BuildID: "ab"}
	fn := func(name string) *ntconv.Function { return &ntconv.Function{Name: name} }
	const unresolved = ntconv.FrameUnresolved
	stack := &ntconv.Stack{Frames: []ntconv.Frame{
		{Func: fn("app+0x1010"), Mapping: app, PC: 0x400010, Flags: unresolved},
		{Func: fn("app+0x1020"), Mapping: app, PC: 0x400020, Flags: unresolved | ntconv.FrameFolded},
		{Func: fn("app+0x1030"), Mapping: app, PC: 0x400030}, // a placeholder that was written as a function
		{Func: fn("named"), Mapping: app, PC: 0x400040, Line: 7},
		{Func: fn("app+0x1500"), Mapping: app, PC: 0x400500, Flags: unresolved},
		{Func: fn("no address"), Flags: unresolved},
	}}
	frames := table.AppendFrames(nil, &ntconv.Process{PID: 5}, stack, 1)
	var got []string
	for _, f := range frames {
		got = append(got, fmt.Sprintf("%s %x:%d %d", f.Func.Name, f.PC, f.Line, f.Flags))
		if f.PC != 0 && f.Mapping != app {
			t.Errorf("%s: mapping %v", f.Func.Name, f.Mapping)
		}
	}
	want := []string{
		"leaf 400010:4 0", "inner 400020:5 1", "outer 400020:5 16", "placeholder 400030:11 0", "named 400040:7 0", "app+0x1500 400500:0 2",
		"no address 0:0 2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if addresses, _ := table.ReportNative(nil); addresses != 3 {
		t.Errorf("%d addresses are reported as resolved, want 3", addresses)
	}
	for _, a := range native.asked {
		if a.PID != 5 || a.Mapping != app || a.Kernel {
			t.Errorf("asked for %+v", a)
		}
	}
	if again := table.AppendFrames(nil, &ntconv.Process{PID: 5}, stack, 9); !slices.Equal(again, frames) {
		t.Errorf("a second call returned other frames:\n%v\n%v", frames, again)
	}
	if plain := symbol.New(nil).AppendFrames(nil, nil, stack, 1); !slices.Equal(plain, stack.Frames) {
		t.Errorf("without a Native: %v", plain)
	}
}

func named(names ...string) (list []symbol.NativeFrame) {
	for _, n := range names {
		list = append(list, symbol.NativeFrame{Function: ntconv.Function{Name: n}, Line: int32(len(n))})
	}
	return list
}

// TestNative checks which addresses a Table asks its Native for, and what it makes of the answers.
func TestNative(t *testing.T) {
	native := &answers{frames: map[uint64][]symbol.NativeFrame{
		0x400010: named("leaf"), 0x40001f: named("inner", "middle", "outer"), 0x400fff: named("last"),
	}}
	table := symbol.New(&symbol.Options{Native: native})
	s := newStream(t, table)
	s.mapping(1, 1, 0x400000, 0x400fff, 0, "/app", 0)
	s.symbol(1, 1, 0x400100, 0x4001ff, "recorded")

	stack := &ntconv.Stack{PCs: []uint64{0x400010, 0x400020, 0x400110, 0x401000, 0x400500}}
	var first []ntconv.Frame
	for range 3 {
		frames := table.AppendFrames(nil, s.proc, stack, 5)
		if first == nil {
			first = frames
		}
		if !slices.Equal(frames, first) {
			t.Fatalf("a second call returned other frames:\n%v\n%v", first, frames)
		}
	}
	// After frames of the kernel, the address is that of the interrupted instruction, not of a call before it.
	inKernel := &ntconv.Stack{PCs: []uint64{0xffffffff81000000, 0x400010}}
	if f := table.AppendFrames(nil, s.proc, inKernel, 5); len(f) != 2 || f[1].Func.Name != "leaf" {
		t.Errorf("the interrupted function is %v, want leaf", f)
	}
	type frame struct {
		name  string
		pc    uint64
		line  int32
		flags ntconv.FrameFlags
	}
	var got []frame
	for _, f := range first {
		got = append(got, frame{f.Func.Name, f.PC, f.Line, f.Flags})
		if f.Mapping == nil || f.Mapping.File != "/app" {
			t.Errorf("%s: mapping %v", f.Func.Name, f.Mapping)
		}
	}
	want := []frame{
		{"leaf", 0x400010, 4, 0},
		{"inner", 0x400020, 5, ntconv.FrameInlined}, {"middle", 0x400020, 6, ntconv.FrameInlined}, {"outer", 0x400020, 5, 0},
		{"recorded", 0x400110, 0, 0},
		{"last", 0x401000, 4, 0}, // the call is the last instruction of the mapping
		{"app+0x500", 0x400500, 0, ntconv.FrameUnresolved},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	var pcs []uint64
	for _, a := range native.asked {
		if a.Kernel {
			continue
		}
		pcs = append(pcs, a.PC)
		if a.PID != 42 || a.Mapping == nil {
			t.Errorf("asked for %+v", a)
		}
	}
	if !slices.Equal(pcs, []uint64{0x400010, 0x40001f, 0x400fff, 0x4004ff}) {
		t.Errorf("asked for %#x, want each unresolved address once", pcs)
	}
	r := new(ntconv.Report)
	if n, _ := table.ReportNative(r); n != 3 || r.Count(ntconv.CodeFileSymbols) != 3 {
		t.Errorf("%d addresses resolved, want 3", n)
	}
}

// TestNativeMethod checks that names of .NET methods that a Native returns are spelled like recorded ones.
func TestNativeMethod(t *testing.T) {
	method := &symbol.NativeMethod{Module: "My", Namespace: "My.Type", Name: "Run", Signature: "void  (int32)"}
	native := &answers{frames: map[uint64][]symbol.NativeFrame{0x400010: {{Method: method}}}}
	for names, want := range map[symbol.Names]ntconv.Function{
		symbol.NamesPretty: {Name: "My.Type.Run(int)", SystemName: "My!My.Type.Run(int32)"},
		symbol.NamesRaw:    {Name: "My.Type.Run(int32)"},
		symbol.NamesShort:  {Name: "Type.Run(int)", SystemName: "My!My.Type.Run(int32)"},
	} {
		table := symbol.New(&symbol.Options{Native: native, Names: names})
		f := table.AppendFrames(nil, nil, &ntconv.Stack{PCs: []uint64{0x400010}}, 0)
		if len(f) != 1 || f[0].Flags != ntconv.FrameManaged || *f[0].Func != want {
			t.Errorf("names %d: got %+v, want %+v", names, *f[0].Func, want)
		}
	}
}
