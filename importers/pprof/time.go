package pprof

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// untimed marks samples without their own time.
const untimed = math.MinInt64

// maxAway bounds the distance of a label's time from the profile's time. A number further away is not a time.
const maxAway = 366 * 24 * int64(time.Hour)

// time stores the time of sample i if one of its labels contains it.
func (s *source) time(i int, in *sample) {
	for j := range in.labels {
		l := &in.labels[j]
		if !l.numeric || l.number <= 0 || l.unit != "" && l.unit != "nanoseconds" && l.unit != "ns" {
			continue
		}
		switch l.key {
		case "end_timestamp_ns", "timestamp_ns", "timestamp":
		default:
			continue
		}
		if t := s.origin.Time; t > 0 && (l.number-t > maxAway || t-l.number > maxAway) {
			continue
		}
		if s.times == nil {
			s.times = make([]int64, len(s.samples))
			for k := range s.times {
				s.times[k] = untimed
			}
		}
		s.times[i] = l.number
		return
	}
}

// start returns the start of the trace: that of the profile, or of an earlier sample.
func (s *source) start() time.Time {
	first := s.origin.Time
	for _, t := range s.times {
		if t != untimed && (t < first || first <= 0) {
			first = t
		}
	}
	if first <= 0 {
		return time.Time{}
	}
	return time.Unix(0, first).UTC()
}

// tick returns the time of sample i.
func (s *source) tick(i int) ntconv.Ticks {
	begin := int64(0)
	if wall := s.Info().Clock.Wall; !wall.IsZero() {
		begin = wall.UnixNano()
	}
	if s.times != nil && s.times[i] != untimed {
		return imported.SyncTick + ntconv.Ticks(min(s.times[i]-begin, math.MaxInt64/2))
	}
	duration := uint64(min(max(s.origin.Duration, 0), math.MaxInt64/4))
	hi, lo := bits.Mul64(duration, uint64(i))
	spread, _ := bits.Div64(hi, lo, uint64(len(s.samples)))
	since := int64(spread)
	if s.origin.Time > begin && begin > 0 {
		since += s.origin.Time - begin
	}
	return imported.SyncTick + ntconv.Ticks(since)
}

// sort determines the order of samples if some have their own time.
func (s *source) sort() {
	if s.times == nil {
		return
	}
	s.order = make([]uint32, len(s.samples))
	for i := range s.order {
		s.order[i] = uint32(i)
	}
	slices.SortStableFunc(s.order, func(a, b uint32) int { return cmp.Compare(s.tick(int(a)), s.tick(int(b))) })
}
