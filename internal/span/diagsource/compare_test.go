package diagsource_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/diagsource"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// sent is a span as the SDK sent it.
type sent struct {
	*tracepb.Span
	scope *tracepb.ScopeSpans
}

// readSent decodes requests. Each is preceded by its length in 4 bytes, big-endian.
func readSent(t *testing.T, b []byte) (spans []sent) {
	t.Helper()
	for len(b) > 0 {
		n := 4 + int(binary.BigEndian.Uint32(b))
		request := new(tracepb.TracesData) // has the fields of ExportTraceServiceRequest
		if err := proto.Unmarshal(b[4:n], request); err != nil {
			t.Fatal(err)
		}
		for _, resource := range request.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for _, s := range scope.Spans {
					spans = append(spans, sent{s, scope})
				}
			}
		}
		b = b[n:]
	}
	return spans
}

// difference is a field that differs between our span and the span of the SDK.
type difference struct {
	field        string
	ours, theirs string
	us           *span.Span // nil if the Decoder has no such span
	them         *sent      // nil if the SDK has no such span
	value        *commonpb.AnyValue
}

// comparison is the outcome of comparing the spans of one recording.
type comparison struct {
	recording   string
	text        *decoded
	omitted     map[span.ID]bool // spans of the exporter
	fields      int              // number of compared fields
	differences []difference
}

// at is a span under comparison.
type at struct {
	*comparison
	us   *span.Span
	them *sent
}

func (c *comparison) compare(theirs []sent) {
	matched := make(map[span.ID]bool)
	for i := range theirs {
		them := &theirs[i]
		id := span.ID(them.SpanId)
		us := c.text.byID(id)
		if us == nil {
			c.differences = append(c.differences, difference{field: "span", ours: "none", theirs: them.Name, them: them})
			continue
		}
		matched[id] = true
		a := at{c, us, them}
		a.identity()
		a.attributes("attributes", us.Attributes, them.Attributes)
		a.events()
		a.links()
		a.scope()
	}
	for _, us := range c.text.spans {
		if !matched[us.Context.ID] {
			c.differences = append(c.differences, difference{field: "span", ours: us.Name, theirs: "none", us: us})
		}
	}
}

// equal compares a field.
func (a at) equal(field string, ours, theirs any) bool {
	a.fields++
	if ours == theirs {
		return true
	}
	a.differ(field, fmt.Sprint(ours), fmt.Sprint(theirs), nil)
	return false
}

func (a at) differ(field, ours, theirs string, value *commonpb.AnyValue) {
	a.differences = append(a.differences, difference{field, ours, theirs, a.us, a.them, value})
}

func (a at) identity() {
	us, them := a.us, a.them
	a.equal("trace_id", us.TraceID.String(), fmt.Sprintf("%x", them.TraceId))
	a.equal("parent_span_id", idOf(us.ParentID), fmt.Sprintf("%x", them.ParentSpanId))
	a.equal("trace_state", us.TraceState, them.TraceState)
	a.equal("flags", us.Flags, them.Flags)
	a.equal("name", us.Name, them.Name)
	a.equal("kind", int32(us.Kind), int32(them.Kind))
	a.equal("start_time_unix_nano", us.Start, them.StartTimeUnixNano)
	a.equal("end_time_unix_nano", us.End, them.EndTimeUnixNano)
	a.equal("status.code", int32(us.Status), int32(them.Status.GetCode()))
	a.equal("status.message", us.StatusMessage, them.Status.GetMessage())
	a.equal("status is present", us.Status != span.StatusUnset || us.HasStatus, them.Status != nil)
	a.equal("dropped_attributes_count", us.DroppedAttributes, them.DroppedAttributesCount)
}

func idOf(id span.ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

// attributes compares two lists: value by value if the keys are equal, and otherwise as a whole.
func (a at) attributes(field string, ours []span.Attribute, theirs []*commonpb.KeyValue) {
	same := len(ours) >= len(theirs)
	for i := 0; same && i < len(theirs); i++ {
		same = ours[i].Key == theirs[i].Key
	}
	a.fields++
	if !same {
		a.differ(field+" as a list", render(ours), renderTheirs(theirs), nil)
		return
	}
	if len(ours) > len(theirs) {
		a.differ(field+" beyond the limit", strconv.Itoa(len(ours)), strconv.Itoa(len(theirs)), nil)
	}
	for i, x := range theirs {
		a.fields++
		if !equalValues(ours[i].Value, x.Value) {
			a.differ(field+" value", ours[i].Value.Str(), x.Value.String(), x.Value)
		}
	}
}

func (a at) events() {
	us, them := a.us.Events, a.them.Events
	a.equal("dropped_events_count", a.us.DroppedEvents, a.them.DroppedEventsCount)
	if len(us) < len(them) {
		a.differ("events", strconv.Itoa(len(us)), strconv.Itoa(len(them)), nil)
		return
	}
	if len(us) > len(them) {
		a.differ("events beyond the limit", strconv.Itoa(len(us)), strconv.Itoa(len(them)), nil)
	}
	for i, e := range them {
		a.equal("event.name", us[i].Name, e.Name)
		a.equal("event.time_unix_nano", us[i].Time, e.TimeUnixNano)
		a.equal("event.dropped_attributes_count", us[i].DroppedAttributes, e.DroppedAttributesCount)
		a.attributes("event.attributes", us[i].Attributes, e.Attributes)
	}
}

func (a at) links() {
	us, them := a.us.Links, a.them.Links
	a.equal("dropped_links_count", a.us.DroppedLinks, a.them.DroppedLinksCount)
	if len(us) < len(them) {
		a.differ("links", strconv.Itoa(len(us)), strconv.Itoa(len(them)), nil)
		return
	}
	if len(us) > len(them) {
		a.differ("links beyond the limit", strconv.Itoa(len(us)), strconv.Itoa(len(them)), nil)
	}
	for i, l := range them {
		a.equal("link.trace_id", us[i].TraceID.String(), fmt.Sprintf("%x", l.TraceId))
		a.equal("link.span_id", us[i].ID.String(), fmt.Sprintf("%x", l.SpanId))
		a.equal("link.trace_state", us[i].TraceState, l.TraceState)
		a.equal("link.flags", us[i].Flags, l.Flags)
		a.attributes("link.attributes", us[i].Attributes, l.Attributes)
	}
}

func (a at) scope() {
	us, them := a.us.Scope, a.them.scope
	a.equal("scope.name", us.Name, them.Scope.GetName())
	a.equal("scope.version", us.Version, them.Scope.GetVersion())
	a.equal("schema_url", us.SchemaURL, them.SchemaUrl)
	a.attributes("scope.attributes", us.Attributes, them.Scope.GetAttributes())
}

// equalValues reports whether a value has the same type and content.
func equalValues(ours span.Value, theirs *commonpb.AnyValue) bool {
	switch x := theirs.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return ours.Kind() == span.ValueString && ours.Str() == x.StringValue
	case *commonpb.AnyValue_IntValue:
		return ours.Kind() == span.ValueInt && ours.Int() == x.IntValue
	case *commonpb.AnyValue_BoolValue:
		return ours.Kind() == span.ValueBool && ours.Bool() == x.BoolValue
	}
	return false
}

