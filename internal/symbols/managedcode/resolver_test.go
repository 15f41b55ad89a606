package managedcode_test

import (
	"bytes"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/symbols/managedcode"
	"github.com/ntconv/ntconv/internal/symbols/symbolfiles"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// frames returns the frames of all stacks of a trace, resolved at its end.
func frames(t *testing.T, data []byte, opts *symbol.Options) (list []ntconv.Frame) {
	t.Helper()
	src, err := reader.New(bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	type sample struct {
		p  *ntconv.Process
		s  ntconv.Stack
		at ntconv.Ticks
	}
	table := symbol.New(opts)
	var samples []sample
	for e, err := src.Next(); err == nil; e, err = src.Next() {
		table.Observe(e)
		if e.Stack != nil && e.Thread != nil {
			samples = append(samples, sample{e.Thread.Process, ntconv.Stack{PCs: slices.Clone(e.Stack.PCs)}, e.Time})
		}
	}
	for _, s := range samples {
		list = table.AppendFrames(list, s.p, &s.s, s.at)
	}
	return list
}

func resolver(lines bool, paths ...string) *managedcode.Resolver {
	return managedcode.New(func() managedcode.Options { return managedcode.Options{Paths: paths, Lines: lines} })
}

// sourceLines are the first and last lines of the methods in testdata/managed/Lines.cs.
var sourceLines = map[string][2]int32{
	"Fixture.Work.Spin(int)":                         {13, 19},
	"Fixture.Work.Recurse(int)":                      {22, 30},
	"Fixture.Work.Generic<T>(T, Func<T, T>)":         {33, 37},
	"Fixture.Work.<Numbers>c__Iterator0.MoveNext()":  {40, 46},
	"Fixture.Work.Main(string[])":                    {49, 61},
	"Fixture.Work.<Main>m__0(double)":                {55, 55},
	"Fixture.Work.<Numbers>c__Iterator0.Dispose()":   {40, 46},
	"Fixture.Work.<Numbers>c__Iterator0..ctor()":     {40, 46},
	"Fixture.Work.<Numbers>c__Iterator0.get_Current": {40, 46},
}

// TestLines checks that the frames of a program have the lines of their methods, whether its PDB is a file or embedded.
func TestLines(t *testing.T) {
	for trace, dir := range map[string]string{"lines": "../../../testdata/managed", "lines-embedded": "../../../testdata/managed/embedded"} {
		data := corpus.Read(t, filepath.Join("../../../testdata/managed", trace+".nettrace.zst"))
		lines := make(map[string]map[int32]int)
		plain := frames(t, data, nil)
		for i, f := range frames(t, data, &symbol.Options{Lines: resolver(true, dir)}) {
			want, ok := sourceLines[f.Func.Name]
			if !ok {
				if *f.Func != *plain[i].Func || f.Line != 0 {
					t.Errorf("%s: a frame without a PDB changed: %+v, want %+v", trace, *f.Func, *plain[i].Func)
				}
				continue
			}
			if f.Func.File != "/src/fixture/Lines.cs" || f.Func.StartLine != want[0] {
				t.Fatalf("%s: %s is at %s:%d, want Lines.cs:%d", trace, f.Func.Name, f.Func.File, f.Func.StartLine, want[0])
			}
			if f.Line < want[0] || f.Line > want[1] {
				t.Fatalf("%s: %s: line %d, want %v", trace, f.Func.Name, f.Line, want)
			}
			if lines[f.Func.Name] == nil {
				lines[f.Func.Name] = make(map[int32]int)
			}
			lines[f.Func.Name][f.Line]++
		}
		// Recurse only calls Spin in line 25 and itself in the statement that begins in line 28.
		got := slices.Sorted(maps.Keys(lines["Fixture.Work.Recurse(int)"]))
		if !slices.Equal(got, []int32{25, 28}) {
			t.Errorf("%s: Recurse is in lines %v, want 25 and 28", trace, got)
		}
		// The loop of Spin is lines 15 to 17.
		for line := range lines["Fixture.Work.Spin(int)"] {
			if line < 15 || line > 17 {
				t.Errorf("%s: Spin is in line %d, want its loop", trace, line)
			}
		}
		if len(lines) < 5 {
			t.Errorf("%s: lines of only %d methods", trace, len(lines))
		}
	}
}

// TestOtherBuild checks that a PDB of another build is refused with both identities.
func TestOtherBuild(t *testing.T) {
	data := corpus.Read(t, "../../../testdata/managed/lines.nettrace.zst")
	r := resolver(true, "../../../testdata/managed/other")
	for i, f := range frames(t, data, &symbol.Options{Lines: r}) {
		if f.Func.File != "" || f.Line != 0 {
			t.Fatalf("frame %d: %s has the line of another build", i, f.Func.Name)
		}
	}
	var refused []string
	for _, f := range r.Refused() {
		refused = append(refused, filepath.Base(f.File))
		if !f.Explicit || f.Want == "" || f.BuildID == "" || f.Want == f.BuildID {
			t.Errorf("refused %+v, want both identities", f)
		}
	}
	slices.Sort(refused)
	if !slices.Equal(refused, []string{"Lines.dll", "Lines.pdb"}) {
		t.Errorf("refused %q, want the assembly and its PDB", refused)
	}
}

// runtimeDir returns the directory of the runtime that recorded the traces of our own.
func runtimeDir(t testing.TB) string {
	t.Helper()
	out, err := exec.Command(corpus.Shared(t, "oracle", "traceevent"), "unpack").Output()
	if err != nil {
		t.Skipf("reference data is absent: %v", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "bundle", "shared")
}

// TestPrecompiled checks that the assemblies of the runtime name precompiled code of which the trace has only mappings,
// and that no other frame changes.
func TestPrecompiled(t *testing.T) {
	data := corpus.SharedTrace(t, "own/cpu-v6").Data
	plain := frames(t, data, nil)
	r := resolver(false, runtimeDir(t))
	assemblies, named := 0, 0
	for i, f := range frames(t, data, &symbol.Options{Native: r}) {
		before := plain[i]
		if before.Mapping == nil || before.Flags&ntconv.FrameUnresolved == 0 || !symbolfiles.IsAssembly(before.Mapping.File) {
			if f.Func.Name != before.Func.Name {
				t.Errorf("frame %d: %s became %s", i, before.Func.Name, f.Func.Name)
			}
			continue
		}
		if assemblies++; f.Flags&ntconv.FrameUnresolved == 0 {
			named++
		}
	}
	if assemblies != 1121 || named != assemblies {
		t.Errorf("%d of %d frames in assemblies got a name, want all 1,121", named, assemblies)
	}
	if refused := r.Refused(); len(refused) > 0 {
		t.Errorf("refused %v", refused)
	}
	if r.Used() != 1 {
		t.Errorf("%d files were used, want 1", r.Used())
	}
}
