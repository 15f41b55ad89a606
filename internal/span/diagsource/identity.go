package diagsource

import (
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
)

// isW3C reports whether an ID has the form 00-TRACEID-SPANID-FLAGS.
func isW3C(raw []byte) bool {
	return len(raw) == 2*55 && hasASCIIPrefix(raw, "00-") && raw[2*35] == '-' && raw[2*52] == '-'
}

// parseW3C decodes an ID of the form 00-TRACEID-SPANID-FLAGS. It returns false if the form is different or an ID is
// zero.
func parseW3C(raw []byte) (c span.Context, ok bool) {
	if !isW3C(raw) || !parseHex(c.TraceID[:], raw[2*3:2*35]) || !parseHex(c.ID[:], raw[2*36:2*52]) {
		return span.Context{}, false
	}
	return c, !c.TraceID.IsZero() && !c.ID.IsZero()
}

// identify sets the IDs of a span from the values of the event. It returns false if the event has no complete ID;
// complete then synthesizes one.
//
// An Activity with a hierarchical ID, |ROOT.1.2., has no trace ID and no span ID. Its IDs are hashes of the root and of
// the whole ID. Hierarchical IDs cross process boundaries, so the hashes do not depend on the process. The ID of the
// parent is the hash of ParentId. An Activity with W3C IDs and a hierarchical parent gets no parent, because in OTLP a
// parent must be in the same trace.
func (d *Decoder) identify(s *span.Span) bool {
	v := &d.values
	parseID(s.TraceID[:], v.of(propTraceID))
	parseID(s.Context.ID[:], v.of(propSpanID))
	parseID(s.ParentID[:], v.of(propParentSpanID))
	id := v.of(propID)
	if (s.TraceID.IsZero() || s.Context.ID.IsZero()) && id != nil {
		if c, ok := parseW3C(id); ok {
			s.Context = c
		} else if s.TraceID.IsZero() && s.Context.ID.IsZero() {
			d.hierarchical(s, d.strings.of(id))
			return true
		}
	}
	if s.ParentID.IsZero() {
		if c, ok := parseW3C(v.of(propParentID)); ok && c.TraceID == s.TraceID {
			s.ParentID = c.ID
		}
	}
	return !s.TraceID.IsZero() && !s.Context.ID.IsZero()
}

// hierarchical sets the IDs of a span to hashes of its hierarchical ID.
func (d *Decoder) hierarchical(s *span.Span, id string) {
	root := strings.TrimPrefix(id, "|")
	root, _, _ = strings.Cut(root, ".")
	d.hash.Text("hierarchical")
	d.hash.Text(root)
	s.TraceID = d.hash.Trace()
	s.Context.ID = d.hashID(id)
	s.MadeID = true
	if parent := d.values.of(propParentID); parent != nil && !isW3C(parent) {
		s.ParentID = d.hashID(d.strings.of(parent))
	}
}

// hashID returns the span ID for a hierarchical ID.
func (d *Decoder) hashID(id string) span.ID {
	d.hash.Text("hierarchical")
	d.hash.Text(id)
	return d.hash.Span()
}

// correlate returns a hash by which the Start and the Stop event of an Activity without an ID are matched: of the
// request ID, or else of the activity ID of the events, or else of the thread.
func (d *Decoder) correlate(e *ntconv.Event, k *kind) (c span.Context) {
	h := &d.hash
	name := ""
	if !k.paired {
		name = k.activityName(d.strings.of(d.arguments.name))
	}
	h.Text(k.task)
	h.Text(d.strings.of(d.arguments.source))
	h.Text(name)
	if id := d.values.of(propRequestID); id != nil {
		h.Text(d.strings.of(id))
	} else if id, ok := e.Labels.ID(ntconv.LabelActivityID); ok {
		h.Text(string(id[:]))
	} else if e.Thread != nil {
		h.Number(e.Thread.TID)
	}
	c.TraceID = h.Trace()
	return c
}

// complete synthesizes the missing IDs of a span as hashes of the names, the process, the thread and the time of its
// first event.
func (d *Decoder) complete(s *span.Span, e *ntconv.Event) {
	if s.TraceID.IsZero() {
		d.describe(e)
		if !s.Context.ID.IsZero() {
			d.hash.Text(string(s.Context.ID[:]))
		}
		s.TraceID = d.hash.Trace()
		s.ParentID = span.ID{} // the parent is in the unknown trace
		s.MadeID = true
	}
	if s.Context.ID.IsZero() {
		d.describe(e)
		s.Context.ID = d.hash.Span()
		s.MadeID = true
	}
}

// describe adds to the hash what identifies an event.
func (d *Decoder) describe(e *ntconv.Event) {
	h := &d.hash
	h.Text(d.strings.of(d.arguments.source))
	h.Text(d.strings.of(d.arguments.name))
	h.Number(uint64(e.Time))
	if e.Thread == nil {
		return
	}
	h.Number(e.Thread.TID)
	if p := e.Thread.Process; p != nil {
		h.Number(p.PID)
		h.Text(p.Host)
	}
}
