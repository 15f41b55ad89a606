package distribution

import "slices"

const (
	// MaxExact is the number of values up to which a Distribution has exact quantiles.
	MaxExact = 4096
	// QuantileError is the maximum relative error of quantiles of more values.
	QuantileError = 1. / (2 * steps)
)

// A Distribution describes numbers. The zero Distribution has none. It is not safe for concurrent use. Add allocates only
// for the first MaxExact numbers and for a range of numbers that it has not seen.
type Distribution struct {
	count    uint64
	sum      Sum
	min, max Number
	exact    []Number   // all values; nil if there are more than MaxExact
	rest     *histogram // of all values, if there are more than MaxExact
}

// Add adds a number.
func (d *Distribution) Add(n Number) {
	if d.count == 0 {
		d.min, d.max = n, n
	} else if Compare(n, d.min) < 0 {
		d.min = n
	} else if Compare(n, d.max) > 0 {
		d.max = n
	}
	d.count++
	d.sum.add(n)
	if d.rest == nil && len(d.exact) < MaxExact {
		d.exact = append(d.exact, n)
		return
	}
	d.approximate()
	d.rest.add(n)
}

// approximate moves the values to the histogram.
func (d *Distribution) approximate() {
	if d.rest != nil {
		return
	}
	d.rest = new(histogram)
	for _, n := range d.exact {
		d.rest.add(n)
	}
	d.exact = nil
}

// Merge adds the numbers of another distribution, which stays unchanged.
func (d *Distribution) Merge(other *Distribution) {
	if other.count == 0 {
		return
	}
	if d.count == 0 {
		d.min, d.max = other.min, other.max
	}
	if Compare(other.min, d.min) < 0 {
		d.min = other.min
	}
	if Compare(other.max, d.max) > 0 {
		d.max = other.max
	}
	d.count += other.count
	d.sum.merge(&other.sum)
	if d.count > MaxExact {
		d.approximate()
	}
	switch {
	case d.rest == nil:
		d.exact = append(d.exact, other.exact...)
	case other.rest == nil:
		for _, n := range other.exact {
			d.rest.add(n)
		}
	default:
		d.rest.merge(other.rest)
	}
}

// Count returns how many numbers there are.
func (d *Distribution) Count() uint64 { return d.count }

// Sum returns the sum. It changes with the next call of Add or Merge.
func (d *Distribution) Sum() *Sum { return &d.sum }

// Min returns the smallest number. There must be one.
func (d *Distribution) Min() Number { return d.min }

// Max returns the largest number. There must be one.
func (d *Distribution) Max() Number { return d.max }

// Mean returns the mean, rounded once. There must be a number.
func (d *Distribution) Mean() float64 { return d.sum.mean(d.count) }

// IsExact reports whether quantiles are exact.
func (d *Distribution) IsExact() bool { return d.rest == nil }

// Quantiles sets dst to the quantiles for shares in percent, from 1 to 100. There must be a number.
func (d *Distribution) Quantiles(dst []Number, percents ...uint64) {
	ranks := make([]uint64, len(percents))
	for i, percent := range percents {
		ranks[i] = max(1, (d.count*percent+99)/100)
	}
	d.Ranked(dst, ranks...)
}

// Ranked sets dst to the numbers with ranks from 1, the smallest number, to Count. They are as exact as quantiles.
func (d *Distribution) Ranked(dst []Number, ranks ...uint64) {
	slices.SortFunc(d.exact, Compare)
	for i, rank := range ranks {
		if d.rest == nil {
			dst[i] = d.exact[rank-1]
			continue
		}
		dst[i] = d.rest.at(rank, !d.sum.floats)
		if Compare(dst[i], d.min) < 0 {
			dst[i] = d.min
		}
		if Compare(dst[i], d.max) > 0 {
			dst[i] = d.max
		}
	}
}
