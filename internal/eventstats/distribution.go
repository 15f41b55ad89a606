package eventstats

import "slices"

const (
	// maxExact is the number of values up to which a distribution has exact quantiles.
	maxExact = 4096
	// QuantileError is the maximum relative error of quantiles of more values.
	QuantileError = 1. / (2 * steps)
)

// A distribution describes numbers. The zero value has none.
type distribution struct {
	count    uint64
	sum      sum
	min, max number
	exact    []number   // all values; nil if there are more than maxExact
	rest     *histogram // of all values, if there are more than maxExact
}

func (d *distribution) add(n number) {
	if d.count == 0 {
		d.min, d.max = n, n
	} else if compare(n, d.min) < 0 {
		d.min = n
	} else if compare(n, d.max) > 0 {
		d.max = n
	}
	d.count++
	d.sum.add(n)
	if d.rest == nil && len(d.exact) < maxExact {
		d.exact = append(d.exact, n)
		return
	}
	d.approximate()
	d.rest.add(n)
}

// approximate moves the values to the histogram.
func (d *distribution) approximate() {
	if d.rest != nil {
		return
	}
	d.rest = new(histogram)
	for _, n := range d.exact {
		d.rest.add(n)
	}
	d.exact = nil
}

// merge adds the numbers of another distribution, which stays unchanged.
func (d *distribution) merge(other *distribution) {
	if other.count == 0 {
		return
	}
	if d.count == 0 {
		d.min, d.max = other.min, other.max
	}
	if compare(other.min, d.min) < 0 {
		d.min = other.min
	}
	if compare(other.max, d.max) > 0 {
		d.max = other.max
	}
	d.count += other.count
	d.sum.merge(&other.sum)
	if d.count > maxExact {
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

// isExact reports whether quantiles are exact.
func (d *distribution) isExact() bool { return d.rest == nil }

// quantiles sets dst to the quantiles for shares in percent. There must be a value. It sorts the values.
func (d *distribution) quantiles(dst []number, percents ...uint64) {
	slices.SortFunc(d.exact, compare)
	for i, percent := range percents {
		rank := max(1, (d.count*percent+99)/100)
		if d.rest == nil {
			dst[i] = d.exact[rank-1]
			continue
		}
		dst[i] = d.rest.at(rank, !d.sum.floats)
		if compare(dst[i], d.min) < 0 {
			dst[i] = d.min
		}
		if compare(dst[i], d.max) > 0 {
			dst[i] = d.max
		}
	}
}
