package overview

import (
	"math/bits"

	"github.com/ntconv/ntconv"
)

// seriesBuckets is the maximum number of buckets of a series. It is a multiple of the columns that are displayed, so
// that buckets that cross a column matter little.
const seriesBuckets = 1024

// A series adds up values over time, in buckets of equal width. When a time lies outside all buckets, the width doubles
// until they cover it, so memory is constant and the result does not depend on the order of the calls. The zero value is
// empty.
//
// A bucket is 1<<shift ticks wide and begins at a multiple of its width.
type series struct {
	shift  uint
	first  int64 // number of values[0]: its begin is first<<shift
	values []int64
}

// add adds a value at a time.
func (s *series) add(t ntconv.Ticks, value int64) {
	i := int64(t)>>s.shift - s.first
	if uint64(i) >= uint64(len(s.values)) {
		s.cover(t)
		i = int64(t)>>s.shift - s.first
	}
	s.values[i] += value
}

// addSpan adds to each bucket the number of ticks that it shares with the span [from, to).
func (s *series) addSpan(from, to ntconv.Ticks) {
	if to <= from {
		return
	}
	i, j := int64(from)>>s.shift-s.first, int64(to-1)>>s.shift-s.first
	if i == j && uint64(i) < uint64(len(s.values)) { // the usual case
		s.values[i] += int64(to - from)
		return
	}
	s.cover(from)
	s.cover(to - 1)
	for at := from; at < to; {
		i := int64(at) >> s.shift
		end := to
		if i != int64(to-1)>>s.shift {
			end = ntconv.Ticks((i + 1) << s.shift)
		}
		s.values[i-s.first] += int64(end - at)
		at = end
	}
}

// cover extends the buckets to a time.
func (s *series) cover(t ntconv.Ticks) {
	if len(s.values) == 0 {
		s.first = int64(t) >> s.shift
	}
	first := min(s.first, int64(t)>>s.shift)
	last := max(s.first+int64(len(s.values))-1, int64(t)>>s.shift)
	doublings := uint(0)
	for uint64(last>>doublings)-uint64(first>>doublings) >= seriesBuckets {
		doublings++
	}
	if doublings > 0 {
		s.widen(doublings)
		first, last = first>>doublings, last>>doublings
	}
	if s.values == nil {
		s.values = make([]int64, 0, seriesBuckets)
	}
	old, before := len(s.values), int(s.first-first)
	s.values = s.values[:last-first+1]
	clear(s.values[old:])
	if before > 0 {
		copy(s.values[before:], s.values[:old])
		clear(s.values[:min(before, old)])
	}
	s.first = first
}

// widen doubles the width of the buckets n times.
func (s *series) widen(n uint) {
	first := s.first >> n
	for i, v := range s.values {
		s.values[i] = 0
		s.values[(s.first+int64(i))>>n-first] += v
	}
	if len(s.values) > 0 {
		s.values = s.values[:(s.first+int64(len(s.values))-1)>>n-first+1]
	}
	s.first, s.shift = first, s.shift+n
}

// columns distributes the values of the range [first, last] over n columns of equal width. A bucket that crosses columns
// is divided by its share of each. Values outside the range count in the column next to them.
func (s *series) columns(first, last ntconv.Ticks, n int) []float64 {
	list := make([]float64, n)
	width := (float64(last) - float64(first) + 1) / float64(n)
	bucket := float64(uint64(1) << s.shift)
	column := func(x float64) int { return min(max(int(x), 0), n-1) }
	for i, v := range s.values {
		if v == 0 {
			continue
		}
		begin := (bucket*float64(s.first+int64(i)) - float64(first)) / width
		end := begin + bucket/width
		begin, end = max(begin, 0), min(end, float64(n))
		a, b := column(begin), column(end)
		if a == b || end <= begin {
			list[a] += float64(v)
			continue
		}
		for c := a; c <= b; c++ {
			list[c] += float64(v) * max(0, min(end, float64(c+1))-max(begin, float64(c))) / (end - begin)
		}
	}
	return list
}

// ticks converts nanoseconds to ticks of a clock.
func ticks(clock *ntconv.Clock, nanos int64) ntconv.Ticks {
	if clock.Freq == 1e9 || nanos <= 0 || clock.Freq <= 0 {
		return ntconv.Ticks(max(nanos, 0))
	}
	hi, lo := bits.Mul64(uint64(nanos), uint64(clock.Freq))
	if hi >= 1e9 {
		return ntconv.Ticks(nanos)
	}
	n, _ := bits.Div64(hi, lo, 1e9)
	return ntconv.Ticks(min(n, 1<<62))
}
