package command

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// sampleTimes returns the wall time of the samples of a profile with a value of a label, in nanoseconds by stack and
// labels.
func sampleTimes(t *testing.T, path, key, value string) (m map[string]int64, total int64) {
	t.Helper()
	m = map[string]int64{}
	for _, s := range profileAt(t, path).Sample {
		if key != "" && (len(s.Label[key]) != 1 || s.Label[key][0] != value) {
			continue
		}
		var b strings.Builder
		for _, l := range s.Location {
			for _, line := range l.Line {
				b.WriteString(line.Function.Name + "<")
			}
		}
		labels, err := json.Marshal([]any{s.Label, s.NumLabel})
		must(t, err)
		m[b.String()+string(labels)] += s.Value[1]
		total += s.Value[1]
	}
	return m, total
}

// A selection by state has the times that the whole profile gives to samples of that state, and so has a trace of the
// selection, however it was written.
func TestSelectionKeepsWeights(t *testing.T) {
	const where = `Type == "Managed"`
	paths := []string{trace(t, "cpu-default"), trace(t, "cpu-netperf3")}
	if !testing.Short() {
		for _, name := range []string{"roslyn-compile-net10", "dotnetdiag-webapp-net5"} {
			if path, err := corpus.Find("data", "nettrace", name+".nettrace.zst"); err == nil {
				paths = append(paths, path)
			}
		}
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			for _, args := range [][]string{
				{"to", "pprof", "-o", "all.pb.gz", path},
				{"to", "pprof", "-o", "selected.pb.gz", "--where", where, path},
				{"filter", "--where", where, path, "filtered.nettrace"},
				{"to", "pprof", "-o", "filtered.pb.gz", "filtered.nettrace"},
				{"filter", "--order", "time", "--keep-symbols=false", "--where", where, path, "bare.nettrace"},
				{"to", "pprof", "-o", "bare.pb.gz", "bare.nettrace"},
				{"to", "nettrace", "-o", "twice.nettrace", "--where", where, "filtered.nettrace"},
				{"to", "pprof", "-o", "twice.pb.gz", "twice.nettrace"},
				{"verify", "--where", where, "--ignore", "sequence,lost,marks,definitions", path, "filtered.nettrace"},
			} {
				succeed(t, dir, args...)
			}
			want, total := sampleTimes(t, at("all.pb.gz"), "state", "Managed")
			if len(want) == 0 {
				t.Fatal("nothing is managed, which shows nothing")
			}
			if got, _ := sampleTimes(t, at("selected.pb.gz"), "", ""); !maps.Equal(got, want) {
				t.Error("another profile of the selection")
			}
			if got, _ := sampleTimes(t, at("filtered.pb.gz"), "", ""); !maps.Equal(got, want) {
				t.Error("another profile of the filtered trace")
			}
			for _, name := range []string{"bare.pb.gz", "twice.pb.gz"} {
				if _, got := sampleTimes(t, at(name), "", ""); got-total > 1000 || total-got > 1000 { // other stacks are merged where names are missing
					t.Errorf("%s: %d ns, want %d", name, got, total)
				}
			}
			for _, name := range []string{"all.pb.gz", "selected.pb.gz", "filtered.pb.gz"} {
				lastsLongEnough(t, profileAt(t, at(name)))
			}
		})
	}
}

// lastsLongEnough checks that no thread has more time than the profile lasts.
func lastsLongEnough(t *testing.T, p *profile.Profile) {
	t.Helper()
	threads := map[int64]int64{}
	for _, s := range p.Sample {
		threads[s.NumLabel["tid"][0]] += s.Value[1]
	}
	for tid, ns := range threads {
		if ns > p.DurationNanos {
			t.Errorf("thread %d has %d ns of %d", tid, ns, p.DurationNanos)
		}
	}
}
