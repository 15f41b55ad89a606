package profilediff

import (
	"math"
	"slices"
)

// A measure is a value with what is known about its error.
type measure struct {
	value    float64 // in the unit of the profile, not normalized
	variance float64 // of value; NaN if unknown
	exposure float64 // what value is divided by: seconds, requests, or 1
}

// rate returns the normalized value.
func (m measure) rate() float64 { return m.value / m.exposure }

// dof is the number of degrees of freedom of an estimated variance: that of the division with the fewest slices.
const dof = minSlices - 1

// pValue returns the probability of a difference at least as large as that of the normalized values if both recordings
// had the same one. It is the larger result of two tests, because each is too optimistic where the other is not:
// Welch's test underestimates the variance of values near zero, and the test of counts assumes that the dispersion is
// known. It is NaN if a variance is unknown, and 1 if there is nothing to compare.
func pValue(a, b measure) float64 {
	if math.IsNaN(a.variance) || math.IsNaN(b.variance) {
		return math.NaN()
	}
	va, vb := a.variance/(a.exposure*a.exposure), b.variance/(b.exposure*b.exposure)
	if va+vb <= 0 || a.value+b.value <= 0 {
		return 1
	}
	if a.value < 0 || b.value < 0 { // of a profile that is a difference itself: there are no counts
		return tTail(math.Abs(b.rate()-a.rate())/math.Sqrt(va+vb), dof)
	}
	t := math.Abs(b.rate()-a.rate()) / math.Sqrt(va+vb)
	welch := (va + vb) * (va + vb) / ((va*va + vb*vb) / dof)
	return max(tTail(t, welch), countTail(a, b))
}

// countTail returns the two-sided p-value of the conditional test of two overdispersed counts: given their total, the
// share of b is binomial if both have the same rate. Values become counts by dividing them by their common dispersion.
func countTail(a, b measure) float64 {
	dispersion := (a.variance + b.variance) / (a.value + b.value)
	ka, kb := a.value/dispersion, b.value/dispersion
	p := b.exposure / (a.exposure + b.exposure)
	upper, lower := 1., 1.
	if kb > 0 {
		upper = incompleteBeta(kb, ka+1, p) // probability of at least kb of ka+kb
	}
	if ka > 0 {
		lower = incompleteBeta(ka, kb+1, 1-p) // probability of at most kb
	}
	return min(1, 2*min(upper, lower))
}

// tTail returns the two-sided tail probability of Student's distribution.
func tTail(t, dof float64) float64 { return incompleteBeta(dof/2, 0.5, dof/(dof+t*t)) }

// incompleteBeta returns the regularized incomplete beta function.
func incompleteBeta(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case a+b > maxBeta:
		sd := math.Sqrt(a/(a+b)*(b/(a+b))) / math.Sqrt(a+b+1)
		return math.Erfc((a/(a+b)-x)/(sd*math.Sqrt2)) / 2
	case x > (a+1)/(a+b+2): // the fraction converges quickly only below
		return 1 - betaFraction(b, a, 1-x)
	}
	return betaFraction(a, b, x)
}

// maxBeta bounds the sum of the parameters for which logarithms of the gamma function are precise enough; the normal
// distribution approximates larger ones.
const maxBeta = 1e10

// betaFraction returns incompleteBeta by the continued fraction of Press et al., Numerical Recipes, 6.4.
func betaFraction(a, b, x float64) float64 {
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab - la - lb + a*math.Log(x) + b*math.Log1p(-x))
	const tiny = 1e-300
	nonZero := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1., 1/nonZero(1-(a+b)*x/(a+1))
	h := d
	for m := 1.; m < 10_000; m++ {
		for _, n := range [2]float64{
			m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)),
			-(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1)),
		} {
			d = 1 / nonZero(1+n*d)
			c = nonZero(1 + n/c)
			h *= c * d
		}
		if math.Abs(c*d-1) < 1e-12 {
			break
		}
	}
	return min(1, front*h/a)
}

// discoveries returns the largest p-value that is significant if the expected share of false findings among all
// significant ones must not exceed rate: the procedure of Benjamini and Hochberg. If nothing has changed, the
// probability of any finding is at most rate. Values that are NaN are not tests. The result is negative if nothing is
// significant.
func discoveries(p []float64, rate float64) float64 {
	p = slices.DeleteFunc(slices.Clone(p), math.IsNaN)
	slices.Sort(p)
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] <= rate*float64(i+1)/float64(len(p)) {
			return p[i]
		}
	}
	return -1
}
