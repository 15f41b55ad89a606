package formats

import (
	"math/rand/v2"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/symbolgen"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/symbol"
)

// FuzzSymbols: whatever events state about addresses, every format can be written, and an independent reader reads what
// was written.
func FuzzSymbols(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 20 * len(Writable()) {
		f.Add(byte(i), symbolgen.Random(rng, 1+rng.IntN(20)))
	}
	f.Fuzz(func(t *testing.T, format byte, data []byte) {
		to := Writable()[int(format)%len(Writable())]
		src, table := ntconvtest.NewSource(symbolgen.Info(), symbolgen.Events(data[:min(len(data), 2<<10)])...), symbol.New(nil)
		out, result, err := written(t, to, symbol.Watch(src, table), "out", &Target{Namer: table})
		if err != nil {
			t.Fatal(err)
		}
		checkOutput(t, to, out, result)
	})
}
