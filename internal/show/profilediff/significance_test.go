package profilediff

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Tail probabilities are those of printed tables and of sums of probabilities.
func TestTails(t *testing.T) {
	for _, c := range []struct{ t, dof, want float64 }{
		{2.228, 10, 0.05}, {3.169, 10, 0.01}, {2.042, 30, 0.05}, {12.706, 1, 0.05}, {1.96, 1e6, 0.05}, {0, 5, 1},
	} {
		if got := tTail(c.t, c.dof); math.Abs(got-c.want) > 2e-4 {
			t.Errorf("t %g with %g degrees of freedom: %g, want %g", c.t, c.dof, got, c.want)
		}
	}
	for _, c := range []struct {
		a, b int
		p    float64
	}{{5, 15, 0.5}, {0, 9, 0.5}, {30, 10, 0.4}, {1, 1, 0.3}, {200, 260, 0.5}} {
		exact := func(from, to int) (sum float64) {
			for k := from; k <= to; k++ {
				n := c.a + c.b
				la, _ := math.Lgamma(float64(n + 1))
				lb, _ := math.Lgamma(float64(k + 1))
				lc, _ := math.Lgamma(float64(n - k + 1))
				sum += math.Exp(la - lb - lc + float64(k)*math.Log(c.p) + float64(n-k)*math.Log(1-c.p))
			}
			return sum
		}
		want := min(1, 2*min(exact(c.b, c.a+c.b), exact(0, c.b)))
		exposure := c.p / (1 - c.p)
		got := countTail(measure{float64(c.a), float64(c.a), 1}, measure{float64(c.b), float64(c.b), exposure})
		if math.Abs(got-want) > 1e-9*want+1e-12 {
			t.Errorf("%d and %d: %g, want %g", c.a, c.b, got, want)
		}
	}
}

// A p-value does not depend on the order of the recordings or on the unit.
func TestPValueSymmetry(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		a := measure{100 * rng.Float64(), 300 * rng.Float64(), 1 + rng.Float64()}
		b := measure{100 * rng.Float64(), 300 * rng.Float64(), 1 + rng.Float64()}
		scale := func(m measure, x float64) measure { return measure{m.value * x, m.variance * x * x, m.exposure} }
		p, swapped, scaled := pValue(a, b), pValue(b, a), pValue(scale(a, 1e6), scale(b, 1e6))
		if p < 0 || p > 1 || math.Abs(p-swapped) > 1e-9 || math.Abs(p-scaled) > 1e-9 {
			t.Fatalf("%+v and %+v: %g, swapped %g, scaled %g", a, b, p, swapped, scaled)
		}
	}
	if p := pValue(measure{1, math.NaN(), 1}, measure{2, 1, 1}); !math.IsNaN(p) {
		t.Errorf("an unknown error: %g", p)
	}
}

// If nothing has changed, there is any discovery with at most the stated probability.
func TestDiscoveries(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	const trials = 2000
	found := 0
	for range trials {
		p := make([]float64, 200)
		for i := range p {
			p[i] = rng.Float64()
		}
		p[7] = math.NaN()
		if discoveries(p, 0.05) >= 0 {
			found++
		}
	}
	atMost(t, "discoveries", found, trials, 0.05)
	for _, c := range []struct {
		p    []float64
		want float64
	}{{[]float64{0.001, 0.8, 0.025, 0.031, 0.9}, 0.001}, {[]float64{0.04, 0.045, 0.03}, 0.045}, {[]float64{0.03, 0.2}, -1}, {nil, -1}} {
		if got := discoveries(c.p, 0.05); got != c.want {
			t.Errorf("%v: limit %g, want %g", c.p, got, c.want)
		}
	}
}

// The beta distribution of large parameters is nearly normal, so its distribution function one and two standard
// deviations above the mean is known: also where logarithms of the gamma function are not precise.
func TestIncompleteBetaOfLargeCounts(t *testing.T) {
	for _, a := range []float64{1e5, 1e9, 4e9, 6e9, 1e12, 1e18, 1e29} {
		for _, b := range []float64{a, 3 * a} {
			sd := math.Sqrt(a/(a+b)*(b/(a+b))) / math.Sqrt(a+b)
			for z, want := range map[float64]float64{-2: 0.02275, -1: 0.15866, 0: 0.5, 1: 0.84134} {
				if x := a/(a+b) + z*sd; a <= 1e18 || z == 0 { // beyond, x is not different from the mean
					if got := incompleteBeta(a, b, x); math.Abs(got-want) > 0.003 {
						t.Errorf("a %g, b %g, %g standard deviations from the mean: %g, want %g", a, b, z, got, want)
					}
				}
			}
		}
	}
}
