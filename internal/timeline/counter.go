package timeline

import (
	"encoding/binary"
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/recording"
)

// A counterReader creates records for the values of counters.
type counterReader struct {
	t      *Timeline
	reader *recording.CounterReader
	keep   func(*recording.CounterValue) // appends to values; allocated once
	values []recording.CounterValue      // values of the current event
	name   []byte
}

func newCounterReader(t *Timeline) *counterReader {
	r := &counterReader{t: t, reader: recording.NewCounterReader()}
	r.keep = func(v *recording.CounterValue) { r.values = append(r.values, *v) }
	return r
}

// read adds the values of an event, and reports whether there are any.
func (r *counterReader) read(e *ntconv.Event, of *role, at int64) bool {
	s := r.t.owners.state(r.t.owners.at(r.t.owners.thread(e.Thread)))
	if of.universal {
		v, ok := clr.Value(e)
		if ok {
			r.name = append(r.name[:0], r.t.titles.list[of.title].name...)
			r.add(r.t.owners.counter(s, r.name, ""), float64(v), at)
		}
		return ok
	}
	r.values = r.values[:0]
	r.reader.Read(e, r.keep)
	single := isSingle(r.values)
	found := false
	for i := range r.values {
		v := &r.values[i]
		if !v.OK || single && v.Statistic != recording.StatisticMean {
			continue
		}
		found = true
		if v.Kind == recording.KindUpDownCounter && v.Statistic == recording.StatisticRate {
			continue
		}
		r.name = appendCounterName(r.name[:0], v)
		unit := v.Unit
		if v.Statistic == recording.StatisticCount {
			unit = ""
		}
		r.add(r.t.owners.counter(s, r.name, unit), v.Value, at)
	}
	return found
}

// isSingle reports whether the values of an event counter are those of a single measurement, so that they are all equal
// to the mean.
func isSingle(values []recording.CounterValue) bool {
	n := len(values)
	if n == 0 || values[0].Kind != recording.KindMean {
		return false
	}
	last := &values[n-1]
	return last.Statistic == recording.StatisticCount && (!last.OK || last.Value <= 1)
}

// appendCounterName appends a name that distinguishes a counter from all others of its process: provider, name, tags
// and statistic.
func appendCounterName(dst []byte, v *recording.CounterValue) []byte {
	if v.Provider != "" {
		dst = append(append(dst, v.Provider...), '/')
	}
	dst = append(dst, v.Name...)
	open := byte('{')
	for i := range v.Tags {
		dst = append(append(append(append(dst, open), v.Tags[i].Key...), '='), v.Tags[i].Value...)
		open = ','
	}
	if open == ',' {
		dst = append(dst, '}')
	}
	switch v.Statistic {
	case recording.StatisticMean, recording.StatisticLast:
	case recording.StatisticSum:
		if v.Kind == recording.KindHistogram {
			dst = append(append(dst, ' '), v.Statistic...)
		}
	default:
		dst = append(append(dst, ' '), v.Statistic...)
	}
	return dst
}

func (r *counterReader) add(track uint32, value float64, at int64) {
	r.t.rec = appendHead(r.t.rec[:0], recordCounter, track)
	r.t.rec = binary.LittleEndian.AppendUint64(r.t.rec, math.Float64bits(value))
	r.t.counts.Counters++
	r.t.add(at, rankOther)
}
