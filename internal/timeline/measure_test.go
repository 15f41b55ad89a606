package timeline_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/sample"
)

// Units of time are nanoseconds and units of memory bytes, without overflow; all others are numbers.
func TestMeasures(t *testing.T) {
	var m timeline.Measures
	for unit, want := range map[string]string{
		"nanoseconds": "1 1", "ns": "1 1", "us": "1 1000", "\u00b5s": "1 1000", "\u03bcs": "1 1000", "ms": "1 1000000", "s": "1 1000000000",
		"seconds": "1 1000000000", "bytes": "2 1", "By": "2 1", "kB": "2 1024", "MiB": "2 1048576", "": "0 1", "count": "0 1", "cycles": "0 1",
	} {
		w := &timeline.Weight{Kind: sample.Imported, Types: []sample.Type{{Type: "a", Unit: unit}, {Type: "b", Unit: unit}}}
		of := m.Of(w)[0]
		if got := fmt.Sprint(of.Dimension, of.Scale); got != want || of.Scaled(3) != 3*of.Scale || m.Of(w)[0] != of {
			t.Errorf("%q: got %s, want %s", unit, got, want)
		}
		if of.Scale > 1 && (of.Scaled(math.MaxInt64) != math.MaxInt64 || of.Scaled(math.MinInt64) != -math.MaxInt64) {
			t.Errorf("%q: values overflow", unit)
		}
	}
}
