package symbol_test

import (
	"os"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

func TestMappingsAndSymbols(t *testing.T) {
	s := newStream(t, symbol.New(nil))
	s.process(0, "shop", false)
	s.metadata(0, 1, `{"type":"ELF","build_id":"5F1E0C","debug_link":""}`)
	s.mapping(0, 0, 0x400000, 0x40ffff, 0x1000, "/usr/bin/shop", 1)              // end: the last address
	s.mapping(0, 1, 0x7f0000000000, 0x7f0000010000, 0, "/usr/lib/libc.so.6", 0)  // end: exclusive
	s.mapping(0, 2, 0x7f0000010000, 0x7f0000020000, 0x2000, "/usr/lib/b.so", 99) // metadata that does not exist
	s.mapping(0, 3, 0xffff800000000000, ^uint64(0), 0, "vmlinux", 0)
	s.symbol(0, 0, 0x400100, 0x4001ff, "main.main") // end: the last address
	s.symbol(0, 0, 0x400200, 0x400300, "main.work") // end: start + size
	s.symbol(0, 0, 0x400300, 0x400300, "one")
	s.symbol(0, 1, 0x7f0000000100, 0x7f00000001ff, "malloc")
	s.symbol(0, 1, 0x7f0000000100, 0x7f00000001ff, "__libc_malloc") // an alias
	s.symbol(0, 3, 0xffffffff81000000, 0xffffffff810000ff, "do_idle")

	exe := &ntconv.Mapping{Start: 0x400000, Limit: 0x410000, Offset: 0x1000, File: "/usr/bin/shop", BuildID: "5f1e0c"}
	libc := &ntconv.Mapping{Start: 0x7f0000000000, Limit: 0x7f0000010000, File: "/usr/lib/libc.so.6"}
	b := &ntconv.Mapping{Start: 0x7f0000010000, Limit: 0x7f0000020000, Offset: 0x2000, File: "/usr/lib/b.so"}
	kernel := &ntconv.Mapping{Start: 0xffff800000000000, Limit: ^uint64(0), File: "vmlinux"}
	const un, k = ntconv.FrameUnresolved, ntconv.FrameKernel
	for _, w := range []struct {
		pc      uint64
		name    string
		mapping *ntconv.Mapping
		flags   ntconv.FrameFlags
	}{
		{0x400100, "main.main", exe, 0}, {0x4001ff, "main.main", exe, 0}, {0x400200, "main.work", exe, 0}, {0x4002ff, "main.work", exe, 0},
		{0x400300, "one", exe, 0}, {0x400301, "shop+0x1301", exe, un}, {0x40ffff, "shop+0x10fff", exe, un}, {0x410000, "shop+0x11000", exe, un},
		{0x410001, "0x410001", nil, un},
		{0x7f0000000100, "malloc", libc, 0}, {0x7f0000010000, "b.so+0x2000", b, un}, {0x7f0000020001, "0x7f0000020001", nil, un},
		{0xffffffff81000010, "do_idle", kernel, k}, {0xffffffff82000000, "vmlinux+0x7fff82000000", kernel, un | k}, {^uint64(0), "vmlinux+0x7fffffffffff", kernel, un | k},
	} {
		f := s.frame(w.pc, 5)
		if f.Func.Name != w.name || f.Func.SystemName != "" || f.Flags != w.flags || (f.Mapping == nil) != (w.mapping == nil) ||
			w.mapping != nil && *f.Mapping != *w.mapping {
			t.Errorf("%x is %q in %+v with %v, want %q in %+v with %v", w.pc, f.Func.Name, f.Mapping, f.Flags, w.name, w.mapping, w.flags)
		}
	}
	if m := s.table.Mappings(s.proc); len(m) != 4 || *m[0] != *exe || *m[3] != *kernel {
		t.Errorf("mappings %+v", m)
	}
	if s.epoch(0x400100, 0x7f0000000100, 0xffffffff81000010) != 0 {
		t.Error("nothing was redefined")
	}
	r := new(ntconv.Report)
	s.table.ReportUnresolved(r)
	s.frame(0x410001, 9)
	if n := r.Count(ntconv.CodeUnresolved); n != 8 {
		t.Errorf("%d addresses without a name, want 8", n)
	}
}

// TestSharedMappings checks that a symbol applies to every process with its mapping, before and after the symbol.
func TestSharedMappings(t *testing.T) {
	parent := newStream(t, symbol.New(nil))
	child, other := parent.in(&ntconv.Process{PID: 43}), parent.in(&ntconv.Process{PID: 44})
	parent.mapping(0, 7, 0x400000, 0x40ffff, 0, "/bin/app", 0)
	parent.symbol(1, 7, 0x400100, 0x4001ff, "main")
	child.mapping(2, 7, 0x400000, 0x40ffff, 0, "/bin/app", 0)
	other.mapping(2, 8, 0x400000, 0x40ffff, 0, "/bin/other", 0)
	child.symbol(3, 7, 0x400200, 0x4002ff, "work")
	for _, s := range []*stream{parent, child} {
		s.want(0x400110, 1, "main")
		s.want(0x400210, 1, "work")
	}
	other.want(0x400110, 1, "other+0x110")
	other.symbol(3, 8, 0x400100, 0x4001ff, "elsewhere")
	other.want(0x400110, 9, "elsewhere")
	parent.want(0x400110, 9, "main")
	remote := parent.in(&ntconv.Process{PID: 42, Host: "other"})
	remote.mapping(3, 7, 0x400000, 0x40ffff, 0, "/bin/remote", 0)
	remote.want(0x400110, 9, "remote+0x110")
}

func TestMappingsOverTime(t *testing.T) {
	s := newStream(t, symbol.New(nil))
	s.mapping(10, 0, 0x10000, 0x20000, 0, "/lib/a.so", 0)
	s.symbol(10, 0, 0x10100, 0x101ff, "a")
	s.mapping(20, 1, 0x10000, 0x18000, 0, "/lib/b.so", 0)
	s.symbol(90, 1, 0x10100, 0x101ff, "b") // symbols come last
	if s.epoch(0x10100) == 0 || s.epoch(0x18000) == 0 || s.epoch(0x18001) != 0 {
		t.Errorf("epochs %d, %d, %d", s.epoch(0x10100), s.epoch(0x18000), s.epoch(0x18001))
	}
	s.want(0x10100, 5, "a")
	s.want(0x10100, 15, "a")
	s.want(0x10100, 20, "b")
	s.want(0x19000, 30, "a.so+0x9000")
	s.want(0x17000, 15, "a.so+0x7000")
	s.want(0x17000, 30, "b.so+0x7000")

	// A mapping that grows keeps its identity under another ID.
	s.mapping(30, 2, 0x50000, 0x51000, 0, "[heap]", 0)
	s.symbol(31, 2, 0x50010, 0x5001f, "x")
	before := s.frame(0x50010, 32).Mapping
	s.mapping(40, 3, 0x50000, 0x58000, 0, "[heap]", 0)
	s.symbol(41, 3, 0x57000, 0x5700f, "y")
	if s.epoch(0x50010) != 0 {
		t.Error("growth is treated as a redefinition")
	}
	s.want(0x50010, 50, "x")
	s.want(0x57000, 50, "y")
	if after := s.frame(0x50010, 32).Mapping; before.Limit != 0x51000 || after.Limit != 0x58000 || after.Start != 0x50000 {
		t.Errorf("mapping %+v grew to %+v", before, after)
	}
}

func TestSmallMappingInsideOfLarge(t *testing.T) {
	for _, kernelFirst := range []bool{true, false} {
		s := newStream(t, symbol.New(nil))
		if kernelFirst {
			s.mapping(0, 0, 0xffff800000000000, ^uint64(0), 0, "vmlinux", 0)
		}
		s.mapping(0, 1, 0xffffffffff600000, 0xffffffffff601000, 0, "[vsyscall]", 0)
		if !kernelFirst {
			s.mapping(0, 0, 0xffff800000000000, ^uint64(0), 0, "vmlinux", 0)
		}
		s.want(0xffffffffff600000, 1, "[vsyscall]+0x0")
		s.want(0xffffffff81000000, 1, "vmlinux+0x7fff81000000")
	}
}

func TestGeneratedCode(t *testing.T) {
	s := newStream(t, symbol.New(nil))
	s.mapping(0, 0, 0x10000, 0x20000, 0, "/memfd:doublemapper (deleted)", 0)
	s.mapping(0, 1, 0x20000, 0x30000, 0, "", 0)
	s.mapping(0, 2, 0x30000, 0x40000, 0, "/usr/share/dotnet/System.Private.CoreLib.dll", 5)
	s.metadata(0, 5, `{"type": "PE","name": "System.Private.CoreLib.pdb","age": 1,"signature": "8165c9c0b76938ba8a418680bc2a7220"}`)
	s.symbol(0, 0, 0x10100, 0x10200, "instance int32 [shop] Shop.Cart::Total(class [System.Runtime]System.String)[OptimizedTier1]")
	s.symbol(0, 0, 0x10200, 0x10300, "void [System.Private.CoreLib] System.GC::Collect()[Tier0]")
	s.symbol(0, 0, 0x10300, 0x10400, "stub ReportStubBlock<MethodCallThunk>")
	s.symbol(0, 1, 0x20100, 0x20200, "LazyCompile:~work app.js:1")
	s.symbol(0, 0, 0x1ff00, 0x20080, "int32 [shop] Shop.Cart::Straddle()[Tier0]") // begins in one mapping and ends in the next

	f := s.frame(0x10110, 1)
	if *f.Func != (ntconv.Function{Name: "Shop.Cart.Total(string)", SystemName: "shop!Shop.Cart::Total(class [System.Runtime]System.String)"}) ||
		f.Flags != ntconv.FrameManaged || f.Mapping == nil || *f.Mapping != (ntconv.Mapping{File: "shop"}) {
		t.Errorf("jitted code: %+v in %+v, %v", *f.Func, f.Mapping, f.Flags)
	}
	f = s.frame(0x10210, 1)
	if want := (ntconv.Mapping{File: "/usr/share/dotnet/System.Private.CoreLib.dll", BuildID: "c0c9658169b7ba388a418680bc2a72201"}); f.Mapping == nil || *f.Mapping != want {
		t.Errorf("jitted code of a mapped assembly is in %+v", f.Mapping)
	}
	if f = s.frame(0x10310, 1); f.Func.Name != "stub ReportStubBlock<MethodCallThunk>" || f.Mapping != nil || f.Flags != 0 {
		t.Errorf("stub: %+v in %+v, %v", *f.Func, f.Mapping, f.Flags)
	}
	if f = s.frame(0x20110, 1); f.Func.Name != "LazyCompile:~work app.js:1" || f.Mapping == nil || f.Mapping.File != "" {
		t.Errorf("script: %+v in %+v", *f.Func, f.Mapping)
	}
	if f = s.frame(0x20010, 1); f.Func.Name != "Shop.Cart.Straddle()" {
		t.Errorf("symbol of the mapping before: %+v", *f.Func)
	}
	s.want(0x10510, 1, "0x10510") // no module, so no offset in one
	s.want(0x20510, 1, "0x20510")

	// Generated code is replaced; code of a file only gets aliases.
	s.symbol(50, 0, 0x10100, 0x10200, "void [shop] Shop.Cart::Other()[Tier0]")
	s.symbol(50, 2, 0x30100, 0x30200, "first")
	s.symbol(60, 2, 0x30100, 0x30200, "second")
	s.want(0x10110, 49, "Shop.Cart.Total(string)")
	s.want(0x10110, 50, "Shop.Cart.Other()")
	s.want(0x30110, 99, "first")
	if s.epoch(0x10110) == 0 || s.epoch(0x30110) != 0 {
		t.Errorf("epochs %d and %d", s.epoch(0x10110), s.epoch(0x30110))
	}
}

func TestImpossibleRanges(t *testing.T) {
	report := new(ntconv.Report)
	s := newStream(t, symbol.New(&symbol.Options{Report: report}))
	s.mapping(0, 0, 0x7f000000, 0x7f001000, 0, "/bin/app", 0)
	s.symbol(0, 0, 0, ^uint64(0), "everything")
	s.symbol(0, 0, 0x7f000200, 0x7f0001ff, "backwards")
	s.symbol(0, 0, 0x1000, 0x1000, "one byte elsewhere")
	s.mapping(0, 1, 0x2000, 0x1000, 0, "/bin/backwards", 0)
	s.mapping(0, 2, 0, ^uint64(0), 0, "/bin/everything", 0)
	if n := report.Count(ntconv.CodePayload); n != 4 {
		t.Errorf("%d events counted, want 4", n)
	}
	s.want(0x7f000100, 1, "app+0x100")
	s.want(0x1000, 1, "one byte elsewhere")
	s.want(0x1001, 1, "0x1001")
}

func TestCutOffPayloads(t *testing.T) {
	report := new(ntconv.Report)
	table := symbol.New(&symbol.Options{Report: report})
	th := &ntconv.Thread{Process: &ntconv.Process{PID: 1}}
	var bad uint64
	for _, typ := range interesting() {
		table.Observe(&ntconv.Event{Type: typ, Thread: th, Capture: th, Payload: []byte{1}, Offset: 77})
		if clr.ClassOf(typ) != clr.ClassUniversalProcessExit {
			bad++
		}
	}
	if n := report.Count(ntconv.CodePayload); n != bad {
		t.Errorf("%d events counted, want %d", n, bad)
	}
}

func TestBuildIDs(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"ELF","build_id":"00FFaa"}`:                                    "00ffaa",
		`{"Type":"elf","p_vaddr":"0x401000","p_offset":4096,"build_id":"00ff"}`: "00ff",
		`{"type":"PE","signature":"00112233445566778899aabbccddeeff","age":26}`: "33221100554477668899aabbccddeeff1a",
		`{"type":"PE","signature":"0011","age":1}`:                              "",
		`{"type":"ELF","debug_link":"a"b","build_id":"00ff"}`:                   "", // not escaped
		`{"build_id":"00ff"}`: "",
		`{}`:                  "",
		`null`:                "",
		`{"type":"PE","signature":"00000000000000000000000000000000","age":1,"name":"stripped"}`: "",
	} {
		s := newStream(t, symbol.New(nil))
		s.metadata(0, 1, text)
		s.mapping(0, 0, 0x1000, 0x2000, 0, "/bin/app", 1)
		if got := s.frame(0x1000, 1).Mapping.BuildID; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestProcessInfo(t *testing.T) {
	s := newStream(t, symbol.New(nil))
	named := &ntconv.Process{PID: 1, Name: "own"}
	if got := s.table.Process(named); got != (ntconv.ProcessInfo{Name: "own"}) {
		t.Errorf("unknown process: %+v", got)
	}
	if got := s.table.Process(nil); got != (ntconv.ProcessInfo{}) {
		t.Errorf("no process: %+v", got)
	}
	line := func(s string) ntconv.ProcessInfo {
		st := newStream(t, symbol.New(nil))
		st.event(3, clr.EventPipe, 1, 1, ntconv.StringValue(s), ntconv.StringValue("Linux"), ntconv.StringValue("x64"))
		return st.table.Process(st.proc)
	}
	for text, name := range map[string]string{
		"/usr/bin/dotnet app.dll -x": "dotnet", `"C:\Program Files\shop\shop.exe" /a`: "shop.exe", "shop": "shop", "": "", `"unclosed`: "unclosed",
	} {
		if got := line(text); got != (ntconv.ProcessInfo{Name: name, CommandLine: text}) {
			t.Errorf("%q: %+v", text, got)
		}
	}
	s.process(10, "sh", true)
	s.process(11, "shop", true)
	s.event(20, clr.UniversalSystem, 2, 0)
	if got := s.table.Process(s.proc); got != (ntconv.ProcessInfo{Name: "shop", Start: 11, End: 20}) {
		t.Errorf("created process: %+v", got)
	}
	s.process(30, "next", true)
	if got := s.table.Process(s.proc); got != (ntconv.ProcessInfo{Name: "next", Start: 30}) {
		t.Errorf("reused process ID: %+v", got)
	}
	if got := s.table.ThreadName(&ntconv.Thread{Name: "main"}); got != "main" || s.table.ThreadName(nil) != "" {
		t.Errorf("thread name %q", got)
	}
}

// TestSymbolRangeVectors uses files that made TraceEvent throw.
func TestSymbolRangeVectors(t *testing.T) {
	for _, name := range []string{"InvalidSymbolRange", "ZeroSizeSymbolRange"} {
		path := corpus.Shared(t, "data", "vectors", "ConvertNettrace_With"+name+"_DoesNotThrow.nettrace")
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := reader.New(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		report := new(ntconv.Report)
		table := symbol.New(&symbol.Options{Report: report})
		var proc *ntconv.Process
		for e, err := range ntconv.Events(symbol.Watch(r, table)) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind == ntconv.KindEvent && e.Thread.Process.PID != 0 {
				proc = e.Thread.Process
			}
		}
		frames := table.AppendFrames(nil, proc, &ntconv.Stack{PCs: []uint64{0x7f000500, 0x1000}}, 0)
		if len(table.Mappings(proc)) != 1 || frames[0].Mapping == nil {
			t.Errorf("%s: mappings %+v, frames %+v", name, table.Mappings(proc), frames)
		}
		if bad := report.Count(ntconv.CodePayload); (bad > 0) != (name == "InvalidSymbolRange") {
			t.Errorf("%s: %d events counted", name, bad)
		}
	}
}
