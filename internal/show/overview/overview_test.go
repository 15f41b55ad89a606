package overview_test

import (
	"encoding/json"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/show/overview"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
)

// traces returns all traces at hand.
func traces(t *testing.T) []corpus.File {
	if testing.Short() {
		return corpus.Traces(t)
	}
	return append(corpus.Traces(t), corpus.SharedTraces(t)...)
}

// read shows the events of a trace, up to where it is truncated, to a function.
func read(t *testing.T, f corpus.File, order reader.Order, show func(*ntconv.Event)) (*ntconv.Info, bool) {
	t.Helper()
	src, err := reader.NewBytes(f.Data, &reader.Options{Order: order})
	if err != nil {
		return nil, false // a version that cannot be read
	}
	poisoned := ntconvtest.Poison(src)
	for e, err := range ntconv.Events(poisoned) {
		if err != nil {
			break
		}
		show(e)
	}
	return src.Info(), true
}

// sum returns the overview of a trace.
func sum(t *testing.T, f corpus.File, order reader.Order) (o *overview.Overview, matters bool) {
	t.Helper()
	src, err := reader.NewBytes(f.Data, &reader.Options{Order: order})
	if err != nil {
		return nil, false
	}
	s := overview.New(src.Info(), overview.Options{})
	span := recording.NewRange(src.Info())
	read(t, f, order, func(e *ntconv.Event) {
		span.Observe(e)
		if err := s.Write(e); err != nil {
			t.Fatal(err)
		}
	})
	matters = s.OrderMatters()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	first, last, ok := span.Span()
	return s.Describe(first, last, ok, "IN"), matters
}

// The totals of each kind are those of its profile: exactly, or within 1 unit per sample where the samples of a stack
// are rounded together.
func TestTotalsAreThoseOfProfiles(t *testing.T) {
	seen := map[string]int{}
	for _, f := range traces(t) {
		o, _ := sum(t, f, reader.ByTime)
		if o == nil {
			continue
		}
		var b *profile.Builder
		src, err := reader.NewBytes(f.Data, nil)
		if err != nil {
			t.Fatal(err)
		}
		b = profile.New(src.Info(), new(ntconv.NoNames), &profile.Options{Each: sample.All()})
		read(t, f, reader.ByTime, b.Add)
		want := map[string]map[string]int64{}
		errors := map[string]float64{} // by kind and sample type
		for p := range b.FinishEach() {
			if p.Kind == sample.Events {
				continue
			}
			totals := map[string]int64{"": int64(p.Events)}
			for s := range p.Samples() {
				for i, v := range s.Values {
					totals[p.Types[i].Type] += v
				}
			}
			want[p.Kind.String()] = totals
			for i, x := range p.Estimate.Errors {
				errors[p.Kind.String()+p.Types[i].Type] = x
			}
		}
		for _, k := range o.Kinds {
			totals := want[k.Kind]
			if totals == nil {
				t.Errorf("%s: %s has no profile", f.Path, k.Kind)
				continue
			}
			seen[k.Kind]++
			if k.Samples != totals[""] {
				t.Errorf("%s: %d samples of %s, the profile has %d", f.Path, k.Samples, k.Kind, totals[""])
			}
			for _, v := range k.Values {
				diff := v.Total - totals[v.Type]
				if diff < 0 {
					diff = -diff
				}
				if x := errors[k.Kind+v.Type]; math.Abs(v.Error-x) > x/50 {
					t.Errorf("%s: %s %s: standard error %g, the profile has %g", f.Path, k.Kind, v.Type, v.Error, x)
				}
				if diff > k.Samples {
					t.Errorf("%s: %s %s: %d, the profile has %d", f.Path, k.Kind, v.Type, v.Total, totals[v.Type])
				}
			}
			parts := int64(0)
			for _, p := range k.Parts {
				parts += p.Count
			}
			if k.PartsBy != "" && parts != k.Samples {
				t.Errorf("%s: parts of %s have %d samples of %d", f.Path, k.Kind, parts, k.Samples)
			}
			delete(want, k.Kind)
		}
		for k := range want {
			t.Errorf("%s: no total of %s", f.Path, k)
		}
	}
	for _, k := range []string{"wall", "cpu", "alloc", "exceptions", "contention", "wait", "gc", "jit", "requests", "tasks"} {
		if seen[k] == 0 && !testing.Short() {
			t.Errorf("no trace has %s", k)
		}
	}
}

// In file order, the overview is the same as in time order, unless OrderMatters says that it may not be.
func TestFileOrder(t *testing.T) {
	equal, matter := 0, 0
	for _, f := range traces(t) {
		want, _ := sum(t, f, reader.ByTime)
		got, matters := sum(t, f, reader.FileOrder)
		switch {
		case want == nil:
		case matters:
			matter++
		default:
			a, b := encode(t, got), encode(t, want)
			if a != b {
				t.Errorf("%s: in file order\n%s\nin time order\n%s", f.Path, a, b)
			}
			equal++
		}
	}
	t.Logf("%d traces are equal in both orders, for %d the order may matter", equal, matter)
	if equal < 10 {
		t.Errorf("only %d traces were compared", equal)
	}
}

