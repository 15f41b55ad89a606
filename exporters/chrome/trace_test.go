package chrome_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/exporters/chrome"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/stacksums"
	"github.com/ntconv/ntconv/internal/testing/timelines"
	"github.com/ntconv/ntconv/track"
)

// exported writes a trace as one file.
func exported(tb testing.TB, data []byte, o chrome.Options) ([]byte, chrome.Summary) {
	tb.Helper()
	var out bytes.Buffer
	o.TempDir = tb.TempDir()
	src, names := timelines.Open(tb, data)
	sink := chrome.New(&out, src.Info(), names, &o)
	timelines.Write(tb, src, sink)
	if left, _ := os.ReadDir(o.TempDir); len(left) > 0 {
		tb.Errorf("%d temporary files are left", len(left))
	}
	return out.Bytes(), sink.Summary()
}

// compare compares the contents of a document with the sink's summary.
func compare(t testing.TB, f found, s chrome.Summary) {
	t.Helper()
	if f.slices != s.Slices || f.lanes != s.Lanes || f.instants != s.Instants || f.losses != s.Losses || f.unfinished != s.Unfinished {
		t.Errorf("found %+v\nsummary %+v", f, s)
	}
	if f.flows != s.Flows || f.counters+s.NotNumbers != s.Counters {
		t.Errorf("found %d flows and %d counters, summary %+v", f.flows, f.counters, s)
	}
}

// TestTraces: the output for every real trace has the properties that viewers expect, and the contents of the timeline.
func TestTraces(t *testing.T) {
	timelines.Traces(t, func(t *testing.T, file corpus.File) {
		out, s := exported(t, file.Data, chrome.Options{})
		// Perfetto read no events after a member metadata or stackFrames until 2022.
		if !strings.HasPrefix(string(out), `{"traceEvents":[`) || strings.Contains(string(out), `"displayTimeUnit"`) {
			t.Errorf("the beginning is %.40s", out)
		}
		f := check(t, parse(t, out))
		compare(t, f, s)
		if f.samples != s.Samples {
			t.Errorf("found %d samples, summary %+v", f.samples, s)
		}
	})
}

// TestWeights: the times of threads and functions that viewers compute from the V8 profiles are those of the pprof
// profile, to within 1 µs per sample, because V8 counts microseconds.
func TestWeights(t *testing.T) {
	timelines.Traces(t, func(t *testing.T, file corpus.File) {
		var out bytes.Buffer
		src, names := timelines.Open(t, file.Data)
		sink := chrome.New(&out, src.Info(), names, &chrome.Options{Options: track.Options{TempDir: t.TempDir(), Tracks: track.Flows}, NoArgs: true})
		sums := stacksums.Of(t, src, names, sink)
		s := sink.Summary()
		if s.Renumbered > 0 {
			t.Log("numbers of threads differ")
			return
		}
		want, n := functionsOf(sums, "wall")
		isCPU := n == 0
		if isCPU {
			want, n = functionsOf(sums, "cpu")
		}
		if n != s.Samples {
			t.Logf("%d samples of one kind, %d in total", n, s.Samples)
			return
		}
		f := check(t, parse(t, out.Bytes()))
		var total, sum int64
		for key, w := range want {
			got, slack := f.weights[key], w.Samples*1000
			total, sum = total+w.Total, sum+got
			if isCPU { // each lasts for the nominal interval, see v8Sampler.end; the real ones vary
				slack += w.Total / 10
			}
			if got-w.Total > slack || w.Total-got > slack && !isCPU {
				t.Errorf("%s: %d ns, want %d ns of %d samples", key, got, w.Total, w.Samples)
			}
		}
		if diff := sum - total; diff > total/20 || -diff > total/20 {
			t.Errorf("%d ns in total, want %d ns", sum, total)
		}
	})
}

// functionsOf returns the totals of a sample type by thread and function, and the number of its samples.
func functionsOf(sums stacksums.Sums, typ string) (map[string]stacksums.Sum, int64) {
	all, n := map[string]stacksums.Sum{}, int64(0)
	for key, stacks := range sums {
		if key.Type != typ {
			continue
		}
		_, tid, _ := strings.Cut(key.Thread, "/")
		for stack, s := range stacks {
			n += s.Samples
			seen := map[string]bool{}
			for name := range strings.SplitSeq(stack, "\n") {
				if k := tid + " " + name; stack != "" && !seen[k] {
					seen[k] = true
					all[k] = stacksums.Sum{Total: all[k].Total + s.Total, Samples: all[k].Samples + s.Samples}
				}
			}
		}
	}
	return all, n
}
