package imported_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/pprof/profile"
	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/sample"
)

// generated draws an origin with the given columns.
func generated(t *rapid.T, types []sample.Type, period sample.Type) imported.Origin {
	text := rapid.StringN(0, 3, -1)
	name := rapid.SampledFrom(types).Draw(t, "default").Type
	return imported.Origin{
		Columns: imported.Columns{
			Types: types, Default: rapid.SampledFrom([]string{"", name, "other"}).Draw(t, "name"), PeriodType: period,
			Period: rapid.Int64Range(0, 1e9).Draw(t, "period"),
		},
		Time: rapid.Int64Range(1, 1e18).Draw(t, "time"), Duration: rapid.Int64Range(0, 1e12).Draw(t, "duration"),
		Comments:   rapid.SliceOfNDistinct(text, 0, 4, rapid.ID[string]).Draw(t, "comments"),
		DropFrames: text.Draw(t, "drop"), KeepFrames: text.Draw(t, "keep"), DocURL: text.Draw(t, "url"),
	}
}

func valueTypes(t *rapid.T) []sample.Type {
	text := rapid.StringN(0, 3, -1)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) sample.Type {
		return sample.Type{Type: text.Draw(t, "type"), Unit: text.Draw(t, "unit")}
	}), 1, 4).Draw(t, "types")
}

func typeOf(o *imported.Origin) *ntconv.Type {
	return &ntconv.Type{Fields: o.Fields(), Attrs: o.Attrs()}
}

func TestOfRestoresAttrs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := generated(t, valueTypes(t), sample.Type{Type: rapid.String().Draw(t, "period type")})
		if len(o.Comments) == 0 {
			o.Comments = nil
		}
		got := imported.Of(typeOf(&o))
		if !reflect.DeepEqual(got, &o) {
			t.Fatalf("got %+v, want %+v", got, &o)
		}
		if c := imported.ColumnsOf(typeOf(&o)); !reflect.DeepEqual(c, &o.Columns) {
			t.Fatalf("got columns %+v, want %+v", c, o.Columns)
		}
	})
}

// Attributes from untrusted files must not describe more columns than the events have fields.
func TestNoOrigin(t *testing.T) {
	o := imported.Origin{Columns: imported.Columns{Types: []sample.Type{{Type: "cpu"}, {Type: "wall"}}}}
	good := typeOf(&o)
	if imported.Of(good) == nil {
		t.Fatal("no origin")
	}
	for _, n := range []string{"", "0", "-1", "3", "99999999999999999999", "two"} {
		bad := &ntconv.Type{Fields: good.Fields, Attrs: ntconv.Attrs{{Key: "pprof.sample_types", Value: n}}}
		if got := imported.Of(bad); got != nil {
			t.Errorf("pprof.sample_types = %q with %d fields: got %+v, want nil", n, len(bad.Fields), got)
		}
	}
	if got := imported.Of(&ntconv.Type{Fields: good.Fields}); got != nil {
		t.Errorf("got %+v of a type without attributes, want nil", got)
	}
}

// TestMergeIsPprofs compares Merge with the merge of google/pprof, which does not use attributes.
func TestMergeIsPprofs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		types, period := valueTypes(t), sample.Type{Type: "cpu", Unit: "nanoseconds"}
		var list []*ntconv.Type
		var profiles []*profile.Profile
		for range rapid.IntRange(1, 4).Draw(t, "profiles") {
			o := generated(t, types, period)
			o.DropFrames, o.KeepFrames = "d", "k" // pprof and ntconv use those of the first profile
			list, profiles = append(list, typeOf(&o)), append(profiles, profileOf(&o))
		}
		want, err := profile.Merge(profiles)
		if err != nil {
			t.Fatal(err)
		}
		got := profileOf(imported.Merge(list))
		if got.String() != want.String() || got.DefaultSampleType != want.DefaultSampleType || got.DocURL != want.DocURL {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
	if imported.Merge(nil) != nil {
		t.Error("an origin of no types")
	}
}

// TestMergeOfOtherColumns merges profiles with different sample types, which google/pprof refuses.
func TestMergeOfOtherColumns(t *testing.T) {
	cpu, heap := sample.Type{Type: "cpu", Unit: "nanoseconds"}, sample.Type{Type: "heap", Unit: "bytes"}
	of := func(duration int64, types ...sample.Type) *ntconv.Type {
		return typeOf(&imported.Origin{Columns: imported.Columns{Types: types, PeriodType: types[0], Period: duration}, Duration: duration})
	}
	o := imported.Merge([]*ntconv.Type{of(5, cpu, cpu), of(7, heap), of(3, heap, cpu)})
	if want := []sample.Type{cpu, cpu, heap}; !slices.Equal(o.Types, want) || o.Period != 5 || o.Duration != 10 {
		t.Errorf("%v, period %d, duration %d; want %v, 5 and 10", o.Types, o.Period, o.Duration, want)
	}
	if got, want := o.Indices(imported.ColumnsOf(of(1, heap, cpu))), []int{2, 0}; !slices.Equal(got, want) {
		t.Errorf("columns %v, want %v", got, want)
	}
}

func profileOf(o *imported.Origin) *profile.Profile {
	p := &profile.Profile{
		DefaultSampleType: o.Default, PeriodType: &profile.ValueType{Type: o.PeriodType.Type, Unit: o.PeriodType.Unit}, Period: o.Period,
		TimeNanos: o.Time, DurationNanos: o.Duration, Comments: o.Comments, DropFrames: o.DropFrames, KeepFrames: o.KeepFrames, DocURL: o.DocURL,
	}
	for _, v := range o.Types {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: v.Type, Unit: v.Unit})
	}
	return p
}

func TestMainColumn(t *testing.T) {
	c := imported.Columns{Types: []sample.Type{{Type: "a"}, {Type: "b"}, {Type: "c"}}}
	for name, want := range map[string]int{"": 2, "a": 0, "b": 1, "d": 2} {
		c.Default = name
		if got := c.Main(); got != want {
			t.Errorf("default %q: got column %d, want %d", name, got, want)
		}
	}
	if got := (&imported.Columns{}).Main(); got != 0 {
		t.Errorf("got column %d of none", got)
	}
}

// Every column can be selected: names are distinct, and a column whose name is not repeated keeps it.
func TestTypeNames(t *testing.T) {
	for _, tt := range []struct{ types, want []string }{
		{nil, []string{}},
		{[]string{"samples", "cpu"}, []string{"samples", "cpu"}},
		{[]string{"cpu", "cpu", "cpu"}, []string{"cpu", "cpu#2", "cpu#3"}},
		{[]string{"cpu", "cpu", "cpu#2", "cpu"}, []string{"cpu", "cpu#3", "cpu#2", "cpu#4"}},
		{[]string{"", "", "#2", "a"}, []string{"", "#3", "#2", "a"}},
	} {
		var types []sample.Type
		for _, name := range tt.types {
			types = append(types, sample.Type{Type: name, Unit: "count"})
		}
		if got := imported.TypeNames(types); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.types, got, tt.want)
		}
	}
}