func encode(t *testing.T, o *overview.Overview) string {
	t.Helper()
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Numbers that the recorded programs counted themselves.
func TestTruth(t *testing.T) {
	truth := func(name string, dst any) *overview.Overview {
		t.Helper()
		dir := corpus.Shared(t, "data", "own")
		if err := json.Unmarshal(corpus.Read(t, filepath.Join(dir, name+".truth.json")), dst); err != nil {
			t.Fatal(err)
		}
		o, _ := sum(t, corpus.SharedTrace(t, "own/"+name), reader.ByTime)
		return o
	}
	var http struct{ Served, Requests []any }
	o := truth("net-http", &http)
	if len(o.Requests) != 2 || o.Requests[0].Side != "server" || o.Requests[0].Count != int64(len(http.Served)) ||
		o.Requests[1].Side != "client" || o.Requests[1].Count != int64(len(http.Requests)) {
		t.Errorf("requests %+v, the program served %d and made %d", o.Requests, len(http.Served), len(http.Requests))
	}
	var counters struct {
		Totals map[string]float64
	}
	o = truth("counters", &counters)
	if len(o.Counters) < 10 || o.Timeline.CPUSource != overview.CPUCounter {
		t.Errorf("%d counters, CPU use from %q", len(o.Counters), o.Timeline.CPUSource)
	}
}

// If only the begins or only the ends of intervals are selected, the totals are those of all intervals, as in profiles.
func TestHalvesOfIntervals(t *testing.T) {
	for name, ids := range map[string][][]uint32{"waits": {{81}, {91}, {301}, {302}}, "alloc-verbose": {{1}, {2}, {9}, {3}}} {
		info, list := copies(t, name)
		totals := func(keep func(*ntconv.Event) bool) map[string]int64 {
			s := overview.New(info, overview.Options{})
			for _, e := range list {
				s.Watch(e)
				if keep(e) {
					_ = s.Write(e) // it returns no error
				}
			}
			_ = s.Close() // as above
			sums := map[string]int64{}
			for _, k := range s.Describe(0, 0, false, "IN").Kinds {
				sums[k.Kind+" samples"] = k.Samples
				for _, v := range k.Values {
					sums[k.Kind+" "+v.Type] = v.Total
				}
			}
			return sums
		}
		all := totals(func(*ntconv.Event) bool { return true })
		for _, of := range ids {
			half := totals(func(e *ntconv.Event) bool {
				return e.Type != nil && e.Type.Provider == "Microsoft-Windows-DotNETRuntime" && slices.Contains(of, e.Type.ID)
			})
			if len(half) == 0 {
				t.Errorf("%s: no totals of events %d", name, of)
			}
			for what, n := range half {
				if n != all[what] {
					t.Errorf("%s: events %d: %s %d, want %d", name, of, what, n, all[what])
				}
			}
		}
	}
}

// docs/info.md describes every member of the JSON object.
func TestMembersAreDocumented(t *testing.T) {
	page := string(corpus.Read(t, "../../../docs/info.md"))
	seen := map[reflect.Type]bool{}
	var check func(reflect.Type)
	check = func(of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || seen[of] {
			return
		}
		seen[of] = true
		for i := range of.NumField() {
			f := of.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() && !f.Anonymous && !strings.Contains(page, "`"+name) {
				t.Errorf("docs/info.md does not mention %s of %v", name, of)
			}
			check(f.Type)
		}
	}
	check(reflect.TypeFor[overview.Overview]())
	if len(seen) < 8 {
		t.Errorf("only %d types", len(seen))
	}
}

// Names of the trace never reach a terminal as control sequences, and no list is longer than the text says.
func TestTextIsPrintable(t *testing.T) {
	const bad = "a\nb\x1b[2J"
	text := func(s string) string {
		o := overview.Overview{
			Recorded:    1e9,
			Kinds:       []overview.Kind{{Kind: "alloc", Noun: "allocations", Values: []overview.Value{{Type: s, Unit: s}}, Command: s}},
			GC:          &overview.GC{Generations: []overview.Part{{Name: s}}},
			Exceptions:  &overview.Parts{Count: 1, Types: []overview.Part{{Name: s, Count: 1}}},
			Requests:    []overview.Requests{{Side: s}},
			Counters:    []overview.Counter{{Provider: s, Name: s, Unit: s, Tags: s}},
			ThreadPools: []overview.ThreadPool{{PID: 1}},
		}
		return string(o.Text(overview.TextOptions{}))
	}
	got, want := text(bad), text("ab")
	if strings.Contains(got, "\x1b") || strings.Count(got, "\n") != strings.Count(want, "\n") {
		t.Errorf("%q\nwith a plain name:\n%s", got, want)
	}
}
