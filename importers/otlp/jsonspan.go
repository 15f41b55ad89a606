package otlp

import (
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
func (d *decoder) strJSON(n node, name string) string {
	s, ok := n.str()
	if !ok {
		d.corrupt(name + " is not a string")
	}
	return d.valid(s)
}

func (d *decoder) setString(dst *string, n node) bool {
	s, ok := n.str()
	*dst = d.valid(s)
	return ok
}

func setUint32(dst *uint32, n node) bool {
	v, ok := n.uint32()
	return set(dst, v, ok)
}

func setUint64(dst *uint64, n node) bool {
	v, ok := n.uint()
	return set(dst, v, ok)
}

func setHex(dst []byte, size *int, n node) bool {
	v, ok := n.hex(dst)
	*size = v
	return ok
}

// spanJSON decodes an element of spans into d.s. It returns false and counts the span if it is invalid.
func (d *decoder) spanJSON(n node) bool {
	d.reset()
	var ids idLengths
	ok := n.kind() == '{'
	it := n.share(&d.scan).members()
	for {
		name, value, more := it.nextMember()
		if !more {
			break
		}
		if key := name.raw(); !d.spanFieldJSON(key, value, &ids) && ok {
			ok = false
			d.skip(key + " is not valid")
		}
	}
	return ok && d.finish(ids)
}

// spanFieldJSON decodes a field of a span. It returns false if the value is invalid; an unknown field is valid and
// counted.
func (d *decoder) spanFieldJSON(key string, v node, ids *idLengths) bool {
	s := &d.s
	switch key {
	case "traceId", "trace_id":
		return setHex(s.TraceID[:], &ids.trace, v)
	case "spanId", "span_id":
		return setHex(s.ID[:], &ids.span, v)
	case "parentSpanId", "parent_span_id":
		return setHex(s.ParentID[:], &ids.parent, v)
	case "traceState", "trace_state":
		return d.setString(&s.TraceState, v)
	case "name":
		return d.setString(&s.Name, v)
	case "kind":
		k, ok := d.enum(v, kindNames)
		return set(&s.Kind, span.Kind(k), ok)
	case "startTimeUnixNano", "start_time_unix_nano":
		return setUint64(&s.Start, v)
	case "endTimeUnixNano", "end_time_unix_nano":
		return setUint64(&s.End, v)
	case "attributes":
		var ok bool
		d.own, ok = d.attributesJSON(d.own, v, d.limits.Depth)
		return ok
	case "droppedAttributesCount", "dropped_attributes_count":
		return setUint32(&s.DroppedAttributes, v)
	case "droppedEventsCount", "dropped_events_count":
		return setUint32(&s.DroppedEvents, v)
	case "droppedLinksCount", "dropped_links_count":
		return setUint32(&s.DroppedLinks, v)
	case "flags":
		return setUint32(&s.Flags, v)
	case "events":
		return eachElem(v, d.eventJSON)
	case "links":
		return eachElem(v, d.linkJSON)
	case "status":
		return d.statusJSON(v)
	}
	d.unknown("span." + key)
	return true
}

// eachElem calls f for the elements of a list. It returns true if n is a list or null and all calls returned true.
func eachElem(n node, f func(node) bool) bool {
	ok := n.kind() == '[' || n.kind() == 'n'
	it := n.elems()
	for {
		elem, more := it.next()
		if !more {
			return ok
		}
		ok = f(elem) && ok
	}
}

// eachMember calls f for the members of an object. It returns true if n is an object and all calls returned true.
func eachMember(n node, f func(key string, v node) bool) bool {
	ok := n.kind() == '{'
	it := n.members()
	for {
		name, value, more := it.nextMember()
		if !more {
			return ok
		}
		ok = f(name.raw(), value) && ok
	}
}

// kindNames and statusNames are the names of enum values in trace.proto. OTLP/JSON uses numbers only, but protojson
// writes names.
var (
	kindNames = []string{
		"SPAN_KIND_UNSPECIFIED", "SPAN_KIND_INTERNAL", "SPAN_KIND_SERVER", "SPAN_KIND_CLIENT", "SPAN_KIND_PRODUCER", "SPAN_KIND_CONSUMER",
	}
	statusNames = []string{"STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"}
)

// enum decodes a number, or a name from names.
func (d *decoder) enum(n node, names []string) (int32, bool) {
	v, ok := n.int()
	if ok {
		return int32(v), int64(int32(v)) == v
	}
	s := n.raw()
	for i, name := range names {
		if s == name {
			return int32(i), true
		}
	}
	return 0, false
}

func (d *decoder) statusJSON(n node) bool {
	if n.kind() == 'n' {
		return true
	}
	d.s.HasStatus = true
	return eachMember(n, func(key string, v node) bool {
		switch key {
		case "message":
			return d.setString(&d.s.StatusMessage, v)
		case "code":
			c, ok := d.enum(v, statusNames)
			return set(&d.s.Status, span.StatusCode(c), ok)
		}
		d.unknown("status." + key)
		return true
	})
}

func (d *decoder) eventJSON(n node) bool {
	if !d.room() {
		return true
	}
	var e span.Event
	from := len(d.attributes)
	ok := eachMember(n, func(key string, v node) (ok bool) {
		switch key {
		case "timeUnixNano", "time_unix_nano":
			return setUint64(&e.Time, v)
		case "name":
			return d.setString(&e.Name, v)
		case "attributes":
			d.attributes, ok = d.attributesJSON(d.attributes, v, d.limits.Depth)
			return ok
		case "droppedAttributesCount", "dropped_attributes_count":
			return setUint32(&e.DroppedAttributes, v)
		}
		d.unknown("event." + key)
		return true
	})
	e.Attributes = d.attributes[from:len(d.attributes):len(d.attributes)]
	d.s.Events = append(d.s.Events, e)
	return ok
}

func (d *decoder) linkJSON(n node) bool {
	if !d.room() {
		return true
	}
	var l span.Link
	var ids idLengths
	from := len(d.attributes)
	ok := eachMember(n, func(key string, v node) (ok bool) {
		switch key {
		case "traceId", "trace_id":
			return setHex(l.TraceID[:], &ids.trace, v)
		case "spanId", "span_id":
			return setHex(l.ID[:], &ids.span, v)
		case "traceState", "trace_state":
			return d.setString(&l.TraceState, v)
		case "attributes":
			d.attributes, ok = d.attributesJSON(d.attributes, v, d.limits.Depth)
			return ok
		case "droppedAttributesCount", "dropped_attributes_count":
			return setUint32(&l.DroppedAttributes, v)
		case "flags":
			return setUint32(&l.Flags, v)
		}
		d.unknown("link." + key)
		return true
	})
	l.Attributes = d.attributes[from:len(d.attributes):len(d.attributes)]
	d.link(l, ids)
	return ok
}

// attributesJSON appends a list of KeyValue to dst.
func (d *decoder) attributesJSON(dst []span.Attribute, n node, depth int) ([]span.Attribute, bool) {
	ok := n.kind() == '[' || n.kind() == 'n'
	it := n.elems()
	for {
		elem, more := it.next()
		if !more {
			return dst, ok
		}
		if !d.room() {
			continue
		}
		a, valid := d.attributeJSON(elem, depth)
		dst, ok = append(dst, a), ok && valid
	}
}

func (d *decoder) attributeJSON(n node, depth int) (a span.Attribute, ok bool) {
	ok = n.kind() == '{'
	it := n.members()
	for {
		name, value, more := it.nextMember()
		if !more {
			return a, ok
		}
		switch key := name.raw(); key {
		case "key":
			ok = d.setString(&a.Key, value) && ok
		case "value":
			if value.kind() != 'n' {
				var valid bool
				a.Value, valid = d.anyValueJSON(value, depth)
				ok = ok && valid
			}
		default:
			d.unknown("attribute." + key)
		}
	}
}

// anyValueJSON decodes an AnyValue with at most depth levels of arrays and key-value lists.
func (d *decoder) anyValueJSON(n node, depth int) (v span.Value, ok bool) {
	v, ok = span.Empty(), n.kind() == '{'
	it := n.members()
	for {
		name, value, more := it.nextMember()
		if !more {
			return v, ok
		}
		if value.kind() == 'n' {
			continue
		}
		var valid bool
		v, valid = d.valueJSON(v, name.raw(), value, depth)
		ok = ok && valid
	}
}

// valueJSON decodes a field of an AnyValue. It returns v for an unknown field.
func (d *decoder) valueJSON(v span.Value, key string, n node, depth int) (span.Value, bool) {
	switch key {
	case "stringValue", "string_value":
		s, ok := n.str()
		return span.String(d.valid(s)), ok
	case "boolValue", "bool_value":
		b, ok := n.bool()
		return span.Bool(b), ok
	case "intValue", "int_value":
		i, ok := n.int()
		return span.Int(i), ok
	case "doubleValue", "double_value":
		f, ok := n.float()
		return span.Float(f), ok
	case "bytesValue", "bytes_value":
		b, ok := n.base64()
		return span.Bytes(b), ok
	case "arrayValue", "array_value", "kvlistValue", "kvlist_value":
		if depth == 0 {
			return d.tooDeep(), true
		}
		if key[0] == 'a' {
			return d.elemsJSON(n, depth-1)
		}
		return d.membersJSON(n, depth-1)
	}
	d.unknown("value." + key)
	return v, true
}

// elemsJSON decodes an ArrayValue.
func (d *decoder) elemsJSON(n node, depth int) (v span.Value, ok bool) {
	var elems []span.Value
	ok = eachMember(n, func(key string, list node) bool {
		if key != "values" {
			d.unknown("arrayValue." + key)
			return true
		}
		return eachElem(list, func(n node) bool {
			if !d.room() {
				return true
			}
			v, ok := span.Empty(), true
			if n.kind() != 'n' {
				v, ok = d.anyValueJSON(n, depth)
			}
			elems = append(elems, v)
			return ok
		})
	})
	return span.Array(elems), ok
}

// membersJSON decodes a KeyValueList.
func (d *decoder) membersJSON(n node, depth int) (v span.Value, ok bool) {
	var members []span.Attribute
	ok = eachMember(n, func(key string, list node) (ok bool) {
		if key != "values" {
			d.unknown("kvlistValue." + key)
			return true
		}
		members, ok = d.attributesJSON(members, list, depth)
		return ok
	})
	return span.Map(members), ok
}

// resourceJSON decodes a resource.
func (d *decoder) resourceJSON(r *span.Resource, n node) bool {
	if n.kind() == 'n' {
		return true
	}
	r.Absent, d.elements = false, 0
	return eachMember(n.share(&d.scan), func(key string, v node) (ok bool) {
		switch key {
		case "attributes":
			r.Attributes, ok = d.attributesJSON(r.Attributes, v, d.limits.Depth)
			return ok
		case "droppedAttributesCount", "dropped_attributes_count":
			return setUint32(&r.DroppedAttributes, v)
		case "entityRefs", "entity_refs":
			return eachElem(v, func(n node) bool {
				if !d.room() {
					return true
				}
				var e span.Entity
				ok := d.entityJSON(&e, n)
				r.Entities = append(r.Entities, e)
				return ok
			})
		}
		d.unknown("resource." + key)
		return true
	})
}

func (d *decoder) entityJSON(e *span.Entity, n node) bool {
	strings := func(dst *[]string, v node) bool {
		return eachElem(v, func(n node) bool {
			var s string
			ok := d.setString(&s, n)
			*dst = append(*dst, s)
			return ok
		})
	}
	return eachMember(n, func(key string, v node) bool {
		switch key {
		case "schemaUrl", "schema_url":
			return d.setString(&e.SchemaURL, v)
		case "type":
			return d.setString(&e.Type, v)
		case "idKeys", "id_keys":
			return strings(&e.IDKeys, v)
		case "descriptionKeys", "description_keys":
			return strings(&e.DescriptionKeys, v)
		}
		d.unknown("entityRef." + key)
		return true
	})
}

// scopeJSON decodes a scope.
func (d *decoder) scopeJSON(s *span.Scope, n node) bool {
	if n.kind() == 'n' {
		return true
	}
	s.Absent, d.elements = false, 0
	return eachMember(n.share(&d.scan), func(key string, v node) (ok bool) {
		switch key {
		case "name":
			return d.setString(&s.Name, v)
		case "version":
			return d.setString(&s.Version, v)
		case "attributes":
			s.Attributes, ok = d.attributesJSON(s.Attributes, v, d.limits.Depth)
			return ok
		case "droppedAttributesCount", "dropped_attributes_count":
			return setUint32(&s.DroppedAttributes, v)
		}
		d.unknown("scope." + key)
		return true
	})
}
