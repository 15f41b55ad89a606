package formats

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/testing/symbolgen"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/symbol"
	"github.com/spf13/pflag"
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
		out, result := convertSymbols(t, to, data[:min(len(data), 2<<10)])
		checkOutput(t, to, out, result)
	})
}

// convertSymbols writes a trace of package symbolgen.
func convertSymbols(t *testing.T, to *Format, data []byte) ([]byte, Result) {
	t.Helper()
	src, table := ntconvtest.NewSource(symbolgen.Info(), symbolgen.Events(data)...), symbol.New(nil)
	settings := to.Out.Bind(pflag.NewFlagSet("", pflag.ContinueOnError))
	file := filepath.Join(t.TempDir(), "out")
	out, err := fileio.CreateOutputs(file, fileio.OutputsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Abort()
	sink, err := to.Output(settings, file, false).Create(out, src.Info(), &Target{Namer: table})
	if err != nil {
		t.Fatal(err)
	}
	for watched := symbol.Watch(src, table); ; {
		e, err := watched.Next()
		if err != nil {
			break
		}
		if err := sink.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Commit(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b, sink.Result()
}
