package recording

import (
	"strconv"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/schema"
)

const metricsProvider = "System.Diagnostics.Metrics"

// A Reader reads the counters of one trace. It keeps the descriptions of instruments and sessions but no values. It is
// not safe for concurrent use.
//
// fields holds the columns of the current event in the order of its role's projection. instruments and intervals are
// cleared together when a limit is exceeded; values then lack the tags and intervals that earlier events stated.
type CounterReader struct {
	table  schema.Table
	holds  map[*ntconv.Type]bool // whether the first event of the type had a role; caches roleOf
	last   *ntconv.Type          // latest type with a false entry in holds: the fast path of Read
	roles  map[*schema.Schema]*role
	fields []ntconv.Value
	buf    []byte

	strings     map[string]string
	tags        map[string][]CounterTag // of the texts in strings, split
	instruments map[instrumentKey]*instrument
	intervals   map[sessionKey]collected
	kept        int          // bytes of the names and tags in instruments and intervals
	value       CounterValue // lent to emit
}

// NewCounterReader returns a Reader for one trace.
func NewCounterReader() *CounterReader {
	return &CounterReader{
		holds: map[*ntconv.Type]bool{}, roles: map[*schema.Schema]*role{}, strings: map[string]string{}, tags: map[string][]CounterTag{},
		instruments: map[instrumentKey]*instrument{}, intervals: map[sessionKey]collected{},
	}
}

// Limits of the tables of a Reader, which clears tables that are full.
const (
	maxStrings     = 1 << 14 // interned strings
	maxStringBytes = 256     // maximum length of an interned string
	maxInstruments = 1 << 14
	maxSessions    = 1 << 10
	maxKeptBytes   = 16 << 20 // of the names and tags of instruments and sessions
)

// keep makes room for n more bytes of names and tags: it clears both tables if one is full.
func (r *CounterReader) keep(n int) {
	if r.kept += n; r.kept > maxKeptBytes || len(r.instruments) == maxInstruments || len(r.intervals) == maxSessions {
		clear(r.instruments)
		clear(r.intervals)
		r.kept = n
	}
}

// A role states how the events of a schema are read.
type role struct {
	read       func(*CounterReader, *ntconv.Event, *role, func(*CounterValue)) // nil if the events hold no counters
	kind       string
	projection *schema.Projection
	columns    int
}

