package symbol_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/symbol"
)

var rawNames = &symbol.Options{Names: symbol.NamesRaw}

func raw(name string) string { return "My.Type." + name + "(int32)" }

func TestEpoch(t *testing.T) {
	s := newStream(t, symbol.New(nil))
	a, b := code{0x1000, 0x80, 1, "A"}, code{0x1000, 0x80, 2, "B"}
	other := code{0x5000, 0x80, 3, "Other"}
	s.method(10, clr.MethodLoaded, a)
	s.method(11, clr.MethodLoaded, other)
	if e := s.epoch(0x1010, 0x5010); e != 0 {
		t.Errorf("epoch %d before anything was redefined", e)
	}
	s.method(12, clr.MethodLoaded, a)
	s.method(13, clr.MethodRundownEnd, a)
	s.bareMethod(14, clr.MethodRundownStart, a)
	if e := s.epoch(0x1010, 0x5010); e != 0 {
		t.Errorf("epoch %d after the same method was announced again", e)
	}
	s.method(20, clr.MethodLoaded, b)
	one := s.epoch(0x1010, 0x5010)
	if one == 0 || s.epoch(0x1010) != one || s.epoch(0x107f) != one {
		t.Errorf("epoch %d of a redefined address, %d, %d", one, s.epoch(0x1010), s.epoch(0x107f))
	}
	if e := s.epoch(0x5010); e != 0 {
		t.Errorf("epoch %d of another address", e)
	}
	s.method(25, clr.MethodRundownEnd, b)
	if e := s.epoch(0x1010); e != one {
		t.Errorf("epoch %d after a rundown, was %d", e, one)
	}
	s.method(30, clr.MethodUnloaded, other)
	two := s.epoch(0x1010, 0x5010)
	if two == one || two == 0 {
		t.Errorf("epoch %d after another address changed, was %d", two, one)
	}
	if e := s.epoch(0x1010); e != one {
		t.Errorf("epoch %d of an address that did not change, was %d", e, one)
	}
	if e := s.in(&ntconv.Process{PID: 43}).epoch(0x1010, 0x5010); e != 0 {
		t.Errorf("epoch %d in another process", e)
	}
	if e := s.table.Epoch(s.proc, &ntconv.Stack{Frames: []ntconv.Frame{{}}, PCs: []uint64{0x1010}}, 40); e != 0 {
		t.Errorf("epoch %d of a stack that brings its names", e)
	}
}

