package symbolfiles_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/symbols/symbolfiles"
	"github.com/ntconv/ntconv/symbol"
)

func write(t testing.TB, text string, name ...string) {
	t.Helper()
	file := filepath.Join(name...)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// nameAt returns the name of generated code of a process.
func nameAt(f *symbolfiles.Finder, pid, namespace, pc uint64) string {
	frames := f.AppendNative(nil, &symbol.NativeAddress{PC: pc, PID: pid, NamespacePID: namespace})
	if len(frames) != 1 || !frames[0].PerfMap {
		return ""
	}
	return frames[0].Function.Name
}

// TestPerfMaps checks which perf map serves a process, and which line an address.
func TestPerfMaps(t *testing.T) {
	dir := t.TempDir()
	write(t, "1000 10 first\n1000 20 second with spaces\nnot a line\n1010 8 third\nffffffffffffffff 20 overflow\n0x3000 0x10 prefixed\r\n3020 5 unfinished", dir, "perf-7.map")
	write(t, "1000 10 inside\n", dir, "tmp", "perf-3.map")
	f := finder(symbolfiles.Options{Paths: []string{dir}})
	for pc, want := range map[uint64]string{
		0xfff: "", 0x1000: "second with spaces", 0x100f: "second with spaces", 0x1010: "third", 0x1017: "third",
		0x1018: "second with spaces", 0x101f: "second with spaces", 0x1020: "", 0x3000: "prefixed", 0x3010: "", 0x3024: "unfinished",
	} {
		if got := nameAt(f, 7, 0, pc); got != want {
			t.Errorf("%#x: got %q, want %q", pc, got, want)
		}
	}
	if got := nameAt(f, 8, 3, 0x1000); got != "inside" {
		t.Errorf("a process in a container got %q", got)
	}
	if got := nameAt(f, 9, 0, 0x1000); got != "" {
		t.Errorf("another process got %q", got)
	}
	single := finder(symbolfiles.Options{Paths: []string{filepath.Join(dir, "perf-7.map")}})
	if got := nameAt(single, 7, 0, 0x1010); got != "third" || nameAt(single, 8, 0, 0x1010) != "" {
		t.Errorf("the file alone gives %q", got)
	}
	if got := nameAt(finder(symbolfiles.Options{Local: true}), 7, 0, 0x1010); got != "" {
		t.Errorf("got %q without a directory", got)
	}
}

// TestPerfMapOrder compares lookups with a model: the last line that contains the address.
func TestPerfMapOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 20 {
		type line struct{ start, size uint64 }
		var lines []line
		var text strings.Builder
		for i := range 30 {
			l := line{0x1000 + r.Uint64N(200), 1 + r.Uint64N(40)}
			lines = append(lines, l)
			fmt.Fprintf(&text, "%x %x f%d\n", l.start, l.size, i)
		}
		dir := t.TempDir()
		write(t, text.String(), dir, "perf-1.map")
		f := finder(symbolfiles.Options{Paths: []string{dir}})
		for pc := uint64(0x1000); pc < 0x1100; pc++ {
			want := ""
			for i, l := range lines {
				if pc >= l.start && pc < l.start+l.size {
					want = fmt.Sprintf("f%d", i)
				}
			}
			if got := nameAt(f, 1, 0, pc); got != want {
				t.Fatalf("round %d, %#x: got %q, want %q", round, pc, got, want)
			}
		}
	}
}

// TestKernel checks names of the kernel and its modules.
func TestKernel(t *testing.T) {
	const kallsyms = `ffffffff81000000 T _text
ffffffff81000000 T startup_64
ffffffff81000100 t helper.isra.0
ffffffff81000180 d table
ffffffff81000200 T __pfx_do_work
ffffffff81000210 W do_work
ffffffffc0000000 t init_module	[nf_tables]
ffffffffc0000100 t nft_eval	[nf_tables]
ffffffffc0004000 t other	[xfs]
`
	ask := func(f *symbolfiles.Finder, pc uint64) string {
		frames := f.AppendNative(nil, &symbol.NativeAddress{PC: pc, Kernel: true, Mapping: &ntconv.Mapping{File: "vmlinux"}})
		if len(frames) == 0 {
			return ""
		}
		return frames[0].Function.Name
	}
	dir := t.TempDir()
	write(t, kallsyms, dir, "proc", "kallsyms")
	write(t, "nf_tables 4096 1 - Live 0xffffffffc0000000\nxfs 8192 0 - Live 0xffffffffc0004000\n", dir, "proc", "modules")
	f := finder(symbolfiles.Options{Paths: []string{dir}})
	for pc, want := range map[uint64]string{
		0xffffffff80ffffff: "", 0xffffffff81000050: "_text", 0xffffffff81000100: "helper.isra.0", 0xffffffff81000190: "",
		0xffffffff81000210: "do_work", 0xffffffffc0000180: "nft_eval [nf_tables]", 0xffffffffc0001000: "",
		0xffffffffc0004000: "other [xfs]", 0xffffffffc0006000: "",
	} {
		if got := ask(f, pc); got != want {
			t.Errorf("%#x: got %q, want %q", pc, got, want)
		}
	}
	hidden := t.TempDir()
	write(t, "0000000000000000 T _text\n0000000000000000 T startup_64\n", hidden, "kallsyms")
	f = finder(symbolfiles.Options{Paths: []string{hidden}})
	if got := ask(f, 0xffffffff81000050); got != "" {
		t.Errorf("hidden addresses give %q", got)
	}
	if s := f.Kernel(); !strings.Contains(s.Problem, "all addresses are 0") {
		t.Errorf("status %+v", s)
	}
}

// FuzzText reads arbitrary bytes as a perf map and as kallsyms. Nothing may panic, and a name is a part of the text.
func FuzzText(f *testing.F) {
	f.Add("1000 10 first\n1008 20 second\n", uint64(0x1009))
	f.Add("ffffffff81000000 T _text\nffffffffc0000100 t nft_eval\t[nf_tables]\n", uint64(0xffffffff81000010))
	f.Fuzz(func(t *testing.T, text string, pc uint64) {
		dir := t.TempDir()
		write(t, text, dir, "perf-1.map")
		write(t, text, dir, "kallsyms")
		write(t, text, dir, "modules")
		find := finder(symbolfiles.Options{Paths: []string{dir}})
		for _, a := range []*symbol.NativeAddress{{PC: pc, PID: 1}, {PC: pc, Kernel: true}} {
			for _, n := range find.AppendNative(nil, a) {
				name := strings.ReplaceAll(n.Function.Name, " ", "\t")
				if !strings.Contains(strings.ReplaceAll(text, " ", "\t"), name) {
					t.Errorf("%q is not in the text", n.Function.Name)
				}
			}
		}
	})
}
