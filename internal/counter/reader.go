package counter

import (
	"strconv"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/schema"
)

const metricsProvider = "System.Diagnostics.Metrics"

// A Reader reads the counters of one trace. It remembers instruments and sessions, and not values. It is not safe for
// concurrent use.
type Reader struct {
	table  schema.Table
	holds  map[*ntconv.Type]bool // events of the type are of interest
	last   *ntconv.Type          // the latest one without interest
	roles  map[*schema.Schema]*role
	fields []ntconv.Value
	buf    []byte

	texts       map[string]string
	instruments map[instrumentKey]*instrument
	intervals   map[sessionKey]float64
	kept        int // bytes of the names and tags in instruments and intervals
	value       Value
}

// NewReader returns a Reader that has seen no event.
func NewReader() *Reader {
	return &Reader{
		holds: map[*ntconv.Type]bool{}, roles: map[*schema.Schema]*role{}, texts: map[string]string{},
		instruments: map[instrumentKey]*instrument{}, intervals: map[sessionKey]float64{},
	}
}

// Limits on what a Reader remembers. It clears what exceeds them.
const (
	maxTexts       = 1 << 14 // strings, so that equal ones are the same
	maxTextBytes   = 256     // of such a string
	maxInstruments = 1 << 14
	maxSessions    = 1 << 10
	maxKeptBytes   = 16 << 20 // of the names and tags of instruments and sessions
)

// keep makes room for n bytes of names and tags.
func (r *Reader) keep(n int) {
	if r.kept += n; r.kept > maxKeptBytes || len(r.instruments) == maxInstruments || len(r.intervals) == maxSessions {
		clear(r.instruments)
		clear(r.intervals)
		r.kept = n
	}
}

// A role is what the events of a schema say, and where.
type role struct {
	read       func(*Reader, *ntconv.Event, *role, func(*Value)) // nil: nothing
	kind       string
	projection *schema.Projection
	columns    int
}

// Read passes each value that an event holds to emit, in the order of the event. The Value is borrowed until emit
// returns. Call it for all events in time order: the values of an instrument depend on earlier events. It borrows the
// event, and events without values cost a comparison.
func (r *Reader) Read(e *ntconv.Event, emit func(*Value)) {
	if e.Kind != ntconv.KindEvent || e.Type == r.last {
		return
	}
	holds, known := r.holds[e.Type]
	if !known {
		holds = r.roleOf(r.table.Of(e)).read != nil
		r.holds[e.Type] = holds
	}
	if !holds {
		r.last = e.Type
		return
	}
	role := r.roleOf(r.table.Of(e))
	if role.read == nil {
		return
	}
	r.fields = append(r.fields[:0], make([]ntconv.Value, role.columns)...)
	role.projection.Read(e, r.fields)
	role.read(r, e, role, emit)
}

// Reads reports whether events with the type and version of e may hold values, or say something about the values of
// others: Read does nothing with events for which it returns false.
func (r *Reader) Reads(e *ntconv.Event) bool {
	return e.Kind == ntconv.KindEvent && r.roleOf(r.table.Of(e)).read != nil
}

func (r *Reader) roleOf(s *schema.Schema) *role {
	known := r.roles[s]
	if known == nil {
		known = newRole(s)
		r.roles[s] = known
	}
	return known
}

func newRole(s *schema.Schema) *role {
	c := &role{}
	var paths []string
	switch {
	case s.Name == "EventCounters":
		c.read, paths = (*Reader).eventCounter, eventCounterFields[:]
		if c.kind = KindMean; s.Lookup(schema.Path{"Payload", "Increment"}) != nil {
			c.kind = KindSum
		} else if s.Lookup(schema.Path{"Payload", "Mean"}) == nil {
			return &role{}
		}
	case s.Provider != metricsProvider:
		return c
	case s.Name == "CollectionStart":
		c.read, paths = (*Reader).collection, collectionFields[:]
	case s.Name == "BeginInstrumentReporting":
		c.read, paths = (*Reader).instrument, instrumentFields[:]
	default:
		for _, m := range published {
			if m.event == s.Name {
				c.read, c.kind, paths = (*Reader).metric, m.kind, metricFields[:]
			}
		}
		if c.read == nil {
			return c
		}
	}
	c.projection, _ = s.Project(paths...)
	c.columns = len(paths)
	return c
}

// published are the events of the metrics event source that hold values.
var published = [...]struct{ event, kind string }{
	{"CounterRateValuePublished", KindCounter},
	{"UpDownCounterRateValuePublished", KindUpDownCounter},
	{"GaugeValuePublished", KindGauge},
	{"HistogramValuePublished", KindHistogram},
}

// text returns a field as a string, "" if the payload does not hold it.
func (r *Reader) text(column int) string {
	v := &r.fields[column]
	if v.Kind() == ntconv.ValueNull || v.Kind() == ntconv.ValueError {
		return ""
	}
	r.buf = v.AppendString(r.buf[:0])
	if len(r.buf) > maxTextBytes {
		return string(r.buf)
	}
	s, ok := r.texts[string(r.buf)]
	if !ok {
		if len(r.texts) == maxTexts {
			clear(r.texts)
		}
		s = string(r.buf)
		r.texts[s] = s
	}
	return s
}

// has reports whether the payload holds a field.
func (r *Reader) has(column int) bool {
	k := r.fields[column].Kind()
	return k != ntconv.ValueNull && k != ntconv.ValueError
}

// number returns a field as a number, which may be stored as text. It returns false if it is not a number.
func (r *Reader) number(column int) (float64, bool) {
	switch v := &r.fields[column]; v.Kind() {
	case ntconv.ValueFloat:
		return v.Float(), true
	case ntconv.ValueInt:
		return float64(v.Int()), true
	case ntconv.ValueUint:
		return float64(v.Uint()), true
	case ntconv.ValueString:
		r.buf = v.AppendString(r.buf[:0])
		f, err := strconv.ParseFloat(string(r.buf), 64)
		return f, err == nil
	}
	return 0, false
}

// seconds returns the time between two fields, 0 if they are not times.
func (r *Reader) seconds(from, to int) float64 {
	a, okA := r.time(from)
	b, okB := r.time(to)
	if !okA || !okB || b.Before(a) {
		return 0
	}
	return b.Sub(a).Seconds()
}

func (r *Reader) time(column int) (time.Time, bool) {
	switch v := &r.fields[column]; v.Kind() {
	case ntconv.ValueTime:
		return v.Time(), true
	case ntconv.ValueString:
		t, err := time.Parse(time.RFC3339Nano, v.String())
		return t, err == nil
	}
	return time.Time{}, false
}

// put passes on a statistic of the value that has been prepared.
func (r *Reader) put(statistic string, value float64, ok bool, emit func(*Value)) {
	r.value.Statistic, r.value.Value, r.value.OK = statistic, value, ok
	if !ok {
		r.value.Value = 0
	}
	emit(&r.value)
}
