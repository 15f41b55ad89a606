package command

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// TestLinesOfManagedFrames checks that profiles have source files and lines with --lines only, and that nothing changes
// without it.
func TestLinesOfManagedFrames(t *testing.T) {
	trace, dir := corpus.Path("managed/lines.nettrace.zst"), corpus.Path("managed")
	plain := invoke(t, "", nil, "to", "pprof", "-o", "-", trace)
	same := invoke(t, "", nil, "to", "pprof", "-o", "-", "--symbols", dir, trace)
	if plain.code != 0 || !bytes.Equal([]byte(plain.stdout), []byte(same.stdout)) {
		t.Errorf("exit code %d; profiles with --symbols and without differ although the trace names all methods", plain.code)
	}
	located := invoke(t, "", nil, "to", "pprof", "-o", "-", "--symbols", dir, "--lines", trace)
	converted := invoke(t, "", nil, "convert", "--to", "pprof", "-o", "-", "--symbols", dir, "--lines", trace)
	if located.stdout != converted.stdout {
		t.Errorf("convert and to pprof write different profiles: %s", converted.stderr)
	}
	p, err := profile.ParseData([]byte(located.stdout))
	must(t, err)
	lines := make(map[int64]bool)
	for _, l := range p.Location {
		for _, line := range l.Line {
			if line.Function.Name != "Fixture.Work.Recurse(int)" {
				continue
			}
			lines[line.Line] = true
			if line.Function.Filename != "/src/fixture/Lines.cs" || line.Function.StartLine != 22 {
				t.Errorf("function %+v", line.Function)
			}
		}
	}
	if got := slices.Sorted(maps.Keys(lines)); !slices.Equal(got, []int64{25, 28}) {
		t.Errorf("lines %v of Recurse, want 25 and 28", got)
	}
}

// TestSymbolsListsPDBs checks that ntconv symbols states which PDB has lines, and which was refused.
func TestSymbolsListsPDBs(t *testing.T) {
	type list struct {
		Lines []struct {
			Assembly        string
			Frames, Located int64
			Files           struct {
				Used    []string
				Problem string
			}
		}
		Refused []struct{ File, Want string }
	}
	trace := corpus.Path("managed/lines.nettrace.zst")
	for _, c := range []struct {
		dir                string
		used, refused, all int
	}{{"managed", 1, 0, 3}, {"managed/other", 0, 2, 3}} {
		r := invoke(t, "", nil, "symbols", "--json", "--lines", "--symbols", corpus.Path(c.dir), trace)
		var got list
		decode(t, []byte(r.stdout), &got)
		used := 0
		for _, l := range got.Lines {
			if len(l.Files.Used) > 0 {
				used++
			}
			if own := l.Assembly == "/src/fixture/Lines.dll"; (l.Located > 0) != (own && c.used > 0) || (l.Files.Problem == "") != (l.Located > 0) {
				t.Errorf("%s: %+v", c.dir, l)
			}
		}
		if used != c.used || len(got.Refused) != c.refused || len(got.Lines) != c.all {
			t.Errorf("%s: %d files used, refused %v, %d assemblies", c.dir, used, got.Refused, len(got.Lines))
		}
	}
}
