package stored

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
)

// Spans is the kind of spans. Their events are at the time of their end.
//
// An Encoder encodes Context, ParentID, TraceState, Flags, Name, Kind, times, attributes, events, links, dropped counts,
// status, Scope and Resource. A Decoder also sets Process, Thread and EndThread.
var Spans = &Kind[span.Span]{
	Name: "Span",
	ID:   1,
	Head: []ntconv.Field{
		Text("name"), Scalar("kind", ntconv.TypeVarInt), Text("parentSpanId"), Text("traceState"), Scalar("flags", ntconv.TypeUint32),
		Scalar("startTimeUnixNano", ntconv.TypeUint64), Scalar("endTimeUnixNano", ntconv.TypeUint64),
		Scalar("statusCode", ntconv.TypeVarInt), Text("statusMessage"), Scalar("hasStatus", ntconv.TypeVarUint),
	},
	Lists: []ntconv.Field{
		Attributes(),
		Dropped("Attributes"),
		List("events", Scalar("timeUnixNano", ntconv.TypeUint64), Text("name"), Attributes(), Dropped("Attributes")),
		Dropped("Events"),
		List(
			"links",
			Text("traceId"),
			Text("spanId"),
			Text("traceState"),
			Scalar("flags", ntconv.TypeUint32),
			Attributes(),
			Dropped("Attributes"),
		),
		Dropped("Links"),
	},
	WriteHead:  writeSpanHead,
	WriteLists: writeSpanLists,
	Abridge:    func(s *span.Span) span.Span { return span.Span{Attributes: Abridged(s.Attributes)} },
	ReadHead:   readSpanHead,
	ReadLists:  readSpanLists,
	Reset:      func(s *span.Span) span.Span { return span.Span{Events: s.Events[:0], Links: s.Links[:0]} },
	Origin: func(s *span.Span) Origin {
		return Origin{&s.Context, &s.Scope, &s.Resource, &s.Process, [2]**ntconv.Thread{&s.Thread, &s.EndThread}}
	},
}

func writeSpanHead(p *Payload, s *span.Span, size int) {
	p.Text(Cut(s.Name, size))
	p.Varint(int64(s.Kind))
	p.ID(s.ParentID[:], s.ParentID.IsZero())
	p.Text(Cut(s.TraceState, size))
	p.Uint32(s.Flags)
	p.Uint64(s.Start)
	p.Uint64(s.End)
	p.Varint(int64(s.Status))
	p.Text(Cut(s.StatusMessage, size))
	p.Flag(s.HasStatus || s.Status != 0 || s.StatusMessage != "")
}

func readSpanHead(c *Cursor, s *span.Span) {
	s.Name = c.Text()
	s.Kind = span.Kind(c.Enum())
	c.ID(s.ParentID[:])
	s.TraceState = c.Text()
	s.Flags = c.Uint32()
	s.Start, s.End = c.Uint64(), c.Uint64()
	s.Status = span.StatusCode(c.Enum())
	s.StatusMessage = c.Text()
	s.HasStatus = c.Flag()
}

func writeSpanLists(p *Payload, s *span.Span) {
	p.Attributes(s.Attributes, s.DroppedAttributes)
	p.Count(len(s.Events))
	for i := range s.Events {
		e := &s.Events[i]
		p.Uint64(e.Time)
		p.Text(e.Name)
		p.Attributes(e.Attributes, e.DroppedAttributes)
	}
	p.Varuint(uint64(s.DroppedEvents))
	p.Count(len(s.Links))
	for i := range s.Links {
		l := &s.Links[i]
		p.ID(l.TraceID[:], l.TraceID.IsZero())
		p.ID(l.ID[:], l.ID.IsZero())
		p.Text(l.TraceState)
		p.Uint32(l.Flags)
		p.Attributes(l.Attributes, l.DroppedAttributes)
	}
	p.Varuint(uint64(s.DroppedLinks))
}

func readSpanLists(c *Cursor, s *span.Span) {
	s.Attributes, s.DroppedAttributes = c.Attributes()
	for n := c.Count(); n > 0 && !c.failed; n-- {
		e := span.Event{Time: c.Uint64(), Name: c.Text()}
		e.Attributes, e.DroppedAttributes = c.Attributes()
		s.Events = append(s.Events, e)
	}
	s.DroppedEvents = c.Small()
	for n := c.Count(); n > 0 && !c.failed; n-- {
		var l span.Link
		c.ID(l.TraceID[:])
		c.ID(l.ID[:])
		l.TraceState = c.Text()
		l.Flags = c.Uint32()
		l.Attributes, l.DroppedAttributes = c.Attributes()
		s.Links = append(s.Links, l)
	}
	s.DroppedLinks = c.Small()
}
