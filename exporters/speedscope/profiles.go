package speedscope

import (
	"cmp"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/files/jsoncolumns"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/timeline"
)

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
	work
}

// An eventedProfile is a profile of type evented: the slices of one track.
type eventedProfile struct {
	track  *timeline.Track
	events *jsoncolumns.Column
	depth  int // open slices
	work
}

// work is what determines the profile that speedscope opens.
type work struct {
	total int64 // total weight or duration, clamped
	busy  int64 // part of total that is not known to be spent waiting
}

func (w *work) add(value int64, mayWait bool) {
	w.total = bin.AddClamped(w.total, value)
	if !mayWait {
		w.busy = bin.AddClamped(w.busy, value)
	}
}

func (w *work) compare(other *work) int {
	return cmp.Or(cmp.Compare(w.busy, other.busy), cmp.Compare(w.total, other.total))
}

// A measure has a profile per thread and one of all threads.
type measure struct {
	*timeline.Measure
	unit    string // as speedscope names it
	all     *sampledProfile
	threads map[*timeline.Track]*sampledProfile
}

// An encoder converts items to profiles.
type encoder struct {
	trace  timeline.Trace
	set    *jsoncolumns.Set
	report *ntconv.Report
	order  timeline.Order

	types    *timeline.Measures
	measures []*measure // by number
	evented  map[*timeline.Track]*eventedProfile
	frames   frameTable

	node     timeline.Node // node whose JSON is in stack
	stack    []byte
	scratch  []uint32
	negative int64 // samples with a negative value, omitted
}

func newEncoder(t timeline.Trace, o *spool.Options, report *ntconv.Report, m *timeline.Measures) *encoder {
	return &encoder{
		trace: t, set: jsoncolumns.NewSet(o), report: report, types: m, order: timeline.NewOrder(t),
		evented: map[*timeline.Track]*eventedProfile{}, frames: newFrameTable(t), stack: []byte("[]"),
	}
}

// Keys of columns in the spool, which sorts by them: the profiles of each measure, first the profile of all threads,
// then the evented profiles.
const (
	measureKeys = 1 << 33
	eventedKeys = 1 << 62
)

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
			events: e.set.Column(spool.Key{Time: eventedKeys + e.order.Of(i.Track), Rank: columnSamples}),
		}
		e.evented[i.Track] = p
	}
	p.measure(i)
	b := append(p.events.Begin(), begin...)
	b = appendInt(b, int64(e.frames.slice(i.Name, i.Category)))
	b = appendInt(append(b, `,"at":`...), i.Time)
	p.events.End(append(b, '}'))
}

// measure adds the outermost slices to the work of the profile.
func (p *eventedProfile) measure(i *timeline.Item) {
	if i.Kind == timeline.SliceEnd {
		p.depth--
		return
	}
	if p.depth == 0 {
		p.add(i.Duration, i.Category == timeline.CategoryWait || i.Category == timeline.CategoryContention)
	}
	p.depth++
}

// sample adds a sample to the profile of all threads and to that of its thread, once per sample type.
func (e *encoder) sample(i *timeline.Item) {
	of := e.types.Of(i.Weight)
	for k, t := range of {
		m, value := e.measure(t), i.Weight.Values[k]
		if t.Dimension == timeline.Memory {
			value = t.Scaled(value)
		}
		switch {
		case value < 0: // speedscope rejects files with negative weights
			e.negative++
			continue
		case value == 0 && len(of) > 1: // the sample belongs to another sample type
			continue
		}
		stack := e.stackOf(i.Stack)
		for _, p := range [...]*sampledProfile{m.all, e.thread(m, i)} {
			if p.samples.Len == 0 {
				p.start = i.Time
			}
			p.samples.End(append(p.samples.Begin(), stack...))
			p.weights.Int(value)
			p.add(value, i.Weight.MayWait())
		}
	}
}

// measure returns the profiles of a measure.
func (e *encoder) measure(t *timeline.Measure) *measure {
	for n := int64(len(e.measures)); n <= t.Number; n++ {
		e.measures = append(e.measures, nil)
	}
	m := e.measures[t.Number]
	if m == nil {
		m = &measure{Measure: t, unit: unitOf(t), threads: map[*timeline.Track]*sampledProfile{}}
		m.all = e.newProfile(m, nil, t.Number*measureKeys)
		e.measures[t.Number] = m
	}
	return m
}

func (e *encoder) thread(m *measure, i *timeline.Item) *sampledProfile {
	p := m.threads[i.Track]
	if p == nil {
		p = e.newProfile(m, i.Track, m.Number*measureKeys+1+e.order.Of(i.Track))
		m.threads[i.Track] = p
	}
	return p
}

func (e *encoder) newProfile(m *measure, t *timeline.Track, number int64) *sampledProfile {
	return &sampledProfile{
		measure: m, track: t, samples: e.set.Column(spool.Key{Time: number, Rank: columnSamples}),
		weights: e.set.Column(spool.Key{Time: number, Rank: columnWeights}),
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
