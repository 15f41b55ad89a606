package command

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/run/pipeline"
)

// valuesByFunction returns the values of all sample types by function: of the function itself, and with callees.
func valuesByFunction(p *profile.Profile) map[string][]int64 {
	values := make(map[string][]int64)
	add := func(name string, list []int64) {
		if values[name] == nil {
			values[name] = make([]int64, len(list))
		}
		for i, v := range list {
			values[name][i] += v
		}
	}
	for _, s := range p.Sample {
		seen := make(map[string]bool)
		for i, l := range s.Location {
			for k, line := range l.Line {
				if i == 0 && k == 0 {
					add("self "+line.Function.Name, s.Value)
				}
				if name := line.Function.Name; !seen[name] {
					seen[name] = true
					add(name, s.Value)
				}
			}
		}
	}
	return values
}

// profilesBelow returns the profiles in the directory out.
func profilesBelow(t *testing.T, dir string) []string {
	t.Helper()
	list, err := fs.Glob(os.DirFS(dir), "out/*/*.pb.gz")
	must(t, err)
	return list
}

// The profile of a service and day has the values of the profile that the command makes of the same traces, whatever steps fail.
func TestPipelineProfiles(t *testing.T) {
	t.Setenv(testRunner, "0.3")
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	must(t, os.Mkdir(in, 0o700))
	names := []string{"cpu-default", "cpu-env", "threads", "jit", "counters"}
	for _, name := range names {
		write(t, in, name+".nettrace", unpacked(t, name))
	}
	write(t, in, "unreadable.nettrace", []byte("no trace"))
	args := []string{"pipeline", "pprof", "--kind", "wall", "in", "in/unreadable.nettrace", "-o", "out"}
	r := invoke(t, dir, nil, args...)
	if r.code != exitIncomplete || !strings.Contains(r.stderr, "1 dead letter") {
		t.Fatalf("code %d: %s", r.code, r.stderr)
	}
	got := make(map[string][]int64)
	made := profilesBelow(t, dir)
	for _, name := range made {
		for function, values := range valuesByFunction(profileAt(t, filepath.Join(dir, name))) {
			if got[function] == nil {
				got[function] = make([]int64, len(values))
			}
			for i, v := range values {
				got[function][i] += v
			}
		}
	}
	merged := []string{"merge", "-o", "merged.nettrace"}
	for _, name := range names {
		merged = append(merged, filepath.Join("in", name+".nettrace"))
	}
	succeed(t, dir, merged...)
	succeed(t, dir, "to", "pprof", "--kind", "wall", "-o", "merged.pb.gz", "merged.nettrace")
	want := valuesByFunction(profileAt(t, filepath.Join(dir, "merged.pb.gz")))
	if len(want) < 100 || !maps.EqualFunc(got, want, slices.Equal) {
		for name, values := range want {
			if !slices.Equal(values, got[name]) {
				t.Logf("%s: %v, want %v", name, got[name], values)
			}
		}
		t.Errorf("%d functions, want %d, or other values", len(got), len(want))
	}
	if len(made) == 0 || !slices.ContainsFunc(made, func(name string) bool { return strings.HasSuffix(filepath.ToSlash(name), "2026-11-21.pb.gz") }) {
		t.Errorf("files %v", made)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".ntconv-pipeline-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if r := invoke(t, dir, nil, args...); r.code != exitOutput || !strings.Contains(r.stderr, "-f overwrites it") {
		t.Errorf("an existing output: code %d: %s", r.code, r.stderr)
	}
	if r := invoke(t, dir, nil, append(args, "-f")...); r.code != exitIncomplete || len(profilesBelow(t, dir)) != len(made) {
		t.Errorf("-f: code %d: %s", r.code, r.stderr)
	}
}

// However many profiles there are, they are merged in buckets, and a trace that occurs twice counts once.
func TestPipelineManyProfiles(t *testing.T) {
	t.Setenv(testRunner, "0.2")
	dir := t.TempDir()
	in := fleet(t, dir, 150)
	write(t, in, "copy.nettrace", contentAt(t, filepath.Join(in, "007.nettrace")))
	var report struct{ Made []pipeline.Made }
	r := invoke(t, dir, nil, "pipeline", "pprof", "--kind", "cpu", "traces", "-o", "out", "--report", "json", "--drop-label", "pid")
	decode(t, []byte(r.stderr), &report)
	if len(report.Made) != 1 || report.Made[0].Inputs < 100 || report.Made[0].Inputs > 150 {
		t.Fatalf("%+v: %s", report, r.stderr)
	}
	p := profileAt(t, filepath.Join(dir, "out", filepath.FromSlash(report.Made[0].Name)))
	single := invoke(t, dir, nil, "to", "pprof", "--kind", "cpu", filepath.Join("traces", "000.nettrace"), "-o", "one.pb.gz")
	one := profileAt(t, filepath.Join(dir, "one.pb.gz"))
	if single.code != exitOK || len(p.Sample) < len(one.Sample) || p.DurationNanos < 100*one.DurationNanos/2 {
		t.Errorf("%d samples of %d ns, one has %d of %d ns", len(p.Sample), p.DurationNanos, len(one.Sample), one.DurationNanos)
	}
}
