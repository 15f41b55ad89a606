package pprof_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/gzip"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/pprof"
	"github.com/ntconv/ntconv/internal/testing/readable"
	"github.com/ntconv/ntconv/symbol"
	"github.com/ntconv/ntconv/writer"
)

// largeProfile returns a profile with the given number of samples, of 20 to 39 frames each, 5,000 functions, and two
// labels. Four samples share a stack. It is encoded by hand, because pprof's library would need gigabytes.
func largeProfile(samples int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var out, msg, sub []byte
	number := func(dst []byte, f protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(dst, f, protowire.VarintType), v)
	}
	text := func(dst []byte, f protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(dst, f, protowire.BytesType), b)
	}
	const functions = 5000
	for i := range 2 {
		out = text(out, 1, number(number(nil, 1, uint64(2*i+1)), 2, uint64(2*i+2)))
	}
	var stack []byte
	for i := range samples {
		if i%4 == 0 || len(stack) == 0 {
			stack = stack[:0]
			for range 20 + rng.IntN(20) {
				stack = protowire.AppendVarint(stack, uint64(1+rng.IntN(functions)))
			}
		}
		msg = text(msg[:0], 1, stack)
		sub = protowire.AppendVarint(protowire.AppendVarint(sub[:0], 1), 10_000_000)
		msg = text(msg, 2, sub)
		msg = text(msg, 3, number(number(sub[:0], 1, 5), 2, uint64(6+i%100)))
		msg = text(msg, 3, number(number(sub[:0], 1, 106), 3, uint64(1+i%64)))
		out = text(out, 2, msg)
	}
	mapping := number(number(number(number(nil, 1, 1), 2, 0x400000), 3, 0x4000000), 5, 107)
	out = text(out, 3, mapping)
	for i := range functions {
		id := uint64(i + 1)
		line := number(number(nil, 1, id), 2, uint64(i%900))
		out = text(out, 4, text(number(number(number(nil, 1, id), 2, 1), 3, 0x400000+id*64), 4, line))
		out = text(out, 5, number(number(number(nil, 1, id), 2, 108+uint64(i)), 4, 107))
	}
	for _, s := range []string{"", "samples", "count", "cpu", "nanoseconds", "endpoint"} {
		out = text(out, 6, []byte(s))
	}
	for i := range 100 {
		out = text(out, 6, fmt.Appendf(nil, "/api/%d", i))
	}
	out = text(text(out, 6, []byte("worker")), 6, []byte("/srv/shop"))
	for i := range functions {
		out = text(out, 6, fmt.Appendf(nil, "example.com/shop/package%d.(*Type).Method%d", i%97, i))
	}
	return number(number(out, 9, 1772366400_000000000), 10, 60_000_000_000)
}

func packed(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b) // a buffer takes everything
	_ = z.Close()
	return out.Bytes()
}

// BenchmarkToNettrace measures the conversion of a compressed profile to a nettrace file.
func BenchmarkToNettrace(b *testing.B) {
	const samples = 200_000
	data := packed(largeProfile(samples))
	size := &counter{}
	b.ReportAllocs()
	for b.Loop() {
		size.n = 0
		src, err := pprof.New(bytes.NewReader(data), nil)
		if err != nil {
			b.Fatal(err)
		}
		w, err := writer.New(size, src.Info(), &writer.Options{Ordered: true})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := ntconv.Copy(symbol.SynthesizeTo(w, nil), src); err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/samples, "ns/sample")
	b.ReportMetric(float64(size.n)/samples, "B/sample")
}

// BenchmarkRead measures the conversion of an uncompressed profile to events, for profiles that are mostly samples or
// mostly tables.
func BenchmarkRead(b *testing.B) {
	for _, c := range []struct {
		name string
		data func() []byte
	}{
		{"samples=250000", func() []byte { return largeProfile(250_000) }},
		{"samples=1000000", func() []byte { return largeProfile(1_000_000) }},
		{"functions=300000", func() []byte { return manyFunctions(300_000) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			data := c.data()
			readable.Bench(b, len(data), func() (ntconv.Source, error) { return pprof.New(bytes.NewReader(data), nil) })
		})
	}
}

// manyFunctions returns a profile with the given number of functions, each with a location of two lines and a sample.
func manyFunctions(n int) []byte {
	p := handmade()
	for i := range uint64(n) {
		p = append(p, message(5, number(1, i+2), number(2, 4+i), number(3, 4+i), number(4, 1))...)
		p = append(p, message(4, number(1, i+1), number(3, i<<4), message(4, number(1, i+2), number(2, i)), message(4, number(1, 1+i), number(2, 3)))...)
		p = append(p, message(2, number(1, i+1), number(2, 1))...)
		p = append(p, message(6, fmt.Appendf(nil, "example.com/shop/package%d.(*Type).Method%d", i%97, i))...)
	}
	return p
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
