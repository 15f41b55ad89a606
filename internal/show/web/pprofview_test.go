package web

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// shop returns a profile of cpu and wall, in which main calls work and wait.
func shop() *profile.Profile {
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "cpu", Unit: "milliseconds"}, {Type: "wall", Unit: "milliseconds"}},
		Mapping:    []*profile.Mapping{{ID: 1, Start: 0x1000, Limit: 0x9000, File: "/bin/shop"}},
	}
	at := map[string]*profile.Location{}
	for i, name := range []string{"main", "work", "wait"} {
		f := &profile.Function{ID: uint64(i + 1), Name: name}
		l := &profile.Location{ID: f.ID, Mapping: p.Mapping[0], Address: 0x1000 * f.ID, Line: []profile.Line{{Function: f}}}
		p.Function, p.Location, at[name] = append(p.Function, f), append(p.Location, l), l
	}
	p.Sample = []*profile.Sample{
		{Value: []int64{30, 30}, Location: []*profile.Location{at["work"], at["main"]}},
		{Value: []int64{1, 69}, Location: []*profile.Location{at["wait"], at["main"]}},
	}
	return p
}

// functions returns the last columns of the lines below the header of a report.
func functions(t *testing.T, report string) (names []string) {
	t.Helper()
	_, table, ok := strings.Cut(report, "flat  flat%   sum%        cum   cum%\n")
	if !ok {
		t.Fatalf("no table in\n%s", report)
	}
	for line := range strings.Lines(table) {
		names = append(names, strings.Join(strings.Fields(line)[5:], " "))
	}
	return names
}

func TestTop(t *testing.T) {
	for _, tt := range []struct {
		options TopOptions
		want    []string
	}{
		{TopOptions{SampleType: "cpu"}, []string{"work", "wait", "main"}},
		{TopOptions{SampleType: "wall"}, []string{"wait", "work", "main"}},
		{TopOptions{}, []string{"wait", "work", "main"}},
		{TopOptions{Count: 1}, []string{"wait"}},
		{TopOptions{Cum: true}, []string{"main", "wait", "work"}},
		{TopOptions{Filter: Filter{Focus: "^wo"}}, []string{"work", "main"}},
		{TopOptions{}, []string{"wait", "work", "main"}},
	} {
		report, _, err := Top(shop(), &tt.options)
		if err != nil {
			t.Errorf("%+v: %v", tt.options, err)
			continue
		}
		if got := functions(t, report); !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %q, want %q\n%s", tt.options, got, tt.want, report)
		}
	}
}

func TestTopErrors(t *testing.T) {
	var missing *SampleTypeError
	if _, _, err := Top(shop(), &TopOptions{SampleType: "heap"}); !errors.As(err, &missing) || missing.Name != "heap" || !slices.Equal(missing.Has, []string{"cpu", "wall"}) {
		t.Errorf("sample type: %v", err)
	}
	var warning *NoMatchError
	if _, _, err := Top(shop(), &TopOptions{Filter: Filter{Focus: "nothing"}}); !errors.As(err, &warning) {
		t.Errorf("no match: %v", err)
	}
	if report, _, err := Top(shop(), &TopOptions{Filter: Filter{Focus: "("}}); err == nil || errors.As(err, &warning) || report != "" {
		t.Errorf("expression: %q, %v", report, err)
	}
}

// Names come from untrusted input: none begins a line of the report or reaches a terminal as a control sequence.
func TestTopIsPrintable(t *testing.T) {
	p := shop()
	want, _, err := Top(shop(), &TopOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p.Function[0].Name = "a\n1s 100% b"
	p.Mapping[0].File = "/bin/\x1b[2J"
	p.SampleType[1].Type = "wall\ntime"
	p.DefaultSampleType = "wall\ntime"
	p.Comments = []string{"c\nd"}
	report, _, err := Top(p, &TopOptions{})
	if err != nil || strings.Contains(report, "\x1b") || !strings.Contains(report, `a\n1s 100% b`) || strings.Count(report, "\n") != strings.Count(want, "\n")+1 {
		t.Errorf("%v:\n%q\nwithout them:\n%q", err, report, want)
	}
}

// Two sample types with the same name can both be selected, and the last one is the default, as in pprof.
func TestTopEqualTypes(t *testing.T) {
	for name, want := range map[string]string{"cpu": "work", "cpu#2": "wait", "": "wait", "0": "work", "1": "wait"} {
		p := shop()
		p.SampleType[1].Type = "cpu"
		report, _, err := Top(p, &TopOptions{SampleType: name, Count: 1})
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if got := functions(t, report); !slices.Equal(got, []string{want}) {
			t.Errorf("%q: %q, want %s", name, got, want)
		}
	}
}
