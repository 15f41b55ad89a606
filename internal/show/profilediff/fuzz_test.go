package profilediff

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"
	"unicode/utf8"

	"github.com/google/pprof/profile"
)

// profileFrom returns a profile from arbitrary bytes: values of any sign and size, slices that do not exist, samples
// without a stack.
func profileFrom(data []byte) *profile.Profile {
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "wall", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "wall", Unit: "nanoseconds"}, Period: 1,
	}
	next := func() uint64 {
		v, n := binary.Uvarint(data)
		data = data[min(len(data), max(n, 1)):]
		return v
	}
	for i := range uint64(4) {
		f := &profile.Function{ID: i + 1, Name: string(rune('a' + i))}
		p.Function = append(p.Function, f)
		p.Location = append(p.Location, &profile.Location{ID: i + 1, Line: []profile.Line{{Function: f}}})
	}
	p.Location[3].Line = nil
	p.DurationNanos = int64(next())
	for len(data) > 0 {
		s := &profile.Sample{Value: []int64{int64(next()), int64(next())}}
		if how := next(); how%3 > 0 {
			s.NumLabel = map[string][]int64{LabelSlice: {int64(next())}}
		}
		for range next() % 4 {
			s.Location = append(s.Location, p.Location[next()%4])
		}
		p.Sample = append(p.Sample, s)
	}
	return p
}

// FuzzCompare checks that the comparison of any two profiles has finite numbers and probabilities, valid text,
// and the same probabilities in the other direction.
func FuzzCompare(f *testing.F) {
	f.Add([]byte{100, 1, 10, 1, 5, 2, 0, 1}, []byte{100, 1, 20, 1, 7, 2, 0, 1}, false)
	f.Add([]byte{0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 3, 1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 1, 0}, []byte{1}, true)
	f.Fuzz(func(t *testing.T, before, after []byte, sameWork bool) {
		o := &Options{MinEffect: 0.01, RunNoise: 0.02, SameWork: sameWork}
		c := Compare(Read(profileFrom(before), 1, Accuracy{}), Read(profileFrom(after), 1, Accuracy{}), o)
		if _, err := json.Marshal(c); err != nil {
			t.Fatal(err)
		}
		back := Compare(Read(profileFrom(after), 1, Accuracy{}), Read(profileFrom(before), 1, Accuracy{}), o)
		if p, q := pOf(&c.Total), pOf(&back.Total); math.IsNaN(p) != math.IsNaN(q) || math.Abs(p-q) > 1e-6 {
			t.Errorf("p of the total is %g, and %g in the other direction", p, q)
		}
		for i := range c.Functions {
			for _, d := range []*Change{&c.Functions[i].Self, &c.Functions[i].Total, &c.Functions[i].SelfShare, &c.Functions[i].TotalShare} {
				if d.P != nil && (*d.P < 0 || *d.P > 1) {
					t.Fatalf("p is %g: %+v", *d.P, c.Functions[i])
				}
			}
		}
		c.Sort(true)
		if text := c.Text(0); !utf8.ValidString(text) || !utf8.ValidString(c.Markdown(1)) {
			t.Errorf("invalid text: %q", text)
		}
		c.Exceeds(0.05)
	})
}
