package main

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
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
	"github.com/ntconv/ntconv/writer"
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
	p := nativeProgram{file: filepath.Join(dir, "app"), trace: filepath.Join(dir, "app.nettrace")}
	source := filepath.Join(dir, "app.c")
	text := fmt.Sprintf(`static __attribute__((noinline)) int inner_work(int n) { return n / %d; }
static inline __attribute__((always_inline)) int middle(int n) {
  return inner_work(n) + inner_work(n + 1);
}
__attribute__((noinline)) int outer_work(int n) { return middle(n) ^ 5; }
int main(int argc, char **argv) { return outer_work(argc); }
`, factor)
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-O2", "-g", "-o", p.file, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := elf.Open(p.file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	id, err := f.Section(".note.gnu.build-id").Data()
	if err != nil {
		t.Fatal(err)
	}
	p.id = hex.EncodeToString(id[16:])
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	call := bytes.IndexByte(data[outer.Value-code.Addr:], 0xe8) // the first call in outer, which is 5 bytes long
	for _, g := range f.Progs {
		if g.Type == elf.PT_LOAD && g.Flags&elf.PF_X != 0 {
			start := g.Vaddr &^ 0xfff
			b := traceBuilder{tb: t, proc: &ntconv.Process{PID: 77, PointerSize: 8}}
			b.system(5, ntconv.UintValue(1), ntconv.StringValue(`{"type":"ELF","build_id":"`+p.id+`"}`), ntconv.StringValue(""))
			b.system(3, ntconv.UintValue(0), ntconv.UintValue(bias+start), ntconv.UintValue(bias+(g.Vaddr+g.Memsz)|0xfff),
				ntconv.UintValue(g.Off&^0xfff), ntconv.StringValue("/srv/shop/app"), ntconv.UintValue(1))
			for range 10 {
				b.sample(bias+inner.Value+1, bias+outer.Value+uint64(call)+5, bias+start) // the last one has no function
			}
			b.write(p.trace)
		}
	}
	return p
}

// A traceBuilder collects events of Universal.System and samples of one thread.
type traceBuilder struct {
	tb     testing.TB
	proc   *ntconv.Process
	thread *ntconv.Thread
	events []*ntconv.Event
	types  map[string]*ntconv.Type
}

func (b *traceBuilder) add(provider string, id uint32, name string, stack *ntconv.Stack, values ...ntconv.Value) {
	b.tb.Helper()
	if b.types == nil {
		b.types, b.thread = make(map[string]*ntconv.Type), &ntconv.Thread{TID: 78, Process: b.proc}
	}
	typ := b.types[name]
	if typ == nil {
		typ = &ntconv.Type{Provider: provider, ID: id, Name: name}
		if layout := clr.Lookup(provider, id, 0); layout != nil {
			typ.Fields = layout.Fields
		} else {
			typ.Fields = []ntconv.Field{{Name: "Value", Type: ntconv.FieldType{Code: ntconv.TypeVarUint}}}
		}
		b.types[name] = typ
	}
	payload, err := ntconv.AppendFields(nil, typ.Fields, values, 8)
	if err != nil {
		b.tb.Fatal(err)
	}
	b.events = append(b.events, &ntconv.Event{
		Time: ntconv.Ticks(1000 * (len(b.events) + 1)), Type: typ, Thread: b.thread, Capture: b.thread, Stack: stack, Payload: payload,
	})
}

func (b *traceBuilder) system(id uint32, values ...ntconv.Value) {
	b.tb.Helper()
	names := map[uint32]string{3: "ProcessMapping", 5: "ProcessMappingMetadata"}
	b.add(clr.UniversalSystem, id, names[id], nil, values...)
}

func (b *traceBuilder) sample(pcs ...uint64) {
	b.tb.Helper()
	b.add("Universal.Events", 1, "cpu", &ntconv.Stack{PCs: pcs}, ntconv.UintValue(1))
}

func (b *traceBuilder) write(name string) {
	b.tb.Helper()
	out, err := os.Create(name)
	if err != nil {
		b.tb.Fatal(err)
	}
	w, err := writer.New(out, &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}, PointerSize: 8}, nil)
	for _, e := range b.events {
		if err == nil {
			err = w.Write(e)
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		b.tb.Fatal(err)
	}
}

// inputs returns the names of files with the samples of the trace: the trace, the profile that it becomes without
// symbols, and the trace that this profile becomes.
func (p *nativeProgram) inputs(t *testing.T) []string {
	t.Helper()
	dir := filepath.Dir(p.trace)
	profile, again := filepath.Join(dir, "app.pb.gz"), filepath.Join(dir, "again.nettrace")
	for _, args := range [][]string{{"to", "pprof", p.trace, "-o", profile}, {"to", "nettrace", profile, "-o", again}} {
		if r := invoke(t, dir, nil, args...); r.code != 0 {
			t.Fatal(r.stderr)
		}
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
				return string(gunzip(t, []byte(s)))
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
		if err := json.Unmarshal([]byte(r.stdout), &got); err != nil {
			t.Fatalf("%v\n%s%s", err, r.stdout, r.stderr)
		}
		if got.Frames != 3*events || got.FromFiles != c.fromFiles || got.Unresolved != c.unresolved || got.FromTrace != 0 || len(got.Symbols) != 1 {
			t.Errorf("%v: %+v", c.flags, got)
			continue
		}
		if row := got.Symbols[0]; row.File != "/srv/shop/app" || row.BuildID != p.id || len(row.Status.Used) != min(1, len(c.flags)) {
			t.Errorf("%v: %+v", c.flags, row)
		}
	}
}

// TestPrintSymbolsWithoutInput checks the message for the flag that --frames has replaced.
func TestPrintSymbolsWithoutInput(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "trace.nettrace"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := invoke(t, dir, nil, "print", "--symbols", "trace.nettrace")
	if r.code != exitUsage || !strings.Contains(r.stderr, "ntconv print --frames trace.nettrace") {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
	if r := invoke(t, dir, nil, "top", "--symbols", "absent", trace(t, "cpu-v6")); r.code != exitUsage || !strings.Contains(r.stderr, "absent: no such file") {
		t.Errorf("exit code %d for a directory that does not exist: %s", r.code, r.stderr)
	}
}
