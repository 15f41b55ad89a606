package symbol_test

import (
	"fmt"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/symbol"
)

func wantedCode(i uint64) code {
	return code{start: 0x10000 + i*0x100, size: 0x80, id: i + 1, name: fmt.Sprintf("M%d", i)}
}

// TestWant checks that a table with announced addresses resolves them like a table without, skips the rest of a
// rundown, and counts late announcements.
func TestWant(t *testing.T) {
	plain, announced := newStream(t, symbol.New(nil)), newStream(t, symbol.New(nil))
	const methods = 200
	stack := &ntconv.Stack{PCs: []uint64{wantedCode(7).start}}
	for i := uint64(3); i < methods; i += 10 {
		stack.PCs = append(stack.PCs, wantedCode(i).start+0x80) // just after the code, where a call at its end returns to
	}
	announced.table.Want(announced.proc, stack)
	for i := range uint64(methods) {
		for _, s := range []*stream{plain, announced} {
			s.method(ntconv.Ticks(i), clr.MethodRundownEnd, wantedCode(i))
		}
	}
	want := plain.table.AppendFrames(nil, plain.proc, stack, 0)
	got := announced.table.AppendFrames(nil, announced.proc, stack, 0)
	for i := range want {
		if want[i].Flags&ntconv.FrameUnresolved != 0 || got[i].Func.Name != want[i].Func.Name {
			t.Fatalf("address %#x is %q, want %q", stack.PCs[i], got[i].Func.Name, want[i].Func.Name)
		}
	}
	if f := announced.frame(wantedCode(4).start, 0); f.Flags&ntconv.FrameUnresolved == 0 {
		t.Errorf("%s is kept, which no stack has", f.Func.Name)
	}
	if announced.table.Missed() != 0 {
		t.Errorf("%d addresses are reported as missed", announced.table.Missed())
	}
	announced.table.Want(announced.proc, &ntconv.Stack{PCs: []uint64{wantedCode(3).start, wantedCode(4).start, wantedCode(5).start + 0x7f, 1}})
	if announced.table.Missed() != 2 {
		t.Errorf("%d addresses are reported as missed, want 2", announced.table.Missed())
	}
}

// TestWantOnlyPassesOverRundown checks that methods described before the final rundown are kept, because later stacks
// may contain them.
func TestWantOnlyPassesOverRundown(t *testing.T) {
	s := newStream(t, symbol.New(nil))
	s.table.Want(s.proc, &ntconv.Stack{PCs: []uint64{1}})
	for i, action := range []clr.MethodAction{clr.MethodLoaded, clr.MethodUnloaded, clr.MethodRundownStart} {
		c := wantedCode(uint64(i))
		s.method(10, action, c)
		if f := s.frame(c.start, 10); f.Flags&ntconv.FrameUnresolved != 0 && action != clr.MethodUnloaded {
			t.Errorf("action %d: the method is not kept", action)
		}
	}
}

// TestWantGivesUp checks that a table keeps all methods after many alternations of stacks and methods, so that its cost
// stays proportional to the trace.
func TestWantGivesUp(t *testing.T) {
	s := newStream(t, symbol.New(nil))
	const rounds = 200
	for i := range uint64(rounds) {
		s.table.Want(s.proc, &ntconv.Stack{PCs: []uint64{i}})
		s.method(0, clr.MethodRundownEnd, wantedCode(i))
	}
	if f := s.frame(wantedCode(rounds-1).start, 0); f.Flags&ntconv.FrameUnresolved != 0 {
		t.Error("the last method of a mixed trace is not kept")
	}
}
