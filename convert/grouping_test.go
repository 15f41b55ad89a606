package convert_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pprofile "github.com/google/pprof/profile"

	"github.com/ntconv/ntconv/convert"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// groupings are the settings of TestGroupingKeepsTotals.
var groupings = []map[string]string{
	{"just-my-code": "true"},
	{"native": "fold"},
	{"fold": `^System\.|\+0x`},
	{"fold": `.`},
	{"group": `^([^!]*)!=$1`},
	{"just-my-code": "true", "native": "fold", "fold": "Main", "group": "Wait|Enter|Sleep=>waiting"},
}

// groupedProfile returns the profile of an input, or nil if it has none. Google's library has checked it.
func groupedProfile(t *testing.T, in string, settings map[string]string) *pprofile.Profile {
	t.Helper()
	out := filepath.Join(t.TempDir(), "x.pb")
	if settings = maps.Clone(settings); settings == nil {
		settings = map[string]string{}
	}
	settings["type-as"] = "label" // the frame of a type is not one of the stack
	_, err := convert.File(t.Context(), out, &convert.Options{Settings: settings, AllowPrerelease: true}, nil, in)
	var incomplete *convert.IncompleteError
	if errors.Is(err, convert.ErrEmpty) {
		return nil
	} else if err != nil && !errors.As(err, &incomplete) {
		t.Fatalf("%s %v: %v", in, settings, err)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	p, err := pprofile.ParseData(data)
	if err == nil {
		err = p.CheckValid()
	}
	if err != nil {
		t.Fatalf("%s %v: %v", in, settings, err)
	}
	return p
}

// totals returns the total of each sample type by the labels of the samples, and those of samples with a stack.
func totals(p *pprofile.Profile) map[string]int64 {
	m := map[string]int64{}
	for _, s := range p.Sample {
		for i, v := range s.Value {
			key := p.SampleType[i].Type
			m[key] += v
			if len(s.Location) > 0 {
				m[key+" with a stack"] += v
			}
			for name, values := range s.Label {
				m[key+" "+name+"="+strings.Join(values, ",")] += v
			}
		}
	}
	return m
}

// Flags that fold and group frames change neither the total of a sample type nor that of a thread, a process or a
// state, and no sample loses its stack, for all real traces and for imported profiles. Functions that are not folded
// keep their cumulative values. Values of wall samples are rounded to nanoseconds once per sample, and merged samples
// are fewer.
func TestGroupingKeepsTotals(t *testing.T) {
	inputs := []string{corpus.Path("go-cpu.pb.gz")}
	for _, pattern := range []string{
		corpus.Path("*.nettrace.zst"), "../../shared/data/nettrace/*.nettrace.zst", "../../shared/data/netperf/*.zst",
		"../../shared/data/own/*.nettrace.zst", "../../shared/data/otel/*.nettrace.zst",
	} {
		list, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range list {
			if info, err := os.Stat(path); err != nil {
				t.Fatal(err)
			} else if !corpus.IsSkipped(path, info.Size()) {
				inputs = append(inputs, path)
			}
		}
	}
	for _, file := range corpus.GoogleFiles(t) {
		if name := filepath.Base(file); strings.HasSuffix(name, ".cpu") || strings.HasSuffix(name, ".heap") {
			inputs = append(inputs, file)
		}
	}
	changed, profiles := map[int]int{}, 0
	for n, in := range inputs {
		if testing.Short() && n%4 > 0 {
			continue
		}
		plain := groupedProfile(t, in, nil)
		if plain == nil {
			continue
		}
		profiles++
		want := totals(plain)
		for i, settings := range groupings {
			if corpus.IsOmitted(n+i, 3) {
				continue
			}
			p := groupedProfile(t, in, settings)
			got := totals(p)
			slack := int64(len(plain.Sample))
			last := p.SampleType[len(p.SampleType)-1]
			if last.Unit != "nanoseconds" && last.Type != "alloc_space" || !strings.Contains(in, ".net") {
				slack = 0
			}
			for key := range maps.Keys(want) {
				if d := got[key] - want[key]; d < -slack || d > slack {
					t.Errorf("%s %v: %s is %d, want %d", in, settings, key, got[key], want[key])
				}
			}
			if len(got) != len(want) {
				t.Errorf("%s %v: %d totals, want %d", in, settings, len(got), len(want))
			}
			if i < 3 {
				checkCumulative(t, in, cumulative(p), cumulative(plain), slack)
			}
			if len(p.Location) != len(plain.Location) {
				changed[i]++
			}
			if i == 3 {
				checkFolded(t, p)
			}
		}
	}
	for i, settings := range groupings {
		if changed[i] == 0 && profiles > 1 {
			t.Errorf("%v changed none of %d profiles", settings, profiles)
		}
	}
}

// cumulative returns the total of the last sample type by function, including its callees.
func cumulative(p *pprofile.Profile) map[string]int64 {
	m := map[string]int64{}
	for _, s := range p.Sample {
		on := map[string]bool{}
		for _, l := range s.Location {
			for _, line := range l.Line {
				on[line.Function.Name] = true
			}
		}
		for name := range on {
			m[name] += s.Value[len(s.Value)-1]
		}
	}
	return m
}

// checkCumulative checks that functions that are left have the cumulative values that they had before. Addresses are
// left only in stacks of which nothing is known.
func checkCumulative(t *testing.T, in string, got, want map[string]int64, slack int64) {
	t.Helper()
	for name, v := range got {
		before, ok := want[name]
		if ok && !strings.HasPrefix(name, "0x") && (v < before-slack || v > before+slack) {
			t.Errorf("%s: %s has %d, want %d", in, name, v, before)
		}
	}
}

// checkFolded checks a profile of which all frames are folded.
func checkFolded(t *testing.T, p *pprofile.Profile) {
	t.Helper()
	for _, f := range p.Function {
		if f.Name != "[folded]" {
			t.Errorf("function %s is left", f.Name)
		}
	}
}

// A profile states in its comments what was folded; an imported one keeps its own comments.
func TestGroupingComments(t *testing.T) {
	for in, want := range map[string]string{trace: "--just-my-code: ", corpus.Path("go-cpu.pb.gz"): "--fold runtime: "} {
		plain := groupedProfile(t, in, nil)
		p := groupedProfile(t, in, map[string]string{"just-my-code": "true", "fold": "runtime"})
		if text := strings.Join(p.Comments, "\n"); !strings.Contains(text, want) || !strings.Contains(text, "% of frames folded") ||
			!strings.HasPrefix(text, strings.Join(plain.Comments, "\n")) {
			t.Errorf("%s: comments %q, want those of %q and %s", in, p.Comments, plain.Comments, want)
		}
	}
}
