package speedscope

import (
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
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
	Frames() int
	Frame(frame uint32) ntconv.Frame
	End() int64
	Counts() timeline.Counts
}

// Columns of a profile, in the order in which they are written. An evented profile has only the first.
const (
	columnSamples = iota // or events
	columnWeights
)

// A sampledProfile is a profile of type sampled.
type sampledProfile struct {
	measure          *measure
	track            *timeline.Track // nil means all threads
	samples, weights *jsoncolumns.Column
	start            int64 // time of the first sample
	total            int64 // total weight, clamped
	busy             int64 // part of total: samples that are not known to wait
}

// An eventedProfile is a profile of type evented: the slices of one track.
type eventedProfile struct {
	track  *timeline.Track
	events *jsoncolumns.Column
}

// A measure is a sample type of one kind of samples. It has a profile per thread and one of all threads.
type measure struct {
	kind    kind.Kind
	value   profile.ValueType
	unit    string // as speedscope names it
	scale   int64  // factor from the values to unit
	number  int64  // in the order of first use
	all     *sampledProfile
	threads map[*timeline.Track]*sampledProfile
}

// A measureKey identifies a measure.
type measureKey struct {
	kind  kind.Kind
	value profile.ValueType
}

// An encoder converts items to profiles.
type encoder struct {
	trace     trace
	set       *jsoncolumns.Set
	report    *ntconv.Report
	mainTypes *profile.MainTypes

	order    map[*timeline.Track]int64 // index of each track that is not a lane
	measures []*measure
	byKey    map[measureKey]*measure
	types    []profile.ValueType // types of the latest sample, compared by address
	of       []*measure          // measures of these types
	evented  map[*timeline.Track]*eventedProfile
	frames   frameTable

	node     timeline.Node // node whose JSON is in stack
	stack    []byte
	scratch  []uint32
	negative int64 // samples with a negative value, omitted
}

func newEncoder(t trace, o *spool.Options, report *ntconv.Report, m *profile.MainTypes) *encoder {
	e := &encoder{
		trace: t, set: jsoncolumns.NewSet(o), report: report, mainTypes: m, order: make(map[*timeline.Track]int64),
		byKey: make(
			map[measureKey]*measure,
		), evented: make(map[*timeline.Track]*eventedProfile), frames: newFrameTable(t), stack: []byte("[]"),
	}
	for i, track := range t.Tracks() {
		e.order[track] = int64(i)
	}
	return e
}

// Keys of columns in the spool, which sorts by them: the profiles of each measure, first the profile of all threads,
// then the evented profiles.
const (
	measureKeys = 1 << 33
	eventedKeys = 1 << 62
)

// number returns the position of a track among the profiles. Lanes, which are created late, follow all others.
func (e *encoder) number(t *timeline.Track) int64 {
	if n, ok := e.order[t]; ok {
		return n
	}
	return int64(len(e.order)) + int64(t.ID)
}

// item adds an item to its profiles. Instants, counters and flows have no place in the format.
func (e *encoder) item(i *timeline.Item) error {
	switch i.Kind {
	case timeline.Sample:
		e.sample(i)
	case timeline.SliceBegin:
		e.event(i, `{"type":"O","frame":`)
	case timeline.SliceEnd:
		e.event(i, `{"type":"C","frame":`)
	}
	return e.set.Err()
}

// event adds the begin or end of a slice to the evented profile of its track.
func (e *encoder) event(i *timeline.Item, begin string) {
	p := e.evented[i.Track]
	if p == nil {
		p = &eventedProfile{
			track:  i.Track,
			events: e.set.Column(spool.Key{Time: eventedKeys + e.number(i.Track), Rank: columnSamples}),
		}
		e.evented[i.Track] = p
	}
	b := append(p.events.Begin(), begin...)
	b = appendInt(b, int64(e.frames.slice(i.Name, i.Category)))
	b = appendInt(append(b, `,"at":`...), i.Time)
	p.events.End(append(b, '}'))
}

// sample adds a sample to the profile of all threads and to that of its thread, once per sample type.
func (e *encoder) sample(i *timeline.Item) {
	w := i.Weight
	if len(e.types) != len(w.Types) || len(w.Types) > 0 && &e.types[0] != &w.Types[0] {
		e.types, e.of = w.Types, e.measuresOf(w)
	}
	for k, m := range e.of {
		value := times(w.Values[k], m.scale)
		switch {
		case value < 0: // speedscope rejects files with negative weights
			e.negative++ // speedscope rejects files with negative weights
			continue
		case value == 0 && len(e.of) > 1: // the sample belongs to another sample type
			continue
		}
		stack := e.stackOf(i.Stack)
		for _, p := range [...]*sampledProfile{m.all, e.thread(m, i)} {
			if p.samples.Len == 0 {
				p.start = i.Time
			}
			p.samples.End(append(p.samples.Begin(), stack...))
			p.weights.Int(value)
			p.total = bin.AddClamped(p.total, value)
			if w.State != stateWaiting {
				p.busy = bin.AddClamped(p.busy, value)
			}
		}
	}
}

// stateWaiting is the state of threads that may be waiting: they are not known to run managed code.
const stateWaiting = "External"

// measuresOf returns the measures of a sample, one per value. New measures are numbered in the order of mainTypes.
func (e *encoder) measuresOf(w *timeline.Weight) []*measure {
	list := make([]*measure, len(w.Types))
	for _, i := range e.mainTypes.Order(w.Types) {
		key := measureKey{w.Kind, w.Types[i]}
		m := e.byKey[key]
		if m == nil {
			m = &measure{
				kind:    w.Kind,
				value:   w.Types[i],
				number:  int64(len(e.measures)),
				threads: make(map[*timeline.Track]*sampledProfile),
			}
			m.unit, m.scale = unitOf(m.value.Unit)
			m.all = e.newProfile(m, nil, m.number*measureKeys)
			e.measures, e.byKey[key] = append(e.measures, m), m
		}
		list[i] = m
	}
	return list
}

func (e *encoder) thread(m *measure, i *timeline.Item) *sampledProfile {
	p := m.threads[i.Track]
	if p == nil {
		p = e.newProfile(m, i.Track, m.number*measureKeys+1+e.number(i.Track))
		m.threads[i.Track] = p
	}
	return p
}

func (e *encoder) newProfile(m *measure, t *timeline.Track, number int64) *sampledProfile {
	return &sampledProfile{
		measure: m, track: t,
		samples: e.set.Column(
			spool.Key{Time: number, Rank: columnSamples},
		), weights: e.set.Column(spool.Key{Time: number, Rank: columnWeights}),
	}
}

// stackOf returns the JSON of a stack, root first. It is valid until the next call.
func (e *encoder) stackOf(n timeline.Node) []byte {
	if n == e.node {
		return e.stack
	}
	e.node, e.scratch = n, e.scratch[:0]
	for n != timeline.NoStack {
		var frame uint32
		n, frame = e.trace.Node(n)
		e.scratch = append(e.scratch, e.frames.frame(frame))
	}
	b := append(e.stack[:0], '[')
	for i, frame := range slices.Backward(e.scratch) {
		b = appendInt(b, int64(frame))
		if i > 0 {
			b = append(b, ',')
		}
	}
	e.stack = append(b, ']')
	return e.stack
}
