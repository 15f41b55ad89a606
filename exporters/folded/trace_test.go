package folded_test

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/folded"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/symbol"
)

// both writes the samples of a source as folded stacks and as a profile.
func both(t *testing.T, src ntconv.Source, namer ntconv.Namer, kind sample.Kind, o folded.Options) (lines string, p *profile.Profile, done sample.Summary) {
	t.Helper()
	var text, proto bytes.Buffer
	o.Kind = kind
	stacks := folded.New(&text, src.Info(), namer, &o)
	prof := pprof.New(&proto, src.Info(), namer, &pprof.Options{Options: sample.Options{Kind: kind}, Uncompressed: true})
	for e, err := range ntconv.Events(ntconvtest.Poison(src)) {
		if err != nil {
			break // damaged traces end early, for both
		}
		if stacks.Write(e) != nil || prof.Write(e) != nil {
			t.Fatal("a sink refused an event")
		}
	}
	if err := stacks.Close(); err != nil {
		t.Fatal(err)
	}
	if err := prof.Close(); err != nil {
		t.Fatal(err)
	}
	var err error
	if p, err = profile.ParseData(proto.Bytes()); err != nil {
		t.Fatal(err)
	}
	return text.String(), p, stacks.Summary()
}

// parse reads lines as flamegraph.pl does, independently of the package: the number follows the last space.
func parse(t *testing.T, text string) map[string]int64 {
	t.Helper()
	sums := map[string]int64{}
	for line := range strings.Lines(text) {
		line, ok := strings.CutSuffix(line, "\n")
		at := strings.LastIndexByte(line, ' ')
		if !ok || at < 1 {
			t.Fatalf("line %q", line)
		}
		n, err := strconv.ParseInt(line[at+1:], 10, 64)
		if err != nil || n <= 0 || sums[line[:at]] != 0 {
			t.Fatalf("line %q: %v, seen before: %v", line, err, sums[line[:at]])
		}
		sums[line[:at]] = n
	}
	return sums
}

// foldProfile folds a profile with google/pprof only.
func foldProfile(p *profile.Profile, column int) map[string]int64 {
	sums := map[string]int64{}
	for _, s := range p.Sample {
		var names []string
		for _, l := range s.Location {
			for _, line := range l.Line {
				names = append(names, line.Function.Name)
			}
			if len(l.Line) == 0 {
				names = append(names, "?")
			}
		}
		slices.Reverse(names)
		if len(names) == 0 {
			names = []string{"[no stack]"}
		}
		sums[strings.Join(names, ";")] += s.Value[column]
	}
	maps.DeleteFunc(sums, func(_ string, n int64) bool { return n <= 0 })
	return sums
}

// ones returns a copy of a profile in which each sample has the single value 1.
func ones(p *profile.Profile) *profile.Profile {
	c := p.Copy()
	for _, s := range c.Sample {
		s.Value = []int64{1}
	}
	return c
}

func mainColumn(p *profile.Profile) int {
	for i, v := range p.SampleType {
		if v.Type == p.DefaultSampleType {
			return i
		}
	}
	return max(0, len(p.SampleType)-1)
}

// checkTotals compares totals by stack. slack is how much a total may exceed the expected one: both formats convert
// ticks to nanoseconds and round down, but profiles do so for each sample of a line.
func checkTotals(t *testing.T, got, want, slack map[string]int64) {
	t.Helper()
	for stack, n := range want {
		if got[stack] < n || got[stack] > n+slack[stack] {
			t.Errorf("%d, want %d to %d: %.300s", got[stack], n, n+slack[stack], stack)
		}
	}
	for stack, n := range got {
		if want[stack] == 0 {
			t.Errorf("%d, want none: %.300s", n, stack)
		}
	}
}

// TestTracesAgreeWithProfiles checks that each folded stack of a trace has the total that google/pprof finds in the
// pprof profile.
func TestTracesAgreeWithProfiles(t *testing.T) {
	files := corpus.Traces(t)
	if _, err := corpus.Find("data"); err == nil && !testing.Short() {
		files = append(files, corpus.SharedTraces(t)...)
	}
	stacks := 0
	for _, f := range files {
		for _, kind := range []sample.Kind{sample.Wall, sample.CPU, sample.Imported} {
			src, err := reader.NewBytes(f.Data, &reader.Options{})
			if err != nil {
				t.Logf("%s: %v", f.Name, err)
				break
			}
			names := symbol.New(nil)
			text, p, done := both(t, symbol.Watch(src, names), names, kind, folded.Options{})
			got := parse(t, text)
			stacks += len(got)
			t.Run(f.Name+"/"+kind.String(), func(t *testing.T) {
				total := int64(0)
				for _, n := range got {
					total += n
				}
				if done.Items != len(got) || done.Kind != kind || done.Total != total {
					t.Errorf("summary %+v, %d lines", done, len(got))
				}
				slack := map[string]int64{}
				if kind == sample.Wall {
					slack = foldProfile(ones(p), 0)
				}
				checkTotals(t, got, foldProfile(p, mainColumn(p)), slack)
			})
		}
	}
	if stacks < 400 {
		t.Errorf("only %d stacks in all traces", stacks)
	}
}
