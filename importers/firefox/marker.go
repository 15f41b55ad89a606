package firefox

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// A markerTable holds the markers of a thread.
type markerTable struct {
	table
	name, category, phase []int32
	start, end            []int64
	time                  []int64 // of markers before version 21, which have no phase
	data                  raws
	shift                 int64 // of the times in data
	isGecko               bool
}

// Phases of markers (MarkerPhase in the Firefox Profiler).
const (
	phaseInstant = iota
	phaseInterval
	phaseStart
	phaseEnd
)

// readMarkers reads the marker table of a thread.
func (f *file) readMarkers(m *markerTable) (err error) {
	m.table, err = f.readTable([]column{
		{name: "name", ints: &m.name}, {name: "category", ints: &m.category}, {name: "phase", ints: &m.phase},
		{name: "startTime", times: &m.start}, {name: "endTime", times: &m.end}, {name: "time", times: &m.time}, {name: "data", values: &m.data},
	})
	m.isGecko = f.meta.version == 0
	if err != nil || m.rows == 0 {
		return err
	}
	if m.name == nil || m.start == nil && m.time == nil {
		return f.Corrupt("the table has no column name or no times")
	}
	return nil
}

// A marker is a row of a markerTable: an interval if lasts is set, otherwise an instant.
type marker struct {
	row         int
	at, until   int64
	lasts       bool
	data        []byte // JSON; nil if there is none
	category    int32
	isUnmatched bool
}

// addMarkers adds the markers of a thread. It pairs rows that begin and rows that end an interval by name, as the
// Firefox Profiler does.
func (f *file) addMarkers(t *thread) error {
	m := &t.markers
	begun := map[int32][]int{} // open rows by name
	for i := range m.rows {
		r, err := f.markerAt(m, i)
		if err != nil {
			return err
		}
		t.first, t.last = min(t.first, r.at), max(t.last, r.at, r.until)
	}
	for i := range m.rows {
		r, _ := f.markerAt(m, i)
		switch m.phaseOf(i) {
		case phaseStart:
			begun[m.name[i]] = append(begun[m.name[i]], i)
			continue
		case phaseEnd:
			open := begun[m.name[i]]
			if len(open) == 0 {
				r.at, r.until, r.lasts, r.isUnmatched = min(t.first, r.at), r.at, true, true
				break
			}
			start, _ := f.markerAt(m, open[len(open)-1])
			begun[m.name[i]] = open[:len(open)-1]
			start.until, start.lasts, start.data = max(r.at, start.at), true, mergeObjects(start.data, r.data)
			r = start
		}
		if err := f.addMarker(t, &r); err != nil {
			return err
		}
	}
	var open []int
	for _, rows := range begun {
		open = append(open, rows...)
	}
	slices.Sort(open)
	for _, i := range open {
		r, _ := f.markerAt(m, i)
		r.until, r.lasts, r.isUnmatched = t.last, true, true
		if err := f.addMarker(t, &r); err != nil {
			return err
		}
	}
	return nil
}

// phaseOf returns the phase of a row.
func (m *markerTable) phaseOf(i int) int32 {
	if phase := cell(m.phase, i); phase != none {
		return phase
	}
	switch _, _, interval := legacyTimes(m.data.at(i)); interval {
	case "start":
		return phaseStart
	case "end":
		return phaseEnd
	}
	return phaseInstant
}

// markerAt returns a row. For the start or end of an interval it returns an instant.
func (f *file) markerAt(m *markerTable, i int) (r marker, err error) {
	r = marker{row: i, data: m.data.at(i), category: cell(m.category, i)}
	if bytes.Equal(r.data, []byte("null")) {
		r.data = nil
	}
	if m.isGecko {
		r.data = withCause(r.data)
	}
	phase := m.phaseOf(i)
	start, end := int64(noTime), int64(noTime)
	if i < len(m.start) {
		start = m.start[i]
	}
	if i < len(m.end) {
		end = m.end[i]
	}
	if m.start == nil {
		start = m.time[i]
		if from, to, _ := legacyTimes(r.data); from != noTime && to != noTime {
			start, end, phase = from+m.shift, to+m.shift, phaseInterval
		}
	}
	switch phase {
	case phaseInstant, phaseStart:
	case phaseInterval:
		r.until, r.lasts = end, true
	case phaseEnd:
		if m.start != nil {
			start = end
		}
	default:
		return r, f.Fail(m.place, fmt.Errorf("%w: row %d of markers has phase %d", ntconv.ErrCorrupt, i, phase))
	}
	r.at = start
	if r.at == noTime || r.lasts && r.until == noTime {
		return r, f.Fail(m.place, fmt.Errorf("%w: row %d of markers has no time", ntconv.ErrCorrupt, i))
	}
	if f.meta.timeless {
		r.at, r.until = 0, 0
	}
	if r.lasts && r.until < r.at {
		r.until = r.at
		f.report.Note(ntconv.CodeRepaired, 1, m.place.Offset, "markers that end before they begin; they have no duration")
	}
	return r, nil
}

