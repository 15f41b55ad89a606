package profilediff

import "math"

// Numbers of slices that a recording is divided into. Each is half of the one before, so the slices of a coarser
// division are unions of those of a finer one. Fewer than minSlices slices give no usable variance.
const (
	maxSlices = 64
	minSlices = 16
)

// A series holds a value by slice of the recording.
type series [maxSlices]float64

// variance returns the variance of the total of a series: the largest estimate of all divisions. An estimate is the
// number of slices times the variance of a slice (batch means). It includes the phases of a program: what happened only
// once in a recording may as well have taken any other time.
func (s *series) variance() float64 {
	largest := 0.
	values := *s
	for n := maxSlices; n >= minSlices; n /= 2 {
		mean := 0.
		for _, v := range values[:n] {
			mean += v / float64(n)
		}
		sum := 0.
		for _, v := range values[:n] {
			sum += (v - mean) * (v - mean)
		}
		largest = max(largest, float64(n)*sum/float64(n-1))
		for i := range n / 2 {
			values[i] = values[2*i] + values[2*i+1]
		}
	}
	return largest
}

// shareVariance returns the variance of a's share of all, times the square of the total of all: that of the residuals
// of a ratio estimator (Cochran, Sampling Techniques, 6.3), which load that changes all functions alike does not
// affect.
func shareVariance(a, all *series, share float64) float64 {
	var rest series
	for i := range rest {
		rest[i] = a[i] - share*all[i]
	}
	return rest.variance()
}

// A cost is the value of a function, or of a profile, over time.
type cost struct {
	value float64
	// squares is the sum of the squares of the weights of the samples: the variance if they were independent. It is NaN
	// if unknown.
	squares float64
	slices  *series // nil if the samples have no times
	// own is the variance of a total that the recorder estimated, by its own standard error; 0 for other values. The
	// variation over time is then no error: it is what the program did, which the estimate states.
	own float64
}

// An Accuracy says how precisely a profile states a sample type. The zero value means that nothing is known but the
// numbers of samples.
type Accuracy struct {
	// Weight is the mean value of a sample of a profile that does not count samples; 0 if it is unknown, and NaN if no
	// value of the profile is a number of samples, whatever its unit says: the sampling error is then unknown.
	Weight float64
	Total  float64 // of the whole trace, if it is an estimate
	Error  float64 // standard error of Total as a fraction; 0 if the values are no estimates
}

// variance returns the variance of the total of a part of the samples of an estimate. The error of the share of a part
// comes from its number of samples; the whole has that of the estimate.
func (a Accuracy) variance(value float64) float64 {
	share := min(math.Abs(value)/a.Total, 1)
	whole := share * a.Error * a.Total
	return (1-share)*math.Abs(value)*a.Weight + whole*whole
}

// untimedDispersion is how much larger than that of independent samples the variance is assumed to be if samples have
// no times to estimate it from. Samples of a compiler, taken each millisecond, have 4 to 7 times the variance
// (roslyn-compile-v6 and -net10, median of the busiest functions). With a tenth of the samples, as in Go's CPU
// profiles, that is 1.3 to 1.6.
const untimedDispersion = 2

// variance returns the variance of the value.
func (c *cost) variance(o *Options) float64 {
	v := c.squares
	switch {
	case c.own > 0:
		v = c.own
	case o.SameWork:
	case c.slices == nil:
		v *= untimedDispersion
	default:
		v = max(v, c.slices.variance())
	}
	return v + o.RunNoise*o.RunNoise*c.value*c.value
}

// shareMeasure returns the share of all as a measure, with the total of all as exposure.
func (c *cost) shareMeasure(all *cost, o *Options) measure {
	m := measure{value: c.value, exposure: all.value}
	if all.value <= 0 {
		m.exposure, m.variance = 1, math.NaN()
		return m
	}
	share := min(c.value/all.value, 1)
	v := (1-share)*(1-share)*c.squares + share*share*max(0, all.squares-c.squares)
	switch {
	case o.SameWork || c.value == 0:
	case c.slices == nil || all.slices == nil:
		v *= untimedDispersion
	default:
		v = max(v, shareVariance(c.slices, all.slices, share))
	}
	rest := o.RunNoise * (1 - share) * c.value
	m.variance = v + rest*rest
	return m
}
