package speedscope_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/speedscope"
	"github.com/ntconv/ntconv/internal/testing/readable"
)

// randomFile returns a file of that many samples, or events of an evented profile, with stacks of up to 30 of 2,000
// frames.
func randomFile(n int, evented bool) []byte {
	rng := rand.New(rand.NewPCG(3, 4))
	var b bytes.Buffer
	b.WriteString(`{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[`)
	for i := range 2000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"Shop.Namespace%d.Class.Method(int, string)","file":"/src/shop/file%d.cs","line":%d}`, i, i%50, i)
	}
	b.WriteString(`]},"profiles":[`)
	var stack []int
	step := func() (opened bool) {
		if len(stack) > 0 && (len(stack) >= 30 || rng.IntN(2) == 0) {
			return false
		}
		stack = append(stack, rng.IntN(2000)%(10+10*len(stack)))
		return true
	}
	if evented {
		b.WriteString(`{"type":"evented","name":"main","unit":"milliseconds","startValue":0,"endValue":1e9,"events":[`)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			kind := "O"
			if !step() {
				kind = "C"
			}
			fmt.Fprintf(&b, `{"type":%q,"frame":%d,"at":%d.%03d}`, kind, stack[len(stack)-1], i/3, i%1000)
			if kind == "C" {
				stack = stack[:len(stack)-1]
			}
		}
		b.WriteString("]}]}")
		return b.Bytes()
	}
	b.WriteString(`{"type":"sampled","name":"main","unit":"nanoseconds","startValue":0,"endValue":1,"samples":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		if !step() {
			stack = stack[:len(stack)-1]
		}
		b.WriteByte('[')
		for k, frame := range stack {
			if k > 0 {
				b.WriteByte(',')
			}
			fmt.Fprint(&b, frame)
		}
		b.WriteByte(']')
	}
	b.WriteString(`],"weights":[1000000`)
	for range n - 1 {
		b.WriteString(",1000123")
	}
	b.WriteString("]}]}")
	return b.Bytes()
}

func BenchmarkRead(b *testing.B) {
	for name, evented := range map[string]bool{"sampled": false, "evented": true} {
		text := randomFile(200_000, evented)
		b.Run(name, func(b *testing.B) {
			readable.Bench(b, len(text), func() (ntconv.Source, error) { return speedscope.New(bytes.NewReader(text), nil) })
		})
	}
}

// TestLarge checks that a profile whose samples are more than the memory of its source is read.
func TestLarge(t *testing.T) {
	text := randomFile(300_000, true)
	src, err := speedscope.New(bytes.NewReader(text), &speedscope.Options{Limits: speedscope.Limits{Tables: 16 << 20}})
	readable.Must(t, err)
	defer src.Close()
	var n int
	for e, err := range ntconv.Events(src) {
		readable.Must(t, err)
		if e.Kind == ntconv.KindEvent {
			n++
		}
	}
	if n < 100_000 {
		t.Errorf("%d samples", n)
	}
}
