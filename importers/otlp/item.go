package otlp

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/internal/span"
	logdata "github.com/ntconv/ntconv/internal/span/logs"
	metricdata "github.com/ntconv/ntconv/internal/span/metrics"
	profiledata "github.com/ntconv/ntconv/internal/span/profiles"
	"github.com/ntconv/ntconv/internal/span/stored"
)

// An item is what becomes one event, or several if it is large. The member of its signal is set.
type item struct {
	span    *span.Span
	record  *logdata.Record
	profile *profiledata.Profile
	point   *metricdata.Point
	// A sample has a type and a weight.
	sample *imported.Sample
	typ    *ntconv.Type
	weight *imported.Weight

	// What all items have. Times are nanoseconds since 1970.
	resource    *span.Resource
	attributes  []span.Attribute
	start, time int64 // of the first item, for the clock of the trace; of the event
}

// An itemReader decodes an input. The item that next returns is valid until the next call.
type itemReader interface {
	next() (item, error)
}

// An elementReader decodes the elements of a signal, which are those of its messages of scopes.
type elementReader struct {
	// proto and json decode an element and return the number of its items, 0 if it is invalid.
	proto, json func(d *decoder, b []byte) int
	// item returns item i of the element that was decoded last, with this resource and scope.
	item func(d *decoder, i int, r *span.Resource, s *span.Scope) item
}

// readerOf returns the elementReader of a signal.
func readerOf(s signal) elementReader {
	switch s {
	case traces:
		return elementReader{proto: countOf((*decoder).span), json: countOf((*decoder).spanJSON), item: spanItem}
	case logs:
		return elementReader{proto: countOf((*decoder).logRecord), json: countOf((*decoder).logRecordJSON), item: recordItem}
	case profiles:
		return elementReader{proto: (*decoder).profileMessage, json: (*decoder).profileJSON, item: profileItem}
	}
	return elementReader{proto: (*decoder).metricMessage, json: (*decoder).metricJSON, item: pointItem}
}

// countOf returns the decoder of an element that is one item.
func countOf(decode func(*decoder, []byte) bool) func(*decoder, []byte) int {
	return func(d *decoder, b []byte) int {
		if decode(d, b) {
			return 1
		}
		return 0
	}
}

// begin prepares the decoder for elements of a signal.
func (d *decoder) begin(s signal) {
	if d.reads.item == nil || d.place.signal != s {
		d.place.signal, d.reads = s, readerOf(s)
	}
}

// items are the items of an element that have not been delivered.
type items struct {
	at, left int
}

// decode decodes an element.
func (q *items) decode(d *decoder, b []byte, json bool) {
	d.reset()
	decode := d.reads.proto
	if json {
		decode = d.reads.json
	}
	*q = items{left: decode(d, b)}
}

// next returns the next item of the element, with its resource and scope.
func (q *items) next(d *decoder, r *span.Resource, s *span.Scope) (item, bool) {
	if q.left == 0 {
		return item{}, false
	}
	q.left--
	q.at++
	return d.reads.item(d, q.at-1, r, s), true
}

func spanItem(d *decoder, _ int, r *span.Resource, sc *span.Scope) item {
	s := &d.s
	s.Resource, s.Scope = r, sc
	at := int64(s.End)
	if at == 0 {
		at = int64(s.Start)
	}
	return item{span: s, resource: r, attributes: s.Attributes, start: int64(s.Start), time: at}
}

func recordItem(d *decoder, _ int, r *span.Resource, sc *span.Scope) item {
	l := &d.record
	l.Resource, l.Scope = r, sc
	at := int64(l.Unix())
	return item{record: l, resource: r, attributes: l.Attributes, start: at, time: at}
}

// An encoder returns the events of the latest item that it encoded.
type encoder interface{ Next() *ntconv.Event }

// encoders are the encoders of all signals.
type encoders struct {
	spans    *stored.Encoder[span.Span]
	records  *stored.Encoder[logdata.Record]
	profiles *stored.Encoder[profiledata.Profile]
	samples  sampleEncoder
	points   *stored.Encoder[metricdata.Point]
}

func newEncoders() encoders {
	return encoders{spans: stored.NewEncoder(stored.Spans), records: stored.NewEncoder(logdata.Stored), profiles: stored.NewEncoder(profiledata.Stored), points: stored.NewEncoder(metricdata.Stored)}
}

// encode starts the conversion of an item to events like like.
func (c *encoders) encode(it *item, like *ntconv.Event) encoder {
	switch {
	case it.record != nil:
		c.records.Encode(it.record, like)
		return c.records
	case it.profile != nil:
		c.profiles.Encode(it.profile, like)
		return c.profiles
	case it.point != nil:
		c.points.Encode(it.point, like)
		return c.points
	case it.sample != nil:
		c.samples.encode(it, like)
		return &c.samples
	}
	c.spans.Encode(it.span, like)
	return c.spans
}
