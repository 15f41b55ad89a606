package samples_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/convert"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/samples"
	"github.com/ntconv/ntconv/symbol"
)

// read passes the samples of a trace to emit, and returns its symbols.
func read(tb testing.TB, data []byte, o *samples.Options, emit func(*samples.Sample)) ntconv.Namer {
	tb.Helper()
	src, err := reader.NewBytes(data, &reader.Options{Order: reader.ByTime})
	if err != nil {
		tb.Fatal(err)
	}
	names := symbol.New(nil)
	r := samples.NewReader(src.Info(), names, emit, o)
	for e, err := range ntconv.Events(symbol.Watch(ntconvtest.Poison(src), names)) {
		if err != nil {
			break // some recordings are truncated
		}
		r.Add(e)
	}
	r.Finish()
	return names
}

// byFunction is a toy exporter: the time by method in which threads were, in nanoseconds.
func byFunction(tb testing.TB, data []byte) map[string]int64 {
	type stack struct {
		of *ntconv.Stack
		in *ntconv.Process
		at ntconv.Ticks
	}
	stacks, times := map[samples.Key]stack{}, map[samples.Key]int64{}
	names := read(tb, data, &samples.Options{Kinds: []sample.Kind{sample.Wall}}, func(s *samples.Sample) {
		stacks[s.Key] = stack{s.Stack, s.Process, s.Time}
		times[s.Key] += int64(s.Duration)
	})
	total := map[string]int64{}
	for key, s := range stacks {
		name := "[no stack]"
		if s.of != nil {
			if frames := names.AppendFrames(nil, s.in, s.of, s.at); len(frames) > 0 {
				name = frames[0].Func.Name
			}
		}
		total[name] += times[key]
	}
	return total
}

// flat returns the values of a profile by the function of the leaf.
func flat(p *profile.Profile, value int) map[string]int64 {
	total := map[string]int64{}
	for _, s := range p.Sample {
		name := "[no stack]"
		if len(s.Location) > 0 && len(s.Location[0].Line) > 0 {
			name = s.Location[0].Line[0].Function.Name
		}
		total[name] += s.Value[value]
	}
	return total
}

// TestByFunction compares the toy exporter with the profile of the same trace, function by function.
func TestByFunction(t *testing.T) {
	for _, name := range []string{"cpu-default", "cpu-env", "cpu-norundown", "threads", "waits", "otel-cpu", "activities", "startup"} {
		f := corpus.Trace(t, name)
		p, err := convert.Profile(t.Context(), &convert.Options{Settings: map[string]string{"kind": "wall"}}, f.Path)
		if err != nil {
			if n := len(byFunction(t, f.Data)); n != 0 {
				t.Errorf("%s: %v, %d functions", name, err, n)
			}
			continue
		}
		want, got := flat(p, slices.IndexFunc(p.SampleType, func(v *profile.ValueType) bool { return v.Unit == "nanoseconds" })), byFunction(t, f.Data)
		if !maps.EqualFunc(want, got, func(a, b int64) bool { return a-b < 1000 && b-a < 1000 }) {
			t.Errorf("%s: got\n%v\nwant\n%v", name, got, want)
		}
	}
}

// TestKinds compares the totals of all kinds of all traces with those of profiles.
func TestKinds(t *testing.T) {
	compared := 0
	for _, f := range corpus.Traces(t) {
		for _, kind := range sample.Preferred() {
			if kind == sample.Slices {
				continue
			}
			p, err := convert.Profile(t.Context(), &convert.Options{Settings: map[string]string{"kind": kind.String()}}, f.Path)
			count, values := uint64(0), map[string]int64{}
			read(t, f.Data, &samples.Options{Kinds: []sample.Kind{kind}}, func(s *samples.Sample) {
				count += s.Count
				for i, typ := range s.Types {
					values[typ.Type+"/"+typ.Unit] += s.Values[i]
				}
			})
			if errors.As(err, new(*convert.IncompleteError)) {
				err = nil
			}
			if err != nil {
				if count > 0 {
					t.Errorf("%s, %s: %d samples, but %v", f.Name, kind, count, err)
				}
				continue
			}
			compared++
			for i, v := range p.SampleType {
				want := int64(0)
				for _, s := range p.Sample {
					want += s.Value[i]
				}
				got, ok := values[v.Type+"/"+v.Unit]
				if !ok && v.Unit == "count" {
					got = int64(count)
				}
				if d := got - want; d > int64(count)+1000 || -d > int64(count)+1000 || v.Unit == "count" && d != 0 {
					t.Errorf("%s, %s: %s %d, want %d (%d samples)", f.Name, kind, v.Type, got, want, count)
				}
			}
		}
	}
	if compared < 40 {
		t.Errorf("%d profiles compared", compared)
	}
}

// TestKey checks that stacks with equal addresses have one key whatever their pointers, and others do not. No Namer
// distinguishes owners of an address here.
func TestKey(t *testing.T) {
	seen := map[samples.Key]string{}
	for _, name := range []string{"cpu-default", "cpu-env", "three-processes-v6"} {
		clear(seen)
		texts := map[string]samples.Key{}
		src, err := reader.NewBytes(corpus.Trace(t, name).Data, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := samples.NewReader(src.Info(), nil, func(s *samples.Sample) {
			text := "none"
			if s.Stack != nil {
				text = fmt.Sprint(s.Process.PID, s.Stack.PCs)
			}
			if known, ok := texts[text]; ok && known != s.Key {
				t.Errorf("%s: two keys of %s", name, text)
			}
			if known, ok := seen[s.Key]; ok && known != text {
				t.Errorf("%s: one key of %s and %s", name, known, text)
			}
			texts[text], seen[s.Key] = s.Key, text
		}, nil)
		for e, err := range ntconv.Events(src) {
			if err != nil {
				t.Fatal(err)
			}
			r.Add(e)
		}
		r.Finish()
		if len(texts) < 5 {
			t.Errorf("%s: %d stacks", name, len(texts))
		}
	}
}

// BenchmarkReader measures samples of a recording of CPU use.
func BenchmarkReader(b *testing.B) {
	src, err := reader.NewBytes(corpus.Trace(b, "cpu-default").Data, &reader.Options{Order: reader.ByTime})
	if err != nil {
		b.Fatal(err)
	}
	all, err := ntconvtest.Record(src)
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	r := samples.NewReader(src.Info(), nil, func(*samples.Sample) { n++ }, nil)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.Add(all[i%len(all)])
	}
}

// TestAllocations checks that a sample with a known stack does not allocate.
func TestAllocations(t *testing.T) {
	src, err := reader.NewBytes(corpus.Trace(t, "cpu-default").Data, &reader.Options{Order: reader.ByTime})
	if err != nil {
		t.Fatal(err)
	}
	all, err := ntconvtest.Record(src)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	r := samples.NewReader(src.Info(), nil, func(*samples.Sample) { n++ }, nil)
	add := func() {
		for _, e := range all {
			r.Add(e)
		}
	}
	add()
	if perRun := testing.AllocsPerRun(20, add); perRun > 0 || n < 50 {
		t.Errorf("%v allocations for %d events, %d samples", perRun, len(all), n)
	}
}
