package profilediff

import (
	"math"

	"github.com/google/pprof/profile"
)

// Append returns the profile of two recordings, one after the other: the times of the second one begin at the end of the first one.
// The variation between recordings so becomes a part of the variation over time, from which the sampling error is estimated. It
// changes the samples of after.
func Append(before, after *profile.Profile) (*profile.Profile, error) {
	offset := float64(before.DurationNanos) / float64(unitNanos)
	for _, s := range after.Sample {
		if n := s.NumLabel[LabelSlice]; len(n) > 0 {
			s.NumLabel[LabelSlice] = []int64{sliceOf(int64(middleOf(n[0]) + offset))}
		}
	}
	return profile.Merge([]*profile.Profile{before, after})
}

// unitNanos is the length of the first slices in nanoseconds.
const unitNanos = 1e6

// Add returns the accuracy of the values of two recordings together. Their errors are independent.
func (a Accuracy) Add(b Accuracy) Accuracy {
	switch {
	case a == Accuracy{}:
		return b
	case b == Accuracy{}:
		return a
	}
	sum := Accuracy{Total: a.Total + b.Total}
	if sum.Total > 0 {
		sum.Weight = (a.Weight*a.Total + b.Weight*b.Total) / sum.Total
		sum.Error = math.Hypot(a.Error*a.Total, b.Error*b.Total) / sum.Total
	}
	return sum
}
