package firefox

import (
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/files/jsoncolumns"
	"github.com/ntconv/ntconv/internal/timeline"
)

// Marker phases (MarkerPhase in the Firefox Profiler's src/types/gecko-profile.ts).
const (
	phaseInstant  = "0"
	phaseInterval = "1"
)

// Limits of schemas: for each marker, a viewer searches all fields of its schema.
const (
	maxSchemas = 4096
	maxFields  = 1024
)

// A markerSchema describes the markers of a category, or of one event type. The file contains each schema once.
type markerSchema struct {
	name   string
	json   []byte // the name, quoted
	class  class
	fields []field
	index  map[uint32]int  // index in fields by key ID
	shapes map[uint32]bool // shapes whose fields have been added
	// Whether a marker of the schema has these members, which the exporter adds itself.
	unfinished, endThread bool
}

// A schemaKey identifies a schema. name is "" for categories whose markers share one schema.
type schemaKey struct{ category, name string }

// schemaOf returns the schema of an item and creates it on first use. Beyond maxSchemas, all further event types share
// one schema.
func (e *encoder) schemaOf(i *timeline.Item) *markerSchema {
	key := schemaKey{category: i.Category}
	c := classOf(i.Category)
	if !c.single {
		key.name = i.Name
	}
	if key == e.schemaKey && e.schema != nil {
		return e.schema
	}
	s := e.schemas[key]
	if s == nil && len(e.schemaList) >= maxSchemas {
		key = schemaKey{category: "events of other types"}
		s = e.schemas[key]
	}
	if s == nil {
		s = &markerSchema{name: key.category, class: c, index: make(map[uint32]int), shapes: make(map[uint32]bool)}
		if key.name != "" {
			s.name += "/" + key.name
		}
		var exact bool
		if s.json, exact = jsonio.AppendString(nil, s.name); !exact {
			e.args.replaced++
		}
		e.schemas[key], e.schemaList = s, append(e.schemaList, s)
	}
	e.schemaKey, e.schema = key, s
	return s
}

// add adds the fields of a shape. A key with values of several formats gets the format string.
func (s *markerSchema) add(a *argEncoder, shape uint32, fields []uint32) {
	if shape != 0 {
		if s.shapes[shape] {
			return
		}
		s.shapes[shape] = true
	}
	for _, id := range fields {
		f := a.fields[id]
		i, ok := s.index[f.key]
		switch {
		case ok && s.fields[i].format != f.format:
			s.fields[i].format = formatString
		case !ok && len(s.fields) < maxFields:
			s.index[f.key] = len(s.fields)
			s.fields = append(s.fields, f)
		}
	}
}

// marker adds a row to the marker table of a thread, and one to its allocations if the item is an allocation.
func (e *encoder) marker(i *timeline.Item) {
	h := e.thread(i.Track.Shown(), nil)
	s := e.schemaOf(i)
	shape, fields, members := e.args.decode(i.Encoded)
	s.add(e.args, shape, fields)

	data := h.columns[markerData]
	b := append(append(data.Begin(), `{"type":`...), s.json...)
	if i.Stack != timeline.NoStack {
		b = appendMillis(append(b, `,"cause":{"time":`...), i.Time)
		b = appendInt(append(b, `,"stack":`...), int64(e.stackOf(h, i.Stack)))
		b = append(b, '}')
	}
	if i.Unfinished {
		s.unfinished = true
		b = append(b, `,"`+timeline.ArgUnfinished+`":"no end in the trace"`...)
	}
	if i.EndThread != nil {
		s.endThread = true
		b = appendInt(append(b, `,"`+timeline.ArgEndThread+`":`...), int64(i.EndThread.TID))
	}
	data.End(append(append(b, members...), '}'))

	h.columns[markerName].Int(int64(e.strings.id(i.Name)))
	h.millis(markerStart, i.Time)
	if i.Kind == timeline.SliceBegin {
		h.millis(markerEnd, i.Time+i.Duration)
		h.columns[markerPhase].Text(phaseInterval)
	} else {
		h.null(markerEnd)
		h.columns[markerPhase].Text(phaseInstant)
	}
	h.columns[markerCategory].Int(int64(s.class.category))
	if i.Bytes > 0 {
		h.millis(allocationTime, i.Time)
		h.columns[allocationWeight].Int(i.Bytes)
		e.addStack(h, allocationStack, i.Stack)
	}
}

// write writes the schema.
func (s *markerSchema) write(w *jsoncolumns.Writer, a *argEncoder) {
	w.Text(`{"name":`)
	w.Bytes(s.json)
	w.Text(`,"display":["marker-chart","marker-table"`)
	if s.class.overview {
		w.Text(`,"timeline-overview"`)
	}
	w.Text(`],"chartLabel":"{marker.name}","tooltipLabel":"{marker.name}"`)
	s.writeLabel(w, a)
	w.Text(`,"fields":[`)
	open := ""
	member := func(key []byte, format string) {
		w.Text(open + `{"key":`)
		w.Bytes(key)
		w.Text(`,"format":"` + format + `"}`)
		open = ","
	}
	for _, f := range s.fields {
		json := a.keys[f.key].json
		member(json[:len(json)-1], formatNames[f.format])
	}
	if s.unfinished {
		member([]byte(`"`+timeline.ArgUnfinished+`"`), "string")
	}
	if s.endThread {
		member([]byte(`"`+timeline.ArgEndThread+`"`), "tid")
	}
	w.Text("]}")
}

// labelFields is the number of fields that the marker table shows per row.
const labelFields = 4

// writeLabel writes tableLabel, the fields that the marker table shows. A label cannot refer to a key with braces or a
// dot.
func (s *markerSchema) writeLabel(w *jsoncolumns.Writer, a *argEncoder) {
	label := ""
	n := 0
	for _, f := range s.fields {
		text := a.keys[f.key].text
		if n == labelFields {
			break
		}
		if !plainKey(text) || identifiers[text] {
			continue
		}
		if n > 0 {
			label += ", "
		}
		label += text + ": {marker.data." + text + "}"
		n++
	}
	if n > 0 {
		w.Text(`,"tableLabel":`)
		w.String(label)
	}
}

// identifiers are keys that a row of the marker table omits, because they are not useful to a reader.
var identifiers = map[string]bool{
	"trace_id": true, "span_id": true, "parent_span_id": true, "ClrInstanceID": true,
	"$activity_id": true, "$related_activity_id": true, "$trace_id": true, "$span_id": true,
}

// plainKey reports whether a label can refer to the key.
func plainKey(s string) bool {
	for _, c := range s {
		if c == '{' || c == '}' || c == '.' || c <= ' ' {
			return false
		}
	}
	return s != ""
}
