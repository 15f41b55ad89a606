package symbolfiles_test

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/symbols/symbolfiles"
	"github.com/ntconv/ntconv/symbol"
)

// A build is a program with its debug file, and what nm lists for it.
type build struct {
	dir                   string
	full, stripped, debug string
	id                    string
	mapping               *ntconv.Mapping // of its code, at another address than in the file
	bias                  uint64          // of addresses in the process
	names                 map[uint64][]string
	addrs                 []uint64 // of functions, in the file
}

// source is a program with a function for which callers choose the body, so that builds differ.
const source = `
#include <stdio.h>
static __attribute__((noinline)) int secret(int n) { return n * %d; }
static inline __attribute__((always_inline)) int twice(int n) { return secret(n) + secret(n + 1); }
__attribute__((noinline)) int visible(int n) { return twice(n) ^ 5; }
int main(int argc, char **argv) { printf("%%d\n", visible(argc)); return 0; }
`

// compile builds a program in a directory of its own. flags are further arguments of gcc.
func compile(t testing.TB, factor int, flags ...string) *build {
	t.Helper()
	for _, tool := range []string{"gcc", "nm", "objcopy", "strip"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	b := &build{dir: t.TempDir()}
	b.full, b.stripped, b.debug = filepath.Join(b.dir, "full"), filepath.Join(b.dir, "app"), filepath.Join(b.dir, "app.debug")
	text := filepath.Join(b.dir, "app.c")
	if err := os.WriteFile(text, fmt.Appendf(nil, source, factor), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "gcc", append([]string{"-O2", "-g", "-o", b.full, text}, flags...)...)
	run(t, "objcopy", "--only-keep-debug", b.full, b.debug)
	run(t, "strip", "-o", b.stripped, b.full)
	b.read(t)
	return b
}

func run(t testing.TB, name string, args ...string) []byte {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return out
}

// read sets what debug/elf and nm know about the program.
func (b *build) read(t testing.TB) {
	t.Helper()
	f, err := elf.Open(b.full)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if s := f.Section(".note.gnu.build-id"); s != nil {
		data, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		b.id = hex.EncodeToString(data[16:])
	}
	if f.Type == elf.ET_DYN {
		b.bias = 0x5555_5555_0000
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			first, last := p.Vaddr&^0xfff, (p.Vaddr+p.Memsz+0xfff)&^0xfff
			b.mapping = &ntconv.Mapping{
				Start: first + b.bias, Limit: last + b.bias, Offset: p.Off &^ 0xfff, File: "/opt/shop/app", BuildID: b.id,
			}
		}
	}
	b.names = make(map[uint64][]string)
	for s := bufio.NewScanner(bytes.NewReader(run(t, "nm", "--defined-only", "-S", b.full))); s.Scan(); {
		fields := strings.Fields(s.Text())
		if len(fields) != 4 || !strings.Contains("tT", fields[2]) {
			continue
		}
		addr, err := strconv.ParseUint(fields[0], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		b.names[addr] = append(b.names[addr], fields[3])
		b.addrs = append(b.addrs, addr)
	}
	if !slices.Contains(b.names[b.address(t, "secret")], "secret") {
		t.Fatalf("nm lists %v", b.names)
	}
}

// address returns the address of a function in the file.
func (b *build) address(t testing.TB, name string) uint64 {
	t.Helper()
	for addr, names := range b.names {
		if slices.Contains(names, name) {
			return addr
		}
	}
	t.Fatalf("nm does not list %s", name)
	return 0
}

// place copies a file, creating directories.
func place(t testing.TB, from string, to ...string) string {
	t.Helper()
	name := filepath.Join(to...)
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o755)
	}
	if err == nil {
		err = os.WriteFile(name, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// finder returns a Finder with constant options.
func finder(o symbolfiles.Options) *symbolfiles.Finder {
	return symbolfiles.New(func() symbolfiles.Options { return o })
}

// resolve returns the name of the outermost function at an address of the file, or "".
func (b *build) resolve(f *symbolfiles.Finder, addr uint64) string {
	frames := f.AppendNative(nil, &symbol.NativeAddress{PC: addr + b.bias, Mapping: b.mapping, PID: 7})
	if len(frames) == 0 {
		return ""
	}
	return frames[len(frames)-1].Function.Name
}

// check checks that all functions have the names that nm lists.
func (b *build) check(t *testing.T, f *symbolfiles.Finder) {
	t.Helper()
	for _, addr := range b.addrs {
		if got := b.resolve(f, addr); !slices.Contains(b.names[addr], got) {
			t.Errorf("%#x: got %q, want one of %q; %+v", addr, got, b.names[addr], f.Mapping(b.mapping))
		}
	}
}

// TestPlaces checks every arrangement of files below the directories that a user names.
func TestPlaces(t *testing.T) {
	for name, flags := range map[string][]string{
		"pie": {"-pie"}, "no-pie": {"-no-pie"}, "other-addresses": {"-no-pie", "-Wl,-Ttext-segment=0x10000000"},
		"packed": {"-pie", "-Wl,-z,noseparate-code"},
	} {
		t.Run(name, func(t *testing.T) {
			b := compile(t, 3, flags...)
			linked := filepath.Join(b.dir, "linked")
			run(t, "objcopy", "--add-gnu-debuglink="+b.debug, b.stripped, linked)
			for name, arrange := range map[string]func(dir string){
				"path":       func(dir string) { place(t, b.full, dir, "opt/shop/app") },
				"name":       func(dir string) { place(t, b.full, dir, "app") },
				"other name": func(dir string) { place(t, b.full, dir, "a", "b", "renamed.bin") },
				"build-id":   func(dir string) { place(t, b.full, dir, ".build-id", b.id[:2], b.id[2:]) },
				"debuginfod": func(dir string) { place(t, b.full, dir, b.id, "executable") },
				"next to it": func(dir string) {
					place(t, linked, dir, "opt/shop/app")
					place(t, b.debug, dir, "opt/shop/app.debug")
				},
				".debug": func(dir string) {
					place(t, linked, dir, "opt/shop/app")
					place(t, b.debug, dir, "opt/shop/.debug/app.debug")
				},
				"debug tree": func(dir string) {
					place(t, b.stripped, dir, "opt/shop/app")
					place(t, b.debug, dir, ".build-id", b.id[:2], b.id[2:]+".debug")
				},
				"unstripped copy": func(dir string) {
					place(t, b.stripped, dir, "opt/shop/app")
					place(t, b.full, dir, "unstripped", "app")
				},
				"link to a directory": func(dir string) {
					place(t, b.full, dir, "a", "renamed.bin")
					if err := os.Rename(dir, dir+".real"); err != nil {
						t.Fatal(err)
					}
					if err := os.Symlink(dir+".real", dir); err != nil {
						t.Skipf("no symbolic links: %v", err)
					}
				},
				"only the debug file": func(dir string) { place(t, b.debug, dir, "x", "y.debug") },
			} {
				t.Run(name, func(t *testing.T) {
					dir := t.TempDir()
					arrange(dir)
					b.check(t, finder(symbolfiles.Options{Paths: []string{t.TempDir(), dir}}))
					if got := finder(symbolfiles.Options{Local: true}); b.resolve(got, b.addrs[0]) != "" {
						t.Error("an address is resolved without a directory")
					}
				})
			}
			t.Run("single file", func(t *testing.T) { b.check(t, finder(symbolfiles.Options{Paths: []string{b.full}})) })
			t.Run("padded ID", func(t *testing.T) {
				short := compile(t, 4, append(flags, "-Wl,--build-id=md5")...)
				short.mapping.BuildID += "00000000" // as one-collect writes it
				if len(short.mapping.BuildID) != 40 {
					t.Fatalf("build ID %s", short.mapping.BuildID)
				}
				short.check(t, finder(symbolfiles.Options{Paths: []string{short.dir}}))
			})
		})
	}
}

// TestLocal checks the use of files of this machine.
func TestLocal(t *testing.T) {
	b := compile(t, 3)
	b.mapping.File = b.full
	local := symbolfiles.Options{Local: true}
	b.check(t, finder(local))
	if got := b.resolve(finder(symbolfiles.Options{}), b.addrs[0]); got != "" {
		t.Errorf("got %q without permission", got)
	}
	b.mapping.File = b.full + " (deleted)"
	b.check(t, finder(local))

	t.Run("debug directory", func(t *testing.T) {
		b := compile(t, 5)
		dir := t.TempDir()
		b.mapping.File = b.stripped
		place(t, b.debug, dir, ".build-id", b.id[:2], b.id[2:]+".debug")
		if err := os.Remove(b.debug); err != nil { // otherwise next to the program
			t.Fatal(err)
		}
		b.check(t, finder(symbolfiles.Options{Local: true, DebugDirs: []string{dir}}))
	})
	t.Run("no build ID", func(t *testing.T) {
		b := compile(t, 6, "-Wl,--build-id=none")
		b.mapping.File = b.full
		if got := b.resolve(finder(local), b.addrs[0]); got != "" {
			t.Errorf("a file of this machine without a build ID was used: %s", got)
		}
	})
}

// TestWrongBuild checks that no name comes from a file of another build, and that the report names both build IDs.
func TestWrongBuild(t *testing.T) {
	b, other := compile(t, 3), compile(t, 1234567)
	if b.id == other.id {
		t.Fatal("both builds have the same ID")
	}
	dir := t.TempDir()
	place(t, other.full, dir, "opt/shop/app")
	f := finder(symbolfiles.Options{Paths: []string{dir}})
	for _, addr := range b.addrs {
		if got := b.resolve(f, addr); got != "" {
			t.Errorf("%#x got the name %q of another build", addr, got)
		}
	}
	r := new(ntconv.Report)
	f.ReportNative(r)
	if r.Count(ntconv.CodeFileRefused) != 1 {
		t.Fatalf("%d files are refused, want 1", r.Count(ntconv.CodeFileRefused))
	}
	for _, e := range r.Entries() {
		if !strings.Contains(e.Detail, b.id) || !strings.Contains(e.Detail, other.id) {
			t.Errorf("the report does not name both build IDs: %s", e.Detail)
		}
	}
	place(t, b.full, dir, "other", "place") // the search goes on
	b.check(t, finder(symbolfiles.Options{Paths: []string{dir}}))

	t.Run("debug link", func(t *testing.T) {
		linked := filepath.Join(b.dir, "linked")
		run(t, "objcopy", "--add-gnu-debuglink="+b.debug, b.stripped, linked)
		dir := t.TempDir()
		place(t, linked, dir, "app")
		place(t, other.debug, dir, "app.debug")
		f := finder(symbolfiles.Options{Paths: []string{dir}})
		if got := b.resolve(f, b.address(t, "secret")); got != "" {
			t.Errorf("got the name %q of another build", got)
		}
		if s := f.Mapping(b.mapping); len(s.Refused) != 1 || s.Problem == "" || s.Next == "" {
			t.Errorf("status %+v", s)
		}
	})
}

// TestWithoutBuildID checks the comparison of program headers, which replaces that of build IDs.
func TestWithoutBuildID(t *testing.T) {
	b := compile(t, 3, "-Wl,--build-id=none")
	paths := symbolfiles.Options{Paths: []string{b.dir}}
	b.mapping.File = "/srv/full"
	b.check(t, finder(paths))
	for name, change := range map[string]func(m *ntconv.Mapping){
		"longer": func(m *ntconv.Mapping) { m.Limit += 1 << 20 },
		"offset": func(m *ntconv.Mapping) { m.Offset += 1 << 20 },
	} {
		m := *b.mapping
		change(&m)
		other := *b
		other.mapping = &m
		f := finder(paths)
		if got := other.resolve(f, b.addrs[0]); got != "" {
			t.Errorf("%s: got %q though the program headers do not agree", name, got)
		}
		if s := f.Mapping(&m); !strings.Contains(s.Problem, "program headers") {
			t.Errorf("%s: status %+v", name, s)
		}
	}
}

// TestPairs checks that a program found without a build ID gets only the debug file of its own build.
func TestPairs(t *testing.T) {
	b, other := compile(t, 3), compile(t, 99)
	b.mapping.BuildID = ""
	dir := t.TempDir()
	place(t, b.stripped, dir, "app")
	place(t, other.debug, dir, "app.debug")
	f := finder(symbolfiles.Options{Paths: []string{dir}})
	if got := b.resolve(f, b.address(t, "secret")); got != "" {
		t.Errorf("got %q from a debug file of another build", got)
	}
	if r := f.Refused(true); len(r) != 1 || r[0].BuildID != other.id || r[0].Want != b.id {
		t.Errorf("refused %+v, want the debug file", r)
	}
	place(t, b.debug, dir, "app.debug")
	b.check(t, finder(symbolfiles.Options{Paths: []string{dir}}))
}

// TestUntrustedPaths checks that names of mapped files reach only regular files below the directories.
func TestUntrustedPaths(t *testing.T) {
	b := compile(t, 3)
	dir := filepath.Join(b.dir, "symbols")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("mkfifo", filepath.Join(dir, "fifo")).Run(); err != nil {
		t.Skip("no FIFOs")
	}
	for _, file := range []string{"../full", "/../../full", "..", "", "/", "fifo", "/fifo", "/dev/zero", "/proc/self/exe", "a\x00b", strings.Repeat("x/", 5000)} {
		b.mapping = &ntconv.Mapping{Start: b.mapping.Start, Limit: b.mapping.Limit, Offset: b.mapping.Offset, File: file}
		f := finder(symbolfiles.Options{Paths: []string{dir}, Local: true})
		if got := b.resolve(f, b.addrs[0]); got != "" {
			t.Errorf("%q: got %q", file, got)
		}
	}
}

// TestLines checks that inlined functions and lines come with the debug file.
func TestLines(t *testing.T) {
	b := compile(t, 3)
	f := finder(symbolfiles.Options{Paths: []string{b.dir}, Lines: true})
	inlined := false
	start := b.address(t, "visible")
	for addr := start; addr < start+20; addr++ {
		frames := f.AppendNative(nil, &symbol.NativeAddress{PC: addr + b.bias, Mapping: b.mapping})
		if len(frames) == 0 || frames[len(frames)-1].Function.Name != "visible" {
			t.Fatalf("%#x: %+v", addr, frames)
		}
		for _, n := range frames {
			if filepath.Base(n.Function.File) != "app.c" || n.Line < 3 || n.Line > 6 {
				t.Errorf("%#x: %+v", addr, n)
			}
		}
		inlined = inlined || frames[0].Function.Name == "twice"
	}
	if !inlined {
		t.Error("the inlined function has no frame")
	}
}

// TestDebuginfod checks requests to a server, the cache, and that a wrong file is refused.
func TestDebuginfod(t *testing.T) {
	b, other := compile(t, 3), compile(t, 99)
	var requests []string
	serve := map[string]string{"/buildid/" + b.id + "/executable": b.stripped, "/buildid/" + b.id + "/debuginfo": b.debug}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.URL.Path)
		file, ok := serve[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		data, err := os.Open(file)
		if err != nil {
			t.Error(err)
			return
		}
		defer data.Close()
		_, _ = io.Copy(w, data)
	}))
	defer server.Close()
	cache := t.TempDir()
	options := symbolfiles.Options{Servers: []string{server.URL}, Cache: cache}
	b.check(t, finder(options))
	if want := []string{"/buildid/" + b.id + "/executable", "/buildid/" + b.id + "/debuginfo"}; !slices.Equal(requests, want) {
		t.Errorf("requests %q, want %q", requests, want)
	}
	requests = nil
	b.check(t, finder(options))
	b.check(t, finder(symbolfiles.Options{Paths: []string{cache}}))
	if len(requests) > 0 {
		t.Errorf("the cache was not used: %q", requests)
	}
	if got := other.resolve(finder(options), other.addrs[0]); got != "" || len(requests) != 2 {
		t.Errorf("got %q after %d requests", got, len(requests))
	}

	requests = nil
	serve["/buildid/"+other.id+"/executable"] = b.full
	f := finder(options)
	if got := other.resolve(f, other.addrs[0]); got != "" {
		t.Errorf("got %q from a file of another build", got)
	}
	if len(f.Refused(true)) == 0 {
		t.Error("the file was not refused")
	}
	server.Close()
	f = finder(symbolfiles.Options{Servers: []string{server.URL}, Cache: t.TempDir()})
	if got := b.resolve(f, b.addrs[0]); got != "" {
		t.Errorf("got %q from a server that does not answer", got)
	}
	if s := f.Mapping(b.mapping); len(s.Errors) == 0 {
		t.Errorf("status %+v, want the error of the server", s)
	}
}

