package chrome

import (
	"bytes"
	"flag"
	"io"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/timelines"
	"github.com/ntconv/ntconv/track"
)

// outputTo is an output with one part.
func outputTo(w io.Writer) *output {
	return &output{create: func(int) (io.WriteCloser, error) { return nopCloser{w}, nil }}
}

var update = flag.Bool("update", false, "write golden files")

// TestItems shows a whole file per form of samples.
func TestItems(t *testing.T) {
	for name, o := range map[string]Options{
		"items.json":  {Options: track.Options{Name: "a\"b", Version: "v1"}},
		"slices.json": {Samples: Slices, Array: true},
		"frames.json": {Samples: StackFrames, Stacks: true},
	} {
		var args argEncoder
		var out bytes.Buffer
		e := newEncoder(&o, timelines.Items(args.append), outputTo(&out))
		if err := e.write(); err != nil {
			t.Fatal(err)
		}
		timelines.Golden(t, *update, name, out.String())
		if args.invalid != 1 || e.notNumbers != 1 || e.lostFlows != 0 || e.invalid == 0 {
			t.Errorf("%s: %d and %d invalid strings, %d values that are not numbers, %d arrows lost", name, args.invalid, e.invalid, e.notNumbers, e.lostFlows)
		}
	}
}

func TestAllocations(t *testing.T) {
	f := timelines.Items(new(argEncoder).append)
	e := newEncoder(&Options{}, f, outputTo(io.Discard))
	if err := e.begin(); err != nil {
		t.Fatal(err)
	}
	f.CheckAllocations(t, e.item)
}
