package spangen

import (
	"github.com/ntconv/ntconv/internal/span"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// Proto returns a message with the spans. Consecutive spans with the same Resource form a group, and so do those with
// the same Scope.
func Proto(spans []*span.Span) *tracepb.TracesData {
	data := &tracepb.TracesData{}
	var rs *tracepb.ResourceSpans
	var ss *tracepb.ScopeSpans
	for i, s := range spans {
		if i == 0 || s.Resource != spans[i-1].Resource {
			rs, ss = &tracepb.ResourceSpans{Resource: resource(s.Resource), SchemaUrl: s.Resource.SchemaURL}, nil
			data.ResourceSpans = append(data.ResourceSpans, rs)
		}
		if ss == nil || s.Scope != spans[i-1].Scope {
			ss = &tracepb.ScopeSpans{Scope: scope(s.Scope), SchemaUrl: s.Scope.SchemaURL}
			rs.ScopeSpans = append(rs.ScopeSpans, ss)
		}
		ss.Spans = append(ss.Spans, one(s))
	}
	return data
}

func one(s *span.Span) *tracepb.Span {
	p := &tracepb.Span{
		TraceId: s.TraceID[:], SpanId: s.ID[:], TraceState: s.TraceState, Flags: s.Flags, Name: s.Name, Kind: tracepb.Span_SpanKind(s.Kind),
		StartTimeUnixNano: s.Start, EndTimeUnixNano: s.End, Attributes: keyValues(s.Attributes), DroppedAttributesCount: s.DroppedAttributes,
		DroppedEventsCount: s.DroppedEvents, DroppedLinksCount: s.DroppedLinks,
	}
	if !s.ParentID.IsZero() {
		p.ParentSpanId = s.ParentID[:]
	}
	if s.HasStatus {
		p.Status = &tracepb.Status{Code: tracepb.Status_StatusCode(s.Status), Message: s.StatusMessage}
	}
	for _, e := range s.Events {
		p.Events = append(p.Events, &tracepb.Span_Event{
			TimeUnixNano: e.Time, Name: e.Name, Attributes: keyValues(e.Attributes), DroppedAttributesCount: e.DroppedAttributes,
		})
	}
	for _, l := range s.Links {
		p.Links = append(p.Links, &tracepb.Span_Link{
			TraceId: l.TraceID[:], SpanId: l.ID[:], TraceState: l.TraceState, Attributes: keyValues(l.Attributes),
			DroppedAttributesCount: l.DroppedAttributes, Flags: l.Flags,
		})
	}
	return p
}

func scope(s *span.Scope) *commonpb.InstrumentationScope {
	if s.Absent {
		return nil
	}
	return &commonpb.InstrumentationScope{
		Name: s.Name, Version: s.Version, Attributes: keyValues(s.Attributes), DroppedAttributesCount: s.DroppedAttributes,
	}
}

func resource(r *span.Resource) *resourcepb.Resource {
	if r.Absent {
		return nil
	}
	p := &resourcepb.Resource{Attributes: keyValues(r.Attributes), DroppedAttributesCount: r.DroppedAttributes}
	for _, e := range r.Entities {
		p.EntityRefs = append(p.EntityRefs, &commonpb.EntityRef{
			SchemaUrl: e.SchemaURL, Type: e.Type, IdKeys: e.IDKeys, DescriptionKeys: e.DescriptionKeys,
		})
	}
	return p
}

func keyValues(list []span.Attribute) (p []*commonpb.KeyValue) {
	for i := range list {
		kv := &commonpb.KeyValue{Key: list[i].Key}
		if list[i].Value.Kind() != span.ValueAbsent {
			kv.Value = anyValue(list[i].Value)
		}
		p = append(p, kv)
	}
	return p
}

func anyValue(v span.Value) *commonpb.AnyValue {
	p := &commonpb.AnyValue{}
	switch v.Kind() {
	case span.ValueString:
		p.Value = &commonpb.AnyValue_StringValue{StringValue: v.Str()}
	case span.ValueBool:
		p.Value = &commonpb.AnyValue_BoolValue{BoolValue: v.Bool()}
	case span.ValueInt:
		p.Value = &commonpb.AnyValue_IntValue{IntValue: v.Int()}
	case span.ValueFloat:
		p.Value = &commonpb.AnyValue_DoubleValue{DoubleValue: v.Float()}
	case span.ValueBytes:
		p.Value = &commonpb.AnyValue_BytesValue{BytesValue: []byte(v.Str())}
	case span.ValueArray:
		list := &commonpb.ArrayValue{}
		for _, e := range v.Elems() {
			list.Values = append(list.Values, anyValue(e))
		}
		p.Value = &commonpb.AnyValue_ArrayValue{ArrayValue: list}
	case span.ValueMap:
		p.Value = &commonpb.AnyValue_KvlistValue{KvlistValue: &commonpb.KeyValueList{Values: keyValues(v.Members())}}
	}
	return p
}

// FromProto is the inverse of Proto. It returns the spans of a message in order and omits spans without valid IDs.
func FromProto(data *tracepb.TracesData) (spans []*span.Span) {
	for _, rs := range data.ResourceSpans {
		r := resourceFrom(rs.Resource, rs.SchemaUrl)
		for _, ss := range rs.ScopeSpans {
			s := scopeFrom(ss.Scope, ss.SchemaUrl)
			for _, p := range ss.Spans {
				if one := fromSpan(p); one != nil {
					one.Resource, one.Scope = r, s
					spans = append(spans, one)
				}
			}
		}
	}
	return spans
}

func resourceFrom(p *resourcepb.Resource, url string) *span.Resource {
	r := &span.Resource{SchemaURL: url, Absent: p == nil}
	if p != nil {
		r.Attributes, r.DroppedAttributes = fromKeyValues(p.Attributes), p.DroppedAttributesCount
		for _, e := range p.EntityRefs {
			r.Entities = append(
				r.Entities,
				span.Entity{SchemaURL: e.SchemaUrl, Type: e.Type, IDKeys: e.IdKeys, DescriptionKeys: e.DescriptionKeys},
			)
		}
	}
	return r
}

func fromSpan(p *tracepb.Span) *span.Span {
	s := &span.Span{
		TraceState: p.TraceState, Flags: p.Flags, Name: p.Name, Kind: span.Kind(p.Kind), Start: p.StartTimeUnixNano, End: p.EndTimeUnixNano,
		Attributes: fromKeyValues(p.Attributes), DroppedAttributes: p.DroppedAttributesCount, DroppedEvents: p.DroppedEventsCount,
		DroppedLinks: p.DroppedLinksCount, HasStatus: p.Status != nil,
		Status: span.StatusCode(p.Status.GetCode()), StatusMessage: p.Status.GetMessage(),
	}
	if len(p.TraceId) != 16 || len(p.SpanId) != 8 || len(p.ParentSpanId) != 0 && len(p.ParentSpanId) != 8 {
		return nil
	}
	copy(s.TraceID[:], p.TraceId)
	copy(s.ID[:], p.SpanId)
	copy(s.ParentID[:], p.ParentSpanId)
	if s.TraceID.IsZero() || s.ID.IsZero() {
		return nil
	}
	for _, e := range p.Events {
		s.Events = append(s.Events, span.Event{
			Time: e.TimeUnixNano, Name: e.Name, Attributes: fromKeyValues(e.Attributes), DroppedAttributes: e.DroppedAttributesCount,
		})
	}
	for _, l := range p.Links {
		if len(l.TraceId) != 0 && len(l.TraceId) != 16 || len(l.SpanId) != 0 && len(l.SpanId) != 8 {
			continue
		}
		link := span.Link{
			TraceState: l.TraceState, Attributes: fromKeyValues(l.Attributes), DroppedAttributes: l.DroppedAttributesCount, Flags: l.Flags,
		}
		copy(link.TraceID[:], l.TraceId)
		copy(link.ID[:], l.SpanId)
		s.Links = append(s.Links, link)
	}
	return s
}

func fromKeyValues(list []*commonpb.KeyValue) (attributes []span.Attribute) {
	for _, kv := range list {
		a := span.Attribute{Key: kv.Key}
		if kv.Value != nil {
			a.Value = fromAnyValue(kv.Value)
		}
		attributes = append(attributes, a)
	}
	return attributes
}

func fromAnyValue(p *commonpb.AnyValue) span.Value {
	switch v := p.Value.(type) {
	case *commonpb.AnyValue_StringValue:
		return span.String(v.StringValue)
	case *commonpb.AnyValue_BoolValue:
		return span.Bool(v.BoolValue)
	case *commonpb.AnyValue_IntValue:
		return span.Int(v.IntValue)
	case *commonpb.AnyValue_DoubleValue:
		return span.Float(v.DoubleValue)
	case *commonpb.AnyValue_BytesValue:
		return span.Bytes(string(v.BytesValue))
	case *commonpb.AnyValue_ArrayValue:
		var elems []span.Value
		for _, e := range v.ArrayValue.GetValues() {
			elems = append(elems, fromAnyValue(e))
		}
		return span.Array(elems)
	case *commonpb.AnyValue_KvlistValue:
		return span.Map(fromKeyValues(v.KvlistValue.GetValues()))
	}
	return span.Empty()
}
