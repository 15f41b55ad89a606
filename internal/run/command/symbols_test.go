package command

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/parquet-go/parquet-go"
)

// A nativeProgram is a program in C with the trace of a process that ran it.
type nativeProgram struct {
	file, id, trace string
}

// compileNative builds a program and writes a trace with samples in its function inner, called by middle, which is
// inlined into outer.
func compileNative(t *testing.T, dir string, factor int) nativeProgram {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not installed")
	}
	p := nativeProgram{file: filepath.Join(dir, "app")}
	source := filepath.Join(dir, "app.c")
	text := fmt.Sprintf(`static __attribute__((noinline)) int inner_work(int n) { return n / %d; }
static inline __attribute__((always_inline)) int middle(int n) {
  return inner_work(n) + inner_work(n + 1);
}
__attribute__((noinline)) int outer_work(int n) { return middle(n) ^ 5; }
int main(int argc, char **argv) { return outer_work(argc); }
`, factor)
	must(t, os.WriteFile(source, []byte(text), 0o600))
	if out, err := exec.Command("gcc", "-O2", "-g", "-o", p.file, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := elf.Open(p.file)
	must(t, err)
	defer f.Close()
	id, err := f.Section(".note.gnu.build-id").Data()
	must(t, err)
	p.id = hex.EncodeToString(id[16:])
	syms, err := f.Symbols()
	must(t, err)
	const bias = 0x7f00_0000_0000
	var inner, outer elf.Symbol
	for _, s := range syms {
		switch s.Name {
		case "inner_work":
			inner = s
		case "outer_work":
			outer = s
		}
	}
	code := f.Section(".text")
	data, err := code.Data()
	must(t, err)
	call := bytes.IndexByte(data[outer.Value-code.Addr:], 0xe8) // the first call in outer, which is 5 bytes long
	var b nativeTrace
	for _, g := range f.Progs {
		if g.Type == elf.PT_LOAD && g.Flags&elf.PF_X != 0 {
			start := g.Vaddr &^ 0xfff
			b.add(t, clr.UniversalSystem, 5, "ProcessMappingMetadata", nil, ntconv.UintValue(1), ntconv.StringValue(`{"type":"ELF","build_id":"`+p.id+`"}`),
				ntconv.StringValue(""))
			b.add(t, clr.UniversalSystem, 3, "ProcessMapping", nil, ntconv.UintValue(0), ntconv.UintValue(bias+start),
				ntconv.UintValue(bias+(g.Vaddr+g.Memsz)|0xfff), ntconv.UintValue(g.Off&^0xfff), ntconv.StringValue("/srv/shop/app"), ntconv.UintValue(1))
			stack := &ntconv.Stack{PCs: []uint64{bias + inner.Value + 1, bias + outer.Value + uint64(call) + 5, bias + start}} // the last one has no function
			for range 10 {
				b.add(t, "Universal.Events", 1, "cpu", stack, ntconv.UintValue(1))
			}
		}
	}
	p.trace = writeTrace(t, "app.nettrace", &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}, PointerSize: 8}, b...)
	return p
}

// nativeTrace are the events of one thread.
type nativeTrace []*ntconv.Event

func (b *nativeTrace) add(t *testing.T, provider string, id uint32, name string, stack *ntconv.Stack, values ...ntconv.Value) {
	t.Helper()
	e := &ntconv.Event{
		Time: ntconv.Ticks(1000 * (len(*b) + 1)), Type: &ntconv.Type{Provider: provider, ID: id, Name: name}, Stack: stack,
		Thread: &ntconv.Thread{TID: 78, Process: &ntconv.Process{PID: 77, PointerSize: 8}},
	}
	if n := len(*b); n > 0 {
		if e.Thread = (*b)[n-1].Thread; (*b)[n-1].Type.Name == name {
			e.Type = (*b)[n-1].Type
		}
	}
	if layout := clr.Lookup(provider, id, 0); layout != nil {
		e.Type.Fields = layout.Fields
	} else {
		e.Type.Fields = []ntconv.Field{{Name: "Value", Type: ntconv.FieldType{Code: ntconv.TypeVarUint}}}
	}
	var err error
	e.Payload, err = ntconv.AppendFields(nil, e.Type.Fields, values, 8)
	must(t, err)
	e.Capture = e.Thread
	*b = append(*b, e)
}

// inputs returns the names of files with the samples of the trace: the trace, the profile that it becomes without
// symbols, and the trace that this profile becomes.
func (p *nativeProgram) inputs(t *testing.T) []string {
	t.Helper()
	dir := filepath.Dir(p.trace)
	profile, again := filepath.Join(dir, "app.pb.gz"), filepath.Join(dir, "again.nettrace")
	for _, args := range [][]string{{"to", "pprof", p.trace, "-o", profile}, {"to", "nettrace", profile, "-o", again}} {
		succeed(t, dir, args...)
	}
	return []string{p.trace, profile, again}
}

// TestSymbolsOfFiles checks that every output names native code with --symbols, and none without, whether the input is
// a trace or a profile with addresses.
func TestSymbolsOfFiles(t *testing.T) {
	p := compileNative(t, t.TempDir(), 3)
	for _, in := range p.inputs(t) {
		t.Run(filepath.Base(in), func(t *testing.T) { checkSymbolsOfFiles(t, filepath.Dir(p.file), in) })
	}
}

