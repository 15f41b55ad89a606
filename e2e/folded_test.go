package e2e

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/zstd"

	"github.com/ntconv/ntconv"
	export "github.com/ntconv/ntconv/exporters/folded"
	"github.com/ntconv/ntconv/importers/folded"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/symbol"
	"github.com/ntconv/ntconv/writer"
)

// A speedscope contains the weights that speedscope computes for folded stacks: for each frame its own, and that
// including callees.
type speedscope struct {
	Lines  int
	Total  int64
	Frames map[string][2]int64
}

// openInSpeedscope reads a file with folded stacks.
func openInSpeedscope(t *testing.T, path string) (s speedscope) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no Node: ", err)
	}
	if _, err := os.Stat(filepath.Join("node_modules", "speedscope")); err != nil {
		t.Skip("not installed (npm --prefix e2e ci): ", err)
	}
	r := run(t, "node", "collapsed.mjs", path)
	if r.code != 0 {
		t.Fatalf("%s", r.stderr)
	}
	decode(t, r.stdout, &s)
	return s
}

// foldTo writes the samples of a source as folded stacks to a file and returns its path.
func foldTo(t *testing.T, src ntconv.Source, namer ntconv.Namer, o *export.Options) string {
	t.Helper()
	var out bytes.Buffer
	sink := export.New(&out, src.Info(), namer, o)
	if _, err := ntconv.Copy(sink, src); err != nil {
		t.Fatal(err)
	}
	must(t, sink.Close())
	path := filepath.Join(t.TempDir(), "x.folded")
	must(t, os.WriteFile(path, out.Bytes(), 0o600))
	return path
}

// weights adds up a pprof profile as speedscope adds up folded stacks.
func weights(p *profile.Profile, column int) speedscope {
	s := speedscope{Frames: map[string][2]int64{}}
	lines := map[string]bool{}
	for _, sample := range p.Sample {
		var names []string
		for _, l := range sample.Location {
			for _, line := range l.Line {
				names = append(names, line.Function.Name)
			}
		}
		if len(names) == 0 {
			names = []string{"[no stack]"}
		}
		v := sample.Value[column]
		lines[strings.Join(names, ";")] = true
		s.Total += v
		w := s.Frames[names[0]]
		s.Frames[names[0]] = [2]int64{w[0] + v, w[1]}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			w := s.Frames[name]
			s.Frames[name] = [2]int64{w[0], w[1] + v}
		}
	}
	s.Lines = len(lines)
	return s
}

// TestSpeedscopeReadsFoldedStacks checks that speedscope finds the same functions and times in the folded stacks of a
// trace as google's library in its pprof profile.
func TestSpeedscopeReadsFoldedStacks(t *testing.T) {
	for _, name := range []string{"cpu-env", "jit", "cpu-v6", "three-processes-v6", "waits-v6"} {
		t.Run(name, func(t *testing.T) {
			tr := find(t, name)
			f, err := os.Open(tr.path)
			must(t, err)
			defer f.Close()
			z, err := zstd.NewReader(f)
			must(t, err)
			defer z.Close()
			src, err := reader.New(z, nil)
			must(t, err)
			names := symbol.New(nil)
			got := openInSpeedscope(t, foldTo(t, symbol.Watch(src, names), names, nil))
			p, _ := convert(t, tr, 1)
			want := weights(p, len(p.SampleType)-1)
			if got.Lines != want.Lines || got.Total != want.Total || !maps.Equal(got.Frames, want.Frames) {
				t.Errorf("%d lines, total %d, %d frames; want %d, %d, %d", got.Lines, got.Total, len(got.Frames), want.Lines, want.Total, len(want.Frames))
			}
		})
	}
}

// TestFoldedStacksOfSpeedscope checks that speedscope computes the same weights for its own example, written by
// stackcollapse-perf.pl --all, after ntconv has read and written it. One frame of the example has a space as its name.
func TestFoldedStacksOfSpeedscope(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("node_modules", "speedscope", "dist", "release", "*collapsed*.txt"))
	if len(files) != 1 {
		t.Skip("not installed (npm --prefix e2e ci)")
	}
	f, err := os.Open(files[0])
	must(t, err)
	defer f.Close()
	report := &ntconv.Report{}
	src, err := folded.New(f, &folded.Options{Report: report})
	must(t, err)
	path := foldTo(t, src, nil, &export.Options{Options: sample.Options{Report: report}, Annotate: true})
	got, want := openInSpeedscope(t, path), openInSpeedscope(t, files[0])
	want.Frames["(no name)"] = want.Frames[" "]
	delete(want.Frames, " ")
	if got.Lines != want.Lines || got.Total != want.Total || !maps.Equal(got.Frames, want.Frames) || len(got.Frames) < 100 || len(report.Entries()) != 1 || report.Count(ntconv.CodeRepaired) != 1 {
		t.Errorf("%d lines, total %d, %d frames; want %d, %d, %d; %v", got.Lines, got.Total, len(got.Frames), want.Lines, want.Total, len(want.Frames), report.Entries())
	}
}

// TestMicrosoftReadsFoldedStacks checks that TraceEvent finds each line of folded stacks that were converted to a trace
// as a sample with a complete stack.
func TestMicrosoftReadsFoldedStacks(t *testing.T) {
	tool := traceevent(t)
	text := contentAt(t, filepath.Join("..", "importers", "folded", "testdata", "stackcollapse-perf.folded"))
	src, err := folded.New(bytes.NewReader(text), &folded.Options{ProcessRoot: true})
	must(t, err)
	var out bytes.Buffer
	w, err := writer.New(&out, src.Info(), &writer.Options{Ordered: true})
	must(t, err)
	if _, err := ntconv.Copy(symbol.SynthesizeTo(w, nil), src); err != nil {
		t.Fatal(err)
	}
	must(t, w.Close())
	path := filepath.Join(t.TempDir(), "x.nettrace")
	must(t, os.WriteFile(path, out.Bytes(), 0o600))
	checkSummary(t, run(t, tool, "summary", path), bytes.Count(text, []byte("\n")))
	stacks := parseStacks(t, run(t, tool, "stacks", path).stdout)
	found := map[string]bool{}
	for _, ids := range stacks.events {
		for _, id := range ids {
			var names []string
			for _, f := range stacks.frames[id] {
				names = append(names, f[2])
			}
			slices.Reverse(names)
			found[strings.Join(names, ";")] = true
		}
	}
	for line := range strings.Lines(string(text)) {
		_, stack, _ := strings.Cut(line[:strings.LastIndexByte(line, ' ')], ";") // the stack after the process
		if stack = strings.NewReplacer("_[k]", "", "_[j]", "", "_[i]", "").Replace(stack); !found[stack] {
			t.Errorf("%s is not among %q", stack, slices.Sorted(maps.Keys(found)))
		}
	}
}