// TestDebuginfodRedirect checks that a redirect reaches only hosts that the user named.
func TestDebuginfodRedirect(t *testing.T) {
	b := compile(t, 3)
	var other []string
	files := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		other = append(other, r.URL.Path)
		http.ServeFile(w, r, b.full)
	})
	elsewhere := httptest.NewServer(files)
	defer elsewhere.Close()
	target := strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1) // another host for whoever compares names
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, target+r.URL.Path, http.StatusFound)
	}))
	defer server.Close()

	f := finder(symbolfiles.Options{Servers: []string{server.URL}, Cache: t.TempDir()})
	if got := b.resolve(f, b.addrs[0]); got != "" || len(other) > 0 {
		t.Errorf("got %q from a host that the user did not name; it was asked for %q", got, other)
	}
	if s := f.Mapping(b.mapping); len(s.Errors) == 0 || !strings.Contains(s.Errors[0], strings.TrimPrefix(target, "http://")) {
		t.Errorf("status %+v, want an error that names the host", s)
	}
	report := new(ntconv.Report)
	if f.ReportNative(report); report.Count(ntconv.CodeFileRefused) != 1 {
		t.Errorf("report %+v, want the error of the server", report.Entries())
	}
	b.check(t, finder(symbolfiles.Options{Servers: []string{server.URL, target + "/files"}, Cache: t.TempDir()}))
	if !slices.Contains(other, "/buildid/"+b.id+"/executable") {
		t.Errorf("a named host was not asked: %q", other)
	}
}

