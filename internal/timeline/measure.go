package timeline

import (
	"math"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/sample"
)

// A Measure is a sample type of one kind of samples. Formats whose profiles have one sample type show each Measure in a
// profile of its own.
type Measure struct {
	Kind      sample.Kind
	Type      sample.Type
	Number    int64 // in the order of first use
	Dimension Dimension
	Scale     int64 // factor from the values to nanoseconds or bytes
}

// A Dimension is what a unit measures.
type Dimension uint8

const (
	Number Dimension = iota // or unknown
	Time
	Memory
)

// Measures finds the measures of samples. The zero value is ready to use.
type Measures struct {
	main  profile.MainTypes
	known map[measureKey]*Measure
	lists map[typesKey][]*Measure
	last  typesKey
	list  []*Measure // of last
}

type measureKey struct {
	kind sample.Kind
	typ  sample.Type
}

// A typesKey identifies a list of types by its address, because all samples of an event type share one.
type typesKey struct {
	kind  sample.Kind
	types *sample.Type
}

// See notes the type of an event, which determines the order of sample types. Call it for each event before Of.
func (m *Measures) See(e *ntconv.Event) { m.main.See(e) }

// Of returns the measures of a sample, one per value. New measures are numbered in the order in which the formats of
// imported profiles show them. The result is shared.
func (m *Measures) Of(w *Weight) []*Measure {
	if len(w.Types) == 0 {
		return nil
	}
	if key := (typesKey{w.Kind, &w.Types[0]}); key != m.last {
		if m.lists == nil {
			m.lists, m.known = map[typesKey][]*Measure{}, map[measureKey]*Measure{}
		}
		list := m.lists[key]
		if list == nil {
			list = m.find(w)
			m.lists[key] = list
		}
		m.last, m.list = key, list
	}
	return m.list
}

func (m *Measures) find(w *Weight) []*Measure {
	list := make([]*Measure, len(w.Types))
	for _, i := range m.main.Order(w.Types) {
		key := measureKey{w.Kind, w.Types[i]}
		if m.known[key] == nil {
			found := &Measure{Kind: w.Kind, Type: key.typ, Number: int64(len(m.known))}
			found.Dimension, found.Scale = dimensionOf(key.typ.Unit)
			m.known[key] = found
		}
		list[i] = m.known[key]
	}
	return list
}

// dimensionOf returns what a unit measures, and the factor from it to nanoseconds or bytes.
func dimensionOf(unit string) (Dimension, int64) {
	switch strings.TrimSuffix(strings.ToLower(unit), "s") {
	case "nanosecond", "n": // from "ns"
		return Time, 1
	case "microsecond", "u", "µ", "μ": // the micro sign and the Greek letter
		return Time, 1e3
	case "millisecond", "m":
		return Time, 1e6
	case "second", "":
		if unit != "" {
			return Time, 1e9
		}
	case "byte", "b", "by":
		return Memory, 1
	case "kilobyte", "kb", "kib":
		return Memory, 1 << 10
	case "megabyte", "mb", "mib":
		return Memory, 1 << 20
	case "gigabyte", "gb", "gib":
		return Memory, 1 << 30
	}
	return Number, 1
}

// Scaled returns a value in nanoseconds, bytes, or the unit of the measure, clamped to the range of int64.
func (m *Measure) Scaled(value int64) int64 {
	switch {
	case value > math.MaxInt64/m.Scale:
		return math.MaxInt64
	case value < -math.MaxInt64/m.Scale:
		return -math.MaxInt64
	}
	return value * m.Scale
}

// MayWait reports whether the thread of the sample is not known to run managed code.
func (w *Weight) MayWait() bool { return w.State == "External" }

// An Order numbers tracks in the order of Trace.Tracks. Tracks that are created later follow.
type Order map[*Track]int64

// NewOrder returns the order of the tracks that a trace has now.
func NewOrder(t Trace) Order {
	o := Order{}
	for i, k := range t.Tracks() {
		o[k] = int64(i)
	}
	return o
}

// Of returns the number of a track.
func (o Order) Of(k *Track) int64 {
	if n, ok := o[k]; ok {
		return n
	}
	return int64(len(o)) + int64(k.ID)
}

// Shown returns the track of the process for a track that is not a thread, or else the track itself.
func (k *Track) Shown() *Track {
	if k.Kind != ThreadTrack && k.Process != nil && k.Process.Track != nil {
		return k.Process.Track
	}
	return k
}
