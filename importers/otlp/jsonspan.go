package otlp

import (
	"slices"

	"github.com/ntconv/ntconv/internal/span"
)

// set stores v in *dst if ok is true, and returns ok.
func set[T any](dst *T, v T, ok bool) bool {
	if ok {
		*dst = v
	}
	return ok
}

// strJSON decodes a string whose defect does not justify dropping the message.
func (d *decoder) strJSON(name string) string {
	s, ok := d.json.str()
	if !ok {
		d.corrupt(name + " is not a string")
	}
	return d.valid(s)
}

func (d *decoder) setString(dst *string) bool {
	s, ok := d.json.str()
	*dst = d.valid(s)
	return ok
}

func (d *decoder) setUint32(dst *uint32) bool {
	v, ok := d.json.uint32()
	return set(dst, v, ok)
}

func (d *decoder) setUint64(dst *uint64) bool {
	v, ok := d.json.uint()
	return set(dst, v, ok)
}

func (d *decoder) setHex(dst []byte, size *int) bool {
	v, ok := d.json.hex(dst)
	*size = v
	return ok
}

// unknownJSON counts a member that OTLP does not define and skips its value. It returns true: the object is valid.
func (d *decoder) unknownJSON(name string) bool {
	d.unknown(name)
	d.json.Skip()
	return true
}

// eachJSON calls f for the elements of a list that there is room for, and skips the others.
func (d *decoder) eachJSON(f func() bool) bool {
	return d.json.elems(func() bool {
		if !d.room() {
			d.json.Skip()
			return true
		}
		return f()
	})
}

// spanJSON decodes an element of spans into d.s. It returns false and counts the span if it is invalid.
func (d *decoder) spanJSON(text []byte) bool {
	d.json.reset(text)
	var ids idLengths
	ok := true
	return d.json.members(func(key string) bool {
		if !d.spanFieldJSON(key, &ids) && ok {
			ok = false
			d.skip(key + " is not valid")
		}
		return ok
	}) && d.finish(ids)
}

// spanFieldJSON decodes a field of a span. It returns false if the value is invalid; an unknown field is valid and
// counted.
func (d *decoder) spanFieldJSON(key string, ids *idLengths) bool {
	s := &d.s
	switch key {
	case "traceId", "trace_id":
		return d.setHex(s.TraceID[:], &ids.trace)
	case "spanId", "span_id":
		return d.setHex(s.ID[:], &ids.span)
	case "parentSpanId", "parent_span_id":
		return d.setHex(s.ParentID[:], &ids.parent)
	case "traceState", "trace_state":
		return d.setString(&s.TraceState)
	case "name":
		return d.setString(&s.Name)
	case "kind":
		k, ok := d.enum(kindNames)
		return set(&s.Kind, span.Kind(k), ok)
	case "startTimeUnixNano", "start_time_unix_nano":
		return d.setUint64(&s.Start)
	case "endTimeUnixNano", "end_time_unix_nano":
		return d.setUint64(&s.End)
	case "attributes":
		return d.attributesJSON(&d.own, d.limits.Depth)
	case "droppedAttributesCount", "dropped_attributes_count":
		return d.setUint32(&s.DroppedAttributes)
	case "droppedEventsCount", "dropped_events_count":
		return d.setUint32(&s.DroppedEvents)
	case "droppedLinksCount", "dropped_links_count":
		return d.setUint32(&s.DroppedLinks)
	case "flags":
		return d.setUint32(&s.Flags)
	case "events":
		return d.eachJSON(d.eventJSON)
	case "links":
		return d.eachJSON(d.linkJSON)
	case "status":
		return d.statusJSON()
	}
	return d.unknownJSON("span." + key)
}

// kindNames and statusNames are the names of enum values in trace.proto. OTLP/JSON uses numbers only, but protojson
// writes names.
var (
	kindNames   = []string{"SPAN_KIND_UNSPECIFIED", "SPAN_KIND_INTERNAL", "SPAN_KIND_SERVER", "SPAN_KIND_CLIENT", "SPAN_KIND_PRODUCER", "SPAN_KIND_CONSUMER"}
	statusNames = []string{"STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"}
)

