package chrome_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv/exporters/chrome"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/perfettocheck"
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
	if f.flows+s.LostFlows != s.Flows || f.counters+s.NotNumbers != s.Counters {
		t.Errorf("found %d flows and %d counters, summary %+v", f.flows, f.counters, s)
	}
}

// TestTraces: the output for every real trace has the properties that viewers expect, and the contents of the timeline.
func TestTraces(t *testing.T) {
	timelines.Traces(t, func(t *testing.T, file corpus.File) {
		out, s := exported(t, file.Data, chrome.Options{})
		if !strings.HasPrefix(string(out), `{"displayTimeUnit":"ns","metadata":{`) {
			t.Errorf("the beginning is %.40s", out)
		}
		f := check(t, parse(t, out))
		compare(t, f, s)
		if f.samples != s.Samples {
			t.Errorf("found %d samples, summary %+v", f.samples, s)
		}
		for _, finding := range perfettocheck.Check(bytes.NewReader(out)).Findings {
			t.Errorf("Perfetto: %+v", finding)
		}
		f.weights = nil
		t.Logf("%d bytes, %+v, %+v", len(out), s, f)
	})
}

// TestWeights: the times of threads and functions that viewers compute from the V8 profiles are those of the pprof
// profile, to within 1 µs per sample, because V8 counts microseconds.
func TestWeights(t *testing.T) {
	timelines.Traces(t, func(t *testing.T, file corpus.File) {
		var out, wall, cpu bytes.Buffer
		src, names := timelines.Open(t, file.Data)
		sink := chrome.New(&out, src.Info(), names, &chrome.Options{Options: track.Options{TempDir: t.TempDir(), Tracks: track.Flows}, NoArgs: true})
		timelines.Write(t, src, sink, pprof.New(&wall, src.Info(), names, &pprof.Options{Kind: pprof.Wall, Uncompressed: true}),
			pprof.New(&cpu, src.Info(), names, &pprof.Options{Kind: pprof.CPU, Uncompressed: true}))
		s := sink.Summary()
		if s.Renumbered > 0 {
			t.Log("numbers of threads differ")
			return
		}
		f := check(t, parse(t, out.Bytes()))
		want, n := weightsOf(t, wall.Bytes())
		isCPU := n == 0
		if isCPU {
			want, n = weightsOf(t, cpu.Bytes())
		}
		if n != s.Samples {
			t.Logf("%d samples of one kind, %d in total", n, s.Samples)
			return
		}
		var total, sum int64
		for key, w := range want {
			got, slack := f.weights[key], w.samples*1000
			total, sum = total+w.time, sum+got
			if isCPU { // each lasts for the nominal interval, see v8Sampler.end; the real ones vary
				slack += w.time / 10
			}
			if got-w.time > slack || w.time-got > slack && !isCPU {
				t.Errorf("%s: %d ns, want %d ns of %d samples", key, got, w.time, w.samples)
			}
		}
		if diff := sum - total; diff > total/20 || -diff > total/20 {
			t.Errorf("%d ns in total, want %d ns", sum, total)
		}
	})
}

type weight struct{ time, samples int64 }

// weightsOf returns the times of a profile by thread and function, and the number of its samples.
func weightsOf(t *testing.T, data []byte) (map[string]weight, int64) {
	t.Helper()
	p, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Sample) == 0 {
		return nil, 0
	}
	count, ns := -1, -1
	for i, st := range p.SampleType {
		switch {
		case st.Type == "samples":
			count = i
		case st.Unit == "nanoseconds":
			ns = i
		}
	}
	all, n := map[string]weight{}, int64(0)
	for _, s := range p.Sample {
		n += s.Value[count]
		tid := s.NumLabel["tid"]
		if len(tid) != 1 {
			t.Fatalf("sample with the labels %v", s.NumLabel)
		}
		seen := map[string]bool{}
		for _, l := range s.Location {
			for _, line := range l.Line {
				key := fmt.Sprint(tid[0], " ", line.Function.Name)
				if !seen[key] {
					seen[key] = true
					w := all[key]
					all[key] = weight{w.time + s.Value[ns], w.samples + s.Value[count]}
				}
			}
		}
	}
	return all, n
}
