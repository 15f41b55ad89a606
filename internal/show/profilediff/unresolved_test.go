package profilediff

import (
	"math"
	"testing"

	"github.com/google/pprof/profile"
)

// Addresses without a symbol are one function per module, or per process outside all modules, because an address means
// nothing in another process. One that only one recording has is neither new nor gone.
func TestUnresolvedAreNotNewFunctions(t *testing.T) {
	recording := func(address string) *Recording {
		p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}}}
		for _, name := range []string{address, "libc.so.6+" + address, "Shop!" + address, "Shop.Run"} {
			l := &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: name}}}}
			p.Sample = append(p.Sample, &profile.Sample{
				Location: []*profile.Location{l}, Value: []int64{1000}, Label: map[string][]string{"process": {"shop"}},
			})
		}
		return Read(p, 0, Accuracy{})
	}
	c := Compare(recording("0x7fd7dafe3f48"), recording("0x7fbe54025148"), &Options{})
	names := map[string]bool{}
	for _, f := range c.Functions {
		if names[f.Name] = true; f.Status != statusCommon || f.Self.Change != 0 {
			t.Errorf("%+v", f)
		}
	}
	if len(names) != 4 || !names["[unresolved, shop]"] || !names["[libc.so.6]"] || !names["[Shop]"] || !names["Shop.Run"] || c.Before.Unresolved != 0.75 {
		t.Errorf("%v, %g unresolved", names, c.Before.Unresolved)
	}
	resolved := recording("Cpu.Spin")
	for _, list := range [][2]*Recording{{recording("0x1"), resolved}, {resolved, recording("0x1")}} {
		for _, f := range Compare(list[0], list[1], &Options{}).Functions {
			if f.Name == "[unresolved, shop]" && f.Verdict != NotTested {
				t.Errorf("%+v", f)
			}
			if f.Name == "Cpu.Spin" && f.Verdict == NotTested {
				t.Errorf("a function is not tested: %+v", f)
			}
		}
	}
}

// Names of functions are no placeholders.
func TestModuleOfAddress(t *testing.T) {
	for name, want := range map[string]string{"0x7f00": "", "libc.so.6+0x7f00": "libc.so.6", "Shop!0x6000001": "Shop"} {
		if module, ok := moduleOfAddress(name); !ok || module != want {
			t.Errorf("%s: %q, %t", name, module, ok)
		}
	}
	for _, name := range []string{"", "0x", "main", "f0x12", "+0x12", "0x12.run", "Draw0xff"} {
		if _, ok := moduleOfAddress(name); ok {
			t.Errorf("%s is a placeholder", name)
		}
	}
}

// Changes of any size fit in the columns of the text.
func TestColumnsFit(t *testing.T) {
	for _, unit := range []string{"count", "nanoseconds", "bytes"} {
		c := &Comparison{Unit: unit}
		for x := 1.; x < 1e19; x *= 9.87 {
			for _, change := range []float64{x, -x} {
				if text := c.valueText(&Change{Before: 1, Change: change}, ""); len([]rune(text)) != widthValue+widthPercent+1 && math.Abs(x) < 1e15 {
					t.Errorf("%g %s: %q", change, unit, text)
				}
			}
		}
	}
}
