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

// parseW3C decodes an ID of the form 00-TRACEID-SPANID-FLAGS.
func parseW3C(raw []byte) (c span.Context, ok bool) {
	if !isW3C(raw) || !parseHex(c.TraceID[:], raw[2*3:2*35]) || !parseHex(c.ID[:], raw[2*36:2*52]) {
		return span.Context{}, false
	}
	return c, !c.TraceID.IsZero() && !c.ID.IsZero()
}

// identify sets the IDs of a span from the values of an event. It reports whether the event has an ID; otherwise
// complete makes one.
//
// An Activity with a hierarchical ID, |ROOT.1.2., has no trace and span ID. They are hashes of the root and of the
// whole ID. Such IDs are passed on between processes, so the hashes do not depend on the process. Its parent is the
// hash of ParentId. An Activity with IDs of its own and a hierarchical parent has no parent here, because OTLP looks
// for a parent in the same trace only.
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
			d.hierarchical(s, d.texts.of(id))
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
		s.ParentID = d.hashID(d.texts.of(parent))
	}
}

func (d *Decoder) hashID(id string) span.ID {
	d.hash.Text("hierarchical")
	d.hash.Text(id)
	return d.hash.Span()
}

// correlate returns what the Start and the Stop event of an Activity have in common that has no ID, as a hash: what
// identifies a request, or else the activity ID of the events, or else the thread.
func (d *Decoder) correlate(e *ntconv.Event, k *kind) (c span.Context) {
	h := &d.hash
	name := ""
	if !k.paired {
		name = k.activityName(d.texts.of(d.arguments.name))
	}
	h.Text(k.task)
	h.Text(d.texts.of(d.arguments.source))
	h.Text(name)
	if id := d.values.of(propRequestID); id != nil {
		h.Text(d.texts.of(id))
	} else if id, ok := e.Labels.ID(ntconv.LabelActivityID); ok {
		h.Text(string(id[:]))
	} else if e.Thread != nil {
		h.Number(e.Thread.TID)
	}
	c.TraceID = h.Trace()
	return c
}

// complete makes the IDs that a span lacks: hashes of the names, the process, the thread and the time of the event that
// first showed it.
func (d *Decoder) complete(s *span.Span, e *ntconv.Event) {
	if s.TraceID.IsZero() {
		d.describe(e)
		if !s.Context.ID.IsZero() {
			d.hash.Text(string(s.Context.ID[:]))
		}
		s.TraceID = d.hash.Trace()
		s.ParentID = span.ID{} // it is in the trace that is not known
		s.MadeID = true
	}
	if s.Context.ID.IsZero() {
		d.describe(e)
		s.Context.ID = d.hash.Span()
		s.MadeID = true
	}
}

// describe adds what identifies an event to the hash.
func (d *Decoder) describe(e *ntconv.Event) {
	h := &d.hash
	h.Text(d.texts.of(d.arguments.source))
	h.Text(d.texts.of(d.arguments.name))
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
