package chrome_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/chrome"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/perfettocheck"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// traces calls f for every real trace.
func traces(t *testing.T, f func(t *testing.T, data []byte)) {
	files := corpus.Traces(t)
	if _, err := corpus.Find("data"); err == nil && !testing.Short() {
		files = append(files, corpus.SharedTraces(t)...)
	}
	for _, file := range files {
		t.Run(file.Name, func(t *testing.T) { f(t, file.Data) })
	}
}

// copyTo writes a trace to sinks and closes them. It writes the readable part of a corrupt trace.
func copyTo(tb testing.TB, data []byte, create func(*ntconv.Info, ntconv.Namer) []ntconv.Sink) {
	tb.Helper()
	r, err := reader.NewBytes(data, nil)
	if err != nil {
		tb.Skip(err) // TestTraces of package reader says which
	}
	names := symbol.New(nil)
	sinks := create(r.Info(), names)
	src := ntconvtest.Poison(symbol.Watch(r, names))
	for {
		e, err := src.Next()
		if err != nil {
			if err != io.EOF && !errors.Is(err, ntconv.ErrTruncated) && !errors.Is(err, ntconv.ErrCorrupt) && !errors.Is(err, ntconv.ErrUnsupported) {
				tb.Fatal(err)
			}
			break
		}
		for _, s := range sinks {
			if err := s.Write(e); err != nil {
				tb.Fatal(err)
			}
		}
	}
	for _, s := range sinks {
		if err := s.Close(); err != nil {
			tb.Fatal(err)
		}
	}
}

// exported writes a trace as one file.
func exported(tb testing.TB, data []byte, o chrome.Options) ([]byte, chrome.Summary) {
	tb.Helper()
	var out bytes.Buffer
	var sink *chrome.Sink
	o.TempDir = tb.TempDir()
	copyTo(tb, data, func(info *ntconv.Info, names ntconv.Namer) []ntconv.Sink {
		sink = chrome.New(&out, info, names, &o)
		return []ntconv.Sink{sink}
	})
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
	traces(t, func(t *testing.T, data []byte) {
		out, s := exported(t, data, chrome.Options{})
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
	traces(t, func(t *testing.T, data []byte) {
		var out, wall, cpu bytes.Buffer
		var sink *chrome.Sink
		var kinds [2]*pprof.Sink
		copyTo(t, data, func(info *ntconv.Info, names ntconv.Namer) []ntconv.Sink {
			sink = chrome.New(&out, info, names, &chrome.Options{TempDir: t.TempDir(), NoArgs: true, Tracks: chrome.Flows})
			kinds[0] = pprof.New(&wall, info, names, &pprof.Options{Kind: pprof.Wall, Uncompressed: true})
			kinds[1] = pprof.New(&cpu, info, names, &pprof.Options{Kind: pprof.CPU, Uncompressed: true})
			return []ntconv.Sink{sink, kinds[0], kinds[1]}
		})
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