// The first byte of a record is its kind.
const (
	recordMarker = iota
	recordCounter
)

// addMarker adds the record of a marker.
func (f *file) addMarker(t *thread, r *marker) error {
	m := &t.markers
	if r.isUnmatched {
		f.report.Note(ntconv.CodeRepaired, 1, m.place.Offset, "markers without a start or an end; they last from the start or to the end of their thread")
	}
	node := imported.NoStack
	if stack, ok := causeOf(r.data); ok {
		var err error
		if node, err = f.node(t, "markers", r.row, stack, m.place); err != nil {
			return err
		}
	}
	b := append(f.scratch[:0], recordMarker)
	b = binary.AppendUvarint(b, uint64(len(f.threads)))
	b = binary.AppendVarint(b, int64(m.name[r.row]))
	b = binary.AppendVarint(b, int64(r.category))
	b = binary.AppendUvarint(b, uint64(node))
	duration := int64(-1)
	if r.lasts {
		duration = r.until - r.at
	}
	b = binary.AppendVarint(b, duration)
	f.scratch = append(b, r.data...)
	f.highestMarker(t, m.name[r.row])
	if err := f.b.Record(r.at, f.scratch); err != nil {
		return f.Fail(m.place, err)
	}
	return nil
}

// highestMarker updates the range of strings that name markers. checkMarkers validates it later, because the strings
// may follow.
func (f *file) highestMarker(t *thread, name int32) {
	t.markerName = max(t.markerName, name)
	t.markerPlace = t.markers.place
	t.markerLow = min(t.markerLow, name)
}

// checkMarkers validates the names of markers. All strings must have been read.
func (f *file) checkMarkers() error {
	for i, t := range f.threads {
		if n := len(f.stringsOf(t.tables)); int(t.markerName) >= n && t.markerPlace.Offset > 0 || t.markerLow < 0 {
			return f.Fail(t.markerPlace, fmt.Errorf("%w: a marker of thread %d has string %d as its name; there are %d", ntconv.ErrCorrupt, i, t.markerName, n))
		}
	}
	return nil
}

// events converts records to events.
type events struct {
	f       *file
	src     *imported.Source
	encoder *chromeevent.Encoder
	e       chromeevent.Event
	like    ntconv.Event
	args    []byte
	ids     []byte
}

func newEvents(f *file) *events { return &events{f: f, encoder: chromeevent.NewEncoder()} }

// next implements imported.Profile.Event.
func (e *events) next(at ntconv.Ticks, data []byte) (*ntconv.Event, error) {
	if data != nil {
		e.like = ntconv.Event{Kind: ntconv.KindEvent, CPU: ntconv.CPUUnknown, Offset: -1, Time: at}
		e.e = chromeevent.Event{Has: chromeevent.HasName | chromeevent.HasCategory | chromeevent.HasTime | chromeevent.HasPID | chromeevent.HasTID, Time: int64(at)}
		if data[0] == recordMarker {
			e.marker(data[1:])
		} else {
			e.counter(data[1:])
		}
		e.ids = fmt.Appendf(e.ids[:0], "%d", e.like.Thread.Process.PID)
		n := len(e.ids)
		e.ids = fmt.Appendf(e.ids, "%d", e.like.Thread.TID)
		e.e.PID, e.e.TID = e.ids[:n:n], e.ids[n:]
		e.encoder.Encode(&e.e, &e.like)
	}
	return e.encoder.Next(), nil
}

// marker sets e to the event of a marker record.
func (e *events) marker(b []byte) {
	next := func() int64 {
		v, n := binary.Varint(b)
		b = b[n:]
		return v
	}
	thread, n := binary.Uvarint(b)
	b = b[n:]
	t := e.f.threads[thread]
	name, category := next(), next()
	node, n := binary.Uvarint(b)
	b = b[n:]
	duration := next()
	e.like.Thread, e.like.Stack = t.thread, e.src.Stack(imported.Node(node))
	stringArray := e.f.stringsOf(t.tables)
	e.e.Name = stringArray[name]
	e.e.Category = "firefox"
	if category >= 0 && category < int64(len(e.f.meta.categories)) {
		e.e.Category = e.f.meta.categories[category]
	}
	if e.e.Phase = chromeevent.PhaseComplete; duration < 0 {
		e.e.Phase, e.e.Scope, e.e.Has = chromeevent.PhaseInstant, "t", e.e.Has|chromeevent.HasScope
	} else {
		e.e.Duration, e.e.Has = duration, e.e.Has|chromeevent.HasDuration
	}
	if len(b) > 0 {
		e.args = e.f.appendArgs(e.args[:0], b, stringArray)
		e.e.Args = e.args
	}
}
