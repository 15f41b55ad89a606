package command

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The duration of a profile is that of the recording or of the part of it that was asked for, whatever else is
// selected. No thread has more time than that.
func TestDurationIsOfTheRecording(t *testing.T) {
	dir := t.TempDir()
	cpu := trace(t, "cpu-env")
	profile := func(args ...string) (whole time.Duration, threads map[int64]time.Duration, comments []string) {
		out := filepath.Join(dir, "p.pb.gz")
		succeed(t, dir, append([]string{"to", "pprof", "-f", "-o", out, cpu}, args...)...)
		p := profileAt(t, out)
		threads = map[int64]time.Duration{}
		for _, s := range p.Sample {
			threads[s.NumLabel["tid"][0]] += time.Duration(s.Value[1])
		}
		return time.Duration(p.DurationNanos), threads, p.Comments
	}
	whole, threads, _ := profile()
	for _, args := range []string{"--tid 15683", "--tid 15685", "--provider *SampleProfiler"} {
		if got, _, comments := profile(strings.Fields(args)...); got != whole || !slices.Contains(comments, "selected by "+args) {
			t.Errorf("%s: %v of %v; comments %q", args, got, whole, comments)
		}
	}
	if len(threads) < 5 {
		t.Errorf("%d threads", len(threads))
	}
	for _, args := range []string{"", "--from-time 200ms --to-time 300ms", "--to-time 100ms", "--from-time 400ms", "--tid 15683 --to-time 250ms"} {
		length, threads, _ := profile(strings.Fields(args)...)
		for tid, d := range threads {
			if d > length {
				t.Errorf("%s: thread %d has %v of %v", args, tid, d, length)
			}
		}
		if strings.Contains(args, "200ms") && (length < 100*time.Millisecond || length > 130*time.Millisecond) {
			t.Errorf("%s: %v", args, length)
		}
	}
}
