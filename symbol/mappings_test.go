package symbol_test

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
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
