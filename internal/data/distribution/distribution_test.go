package distribution

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
)

// exactly returns a number without rounding.
func (n Number) exactly() *big.Float {
	sum := new(big.Float).SetPrec(exactBits)
	n.addTo(sum)
	return sum
}

// kinds are generators of values: small and large integers of both signs, floats of all magnitudes, and all of them.
func kinds() map[string]func(*rand.Rand) Number {
	of := func(v ntconv.Value) Number {
		n, ok := Of(v)
		if !ok {
			panic(v.String())
		}
		return n
	}
	list := map[string]func(*rand.Rand) Number{
		"constant": func(*rand.Rand) Number { return Number{8024, natural} },
		"small":    func(r *rand.Rand) Number { return of(ntconv.UintValue(r.Uint64N(64))) },
		"sizes":    func(r *rand.Rand) Number { return of(ntconv.UintValue(r.Uint64() >> r.IntN(64))) },
		"signed":   func(r *rand.Rand) Number { return of(ntconv.IntValue(int64(r.Uint64()) >> r.IntN(64))) },
		"largest":  func(r *rand.Rand) Number { return of(ntconv.UintValue(math.MaxUint64 - r.Uint64N(3))) },
		"smallest": func(r *rand.Rand) Number { return of(ntconv.IntValue(math.MinInt64 + r.Int64N(3))) },
		"floats":   func(r *rand.Rand) Number { return of(ntconv.FloatValue(r.NormFloat64())) },
		"doubles": func(r *rand.Rand) Number {
			for {
				if f := math.Float64frombits(r.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) && math.Abs(f) >= 0x1p-1022 && math.Abs(f) < 0x1p900 {
					return Float(f)
				}
			}
		},
		"near integers": func(r *rand.Rand) Number {
			n := r.Uint64() >> r.IntN(64)
			if r.IntN(2) == 0 {
				return of(ntconv.UintValue(n))
			}
			return Float(float64(n))
		},
	}
	list["mixed"] = func(r *rand.Rand) Number {
		return list[[]string{"small", "sizes", "signed", "floats", "doubles", "near integers"}[r.IntN(6)]](r)
	}
	return list
}

// Count, sum, minimum, maximum and mean are those of exact arithmetic for any values. Quantiles are values of the right
// rank, exactly for few values and within the documented error for many. The order of the values and how they are
// divided before merge do not matter.
func TestDistribution(t *testing.T) {
	for name, value := range kinds() {
		for _, n := range []int{1, 2, 3, 100, MaxExact, MaxExact + 1, 3 * MaxExact} {
			t.Run(fmt.Sprintf("%s %d", name, n), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(n), uint64(len(name))))
				numbers := make([]Number, n)
				parts := make([]Distribution, 1+r.IntN(5))
				for i := range numbers {
					numbers[i] = value(r)
					parts[r.IntN(len(parts))].Add(numbers[i])
				}
				var whole, merged Distribution
				for _, i := range r.Perm(n) {
					whole.Add(numbers[i])
				}
				for i := range parts {
					merged.Merge(&parts[i])
				}
				checkDistribution(t, &whole, numbers)
				checkDistribution(t, &merged, numbers)
			})
		}
	}
}

func checkDistribution(t *testing.T, d *Distribution, numbers []Number) {
	t.Helper()
	exactly := make(map[Number]*big.Float)
	for _, n := range numbers {
		exactly[n] = n.exactly()
	}
	slices.SortFunc(numbers, func(a, b Number) int { return exactly[a].Cmp(exactly[b]) })
	total, floats := new(big.Float).SetPrec(exactBits), false
	for _, n := range numbers {
		total.Add(total, exactly[n])
		floats = floats || n.kind == float
	}
	if d.count != uint64(len(numbers)) || d.IsExact() != (len(numbers) <= MaxExact) {
		t.Fatalf("%d values, exact %t", d.count, d.IsExact())
	}
	if floats {
		if want, _ := total.Float64(); d.sum.Float() != want {
			t.Errorf("sum is %v, want %v", d.sum.Float(), want)
		}
	} else if want := total.Text('f', 0); d.sum.String() != want {
		t.Errorf("sum is %s, want %s", d.sum.String(), want)
	}
	if d.min.exactly().Cmp(numbers[0].exactly()) != 0 || d.max.exactly().Cmp(numbers[len(numbers)-1].exactly()) != 0 {
		t.Errorf("got %v to %v, want %v to %v", d.min, d.max, numbers[0], numbers[len(numbers)-1])
	}
	var got [5]Number
	percents := []uint64{1, 50, 90, 99, 100}
	d.Quantiles(got[:], percents...)
	for i, percent := range percents {
		rank := 1 // of the smallest value such that at least this share of the values is not greater
		for uint64(rank)*100 < percent*uint64(len(numbers)) {
			rank++
		}
		want := numbers[rank-1]
		deviation := new(big.Float).Sub(got[i].exactly(), want.exactly())
		limit := new(big.Float).Mul(want.exactly(), big.NewFloat(QuantileError))
		if d.IsExact() || !floats && want.exactly().Cmp(big.NewFloat(64)) < 0 && want.kind == natural {
			limit.SetInt64(0)
		}
		if deviation.Abs(deviation).Cmp(limit.Abs(limit)) > 0 {
			t.Errorf("p%d is %v, want %v", percent, got[i], want)
		}
	}
}

// Infinities are the largest and the smallest values and make the sum infinite. A sum beyond the range of float64 is
// infinite, too.
func TestInfinities(t *testing.T) {
	inf := Float(math.Inf(1))
	var d Distribution
	for range 2 * MaxExact {
		d.Add(inf)
		d.Add(Float(-1.5))
		d.Add(Float(5e-324))
	}
	var got [3]Number
	d.Quantiles(got[:], 20, 50, 90)
	if d.max != inf || d.sum.String() != `"Infinity"` || got[0] != Float(-1.5) && math.Abs(got[0].Float()+1.5) > 1.5*QuantileError || got[2] != inf {
		t.Errorf("max %v, sum %s, quantiles %v", d.max, d.sum.String(), got)
	}
	var large Sum
	for _, f := range []float64{math.MaxFloat64, 1, math.MaxFloat64} {
		large.add(Float(f))
	}
	if got := large.String(); got != `"Infinity"` {
		t.Errorf("sum is %s", got)
	}
	var none Sum
	none.add(inf)
	none.add(Float(math.Inf(-1)))
	if got := none.String(); got != `"NaN"` {
		t.Errorf("sum is %s", got)
	}
}

// Numbers of all kinds compare exactly, also those that float64 cannot distinguish.
func TestCompare(t *testing.T) {
	var list []Number
	for _, n := range []uint64{0, 1, 1<<53 - 1, 1 << 53, 1<<53 + 1, 1<<63 - 1, 1 << 63, 1<<63 + 1, math.MaxUint64 - 1, math.MaxUint64} {
		list = append(list, Number{n, natural}, Float(float64(n)))
		if n > 0 && n <= 1<<63 {
			list = append(list, Number{-n, negative}, Float(-float64(n)))
		}
	}
	for _, f := range []float64{math.Copysign(0, -1), 0.5, -0.5, 1e300, -1e300, math.Inf(1), math.Inf(-1)} {
		list = append(list, Float(f))
	}
	for _, a := range list {
		for _, b := range list {
			if got, want := Compare(a, b), a.exactly().Cmp(b.exactly()); got != want {
				t.Errorf("compare(%v, %v) is %d, want %d", a, b, got, want)
			}
		}
	}
}