// TestVDSO resolves functions of the page that the kernel maps into every process, from a copy of this process's page.
func TestVDSO(t *testing.T) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skipf("no /proc on this system: %v", err)
	}
	m := &ntconv.Mapping{File: "[vdso]"}
	for line := range strings.Lines(string(maps)) {
		if strings.HasSuffix(strings.TrimSpace(line), "[vdso]") {
			if _, err := fmt.Sscanf(line, "%x-%x", &m.Start, &m.Limit); err != nil {
				t.Fatal(err)
			}
		}
	}
	memory, err := os.Open("/proc/self/mem")
	if err != nil || m.Start == 0 {
		t.Skipf("no [vdso] on this system: %v", err)
	}
	defer memory.Close()
	data := make([]byte, m.Limit-m.Start)
	if _, err := memory.ReadAt(data, int64(m.Start)); err != nil {
		t.Skipf("memory cannot be read on this system: %v", err)
	}
	file, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	list, err := file.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, string(data), dir, "vdso64.so")
	f := finder(symbolfiles.Options{Paths: []string{dir}})
	found := 0
	for _, s := range list {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 {
			continue
		}
		frames := f.AppendNative(nil, &symbol.NativeAddress{PC: m.Start + s.Value, Mapping: m})
		if len(frames) != 1 || !strings.HasSuffix(s.Name, frames[0].Function.Name) {
			t.Errorf("%s: got %+v", s.Name, frames)
		}
		found++
	}
	if found < 2 {
		t.Errorf("the page has %d functions", found)
	}
}
