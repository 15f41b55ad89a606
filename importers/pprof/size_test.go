package pprof_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/gzip"
)

func packed(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b) // a buffer takes everything
	_ = z.Close()
	return out.Bytes()
}

type counter struct{ n int64 }

func (c *counter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return len(b), nil
}

var _ io.Writer = (*counter)(nil)

// A stack appears in the file once per window: another sample of the stack is small within the window, and takes 8
// bytes per frame otherwise.
func TestSizeOfStacks(t *testing.T) {
	const depth = 24
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, DurationNanos: 1e10, TimeNanos: 1e18}
	for i := range 1000 {
		f := &profile.Function{ID: uint64(i + 1), Name: fmt.Sprint("f", i)}
		p.Function = append(p.Function, f)
		p.Location = append(p.Location, &profile.Location{ID: uint64(i + 1), Line: []profile.Line{{Function: f, Line: 1}}})
	}
	size := func(distinct, times int) int {
		p.Sample = nil
		for i := range distinct * times {
			s := &profile.Sample{Value: []int64{1e7}}
			for d := range depth {
				s.Location = append(s.Location, p.Location[(i%distinct*(d+7)+d*(i%distinct)/1000+d)%1000])
			}
			p.Sample = append(p.Sample, s)
		}
		return len(toNettrace(t, raw(t, p), nil, nil))
	}
	for _, c := range []struct{ distinct, least, most int }{
		{1000, 5, 15},                       // 200 KB of stacks
		{10_000, depth * 8, depth*8 + 2*15}, // 2 MB
	} {
		if n := (size(c.distinct, 3) - size(c.distinct, 1)) / (2 * c.distinct); n < c.least || n > c.most {
			t.Errorf("one of %d stacks again: %d bytes, want %d to %d", c.distinct, n, c.least, c.most)
		}
	}
}
