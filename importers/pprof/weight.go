package pprof

import (
	"encoding/binary"
	"math"
	"strings"
)

// A weight is how values of one type become those that viewers go by. Times become milliseconds, which is what PerfView takes a
// weight for. If more than a hundredth of all would be lost to rounding, they become microseconds or nanoseconds.
type weight struct {
	column  int
	unitOf  string  // of the values, as the profile says
	nanos   float64 // of a unit; 0 if it is no time
	scale   int     // of scales
	total   float64
	missing [len(scales)]float64 // what rounding loses or adds, by scale
}

// scales are the units that weights may have.
var scales = [...]struct {
	name  string
	nanos float64
}{{"milliseconds", 1e6}, {"microseconds", 1e3}, {"nanoseconds", 1}}

func newWeight(column int, unit string) weight {
	w := weight{column: column, unitOf: unit}
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

// try takes a value into account.
func (w *weight) try(v int64) {
	if w.nanos == 0 || v <= 0 {
		return
	}
	exact := float64(v) * w.nanos
	w.total += exact
	for i, s := range scales {
		w.missing[i] += math.Abs(math.Round(exact/s.nanos)*s.nanos - exact)
	}
}

// settle chooses the unit when all values were tried.
func (w *weight) settle() {
	for w.scale < len(scales)-1 && w.missing[w.scale] > w.total/100 {
		w.scale++
	}
}

// unit returns the unit of the weights.
func (w *weight) unit() string {
	if w.nanos == 0 {
		return w.unitOf
	}
	return scales[w.scale].name
}

// of returns the weight of a value. There are no negative ones, and none beyond 64 bits.
func (w *weight) of(v int64) uint64 {
	if v <= 0 {
		return 0
	}
	if w.nanos == 0 || w.nanos == scales[w.scale].nanos {
		return uint64(v)
	}
	scaled := math.Round(float64(v) * (w.nanos / scales[w.scale].nanos))
	if scaled >= 1<<64 { // what a conversion makes of it depends on the processor
		return math.MaxUint64
	}
	return uint64(scaled)
}

// appendTo appends the payload of an event.
func (w *weight) appendTo(dst []byte, values []int64) []byte {
	dst = binary.AppendUvarint(dst, w.of(values[w.column]))
	for _, v := range values {
		dst = binary.AppendVarint(dst, v) // zigzag
	}
	return dst
}
