package web

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// labeled returns the profile of shop, with labels: work ran for orders in 20 and 40 ms, wait for carts in 60 ms.
func labeled() *profile.Profile {
	p := shop()
	label := func(s *profile.Sample, endpoint string, latency int64) *profile.Sample {
		s.Label = map[string][]string{"endpoint": {endpoint}}
		s.NumLabel, s.NumUnit = map[string][]int64{"latency": {latency}}, map[string][]string{"latency": {"milliseconds"}}
		return s
	}
	slow := *p.Sample[0]
	slow.Value = []int64{5, 6}
	p.Sample = []*profile.Sample{
		label(p.Sample[0], "/orders", 20), label(&slow, "/orders/all", 40), label(p.Sample[1], "/cart", 60),
	}
	return p
}

// values returns the values of the last sample type by function, including those of its callees.
func values(p *profile.Profile) map[string]int64 {
	sums := map[string]int64{}
	for _, s := range p.Sample {
		seen := map[string]bool{}
		for _, l := range s.Location {
			for _, line := range l.Line {
				if name := line.Function.Name; !seen[name] {
					seen[name] = true
					sums[name] += s.Value[len(s.Value)-1]
				}
			}
		}
	}
	return sums
}

func TestSelect(t *testing.T) {
	for _, tt := range []struct {
		filter    Filter
		want      map[string]int64
		unmatched []string
	}{
		{Filter{}, map[string]int64{"main": 105, "work": 36, "wait": 69}, nil},
		{Filter{Focus: "^wo"}, map[string]int64{"main": 36, "work": 36}, nil},
		{Filter{TagFocus: "endpoint=^/orders$"}, map[string]int64{"main": 30, "work": 30}, nil},
		{Filter{TagFocus: "orders"}, map[string]int64{"main": 36, "work": 36}, nil},
		{Filter{TagIgnore: "endpoint=orders"}, map[string]int64{"main": 69, "wait": 69}, nil},
		{Filter{TagIgnore: "endpoint=nothing"}, map[string]int64{"main": 105, "work": 36, "wait": 69}, []string{"tagignore"}},
		{Filter{TagFocus: "latency=30ms:1s"}, map[string]int64{"main": 75, "work": 6, "wait": 69}, nil},
		{Filter{TagFocus: "latency=:0.03s"}, map[string]int64{"main": 105, "work": 36, "wait": 69}, nil}, // no range: pprof has no fractions
		{Filter{TagFocus: "latency=:30ms"}, map[string]int64{"main": 30, "work": 30}, nil},
		{Filter{TagFocus: "latency=20000us"}, map[string]int64{"main": 30, "work": 30}, nil},
		{Filter{TagFocus: "latency=10ms:", TagIgnore: "all", Focus: "work"}, map[string]int64{"main": 30, "work": 30}, nil},
		{Filter{TagRoot: "endpoint", TagFocus: "cart"}, map[string]int64{"main": 69, "wait": 69, "/cart": 69}, nil},
		{Filter{TagLeaf: "latency"}, map[string]int64{"main": 105, "work": 36, "wait": 69, "20ms": 30, "40ms": 6, "60ms": 69}, nil},
	} {
		p, unmatched, err := Select(labeled(), &tt.filter)
		if tt.filter.TagFocus == "latency=:0.03s" {
			if missing := (*NoMatchError)(nil); !errors.As(err, &missing) || missing.Option != "tagfocus" {
				t.Errorf("%+v: %v", tt.filter, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", tt.filter, err)
			continue
		}
		if got := values(p); !maps.Equal(got, tt.want) || !slices.Equal(unmatched, tt.unmatched) {
			t.Errorf("%+v: %v, unmatched %q, want %v, %q", tt.filter, got, unmatched, tt.want, tt.unmatched)
		}
	}
	for _, f := range []Filter{{TagFocus: "("}, {TagIgnore: "endpoint=("}, {Focus: "("}} {
		if _, _, err := Select(labeled(), &f); err == nil {
			t.Errorf("%+v: no error", f)
		}
	}
}

// A selected profile has the sample types of the profile, including equal ones, which the driver rejects.
func TestSelectKeepsTypes(t *testing.T) {
	p := labeled()
	p.SampleType[1].Type, p.DefaultSampleType = "cpu", "cpu"
	got, _, err := Select(p, &Filter{Focus: "work"})
	if err != nil || got.SampleType[0].Type != "cpu" || got.SampleType[1].Type != "cpu" || got.DefaultSampleType != "cpu" {
		t.Errorf("%v: %v", err, got)
	}
}

// The settings of one call do not affect the next one, although the driver keeps its settings.
func TestFilterIsForgotten(t *testing.T) {
	if _, _, err := Top(labeled(), &TopOptions{Filter: Filter{TagFocus: "cart", TagRoot: "endpoint"}}); err != nil {
		t.Fatal(err)
	}
	report, _, err := Top(labeled(), &TopOptions{})
	if err != nil || strings.Contains(report, "Active filters") || strings.Contains(report, "/cart") {
		t.Errorf("%v\n%s", err, report)
	}
	if _, _, err := Rank(labeled(), &TopOptions{}); err != nil {
		t.Fatal(err)
	}
	if again, _, err := Top(labeled(), &TopOptions{}); err != nil || again != report {
		t.Errorf("after Rank: %v\n%s", err, again)
	}
}

func TestRank(t *testing.T) {
	r, unmatched, err := Rank(labeled(), &TopOptions{SampleType: "wall", Count: 2, Filter: Filter{TagIgnore: "endpoint=all"}})
	want := []Row{{"wait", 69, 69}, {"work", 30, 30}}
	if err != nil || unmatched != nil || r.Total != 105 || r.Functions != 3 || !slices.Equal(r.Rows, want) || r.SampleType.Unit != "milliseconds" {
		t.Errorf("%v %q %+v", err, unmatched, r)
	}
	if r, _, err = Rank(labeled(), &TopOptions{Cum: true, Count: 1}); err != nil || !slices.Equal(r.Rows, []Row{{"main", 0, 105}}) {
		t.Errorf("%v %+v", err, r)
	}
	p := labeled()
	p.Location[2].Line = nil // a location without a symbol
	if r, _, err = Rank(p, &TopOptions{Count: 1}); err != nil || !slices.Equal(r.Rows, []Row{{"[shop]", 69, 69}}) {
		t.Errorf("%v %+v", err, r)
	}
	var missing *SampleTypeError
	if _, _, err := Rank(labeled(), &TopOptions{SampleType: "heap"}); !errors.As(err, &missing) {
		t.Error(err)
	}
}

// seconds returns a time as pprof's report prints it.
func seconds(t *testing.T, text string) float64 {
	t.Helper()
	units := []struct {
		suffix string
		factor float64
	}{{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"mins", 60}, {"hrs", 3600}, {"s", 1}, {"", 1}}
	for _, u := range units {
		if number, ok := strings.CutSuffix(text, u.suffix); ok {
			v, err := strconv.ParseFloat(number, 64)
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			return v * u.factor
		}
	}
	return 0
}

// A ranking has the rows of the report: the same functions in the same order with the same percentages.
func TestRankIsTop(t *testing.T) {
	data, err := os.ReadFile("../../../testdata/go-cpu.pb.gz")
	if err != nil {
		t.Fatal(err)
	}
	parse := func() *profile.Profile {
		p, err := profile.ParseData(data)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	rows := 0
	for _, o := range []TopOptions{{}, {Cum: true}, {SampleType: "samples"}, {Filter: Filter{Focus: "runtime"}}} {
		report, _, err := Top(parse(), &o)
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		r, _, err := Rank(parse(), &o)
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		_, table, _ := strings.Cut(report, "cum   cum%\n")
		lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
		if len(lines) != len(r.Rows) {
			t.Errorf("%+v: %d rows, and %d in the report", o, len(r.Rows), len(lines))
			continue
		}
		for i, line := range lines {
			checkRow(t, r, i, line)
			rows++
		}
		total := totals.FindStringSubmatch(report)[1]
		if want := float64(r.Total) / 1e9; r.SampleType.Unit == "nanoseconds" && math.Abs(seconds(t, total)-want) > 0.01*want {
			t.Errorf("%+v: total %v s, in the report %s", o, want, total)
		}
	}
	if rows < 100 {
		t.Errorf("%d rows compared", rows)
	}
}

var totals = regexp.MustCompile(`, \S+ of (\S+) total`)

// checkRow compares a row with its line in the report.
func checkRow(t *testing.T, r *Ranking, i int, line string) {
	t.Helper()
	f := strings.Fields(line)
	flat, _ := strconv.ParseFloat(strings.TrimSuffix(f[1], "%"), 64)
	cum, _ := strconv.ParseFloat(strings.TrimSuffix(f[4], "%"), 64)
	near := func(value int64, percent float64) bool {
		return math.Abs(100*float64(value)/float64(r.Total)-percent) <= 0.5
	}
	name := strings.TrimSuffix(strings.TrimSuffix(strings.Join(f[5:], " "), " (inline)"), " (partial-inline)")
	if row := r.Rows[i]; strings.Join(strings.Fields(row.Function), " ") != name || !near(row.Flat, flat) || !near(row.Cum, cum) {
		t.Errorf("row %d is %+v of %d, in the report %s", i, row, r.Total, line)
	}
}

func TestDifference(t *testing.T) {
	base := func() *profile.Profile {
		p := labeled()
		p.Sample[0].Value = []int64{10, 40} // work: 10 more than now
		return p
	}
	for relative, total := range map[bool]int64{false: 10, true: 115} {
		d, err := Difference(labeled(), base(), "", relative)
		if err != nil {
			t.Fatal(err)
		}
		r, _, err := Rank(d, &TopOptions{SampleType: "wall"})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Rows[0]; got != (Row{"work", -10, -10}) || r.Total != total {
			t.Errorf("relative %v: %+v", relative, r)
		}
	}
	d, err := Difference(labeled(), labeled(), "", false)
	if err != nil || len(d.Sample) != 0 {
		t.Errorf("equal profiles differ: %v %v", err, d)
	}
	var incompatible *IncompatibleError
	other := labeled()
	other.SampleType = []*profile.ValueType{{Type: "alloc", Unit: "bytes"}, {Type: "wall", Unit: "seconds"}}
	if _, err := Difference(labeled(), other, "", false); !errors.As(err, &incompatible) || !strings.Contains(fmt.Sprint(err), "alloc/bytes") {
		t.Error(err)
	}
	one := labeled() // sample types that only one profile has are dropped
	one.SampleType = []*profile.ValueType{{Type: "alloc", Unit: "bytes"}, {Type: "wall", Unit: "milliseconds"}}
	if d, err = Difference(labeled(), one, "", true); err != nil || len(d.SampleType) != 1 || d.SampleType[0].Type != "wall" {
		t.Errorf("%v %v", err, d)
	}
}