func checkSymbolsOfFiles(t *testing.T, dir, in string) {
	for _, command := range []string{
		"to folded -o -", "top", "top --json", "print --frames", "print --json --frames", "to chrome -o -", "to speedscope -o -", "to firefox -o -",
		"to perfetto --plain -o -", "convert --to folded IN -", "to pprof -o -",
	} {
		args := strings.Fields(command)
		if i := strings.Index(command, "IN"); i >= 0 {
			args = strings.Fields(strings.Replace(command, "IN", in, 1))
		} else {
			args = append(args, in)
		}
		plain := invoke(t, dir, nil, args...)
		named := invoke(t, dir, nil, append(args, "--symbols", dir)...)
		if plain.code != 0 || named.code != 0 {
			t.Fatalf("%s: exit codes %d and %d\n%s%s", command, plain.code, named.code, plain.stderr, named.stderr)
		}
		unpack := func(s string) string {
			if strings.HasPrefix(s, "\x1f\x8b") {
				return string(decompressed(t, []byte(s)))
			}
			return s
		}
		for _, name := range []string{"inner_work", "outer_work"} {
			if strings.Contains(unpack(plain.stdout), name) || !strings.Contains(unpack(named.stdout), name) {
				t.Errorf("%s: %s is in the wrong output", command, name)
			}
		}
		if strings.Contains(unpack(named.stdout), "middle") {
			t.Errorf("%s: the inlined function is shown without --lines", command)
		}
	}
	dataset := filepath.Join(t.TempDir(), "dataset")
	r := invoke(t, dir, nil, "to", "parquet", "--symbols", dir, "-o", dataset, in)
	frames, err := parquet.ReadFile[tables.Frame](filepath.Join(dataset, "frames.parquet"))
	if err != nil {
		t.Fatalf("to parquet: %v\n%s", err, r.stderr)
	}
	if !slices.ContainsFunc(frames, func(f tables.Frame) bool { return f.Name == "inner_work" }) {
		t.Errorf("to parquet: frames %+v", frames)
	}
}

// TestSymbolLines checks functions, files and lines of a profile with --lines.
func TestSymbolLines(t *testing.T) {
	p := compileNative(t, t.TempDir(), 3)
	for _, in := range p.inputs(t) {
		t.Run(filepath.Base(in), func(t *testing.T) { checkSymbolLines(t, p.file, in) })
	}
}

func checkSymbolLines(t *testing.T, file, in string) {
	r := invoke(t, t.TempDir(), nil, "to", "pprof", "--lines", "--symbols", file, "-o", "-", in)
	made, err := profile.ParseData([]byte(r.stdout))
	if err != nil {
		t.Fatalf("%v\n%s", err, r.stderr)
	}
	var got []string
	for _, l := range made.Sample[0].Location {
		for _, line := range l.Line {
			got = append(got, fmt.Sprintf("%s %s:%d", line.Function.Name, filepath.Base(line.Function.Filename), line.Line))
		}
	}
	if want := "[inner_work app.c:1 middle app.c:3 outer_work app.c:5 app+0x1000 .:0]"; fmt.Sprint(got) != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
	if !strings.Contains(r.stderr, "2 addresses resolved with 1 file") {
		t.Errorf("the summary does not count addresses: %s", r.stderr)
	}
}

// TestSymbolsOfAnotherBuild checks that a file of another build is refused and reported with both build IDs.
func TestSymbolsOfAnotherBuild(t *testing.T) {
	p, other := compileNative(t, t.TempDir(), 3), compileNative(t, t.TempDir(), 7777)
	r := invoke(t, t.TempDir(), nil, "to", "folded", "--report", "json", "--symbols", filepath.Dir(other.file), "-o", "-", p.trace)
	if r.code != 0 || strings.Contains(r.stdout, "inner_work") {
		t.Errorf("exit code %d, %s", r.code, r.stdout)
	}
	for _, want := range []string{`"file-refused"`, p.id, other.id} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("the report lacks %s: %s", want, r.stderr)
		}
	}
	list := invoke(t, t.TempDir(), nil, "symbols", "--symbols", filepath.Dir(other.file), p.trace)
	for _, want := range []string{"/srv/shop/app", "refused " + other.file, other.id, "--debuginfod"} {
		if !strings.Contains(list.stdout, want) {
			t.Errorf("ntconv symbols lacks %s:\n%s", want, list.stdout)
		}
	}
}

// TestSymbolsCommand checks the counts of ntconv symbols.
func TestSymbolsCommand(t *testing.T) {
	p := compileNative(t, t.TempDir(), 3)
	events := int64(10)
	for _, in := range p.inputs(t) {
		t.Run(filepath.Base(in), func(t *testing.T) { checkSymbolsCommand(t, &p, in, events) })
		events = 1 // a profile adds up equal samples
	}
}

// checkSymbolsCommand checks the counts for an input with a number of events.
func checkSymbolsCommand(t *testing.T, p *nativeProgram, in string, events int64) {
	for _, c := range []struct {
		flags                 []string
		fromFiles, unresolved int64
	}{
		{nil, 0, 3 * events},
		{[]string{"--symbols", p.file}, 2 * events, events},
		{[]string{"--symbols", p.file, "--lines"}, 2 * events, events},
	} {
		r := invoke(t, t.TempDir(), nil, append([]string{"symbols", "--json", in}, c.flags...)...)
		var got symbolList
		decode(t, []byte(r.stdout), &got)
		if got.Frames != 3*events || got.FromFiles != c.fromFiles || got.Unresolved != c.unresolved || got.FromTrace != 0 || len(got.Symbols) != 1 {
			t.Errorf("%v: %+v", c.flags, got)
			continue
		}
		if row := got.Symbols[0]; row.File != "/srv/shop/app" || row.BuildID != p.id || len(row.Status.Used) != min(1, len(c.flags)) {
			t.Errorf("%v: %+v", c.flags, row)
		}
	}
}
