package folded_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/ntconv/ntconv"
	export "github.com/ntconv/ntconv/exporters/folded"
	"github.com/ntconv/ntconv/importers/folded"
	"github.com/ntconv/ntconv/internal/testing/readable"
)

// randomText returns that many lines of 20 to 39 frames of 5,000 functions, most of them distinct.
func randomText(lines int) []byte {
	rng := rand.New(rand.NewPCG(3, 4))
	var b bytes.Buffer
	for range lines {
		for i := range 20 + rng.IntN(20) {
			if i > 0 {
				b.WriteByte(';')
			}
			fmt.Fprintf(&b, "Shop.Namespace%d.Class.Method(int, string)", rng.IntN(5000))
		}
		fmt.Fprintf(&b, " %d\n", 1+rng.IntN(1000))
	}
	return b.Bytes()
}

func BenchmarkRead(b *testing.B) {
	text := randomText(20_000)
	readable.Bench(b, len(text), func() (ntconv.Source, error) { return folded.New(bytes.NewReader(text), nil) })
}

func BenchmarkReadAndWrite(b *testing.B) {
	const lines = 200_000
	text := randomText(lines)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		src, err := folded.New(bytes.NewReader(text), nil)
		if err != nil {
			b.Fatal(err)
		}
		sink := export.New(io.Discard, src.Info(), nil, nil)
		if _, err := ntconv.Copy(sink, src); err != nil {
			b.Fatal(err)
		}
		if err := sink.Close(); err != nil {
			b.Fatal(err)
		}
		if n := sink.Summary().Items; n != lines {
			b.Fatal(n)
		}
	}
}
