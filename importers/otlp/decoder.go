package otlp

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	logdata "github.com/ntconv/ntconv/internal/span/logs"
)

// A decoder holds what the decoders of both encodings share: the limits, the report, and the current item with the
// memory of its lists. The item is valid until the next reset.
type decoder struct {
	limits Limits
	report *ntconv.Report

	s          span.Span
	record     logdata.Record
	profiles   profileDecoder
	metrics    metricDecoder
	reads      elementReader    // of place.signal; set by begin
	elements   int              // elements of the current item, resource or scope
	own        []span.Attribute // attributes of the item
	attributes []span.Attribute // attributes of the events and links of a span
	place      place
	json       jsonText // of the current item, resource or scope
}

// A place is the position of a decoder in the input, for the report.
type place struct {
	offset  int64  // of the message of a resource, such as ResourceSpans, in the decompressed input
	message int    // index of that message, from 0
	item    int    // index of the item in it, from 0
	signal  signal // of the item
}

func (p place) String() string {
	names := &messageNames[p.signal]
	return fmt.Sprintf("%s %d, %s %d", names.fields[0], p.message, names.element, p.item)
}

// reset prepares the decoder for the next item.
func (d *decoder) reset() {
	d.s = span.Span{Events: d.s.Events[:0], Links: d.s.Links[:0]}
	d.record = logdata.Record{}
	d.own, d.attributes = d.own[:0], d.attributes[:0]
	d.begins()
}

// begins resets the counts of an item, resource or scope.
func (d *decoder) begins() {
	d.elements = 0
	if d.profiles.dict != nil {
		d.profiles.dict.referenced = 0
	}
}

// room reports whether the current item, resource or scope may have one more element. If not, it counts the element as
// dropped.
func (d *decoder) room() bool {
	if d.elements++; d.elements <= d.limits.Elements {
		return true
	}
	if d.elements == d.limits.Elements+1 { // report the position once; there may be millions of further elements
		d.report.Note(
			ntconv.CodeNotCarried,
			1,
			d.place.offset,
			fmt.Sprintf("%v: attributes, events, links or elements of arrays after the first %d", d.place, d.limits.Elements),
		)
	} else {
		d.report.Add(ntconv.CodeNotCarried, 1, d.place.offset)
	}
	return false
}

// finish completes a span whose message has been read. It returns false and counts the span if its IDs are invalid.
func (d *decoder) finish(ids idLengths) bool {
	s := &d.s
	s.Attributes = d.own
	switch {
	case ids.trace != len(s.TraceID) || ids.span != len(s.ID) || ids.parent != 0 && ids.parent != len(s.ParentID):
		d.skip(fmt.Sprintf("IDs of %d, %d and %d bytes; want 16 for the trace, 8 for the span, and 0 or 8 for the parent", ids.trace, ids.span, ids.parent))
		return false
	case s.TraceID.IsZero() || s.ID.IsZero():
		d.skip("all-zero trace ID or span ID")
		return false
	}
	return true
}

// idLengths holds the lengths of a span's IDs in the input, in bytes.
type idLengths struct{ trace, span, parent int }

// skip counts an item that is not delivered.
func (d *decoder) skip(why string) {
	what := messageNames[d.place.signal].element
	d.report.Note(ntconv.CodeRowSkipped, 1, d.place.offset, fmt.Sprintf("%s skipped: %v: %s", what, d.place, why))
}

// corrupt counts a part of a message that cannot be decoded.
func (d *decoder) corrupt(what string) {
	d.report.Note(ntconv.CodeCorrupt, 1, d.place.offset, fmt.Sprintf("%v: %s", d.place, what))
}

// unknown counts a field that the decoder does not know.
func (d *decoder) unknown(name string) {
	d.report.Note(ntconv.CodeNotCarried, 1, d.place.offset, "unknown field "+name)
}

// tooDeep returns the empty value that replaces a value nested too deeply, and counts it.
func (d *decoder) tooDeep() span.Value {
	d.report.Note(ntconv.CodeNotCarried, 1, d.place.offset, fmt.Sprintf("values nested deeper than %d levels", d.limits.Depth))
	return span.Empty()
}

// link adds a link. It skips and counts a link whose IDs are neither absent nor of the right length.
func (d *decoder) link(l span.Link, ids idLengths) {
	if ids.trace != 0 && ids.trace != len(l.TraceID) || ids.span != 0 && ids.span != len(l.ID) {
		why := fmt.Sprintf("link skipped: %v: IDs of %d and %d bytes; want 16 and 8", d.place, ids.trace, ids.span)
		d.report.Note(ntconv.CodeRowSkipped, 1, d.place.offset, why)
		return
	}
	d.s.Links = append(d.s.Links, l)
}

// valid returns s with U+FFFD in place of invalid UTF-8, and counts such strings.
func (d *decoder) valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	d.report.Note(ntconv.CodeRepaired, 1, d.place.offset, "invalid UTF-8 was replaced by U+FFFD")
	return strings.ToValidUTF8(s, "\ufffd")
}