// enum decodes a number, or a name from names.
func (d *decoder) enum(names []string) (int32, bool) {
	kind, s := d.json.raw()
	if v, ok := parseInt(kind, s); ok {
		return int32(v), int64(int32(v)) == v
	}
	i := slices.Index(names, s)
	return int32(max(i, 0)), i >= 0
}

func (d *decoder) statusJSON() bool {
	if d.json.null() {
		return true
	}
	d.s.HasStatus = true
	return d.json.members(func(key string) bool {
		switch key {
		case "message":
			return d.setString(&d.s.StatusMessage)
		case "code":
			c, ok := d.enum(statusNames)
			return set(&d.s.Status, span.StatusCode(c), ok)
		}
		return d.unknownJSON("status." + key)
	})
}

func (d *decoder) eventJSON() bool {
	var e span.Event
	from := len(d.attributes)
	ok := d.json.members(func(key string) bool {
		switch key {
		case "timeUnixNano", "time_unix_nano":
			return d.setUint64(&e.Time)
		case "name":
			return d.setString(&e.Name)
		case "attributes":
			return d.attributesJSON(&d.attributes, d.limits.Depth)
		case "droppedAttributesCount", "dropped_attributes_count":
			return d.setUint32(&e.DroppedAttributes)
		}
		return d.unknownJSON("event." + key)
	})
	e.Attributes = d.attributes[from:len(d.attributes):len(d.attributes)]
	d.s.Events = append(d.s.Events, e)
	return ok
}

func (d *decoder) linkJSON() bool {
	var l span.Link
	var ids idLengths
	from := len(d.attributes)
	ok := d.json.members(func(key string) bool {
		switch key {
		case "traceId", "trace_id":
			return d.setHex(l.TraceID[:], &ids.trace)
		case "spanId", "span_id":
			return d.setHex(l.ID[:], &ids.span)
		case "traceState", "trace_state":
			return d.setString(&l.TraceState)
		case "attributes":
			return d.attributesJSON(&d.attributes, d.limits.Depth)
		case "droppedAttributesCount", "dropped_attributes_count":
			return d.setUint32(&l.DroppedAttributes)
		case "flags":
			return d.setUint32(&l.Flags)
		}
		return d.unknownJSON("link." + key)
	})
	l.Attributes = d.attributes[from:len(d.attributes):len(d.attributes)]
	d.link(l, ids)
	return ok
}

// attributesJSON appends a list of KeyValue to *dst.
func (d *decoder) attributesJSON(dst *[]span.Attribute, depth int) bool {
	return d.eachJSON(func() bool {
		var a span.Attribute
		ok := d.json.members(func(key string) (ok bool) {
			switch {
			case key == "key":
				return d.setString(&a.Key)
			case (key == "keyStrindex" || key == "key_strindex") && d.profiles.dict != nil:
				n, ok := d.json.bits()
				return set(&a.Key, d.profiles.dict.reference(n), ok)
			case key != "value":
				return d.unknownJSON("attribute." + key)
			case d.json.null():
				return true
			}
			a.Value, ok = d.anyValueJSON(depth)
			return ok
		})
		*dst = append(*dst, a)
		return ok
	})
}

// anyValueJSON decodes an AnyValue with at most depth levels of arrays and key-value lists.
func (d *decoder) anyValueJSON(depth int) (v span.Value, ok bool) {
	v = span.Empty()
	ok = d.json.members(func(key string) (ok bool) {
		if d.json.null() {
			return true
		}
		v, ok = d.valueJSON(v, key, depth)
		return ok
	})
	return v, ok
}

