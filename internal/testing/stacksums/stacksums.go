// Package stacksums compares profile formats: the total of each stack of each thread. The expected totals come from the
// pprof profile of the same events, read with google's library.
package stacksums

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/symbol"
)

// A Key identifies a sample type of a thread. Thread is "pid/tid".
type Key struct{ Type, Thread string }

// Sums contains totals by stack. A stack consists of the function names from the root on, separated by line feeds; it
// is empty for samples without a stack.
type Sums map[Key]map[string]Sum

// A Sum is a total and its number of samples, which is 0 if unknown.
type Sum struct{ Total, Samples int64 }

// Add adds a sample.
func (s Sums) Add(k Key, stack []string, value, samples int64) {
	m := s[k]
	if m == nil {
		m = make(map[string]Sum)
		s[k] = m
	}
	name := strings.Join(stack, "\n")
	m[name] = Sum{m[name].Total + value, m[name].Samples + samples}
}

// Merged returns the sums over all threads.
func (s Sums) Merged() Sums {
	all := make(Sums)
	for k, stacks := range s {
		for stack, n := range stacks {
			all.Add(Key{Type: k.Type}, []string{stack}, n.Total, n.Samples)
		}
	}
	return all
}

// Check compares sums with those of a pprof profile. A profile omits zeros and rounds totals, while other formats round
// each sample, so 1 ns of difference per sample is allowed.
func Check(t testing.TB, got, want Sums) {
	t.Helper()
	for _, k := range slices.SortedFunc(maps.Keys(want), compareKeys) {
		for stack, n := range want[k] {
			g := got[k][stack]
			if d := g.Total - n.Total; n.Total != 0 && (d > n.Samples || d < -n.Samples) {
				t.Errorf("%s of thread %s: got %d, want %d in %d samples: %.200q", k.Type, k.Thread, g.Total, n.Total, n.Samples, stack)
				return
			}
		}
	}
	for k, stacks := range got {
		for stack, n := range stacks {
			if n.Total != 0 && want[k][stack].Total == 0 {
				t.Errorf("%s of thread %s: got %d, want none: %.200q", k.Type, k.Thread, n.Total, stack)
				return
			}
		}
	}
}

func compareKeys(a, b Key) int { return strings.Compare(a.Type+a.Thread, b.Type+b.Thread) }

// kinds are all profile kinds that a trace can contain.
var kinds = []sample.Kind{sample.Wall, sample.CPU, sample.Imported}

// Of returns the sums of the pprof profiles of a source, for all kinds, and passes its events to a sink as well. It
// overwrites events after use. An error of the source ends the events without failing the test, because corrupt traces
// are valid test cases.
func Of(t testing.TB, src ntconv.Source, namer ntconv.Namer, sink ntconv.Sink) Sums {
	t.Helper()
	sinks := []ntconv.Sink{sink}
	protos := make([]bytes.Buffer, len(kinds))
	for i, k := range kinds {
		sinks = append(sinks, pprof.New(&protos[i], src.Info(), namer, &pprof.Options{Options: sample.Options{Kind: k}, Uncompressed: true}))
	}
	for e, err := range ntconv.Events(ntconvtest.Poison(src)) {
		if err != nil {
			break
		}
		for _, s := range sinks {
			if err := s.Write(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, s := range sinks {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	sums := make(Sums)
	for i := range kinds {
		p, err := profile.ParseData(protos[i].Bytes())
		if err != nil {
			t.Fatal(err)
		}
		sums.profile(p, kinds[i])
	}
	return sums
}

// profile adds the samples of a profile. Unless the profile is imported, its first column is the number of samples.
func (s Sums) profile(p *profile.Profile, kind sample.Kind) {
	for _, x := range p.Sample {
		var stack []string
		for _, l := range x.Location {
			for _, line := range l.Line {
				stack = append(stack, line.Function.Name)
			}
		}
		slices.Reverse(stack)
		thread := fmt.Sprint(number(x, "pid"), "/", number(x, "tid"))
		for i, v := range p.SampleType {
			samples := int64(0)
			if kind != sample.Imported {
				samples = x.Value[0]
			}
			if i > 0 || kind == sample.Imported {
				s.Add(Key{v.Type, thread}, stack, x.Value[i], samples)
			}
		}
	}
}

func number(s *profile.Sample, key string) int64 {
	if n := s.NumLabel[key]; len(n) > 0 {
		return n[0]
	}
	return 0
}

// Open returns a source of a trace file in time order, and a Namer that observes it. It returns nil if the file cannot
// be opened.
func Open(t testing.TB, f corpus.File) (ntconv.Source, ntconv.Namer) {
	t.Helper()
	src, err := reader.New(bytes.NewReader(f.Data), &reader.Options{})
	if err != nil {
		t.Logf("%s: %v", f.Name, err)
		return nil, nil
	}
	names := symbol.New(nil)
	return symbol.Watch(src, names), names
}

// Files returns all traces in testdata, and the traces of the reference data unless it is absent or the test is short.
func Files(t testing.TB) []corpus.File {
	t.Helper()
	files := corpus.Traces(t)
	if _, err := corpus.Find("data"); err == nil && !testing.Short() {
		files = append(files, corpus.SharedTraces(t)...)
	}
	return files
}