// TestEpochLaw checks the property that aggregation by epoch depends on: stacks with equal addresses and equal epochs
// have equal frames at the end of the trace, regardless of the times of their samples. This also holds for epochs
// computed at the end.
func TestEpochLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newStream(t, symbol.New(rawNames))
		type key struct {
			pcs   [2]uint64
			epoch uint32
		}
		seen := map[key][]ntconv.Ticks{}
		for now := range ntconv.Ticks(rapid.IntRange(1, 60).Draw(t, "events")) {
			slot := rapid.Uint64Range(0, 5).Draw(t, "slot")
			switch what := rapid.IntRange(0, 6).Draw(t, "what"); what {
			case 0, 1, 2, 3:
				n := rapid.IntRange(0, 2).Draw(t, "name")
				c := code{0x1000 + slot*16, uint32(rapid.IntRange(1, 40).Draw(t, "size")), uint64(rapid.IntRange(0, 1).Draw(t, "id")), string(rune('A' + n))}
				s.method(now, clr.MethodAction(what), c)
			case 4:
				s.mapping(now, slot, 0x1000+slot*16, 0x1000+slot*16+uint64(rapid.IntRange(0, 40).Draw(t, "size")), 0,
					rapid.SampledFrom([]string{"", "/lib/a.so", "/lib/b.so", "/memfd:doublemapper"}).Draw(t, "file"), 0)
			case 5:
				start := 0x1000 + slot*16
				s.symbol(now, rapid.Uint64Range(0, 5).Draw(t, "mapping"), start, start+uint64(rapid.IntRange(0, 40).Draw(t, "size")),
					rapid.SampledFrom([]string{"f", "g", "void [M] T::F()[Tier0]"}).Draw(t, "symbol"))
			}
			pcs := [2]uint64{rapid.Uint64Range(0x0ff0, 0x1090).Draw(t, "leaf"), rapid.Uint64Range(0x0ff0, 0x1090).Draw(t, "caller")}
			k := key{pcs, s.epoch(pcs[:]...)}
			seen[k] = append(seen[k], now)
		}
		for k, times := range seen {
			stack := &ntconv.Stack{PCs: k.pcs[:]}
			first := s.table.AppendFrames(nil, s.proc, stack, times[0])
			for _, at := range times[1:] {
				if f := s.table.AppendFrames(nil, s.proc, stack, at); !slices.Equal(first, f) {
					t.Fatalf("%x with epoch %d: at %d %s, at %d %s", k.pcs, k.epoch, times[0], show(first), at, show(f))
				}
			}
			now := map[uint32][]ntconv.Frame{} // epochs computed when the table is complete
			for at := range ntconv.Ticks(62) {
				epoch := s.table.Epoch(s.proc, stack, at)
				f := s.table.AppendFrames(nil, s.proc, stack, at)
				if first, ok := now[epoch]; ok && !slices.Equal(first, f) {
					t.Fatalf("%x with epoch %d: %s, at %d %s", k.pcs, epoch, show(first), at, show(f))
				}
				now[epoch] = f
			}
		}
	})
}

func show(frames []ntconv.Frame) (s string) {
	for _, f := range frames {
		s += fmt.Sprintf("[%s %v %v]", f.Func.Name, f.Mapping, f.Flags)
	}
	return s
}

// TestOrderOfRundown checks that symbols written before, between or after the samples give the same frames.
func TestOrderOfRundown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var methods []code
		for i := range rapid.IntRange(1, 40).Draw(t, "methods") {
			methods = append(methods, code{0x1000 + uint64(i)*0x40, uint32(rapid.IntRange(1, 0x40).Draw(t, "size")), uint64(i), fmt.Sprint("M", i)})
		}
		one := newStream(t, symbol.New(rawNames))
		for _, m := range methods {
			one.method(0, clr.MethodRundownStart, m)
		}
		two := newStream(t, symbol.New(rawNames))
		for i, m := range rapid.Permutation(methods).Draw(t, "order") {
			two.frame(m.start, 5) // earlier results must not be cached
			two.method(ntconv.Ticks(100+i), clr.MethodRundownEnd, m)
		}
		for _, m := range methods {
			for _, pc := range []uint64{m.start - 1, m.start, m.start + uint64(m.size) - 1, m.start + uint64(m.size)} {
				if a, b := one.frame(pc, 50).Func.Name, two.frame(pc, 50).Func.Name; a != b {
					t.Fatalf("%x is %s and %s", pc, a, b)
				}
			}
		}
	})
}

func TestReturnAddress(t *testing.T) {
	s := newStream(t, symbol.New(rawNames))
	s.method(1, clr.MethodLoaded, code{0x1000, 0x80, 1, "A"})
	frames := s.table.AppendFrames(nil, s.proc, &ntconv.Stack{PCs: []uint64{0x1080, 0x1080, 0x1081, 0, 0x1080}}, 5)
	want := []string{"0x1080", raw("A"), "0x1081", "0x0", raw("A")}
	for i, f := range frames {
		if f.Func.Name != want[i] || f.PC != []uint64{0x1080, 0x1080, 0x1081, 0, 0x1080}[i] {
			t.Errorf("frame %d: %s at %x, want %s", i, f.Func.Name, f.PC, want[i])
		}
	}
}

