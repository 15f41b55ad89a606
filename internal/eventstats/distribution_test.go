package eventstats

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
func (n number) exactly() *big.Float {
	sum := new(big.Float).SetPrec(exactBits)
	n.addTo(sum)
	return sum
}

// kinds are generators of values: small and large integers of both signs, floats of all magnitudes, and all of them.
func kinds() map[string]func(*rand.Rand) number {
	of := func(v ntconv.Value) number {
		n, ok := numberOf(v)
		if !ok {
			panic(v.String())
		}
		return n
	}
	list := map[string]func(*rand.Rand) number{
		"constant": func(*rand.Rand) number { return number{8024, natural} },
		"small":    func(r *rand.Rand) number { return of(ntconv.UintValue(r.Uint64N(64))) },
		"sizes":    func(r *rand.Rand) number { return of(ntconv.UintValue(r.Uint64() >> r.IntN(64))) },
		"signed":   func(r *rand.Rand) number { return of(ntconv.IntValue(int64(r.Uint64()) >> r.IntN(64))) },
		"largest":  func(r *rand.Rand) number { return of(ntconv.UintValue(math.MaxUint64 - r.Uint64N(3))) },
		"smallest": func(r *rand.Rand) number { return of(ntconv.IntValue(math.MinInt64 + r.Int64N(3))) },
		"floats":   func(r *rand.Rand) number { return of(ntconv.FloatValue(r.NormFloat64())) },
		"doubles": func(r *rand.Rand) number {
			for {
				if f := math.Float64frombits(r.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) && math.Abs(f) >= 0x1p-1022 && math.Abs(f) < 0x1p900 {
					return floatNumber(f)
				}
			}
		},
		"near integers": func(r *rand.Rand) number {
			n := r.Uint64() >> r.IntN(64)
			if r.IntN(2) == 0 {
				return of(ntconv.UintValue(n))
			}
			return floatNumber(float64(n))
		},
	}
	list["mixed"] = func(r *rand.Rand) number {
		return list[[]string{"small", "sizes", "signed", "floats", "doubles", "near integers"}[r.IntN(6)]](r)
	}
	return list
}

// Count, sum, minimum, maximum and mean are those of exact arithmetic for any values. Quantiles are values of the right
// rank, exactly for few values and within the documented error for many. The order of the values and how they are
// divided before merge do not matter.
func TestDistribution(t *testing.T) {
	for name, value := range kinds() {
		for _, n := range []int{1, 2, 3, 100, maxExact, maxExact + 1, 3 * maxExact} {
			t.Run(fmt.Sprintf("%s %d", name, n), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(n), uint64(len(name))))
				numbers := make([]number, n)
				parts := make([]distribution, 1+r.IntN(5))
				for i := range numbers {
					numbers[i] = value(r)
					parts[r.IntN(len(parts))].add(numbers[i])
				}
				var whole, merged distribution
				for _, i := range r.Perm(n) {
					whole.add(numbers[i])
				}
				for i := range parts {
					merged.merge(&parts[i])
				}
				checkDistribution(t, &whole, numbers)
				checkDistribution(t, &merged, numbers)
			})
		}
	}
}

