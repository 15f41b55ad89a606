package firefox

import (
	"math"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/jsoncolumns"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/kind"
)

// A trace is the part of timeline.Timeline that the exporter reads.
type trace interface {
	Each(emit func(*timeline.Item) error) error
	Tracks() []*timeline.Track
	Node(timeline.Node) (parent timeline.Node, frame uint32)
	Frame(frame uint32) ntconv.Frame
	Start() time.Time
	End() int64
	Counts() timeline.Counts
}

// A measure is a sample type of one kind of samples. A thread of the file holds the samples of one measure.
type measure struct {
	kind   kind.Kind
	value  profile.ValueType
	number int64  // in the order of first use; 0 is shown on the thread itself
	weight string // WeightType of the Firefox Profiler
	scale  int64  // factor from the values to nanoseconds or bytes
}

// A measureKey identifies a measure.
type measureKey struct {
	kind  kind.Kind
	value profile.ValueType
}

// A threadKey identifies a thread of the file. Each measure of a track except the first has a thread of its own.
type threadKey struct {
	track  *timeline.Track
	number int64 // of the measure
}

// An encoder converts items to columns of threads and counters.
type encoder struct {
	trace     trace
	set       *jsoncolumns.Set
	args      *argEncoder
	mainTypes *profile.MainTypes

	order      map[*timeline.Track]int64 // index of each track that the trace had at the beginning
	threads    map[threadKey]*thread
	counters   map[*timeline.Track]*counter
	measures   map[measureKey]*measure
	types      []profile.ValueType // types of the latest sample, compared by address
	of         []*measure          // measures of these types
	strings    stringTable
	schemas    map[schemaKey]*markerSchema
	schemaList []*markerSchema
	schemaKey  schemaKey       // key of schema
	schema     *markerSchema   // schema of the latest marker
	path       []timeline.Node // scratch
	notNumbers uint64          // counter values that are not finite numbers
}

// newEncoder returns an encoder for the tracks that t has now.
func newEncoder(t trace, o *spool.Options, args *argEncoder, m *profile.MainTypes) *encoder {
	e := &encoder{
		trace: t, set: jsoncolumns.NewSet(o), args: args, mainTypes: m, order: make(map[*timeline.Track]int64), threads: make(map[threadKey]*thread),
		counters: make(
			map[*timeline.Track]*counter,
		), measures: make(map[measureKey]*measure), schemas: make(map[schemaKey]*markerSchema),
	}
	for i, track := range t.Tracks() {
		e.order[track] = int64(i)
	}
	return e
}

// item adds an item to the columns. Flows, slice ends and raw items have no column: a slice has its duration at its
// begin.
func (e *encoder) item(i *timeline.Item) error {
	switch i.Kind {
	case timeline.Sample:
		e.sample(i)
	case timeline.SliceBegin, timeline.Instant:
		e.marker(i)
	case timeline.Counter:
		e.counter(i)
	}
	return e.set.Err()
}

// Keys of columns in the spool, which sorts by them: threads by track, each with room for its measures, then counters.
const (
	threadKeys  = 1 << 20
	counterKeys = 1 << 62
)

// number returns the position of a track among the threads or counters. Tracks that were added later follow all others.
func (e *encoder) number(t *timeline.Track) int64 {
	if n, ok := e.order[t]; ok {
		return n
	}
	return int64(len(e.order)) + int64(t.ID)
}

// threadOf returns the thread of the file that shows a track. All tracks except those of threads are shown with their
// process.
func (e *encoder) threadOf(t *timeline.Track) *thread {
	if t.Kind != timeline.ThreadTrack && t.Process != nil && t.Process.Track != nil {
		t = t.Process.Track
	}
	return e.thread(t, nil)
}

// thread returns the thread of a track, and creates it on first use. A measure other than the first has a thread of its
// own; a nil m means the first.
func (e *encoder) thread(t *timeline.Track, m *measure) *thread {
	key := threadKey{track: t}
	if m != nil {
		key.number = min(m.number, threadKeys-1)
	}
	h := e.threads[key]
	if h == nil {
		h = newThread(e.set, t, e.number(t)*threadKeys+key.number)
		if key.number > 0 {
			h.measure = m
		}
		e.threads[key] = h
	}
	return h
}

// sample adds one row per sample type with a value. The samples of all sample types but the first go to threads of
// their own.
func (e *encoder) sample(i *timeline.Item) {
	w := i.Weight
	if len(e.types) != len(w.Types) || len(w.Types) > 0 && &e.types[0] != &w.Types[0] {
		e.types, e.of = w.Types, e.measuresOf(w)
	}
	track := i.Track
	if track.Kind != timeline.ThreadTrack && track.Process != nil && track.Process.Track != nil {
		track = track.Process.Track
	}
	for k, m := range e.of {
		value := w.Values[k]
		if value == 0 && len(e.of) > 1 { // the sample belongs to another sample type
			continue
		}
		value = times(value, m.scale)
		h := e.thread(track, m)
		h.weight = m
		e.addStack(h, sampleStack, i.Stack)
		h.millis(sampleTime, i.Time)
		if m.weight == weightTime {
			h.millis(sampleWeight, value)
		} else {
			h.columns[sampleWeight].Int(value)
		}
		if m.kind == kind.CPU {
			h.columns[sampleCPU].Int(value)
		}
		if w.State != stateWaiting {
			h.busy += value
		}
	}
}

// stateWaiting is the state of threads that may be waiting: they are not known to run managed code.
const stateWaiting = "External"

// Values of the Firefox Profiler's WeightType (src/types/profile.ts).
const (
	weightTime    = "tracing-ms"
	weightBytes   = "bytes"
	weightSamples = "samples"
)

// measuresOf returns the measures of a sample, one per value. New measures are numbered in the order of mainTypes.
func (e *encoder) measuresOf(w *timeline.Weight) []*measure {
	list := make([]*measure, len(w.Types))
	for _, i := range e.mainTypes.Order(w.Types) {
		key := measureKey{w.Kind, w.Types[i]}
		m := e.measures[key]
		if m == nil {
			m = &measure{kind: w.Kind, value: key.value, number: int64(len(e.measures))}
			m.weight, m.scale = weightOf(key.value.Unit)
			e.measures[key] = m
		}
		list[i] = m
	}
	return list
}

// weightOf returns the weight type for a unit, and the factor to nanoseconds or bytes.
func weightOf(unit string) (string, int64) {
	switch strings.TrimSuffix(strings.ToLower(unit), "s") {
	case "nanosecond", "n": // from "ns"
		return weightTime, 1
	case "microsecond", "u", "µ", "μ": // the micro sign and the Greek letter
		return weightTime, 1e3
	case "millisecond", "m":
		return weightTime, 1e6
	case "second", "":
		if unit != "" {
			return weightTime, 1e9
		}
	case "byte", "b", "by":
		return weightBytes, 1
	case "kilobyte", "kb", "kib":
		return weightBytes, 1 << 10
	case "megabyte", "mb", "mib":
		return weightBytes, 1 << 20
	case "gigabyte", "gb", "gib":
		return weightBytes, 1 << 30
	}
	return weightSamples, 1
}

// times returns value * scale, clamped to the range of int64. scale must be positive.
func times(value, scale int64) int64 {
	switch {
	case value > math.MaxInt64/scale:
		return math.MaxInt64
	case value < -math.MaxInt64/scale:
		return -math.MaxInt64
	}
	return value * scale
}