func TestModules(t *testing.T) {
	guid, err := ntconv.ParseGUID("c0c96581-69b7-ba38-8a41-8680bc2a7220")
	if err != nil {
		t.Fatal(err)
	}
	s := newStream(t, symbol.New(nil))
	s.method(5, clr.MethodLoaded, code{0x1000, 0x80, 1, "A"})
	if f := s.frame(0x1000, 5); f.Mapping != nil || f.Func.SystemName != raw("A") {
		t.Errorf("before the module: %+v %+v", f, f.Func)
	}
	s.module(6, testModule, "/app/Shop.Core.dll", guid)
	f := s.frame(0x1000, 5)
	want := ntconv.Mapping{File: "/app/Shop.Core.dll", BuildID: "c0c9658169b7ba388a418680bc2a72201"}
	if f.Mapping == nil || *f.Mapping != want || f.Flags != ntconv.FrameManaged {
		t.Errorf("mapping %+v, flags %v", f.Mapping, f.Flags)
	}
	if *f.Func != (ntconv.Function{Name: "My.Type.A(int)", SystemName: "Shop.Core!" + raw("A")}) {
		t.Errorf("function %+v", *f.Func)
	}
	if m := s.table.Mappings(s.proc); len(m) != 1 || m[0] != f.Mapping {
		t.Errorf("mappings %+v", m)
	}

	// The ID of a collected module is reused.
	s.module(50, testModule, "/app/plugin.dll", ntconv.GUID{})
	s.method(51, clr.MethodLoaded, code{0x2000, 0x80, 1, "B"})
	if f := s.frame(0x2000, 60); f.Mapping == nil || f.Mapping.File != "/app/plugin.dll" {
		t.Errorf("module of a later method: %+v", f.Mapping)
	}
	if g := s.frame(0x1000, 60); g.Mapping != f.Mapping || g.Func != f.Func {
		t.Errorf("the earlier method moved to %+v", g.Mapping)
	}
}

// TestSameFunction checks that a method at several addresses, in several tiers, is one function.
func TestSameFunction(t *testing.T) {
	s := newStream(t, symbol.New(nil))
	s.method(1, clr.MethodLoaded, code{0x1000, 0x80, 1, "A"})
	s.method(2, clr.MethodLoaded, code{0x2000, 0x40, 1, "A"})
	s.method(3, clr.MethodLoaded, code{0x3000, 0x40, 2, "B"})
	a, b, c := s.frame(0x1000, 9), s.frame(0x2000, 9), s.frame(0x3000, 9)
	if a.Func != b.Func || a.Func == c.Func {
		t.Errorf("functions %p %p %p", a.Func, b.Func, c.Func)
	}
}

// TestSettle checks that Settle reports whether the table would be the same if all events had arrived in time order.
func TestSettle(t *testing.T) {
	a, b := code{0x1000, 0x80, 1, "A"}, code{0x1000, 0x80, 2, "B"}
	for name, c := range map[string]struct {
		want bool
		see  func(*stream)
	}{
		"nothing":         {true, func(*stream) {}},
		"in order":        {true, func(s *stream) { s.method(5, clr.MethodLoaded, a); s.method(10, clr.MethodLoaded, b) }},
		"older one later": {false, func(s *stream) { s.method(10, clr.MethodLoaded, a); s.method(5, clr.MethodLoaded, b) }},
		"late unload": {false, func(s *stream) {
			s.method(5, clr.MethodLoaded, a)
			s.method(10, clr.MethodLoaded, b)
			s.method(7, clr.MethodUnloaded, a)
		}},
		"older module later": {false, func(s *stream) {
			s.module(10, testModule, `C:\app\shop.dll`, ntconv.GUID{})
			s.module(5, testModule, `C:\app\other.dll`, ntconv.GUID{})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStream(t, symbol.New(nil))
			c.see(s)
			if got := s.table.Settle(); got != c.want {
				t.Errorf("settled: %v, want %v", got, c.want)
			}
		})
	}
}
