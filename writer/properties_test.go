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

var generated = flag.Int("generated", 300, "number of generated traces of TestProperties")

// TestProperties checks generated traces: reading a written trace yields the same events, rewriting it yields the same
// bytes, and a filter that keeps everything has no effect. Each trace has a number to reproduce a failure.
func TestProperties(t *testing.T) {
	for i := range *generated {
		tr := eventgen.Traces().Example(i)
		opts := &writer.Options{BlockBytes: []int{0, 300, 50, 1}[i%4]}
		once := write(t, ntconvtest.Poison(tr.Source()), opts)
		if err := ntconvtest.EqualStreams(tr.Source(), read(t, once), nil); err != nil {
			t.Fatalf("trace %d: %v", i, err)
		}
		if again := write(t, read(t, once), opts); !bytes.Equal(again, once) {
			t.Fatalf("trace %d: rewriting it changes its bytes", i)
		}
		all := func(*ntconv.Event) bool { return true }
		if filtered := write(t, ntconv.Filter(tr.Source(), all), opts); !bytes.Equal(filtered, once) {
			t.Fatalf("trace %d: a filter that keeps everything changes it", i)
		}
	}
}
