package writer_test

import (
	"bytes"
	"flag"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/eventgen"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/writer"
)

var generated = flag.Int("generated", 300, "how many generated traces TestLaws takes")

// TestLaws: what is written reads the same, is not changed by being written again, and a filter that keeps everything
// is not there. Every generated trace has a number, so that a failure can be looked at again.
func TestLaws(t *testing.T) {
	for i := range *generated {
		tr := eventgen.Traces().Example(i)
		opts := &writer.Options{BlockBytes: []int{0, 300, 50, 1}[i%4]}
		once := write(t, ntconvtest.Poison(tr.Source()), opts)
		if err := ntconvtest.EqualStreams(tr.Source(), read(t, once), nil); err != nil {
			t.Fatalf("trace %d: %v", i, err)
		}
		if again := write(t, read(t, once), opts); !bytes.Equal(again, once) {
			t.Fatalf("trace %d: written again it has other bytes", i)
		}
		all := func(*ntconv.Event) bool { return true }
		if filtered := write(t, ntconv.Filter(tr.Source(), all), opts); !bytes.Equal(filtered, once) {
			t.Fatalf("trace %d: a filter that keeps everything changes it", i)
		}
	}
}
