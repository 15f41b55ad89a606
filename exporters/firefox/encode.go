package firefox

import (
	"github.com/ntconv/ntconv/internal/files/jsoncolumns"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/sample"
)

// A threadKey identifies a thread of the file. Each measure of a track except the first has a thread of its own.
type threadKey struct {
	track  *timeline.Track
	number int64 // of the measure
}

// An encoder converts items to columns of threads and counters.
type encoder struct {
	trace    timeline.Trace
	set      *jsoncolumns.Set
	args     *argEncoder
	measures *timeline.Measures
	order    timeline.Order

	threads    map[threadKey]*thread
	counters   map[*timeline.Track]*counter
	strings    stringTable
	schemas    map[schemaKey]*markerSchema
	schemaList []*markerSchema
	schemaKey  schemaKey       // key of schema
	schema     *markerSchema   // schema of the latest marker
	path       []timeline.Node // scratch
	notNumbers uint64          // counter values that are not finite numbers
}

// newEncoder returns an encoder for the tracks that t has now.
func newEncoder(t timeline.Trace, o *spool.Options, args *argEncoder, m *timeline.Measures) *encoder {
	return &encoder{
		trace: t, set: jsoncolumns.NewSet(o), args: args, measures: m, order: timeline.NewOrder(t),
		threads: map[threadKey]*thread{}, counters: map[*timeline.Track]*counter{}, schemas: map[schemaKey]*markerSchema{},
	}
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

// thread returns the thread of a track, and creates it on first use. A measure other than the first has a thread of its
// own; a nil m means the first.
func (e *encoder) thread(t *timeline.Track, m *timeline.Measure) *thread {
	key := threadKey{track: t}
	if m != nil {
		key.number = min(m.Number, threadKeys-1)
	}
	h := e.threads[key]
	if h == nil {
		h = newThread(e.set, t, e.order.Of(t)*threadKeys+key.number)
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
	measures := e.measures.Of(i.Weight)
	for k, m := range measures {
		value := i.Weight.Values[k]
		if value == 0 && len(measures) > 1 { // the sample belongs to another sample type
			continue
		}
		value = m.Scaled(value)
		h := e.thread(i.Track.Shown(), m)
		h.weight = m
		e.addStack(h, sampleStack, i.Stack)
		h.millis(sampleTime, i.Time)
		if m.Dimension == timeline.Time {
			h.millis(sampleWeight, value)
		} else {
			h.columns[sampleWeight].Int(value)
		}
		if m.Kind == sample.CPU {
			h.columns[sampleCPU].Int(value)
		}
		if !i.Weight.MayWait() {
			h.busy += value
		}
	}
}

// weightTypes are the Firefox Profiler's WeightType (src/types/profile.ts).
var weightTypes = [...]string{timeline.Number: "samples", timeline.Time: "tracing-ms", timeline.Memory: weightBytes}

const weightBytes = "bytes"
