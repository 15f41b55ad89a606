package e2e

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// The own time of slices by name is that of speedscope, which reads the slices of Chrome traces as calls: for files of
// clang, viztracer, Perfetto and catapult whose slices are nested.
func TestSlicesInSpeedscope(t *testing.T) {
	t.Parallel()
	needNode(t, "speedscope")
	root := corpus.Shared(t, "data", "foreign")
	var names []string
	for _, pattern := range []string{"clang/*", "viz/f*", "viz/m*", "pf/flow*", "cat/nano*", "cat/trivial*", "ss/trace-event_simple.json", "ss/trace-event_matching-x.json"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		must(t, err)
		names = append(names, found...)
	}
	if len(names) < 10 {
		t.Fatalf("%d files, want 10", len(names))
	}
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, strings.TrimSuffix(filepath.Base(name), ".zst"))
		must(t, os.WriteFile(path, corpus.Read(t, name), 0o600))
		got := inSpeedscope(t, path)[0]
		if got.Error != "" {
			t.Errorf("%s: %s", name, got.Error)
			continue
		}
		want := map[string]float64{}
		for _, p := range got.Profiles {
			for frame, weights := range p.Frames {
				if strings.HasPrefix(frame, "Total ") && strings.Contains(frame, `"avg ms"`) { // clang's own totals of the others
					continue
				}
				name, _, _ := strings.Cut(frame, " {") // args follow
				want[name] += weights[0] * 1000
			}
		}
		ours, slices := ownTimes(t, path)
		for name, nanos := range want {
			if off := math.Abs(nanos - ours[name]); off > 1+float64(slices[name]) { // speedscope computes with microseconds
				t.Errorf("%s: %s: %.0f ns, want %.0f", filepath.Base(path), name, ours[name], nanos)
			}
		}
		if len(ours) != len(want) {
			t.Errorf("%s: %d names, want %d", filepath.Base(path), len(ours), len(want))
		}
	}
}

// ownTimes returns the own time of the slices of a file by name, in nanoseconds, and their number.
func ownTimes(t *testing.T, path string) (nanos map[string]float64, number map[string]int64) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "x.pb.gz")
	succeed(t, "to", "pprof", "--kind", "slices", "-o", out, path)
	f, err := os.Open(out)
	must(t, err)
	defer f.Close()
	p, err := profile.Parse(f)
	must(t, err)
	nanos, number = map[string]float64{}, map[string]int64{}
	for _, s := range p.Sample {
		name := s.Location[0].Line[0].Function.Name
		number[name] += s.Value[0]
		nanos[name] += float64(s.Value[1])
	}
	return nanos, number
}