// Read calls emit for each value in an event, in the order of the event. The Value is borrowed until emit returns. Call
// Read for all events in time order, because the values of an instrument depend on earlier events. Read borrows the
// event. An event without values usually costs one comparison.
func (r *CounterReader) Read(e *ntconv.Event, emit func(*CounterValue)) {
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

// Reads reports whether events with the type and version of e may hold values or describe instruments. Read ignores all
// other events.
func (r *CounterReader) Reads(e *ntconv.Event) bool {
	return e.Kind == ntconv.KindEvent && r.roleOf(r.table.Of(e)).read != nil
}

// roleOf returns the role of a schema, which it caches.
func (r *CounterReader) roleOf(s *schema.Schema) *role {
	known := r.roles[s]
	if known == nil {
		known = newRole(s)
		r.roles[s] = known
	}
	return known
}

// newRole returns the role of a schema, without read if its events hold no counters.
func newRole(s *schema.Schema) *role {
	c := &role{}
	var paths []string
	switch {
	case s.Name == "EventCounters":
		c.read, paths = (*CounterReader).eventCounter, eventCounterFields[:]
		if c.kind = KindMean; s.Lookup(schema.Path{"Payload", "Increment"}) != nil {
			c.kind = KindSum
		} else if s.Lookup(schema.Path{"Payload", "Mean"}) == nil {
			return &role{}
		}
	case s.Provider != metricsProvider:
		return c
	case s.Name == "CollectionStart":
		c.read, paths = (*CounterReader).collection, collectionFields[:]
	case s.Name == "BeginInstrumentReporting":
		c.read, paths = (*CounterReader).instrument, instrumentFields[:]
	default:
		for _, m := range published {
			if m.event == s.Name {
				c.read, c.kind, paths = (*CounterReader).metric, m.kind, metricFields[:]
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

// published lists the events of the metrics event source that hold values.
var published = [...]struct{ event, kind string }{
	{"CounterRateValuePublished", KindCounter},
	{"UpDownCounterRateValuePublished", KindUpDownCounter},
	{"GaugeValuePublished", KindGauge},
	{"HistogramValuePublished", KindHistogram},
}

// text returns a field of the current event as a string, "" if the payload does not contain it. Short strings are
// interned.
func (r *CounterReader) text(column int) string {
	v := &r.fields[column]
	if v.Kind() == ntconv.ValueNull || v.Kind() == ntconv.ValueError {
		return ""
	}
	r.buf = v.AppendString(r.buf[:0])
	if len(r.buf) > maxStringBytes {
		return string(r.buf)
	}
	s, ok := r.strings[string(r.buf)]
	if !ok {
		if len(r.strings) == maxStrings {
			clear(r.strings)
		}
		s = string(r.buf)
		r.strings[s] = s
	}
	return s
}

// tagsOf returns the tags in a field of the current event, which splits them with '='.
func (r *CounterReader) tagsOf(column int) []CounterTag {
	text := r.text(column)
	if text == "" || len(text) > maxStringBytes {
		return splitTags(text, '=')
	}
	list, known := r.tags[text]
	if !known {
		if len(r.tags) == maxStrings {
			clear(r.tags)
		}
		list = splitTags(text, '=')
		r.tags[text] = list[:len(list):len(list)] // so that appending copies
	}
	return list
}

// has reports whether the payload contains a field.
func (r *CounterReader) has(column int) bool {
	k := r.fields[column].Kind()
	return k != ntconv.ValueNull && k != ntconv.ValueError
}

// number returns a field as a number, which may be stored as a string. It returns false if the field is not a number.
func (r *CounterReader) number(column int) (float64, bool) {
	switch v := &r.fields[column]; v.Kind() {
	case ntconv.ValueFloat:
		return v.Float(), true
	case ntconv.ValueInt:
		return float64(v.Int()), true
	case ntconv.ValueUint:
		return float64(v.Uint()), true
	case ntconv.ValueString:
		r.buf = v.AppendString(r.buf[:0])
		if n, ok := parseInteger(r.buf); ok && n > -1<<53 && n < 1<<53 {
			return float64(n), true
		}
		if len(r.buf) == 0 { // frequent: no measurement
			return 0, false
		}
		f, err := strconv.ParseFloat(string(r.buf), 64)
		return f, err == nil
	}
	return 0, false
}

// integer sets the members of r.value for a field that is stated as an integer.
func (r *CounterReader) integer(column int) {
	r.value.Integer, r.value.Exact = false, 0
	if v := &r.fields[column]; v.Kind() == ntconv.ValueString {
		r.buf = v.AppendString(r.buf[:0])
		r.value.Exact, r.value.Integer = parseInteger(r.buf)
	}
}

// parseInteger is strconv.ParseInt without an error, which would allocate: most numbers are not integers.
func parseInteger(b []byte) (n int64, ok bool) {
	digits := b
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		digits = b[1:]
	}
	if len(digits) == 0 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0') // if it overflows, ParseInt decides
	}
	if len(digits) > 18 {
		n, err := strconv.ParseInt(string(b), 10, 64)
		return n, err == nil
	}
	if b[0] == '-' {
		n = -n
	}
	return n, true
}

// interval returns the time between two fields, or the zero value if they are not times in order.
func (r *CounterReader) interval(from, to int) (c collected) {
	a, okA := r.time(from)
	b, okB := r.time(to)
	if !okA || !okB || b.Before(a) {
		return c
	}
	return collected{a, b}
}

func (r *CounterReader) time(column int) (time.Time, bool) {
	switch v := &r.fields[column]; v.Kind() {
	case ntconv.ValueTime:
		return v.Time(), true
	case ntconv.ValueString:
		t, err := time.Parse(time.RFC3339Nano, v.String())
		return t, err == nil
	}
	return time.Time{}, false
}

// put emits a statistic of r.value, whose other members the caller has set.
func (r *CounterReader) put(statistic string, value float64, ok bool, emit func(*CounterValue)) {
	r.value.Statistic, r.value.Value, r.value.OK = statistic, value, ok
	if !ok {
		r.value.Value = 0
	}
	emit(&r.value)
}
