package overview_test

import (
	"encoding/json"
	"math"
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

// The standard error of a total is that of its profile, and the parts of a kind have all its samples. That the totals are
// those of profiles is checked by the comparison of all outputs.
func TestErrorsAndParts(t *testing.T) {
	compared := 0
	for _, f := range corpus.Traces(t) {
		o, _ := sum(t, f, reader.ByTime)
		if o == nil {
			continue
		}
		src, err := reader.NewBytes(f.Data, nil)
		if err != nil {
			t.Fatal(err)
		}
		b := profile.New(src.Info(), new(ntconv.NoNames), &profile.Options{Each: sample.All()})
		read(t, f, reader.ByTime, b.Add)
		want := map[string]float64{} // by kind and sample type
		for p := range b.FinishEach() {
			for i, x := range p.Estimate.Errors {
				want[p.Kind.String()+p.Types[i].Type] = x
			}
		}
		for _, k := range o.Kinds {
			parts := int64(0)
			for _, p := range k.Parts {
				parts += p.Count
			}
			if k.PartsBy != "" && parts != k.Samples {
				t.Errorf("%s: parts of %s have %d samples of %d", f.Path, k.Kind, parts, k.Samples)
			}
			for _, v := range k.Values {
				x := want[k.Kind+v.Type]
				if math.Abs(v.Error-x) > x/50 {
					t.Errorf("%s: %s %s: standard error %g, the profile has %g", f.Path, k.Kind, v.Type, v.Error, x)
				}
				if x > 0 {
					compared++
				}
			}
		}
	}
	if compared == 0 {
		t.Error("no total is an estimate")
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

// copies returns copies of the events of a trace.
func copies(tb testing.TB, name string) (*ntconv.Info, []*ntconv.Event) {
	tb.Helper()
	src, err := reader.NewBytes(corpus.Trace(tb, name).Data, nil)
	if err != nil {
		tb.Fatal(err)
	}
	var list []*ntconv.Event
	for e, err := range ntconv.Events(src) {
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, e.Clone())
	}
	return src.Info(), list
}

// Events of known types, threads and names allocate nothing.
func TestAllocations(t *testing.T) {
	for _, name := range []string{"cpu-env", "waits", "exceptions", "alloc-verbose"} {
		info, list := copies(t, name)
		s := overview.New(info, overview.Options{})
		shift := ntconv.Ticks(0)
		last := list[len(list)-1].Time - list[0].Time + 1
		c := new(ntconv.Event)
		write := func() {
			for _, e := range list {
				*c = *e
				c.Time += shift
				if err := s.Write(c); err != nil {
					t.Fatal(err)
				}
			}
			shift += last
		}
		for range 5 {
			write()
		}
		if n := testing.AllocsPerRun(5, write) / float64(len(list)); n > 0.02 {
			t.Errorf("%s: %.3f allocations per event", name, n)
		}
	}
}