func checkDistribution(t *testing.T, d *distribution, numbers []number) {
	t.Helper()
	exactly := make(map[number]*big.Float)
	for _, n := range numbers {
		exactly[n] = n.exactly()
	}
	slices.SortFunc(numbers, func(a, b number) int { return exactly[a].Cmp(exactly[b]) })
	total, floats := new(big.Float).SetPrec(exactBits), false
	for _, n := range numbers {
		total.Add(total, exactly[n])
		floats = floats || n.kind == float
	}
	if d.count != uint64(len(numbers)) || d.isExact() != (len(numbers) <= maxExact) {
		t.Fatalf("%d values, exact %t", d.count, d.isExact())
	}
	if floats {
		if want, _ := total.Float64(); d.sum.float() != want {
			t.Errorf("sum is %v, want %v", d.sum.float(), want)
		}
	} else if want := total.Text('f', 0); d.sum.String() != want {
		t.Errorf("sum is %s, want %s", d.sum.String(), want)
	}
	if d.min.exactly().Cmp(numbers[0].exactly()) != 0 || d.max.exactly().Cmp(numbers[len(numbers)-1].exactly()) != 0 {
		t.Errorf("got %v to %v, want %v to %v", d.min, d.max, numbers[0], numbers[len(numbers)-1])
	}
	var got [5]number
	percents := []uint64{1, 50, 90, 99, 100}
	d.quantiles(got[:], percents...)
	for i, percent := range percents {
		rank := 1 // of the smallest value such that at least this share of the values is not greater
		for uint64(rank)*100 < percent*uint64(len(numbers)) {
			rank++
		}
		want := numbers[rank-1]
		deviation := new(big.Float).Sub(got[i].exactly(), want.exactly())
		limit := new(big.Float).Mul(want.exactly(), big.NewFloat(QuantileError))
		if d.isExact() || !floats && want.exactly().Cmp(big.NewFloat(64)) < 0 && want.kind == natural {
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
	inf := floatNumber(math.Inf(1))
	var d distribution
	for range 2 * maxExact {
		d.add(inf)
		d.add(floatNumber(-1.5))
		d.add(floatNumber(5e-324))
	}
	var got [3]number
	d.quantiles(got[:], 20, 50, 90)
	if d.max != inf || d.sum.String() != `"Infinity"` || got[0] != floatNumber(-1.5) && math.Abs(got[0].float()+1.5) > 1.5*QuantileError || got[2] != inf {
		t.Errorf("max %v, sum %s, quantiles %v", d.max, d.sum.String(), got)
	}
	var large sum
	for _, f := range []float64{math.MaxFloat64, 1, math.MaxFloat64} {
		large.add(floatNumber(f))
	}
	if got := large.String(); got != `"Infinity"` {
		t.Errorf("sum is %s", got)
	}
	var none sum
	none.add(inf)
	none.add(floatNumber(math.Inf(-1)))
	if got := none.String(); got != `"NaN"` {
		t.Errorf("sum is %s", got)
	}
}

// Numbers for display keep integers and six significant digits of others.
func TestShown(t *testing.T) {
	for n, want := range map[number]string{
		{1234567, natural}:             "1,234,567",
		{math.MaxUint64, natural}:      "18,446,744,073,709,551,615",
		{^uint64(0), negative}:         "-1",
		{1 << 63, negative}:            "-9,223,372,036,854,775,808",
		floatNumber(0):                 "0",
		floatNumber(1):                 "1",
		floatNumber(-12.5):             "-12.5",
		floatNumber(1234567.8):         "1,234,568",
		floatNumber(-123456.7):         "-123,457",
		floatNumber(1. / 3):            "0.333333",
		floatNumber(1. / 3000):         "0.000333333",
		floatNumber(9.999999):          "10",
		floatNumber(1e-7):              "1e-07",
		floatNumber(2.5e20):            "2.5e+20",
		floatNumber(math.Inf(1)):       "Inf",
		floatNumber(math.Inf(-1)):      "-Inf",
		floatNumber(0.000123456789012): "0.000123457",
	} {
		if got := shown(n); got != want {
			t.Errorf("%v: got %s, want %s", n, got, want)
		}
	}
}

// Numbers of all kinds compare exactly, also those that float64 cannot distinguish.
func TestCompare(t *testing.T) {
	var list []number
	for _, n := range []uint64{0, 1, 1<<53 - 1, 1 << 53, 1<<53 + 1, 1<<63 - 1, 1 << 63, 1<<63 + 1, math.MaxUint64 - 1, math.MaxUint64} {
		list = append(list, number{n, natural}, floatNumber(float64(n)))
		if n > 0 && n <= 1<<63 {
			list = append(list, number{-n, negative}, floatNumber(-float64(n)))
		}
	}
	for _, f := range []float64{math.Copysign(0, -1), 0.5, -0.5, 1e300, -1e300, math.Inf(1), math.Inf(-1)} {
		list = append(list, floatNumber(f))
	}
	for _, a := range list {
		for _, b := range list {
			if got, want := compare(a, b), a.exactly().Cmp(b.exactly()); got != want {
				t.Errorf("compare(%v, %v) is %d, want %d", a, b, got, want)
			}
		}
	}
}
