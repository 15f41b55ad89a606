package rounds

import "math/bits"

// subBuckets is the number of equal steps that divide each power of two, for a resolution of 1/32.
const subBuckets = 32

// intervals is a histogram of lengths of time that returns their median: exactly for lengths below 64 ticks and if all
// are equal, otherwise within 1.6%. Its memory grows with the range of the lengths, not with their number.
type intervals struct {
	n        uint64
	min, max uint64
	base     int // octave of counts[0]
	counts   []*[subBuckets]uint64
}

// bucket returns the octave of v and its step in the octave. Octave 0 holds 0 to 31; octave i > 0 holds 32<<(i-1) to
// 64<<(i-1) in steps of 1<<(i-1).
func bucket(v uint64) (octave, step int) {
	if v < subBuckets {
		return 0, int(v)
	}
	shift := bits.Len64(v) - 6
	return shift + 1, int(v>>shift) - subBuckets
}

// middle returns the value in the middle of a bucket.
func middle(octave, step int) uint64 {
	if octave == 0 {
		return uint64(step)
	}
	shift := octave - 1
	return uint64(step+subBuckets)<<shift + (1<<shift)/2
}

func (h *intervals) add(v uint64) {
	if h.n == 0 || v < h.min {
		h.min = v
	}
	h.max = max(h.max, v)
	h.n++
	octave, step := bucket(v)
	h.octave(octave)[step]++
}

// octave returns the counts of an octave and extends the range at either end if necessary.
func (h *intervals) octave(octave int) *[subBuckets]uint64 {
	if h.counts == nil {
		h.base = octave
	}
	for octave < h.base {
		h.counts = append([]*[subBuckets]uint64{nil}, h.counts...)
		h.base--
	}
	for octave >= h.base+len(h.counts) {
		h.counts = append(h.counts, nil)
	}
	p := &h.counts[octave-h.base]
	if *p == nil {
		*p = new([subBuckets]uint64)
	}
	return *p
}

// median returns the lower median, or 0 if there is no length.
func (h *intervals) median() uint64 {
	var seen uint64
	for i, steps := range h.counts {
		if steps == nil {
			continue
		}
		for step, n := range steps {
			if seen += n; n > 0 && seen >= h.n-h.n/2 {
				return min(max(middle(h.base+i, step), h.min), h.max)
			}
		}
	}
	return 0
}
