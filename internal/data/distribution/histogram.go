package distribution

import (
	"math"
	"math/bits"
)

// stepBits is the binary logarithm of the number of equal steps that divide each power of two.
const (
	stepBits = 5
	steps    = 1 << stepBits
)

// A histogram counts numbers by sign, power of two and step. Its memory grows with the range of the numbers, to at most
// 1 MiB for the whole range of float64, not with how many there are.
type histogram struct {
	zeros uint64
	below octaves // magnitudes of numbers below zero
	above octaves
}

// octaves holds counts for consecutive powers of two; nil is a power of two without numbers.
type octaves struct {
	base   int // binary exponent of counts[0]
	counts []*[steps]uint64
}

func (h *histogram) add(n Number) {
	switch {
	case n.bits == 0 || n.kind == float && n.bits == 1<<63: // the latter is -0
		h.zeros++
	case n.kind == natural:
		h.above.add(integerStep(n.bits))
	case n.kind == negative:
		h.below.add(integerStep(-n.bits))
	case n.bits>>63 == 0:
		h.above.add(floatStep(n.bits))
	default:
		h.below.add(floatStep(n.bits &^ (1 << 63)))
	}
}

// integerStep returns the binary exponent of an integer and its step: the bits after the first.
func integerStep(v uint64) (exponent, step int) {
	exponent = bits.Len64(v) - 1
	if exponent < stepBits {
		return exponent, int(v<<(stepBits-exponent)) & (steps - 1)
	}
	return exponent, int(v>>(exponent-stepBits)) & (steps - 1)
}

// floatStep is integerStep for the bits of a positive float64. It is equal for equal numbers. Subnormal numbers share
// one exponent.
func floatStep(b uint64) (exponent, step int) {
	return int(b>>52) - 1023, int(b>>(52-stepBits)) & (steps - 1)
}

func (o *octaves) add(exponent, step int) { o.at(exponent)[step]++ }

// at returns the counts of a power of two and extends the range at either end if necessary.
func (o *octaves) at(exponent int) *[steps]uint64 {
	if o.counts == nil {
		o.base = exponent
	}
	if missing := o.base - exponent; missing > 0 {
		o.counts = append(make([]*[steps]uint64, missing), o.counts...)
		o.base = exponent
	}
	if missing := exponent - o.base - len(o.counts) + 1; missing > 0 {
		o.counts = append(o.counts, make([]*[steps]uint64, missing)...)
	}
	p := &o.counts[exponent-o.base]
	if *p == nil {
		*p = new([steps]uint64)
	}
	return *p
}

func (h *histogram) merge(other *histogram) {
	h.zeros += other.zeros
	h.below.merge(&other.below)
	h.above.merge(&other.above)
}

func (o *octaves) merge(other *octaves) {
	for i, counts := range other.counts {
		if counts == nil {
			continue
		}
		to := o.at(other.base + i)
		for step, n := range counts {
			to[step] += n
		}
	}
}

// at returns the middle of the step that holds the number with a rank, which counts from 1. integers states that all
// numbers are integers.
func (h *histogram) at(rank uint64, integers bool) Number {
	for i := len(h.below.counts) - 1; i >= 0; i-- {
		for step := steps - 1; step >= 0 && h.below.counts[i] != nil; step-- {
			n := h.below.counts[i][step]
			if rank <= n {
				return negate(middle(h.below.base+i, step, integers))
			}
			rank -= n
		}
	}
	if rank <= h.zeros {
		return Number{}
	}
	rank -= h.zeros
	for i, counts := range h.above.counts {
		for step := 0; step < steps && counts != nil; step++ {
			if rank <= counts[step] {
				return middle(h.above.base+i, step, integers)
			}
			rank -= counts[step]
		}
	}
	return Number{}
}

// middle returns the number in the middle of a step.
func middle(exponent, step int, integer bool) Number {
	if !integer {
		return Float(math.Ldexp(1+(float64(step)+0.5)/steps, exponent))
	}
	if exponent <= stepBits {
		return Number{uint64(steps+step) >> (stepBits - exponent), natural}
	}
	shift := exponent - stepBits
	return Number{uint64(steps+step)<<shift + (1<<shift)/2, natural}
}

func negate(n Number) Number {
	if n.kind == float {
		return Float(-n.Float())
	}
	if n.bits > 1<<63 { // the middle of a step whose end is the smallest int64
		return Number{1 << 63, negative}
	}
	return Number{-n.bits, negative}
}
