package elfsym_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/symbols/elfsym"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// A language builds the program of testdata in that language.
type language struct {
	name   string
	tool   string
	env    string   // further variable of the environment
	slow   bool     // the go command compiles the whole standard library for it
	args   []string // before the name of the output
	source []string
	lines  bool // addr2line reads the debug information: that of Go is too new for some versions
}

var languages = []language{
	{name: "c", tool: "gcc", args: []string{"-O2", "-g", "-o"}, source: []string{"shapes.c"}, lines: true},
	{name: "c-dwarf4", tool: "gcc", args: []string{"-O2", "-g", "-gdwarf-4", "-no-pie", "-o"}, source: []string{"shapes.c"}, lines: true},
	{name: "c++", tool: "g++", args: []string{"-O2", "-g", "-o"}, source: []string{"shapes.cc"}, lines: true},
	{name: "rust", tool: "rustc", args: []string{"-O", "-g", "-o"}, source: []string{"shapes.rs"}, lines: true},
	{name: "go", tool: "go", args: []string{"build", "-o"}, source: []string{"./shapes_go"}},
	{name: "go-386", tool: "go", env: "GOARCH=386", slow: true, args: []string{"build", "-o"}, source: []string{"./shapes_go"}},
	{name: "go-pie", tool: "go", slow: true, args: []string{"build", "-buildmode=pie", "-o"}, source: []string{"./shapes_go"}},
}

// build compiles the program of a language, with further arguments of the compiler. It skips the test if there is no
// compiler.
func build(t *testing.T, l language, more ...string) string {
	t.Helper()
	need(t, l.tool)
	if l.slow && !corpus.Nightly() {
		t.Skip("make nightly compiles the standard library again, for another machine or buildmode")
	}
	out := filepath.Join(t.TempDir(), "shapes")
	args := append(slices.Clone(l.args), out)
	args = append(append(args, more...), l.source...)
	cmd := exec.Command(l.tool, args...)
	cmd.Dir = "testdata"
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if l.env != "" {
		cmd.Env = append(cmd.Env, l.env)
	}
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, b)
	}
	return out
}

// need skips the test if a program is missing.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
}

// run runs a program and returns its output.
func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(name, args...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	return out
}

// open opens an ELF file for the rest of the test.
func open(t *testing.T, name string) *elfsym.File {
	t.Helper()
	r, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	info, err := r.Stat()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elfsym.New(r, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// object returns the resolver of a program and its debug file, whose name may be empty.
func object(t *testing.T, program, debug string) *elfsym.Object {
	t.Helper()
	var d *elfsym.File
	if debug != "" {
		d = open(t, debug)
	}
	o, err := elfsym.NewObject(open(t, program), d)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// A symbol is a function that nm lists.
type symbol struct {
	start, size uint64
	name        string
}

// nm returns the functions with a size that nm lists.
func nm(t *testing.T, file string, flags ...string) (list []symbol) {
	t.Helper()
	need(t, "nm")
	out := run(t, "nm", append(append([]string{"--defined-only", "-S"}, flags...), file)...)
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		f := strings.SplitN(s.Text(), " ", 4) // address, size, type, name
		if len(f) != 4 || !strings.Contains("tTwWiu", f[2]) {
			continue
		}
		start, err := strconv.ParseUint(f[0], 16, 64)
		size, err2 := strconv.ParseUint(f[1], 16, 64)
		if err == nil && err2 == nil && size > 0 {
			name, _, _ := strings.Cut(f[3], "@")
			list = append(list, symbol{start, size, name})
		}
	}
	if len(list) < 3 {
		t.Fatalf("nm lists %d functions of %s", len(list), file)
	}
	return list
}

// A place is a frame as addr2line prints it.
type place struct {
	name string
	file string // without directories
	line int
}

func (p place) String() string { return fmt.Sprintf("%s %s:%d", p.name, p.file, p.line) }

// addr2line returns the frames of each address, innermost first.
func addr2line(t *testing.T, file string, addrs []uint64) map[uint64][]place {
	t.Helper()
	need(t, "addr2line")
	var in strings.Builder
	for _, a := range addrs {
		fmt.Fprintf(&in, "%#x\n", a)
	}
	cmd := exec.Command("addr2line", "-a", "-f", "-i", "-e", file)
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	frames := make(map[uint64][]place)
	var at uint64
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i := 0; i < len(lines); i++ {
		if strings.HasPrefix(lines[i], "0x") {
			if at, err = strconv.ParseUint(lines[i][2:], 16, 64); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if i++; i == len(lines) {
			break
		}
		where, _, _ := strings.Cut(lines[i], " (discriminator")
		colon := strings.LastIndexByte(where, ':')
		line, _ := strconv.Atoi(where[colon+1:])
		frames[at] = append(frames[at], place{lines[i-1], filepath.Base(where[:colon]), line})
	}
	return frames
}