// valueJSON decodes a field of an AnyValue. It returns v for an unknown field.
func (d *decoder) valueJSON(v span.Value, key string, depth int) (span.Value, bool) {
	switch key {
	case "stringValue", "string_value":
		s, ok := d.json.str()
		return span.String(d.valid(s)), ok
	case "boolValue", "bool_value":
		b, ok := d.json.bool()
		return span.Bool(b), ok
	case "intValue", "int_value":
		i, ok := d.json.int()
		return span.Int(i), ok
	case "doubleValue", "double_value":
		f, ok := d.json.float()
		return span.Float(f), ok
	case "bytesValue", "bytes_value":
		b, ok := d.json.base64()
		return span.Bytes(b), ok
	case "stringValueStrindex", "string_value_strindex":
		if dict := d.profiles.dict; dict != nil {
			n, ok := d.json.bits()
			return span.String(dict.reference(n)), ok
		}
	case "arrayValue", "array_value", "kvlistValue", "kvlist_value":
		if depth == 0 {
			d.json.Skip()
			return d.tooDeep(), true
		}
		if key[0] == 'a' {
			return d.elemsJSON(depth - 1)
		}
		return d.membersJSON(depth - 1)
	}
	return v, d.unknownJSON("value." + key)
}

// elemsJSON decodes an ArrayValue.
func (d *decoder) elemsJSON(depth int) (v span.Value, ok bool) {
	var elems []span.Value
	ok = d.json.members(func(key string) bool {
		if key != "values" {
			return d.unknownJSON("arrayValue." + key)
		}
		return d.eachJSON(func() bool {
			v, ok := span.Empty(), true
			if !d.json.null() {
				v, ok = d.anyValueJSON(depth)
			}
			elems = append(elems, v)
			return ok
		})
	})
	return span.Array(elems), ok
}

// membersJSON decodes a KeyValueList.
func (d *decoder) membersJSON(depth int) (v span.Value, ok bool) {
	var members []span.Attribute
	ok = d.json.members(func(key string) bool {
		if key != "values" {
			return d.unknownJSON("kvlistValue." + key)
		}
		return d.attributesJSON(&members, depth)
	})
	return span.Map(members), ok
}

// resourceJSON decodes a resource.
func (d *decoder) resourceJSON(r *span.Resource, text []byte) bool {
	d.json.reset(text)
	if d.json.null() {
		return true
	}
	r.Absent = false
	d.begins()
	return d.json.members(func(key string) bool {
		switch key {
		case "attributes":
			return d.attributesJSON(&r.Attributes, d.limits.Depth)
		case "droppedAttributesCount", "dropped_attributes_count":
			return d.setUint32(&r.DroppedAttributes)
		case "entityRefs", "entity_refs":
			return d.eachJSON(func() bool {
				var e span.Entity
				ok := d.entityJSON(&e)
				r.Entities = append(r.Entities, e)
				return ok
			})
		}
		return d.unknownJSON("resource." + key)
	})
}

func (d *decoder) entityJSON(e *span.Entity) bool {
	strings := func(dst *[]string) bool {
		return d.json.elems(func() bool {
			var s string
			ok := d.setString(&s)
			*dst = append(*dst, s)
			return ok
		})
	}
	return d.json.members(func(key string) bool {
		switch key {
		case "schemaUrl", "schema_url":
			return d.setString(&e.SchemaURL)
		case "type":
			return d.setString(&e.Type)
		case "idKeys", "id_keys":
			return strings(&e.IDKeys)
		case "descriptionKeys", "description_keys":
			return strings(&e.DescriptionKeys)
		}
		return d.unknownJSON("entityRef." + key)
	})
}

// scopeJSON decodes a scope.
func (d *decoder) scopeJSON(s *span.Scope, text []byte) bool {
	d.json.reset(text)
	if d.json.null() {
		return true
	}
	s.Absent = false
	d.begins()
	return d.json.members(func(key string) bool {
		switch key {
		case "name":
			return d.setString(&s.Name)
		case "version":
			return d.setString(&s.Version)
		case "attributes":
			return d.attributesJSON(&s.Attributes, d.limits.Depth)
		case "droppedAttributesCount", "dropped_attributes_count":
			return d.setUint32(&s.DroppedAttributes)
		}
		return d.unknownJSON("scope." + key)
	})
}
