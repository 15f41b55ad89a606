package imported

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/sample"
)

// Attributes of the type of samples that describe their first field, the weight that viewers use.
const (
	AttrWeight     = "pprof.weight"      // the sample type of the weight
	AttrWeightUnit = "pprof.weight_unit" // the unit of the weight
)

// A Weight converts values of one sample type to the weights that viewers use. Times become milliseconds, because
// PerfView displays weights as milliseconds. If rounding would change more than a hundredth of the total, they become
// microseconds or nanoseconds. Call Try for each value, then Choose, then the other methods. A Weight is not safe for
// concurrent use.
type Weight struct {
	Column  int    // index in Columns.Types
	unitOf  string // unit of the values, as in the profile
	nanos   float64
	scale   int // index in scales
	total   float64
	missing [len(scales)]float64 // rounding error by scale
}

// scales are the units that weights may have.
var scales = [...]struct {
	name  string
	nanos float64
}{{"milliseconds", 1e6}, {"microseconds", 1e3}, {"nanoseconds", 1}}

// NewWeight returns the Weight of a column with values in a unit.
func NewWeight(column int, unit string) Weight {
	w := Weight{Column: column, unitOf: unit}
	switch strings.TrimSuffix(strings.ToLower(unit), "s") {
	case "nanosecond", "n":
		w.nanos = 1
	case "microsecond", "u", "µ", "μ":
		w.nanos = 1e3
	case "millisecond", "m":
		w.nanos = 1e6
	case "second", "":
		if unit != "" {
			w.nanos = 1e9
		}
	}
	return w
}

// FixedWeight returns the Weight of a column whose weights are its values, in a unit that Choose does not change.
func FixedWeight(column int, unit string) Weight { return Weight{Column: column, unitOf: unit} }

// Try adds a value to those that Choose considers.
func (w *Weight) Try(v int64) {
	if w.nanos == 0 || v <= 0 {
		return
	}
	exact := float64(v) * w.nanos
	w.total += exact
	for i, s := range scales {
		w.missing[i] += math.Abs(math.Round(exact/s.nanos)*s.nanos - exact)
	}
}

// Choose selects the unit. Call it after the last Try.
func (w *Weight) Choose() {
	for w.scale < len(scales)-1 && w.missing[w.scale] > w.total/100 {
		w.scale++
	}
}

// Unit returns the unit of the weights.
func (w *Weight) Unit() string {
	if w.nanos == 0 {
		return w.unitOf
	}
	return scales[w.scale].name
}

// of returns the weight of a value, from 0 to math.MaxUint64.
func (w *Weight) of(v int64) uint64 {
	if v <= 0 {
		return 0
	}
	if w.nanos == 0 || w.nanos == scales[w.scale].nanos {
		return uint64(v)
	}
	scaled := math.Round(float64(v) * (w.nanos / scales[w.scale].nanos))
	if scaled >= 1<<64 { // without this check, the result of the conversion depends on the CPU
		return math.MaxUint64
	}
	return uint64(scaled)
}

// AppendTo appends the payload of a sample, with a value for each of Columns.Types.
func (w *Weight) AppendTo(dst []byte, values []int64) []byte {
	dst = binary.AppendUvarint(dst, w.of(values[w.Column]))
	for _, v := range values {
		dst = binary.AppendVarint(dst, v) // zigzag
	}
	return dst
}

// WeightColumn returns the index of the sample type that the weights of t's events come from, or -1 if events of t are
// not imported samples or have no weight.
func WeightColumn(t *ntconv.Type) int {
	if t == nil {
		return -1
	}
	name, ok := t.Attrs.Get(AttrWeight)
	c := ColumnsOf(t)
	if !ok || c == nil {
		return -1
	}
	if main := c.Main(); c.Types[main].Type == name {
		return main // another column may have the same name
	}
	return slices.IndexFunc(c.Types, func(v sample.Type) bool { return v.Type == name })
}

// NegativeWeight reports whether the weight of a sample is 0 because its value in that column is negative.
func NegativeWeight(payload []byte, column int) bool {
	if len(payload) == 0 || payload[0] != 0 {
		return false
	}
	payload = payload[1:]
	for {
		v, n := binary.Varint(payload)
		if n <= 0 {
			return false
		}
		if column == 0 {
			return v < 0
		}
		payload, column = payload[n:], column-1
	}
}