// isTextOf reports whether text is what .NET writes for a value that is not a string.
func isTextOf(text string, v *commonpb.AnyValue) bool {
	switch x := v.GetValue().(type) {
	case *commonpb.AnyValue_IntValue:
		return text == strconv.FormatInt(x.IntValue, 10)
	case *commonpb.AnyValue_BoolValue:
		return text == map[bool]string{true: "True", false: "False"}[x.BoolValue]
	case *commonpb.AnyValue_DoubleValue:
		f, err := strconv.ParseFloat(text, 64)
		single, _ := strconv.ParseFloat(text, 32)
		return err == nil && (f == x.DoubleValue || single == x.DoubleValue || math.IsNaN(f) && math.IsNaN(x.DoubleValue))
	}
	return false
}

// isTypeNameOf reports whether text is the name of a type whose values are lists, maps or bytes in OTLP.
func isTypeNameOf(text string, v *commonpb.AnyValue) bool {
	switch v.GetValue().(type) {
	case *commonpb.AnyValue_ArrayValue, *commonpb.AnyValue_BytesValue:
		return strings.HasPrefix(text, "System.") && strings.HasSuffix(text, "[]")
	case *commonpb.AnyValue_KvlistValue:
		return strings.HasPrefix(text, "System.Collections.Generic.Dictionary")
	}
	return false
}

// render returns attributes as text without escaped separators, as in a trace.
func render(list []span.Attribute) string {
	var b strings.Builder
	for _, x := range list {
		fmt.Fprintf(&b, "%s=%s|", x.Key, x.Value.Str())
	}
	return b.String()
}

func renderTheirs(list []*commonpb.KeyValue) string {
	var b strings.Builder
	for _, x := range list {
		fmt.Fprintf(&b, "%s=%s|", x.Key, x.Value.String())
	}
	return b.String()
}

// bracketed returns attributes as .NET writes them for TagObjects.*Enumerate, and plain as it writes TagObjects.
func bracketed(list []*commonpb.KeyValue) string {
	var tags []string
	for _, x := range list {
		tags = append(tags, "["+x.Key+", "+dotnetText(x.Value)+"]")
	}
	return strings.Join(tags, ",")
}

func plain(list []*commonpb.KeyValue) string {
	var tags []string
	for _, x := range list {
		tags = append(tags, x.Key+":"+dotnetText(x.Value))
	}
	return strings.Join(tags, ", ")
}

// dotnetText returns the text of a value, or ? if the text depends on the value's type in the program.
func dotnetText(v *commonpb.AnyValue) string {
	switch x := v.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return x.StringValue
	case *commonpb.AnyValue_IntValue:
		return strconv.FormatInt(x.IntValue, 10)
	case *commonpb.AnyValue_BoolValue:
		return map[bool]string{true: "True", false: "False"}[x.BoolValue]
	case *commonpb.AnyValue_DoubleValue:
		return strconv.FormatFloat(x.DoubleValue, 'g', -1, 64)
	}
	return "?"
}

// sameSplit reports whether the SDK's attributes, rendered as text and split again, have our keys. If so, only the
// missing escapes cause the difference.
func sameSplit(ours []span.Attribute, theirs []*commonpb.KeyValue) bool {
	for _, text := range []string{bracketed(theirs), plain(theirs)} {
		split := diagsource.AppendTags(nil, text)
		same := len(split) == len(ours)
		for i := 0; same && i < len(ours); i++ {
			text := split[i].Value.Str()
			same = split[i].Key == ours[i].Key && (strings.Contains(text, "?") || ours[i].Value.Kind() != span.ValueString || ours[i].Value.Str() == text)
		}
		if same {
			return true
		}
	}
	return false
}
