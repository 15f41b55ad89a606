package diagsource

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/span"
)

// An activity is the contents of one event about an Activity. build sets all members and reuses their memory.
type activity struct {
	span   span.Span // without Start and End
	times  times
	has    set // recorded properties
	tagged int // number of attributes at the start of the list that are tags
	lists
}

// build sets a to the contents of the event whose values are in d.values.
func (d *Decoder) build(a *activity, k *kind) {
	v := &d.values
	s := &a.span
	*s = span.Span{Attributes: s.Attributes[:0], Evidence: span.FromActivity}
	a.reset()
	a.typed = d.options.Convention
	a.has, a.times = v.has, timesOf(v, &d.strings)
	s.TraceState = d.strings.of(v.of(propTraceState))
	s.Kind = spanKind(d.strings.of(v.of(propKind)))
	s.Scope = d.scope(v)
	d.name(a, k)
	s.Flags, s.NotRecorded = d.flags(k)
	d.attributes(a, k)
	d.status(a, k)
	if raw := v.of(propEvents); raw != nil {
		s.DroppedEvents = a.parseEvents(d.strings.of(raw))
		s.Events = a.events
	}
	if raw := v.of(propLinks); raw != nil {
		s.DroppedLinks = a.parseLinks(d.strings.of(raw))
		s.Links = a.links
	}
}

// name sets the name of a span. A recorded display name is used even if it is empty.
func (d *Decoder) name(a *activity, k *kind) {
	v := &d.values
	switch {
	case v.has.contains(propDisplayName):
		a.span.Name = d.strings.of(v.raw[propDisplayName])
	case v.of(propName) != nil && !bytes.Equal(v.raw[propName], d.arguments.source):
		a.span.Name = d.strings.of(v.raw[propName])
	case k.listener:
		a.span.Name = k.activityName(d.strings.of(d.arguments.name))
	case v.of(propOperationName) != nil:
		a.span.Name = d.strings.of(v.raw[propOperationName])
	default:
		a.span.Name = d.strings.of(d.arguments.name)
	}
	if !k.listener || v.of(propKind) != nil {
		return
	}
	switch a.span.Name {
	case "Microsoft.AspNetCore.Hosting.HttpRequestIn":
		a.span.Kind = span.KindServer
	case "System.Net.Http.HttpRequestOut":
		a.span.Kind = span.KindClient
	}
}

// flags returns the recorded flags of a span, and whether the SDK would not have exported the span.
func (d *Decoder) flags(k *kind) (flags uint32, notRecorded bool) {
	v := &d.values
	if raw := v.of(propTraceFlags); raw != nil {
		flags = traceFlags(d.strings.of(raw))
		notRecorded = flags&span.FlagSampled == 0
	} else if id := v.of(propID); isW3C(id) {
		var bits [1]byte
		parseHex(bits[:], id[2*53:])
		flags = uint32(bits[0])
		notRecorded = flags&span.FlagSampled == 0
	}
	switch {
	case v.is(propRemoteParent, "True"):
		flags |= span.FlagRemoteKnown | span.FlagRemote
	case v.is(propRemoteParent, "False"):
		flags |= span.FlagRemoteKnown
	}
	if v.is(propRecorded, "False") || v.is(propAllData, "False") || !k.listener && len(d.arguments.source) == 0 {
		notRecorded = true
	}
	return flags, notRecorded
}

// attributes sets the attributes of a span: its tags, then the request that a listener reported, then keys that are not
// properties.
func (d *Decoder) attributes(a *activity, k *kind) {
	v := &d.values
	s := &a.span
	if raw := v.of(propTags); raw != nil {
		s.Attributes = appendTags(s.Attributes, d.strings.of(raw))
		if a.typed {
			for i := range s.Attributes {
				x := &s.Attributes[i]
				x.Value = attributeValue(x.Key, x.Value.Str(), true)
			}
		}
	}
	a.tagged = len(s.Attributes)
	if k.listener {
		d.request(a)
	}
	if v.has.contains(propWhole) {
		return
	}
	for _, o := range v.others {
		if len(o.raw) > 0 && !isTypeName(o.raw) {
			d.attribute(a, o.name, d.strings.of(o.raw))
		}
	}
}

func (d *Decoder) attribute(a *activity, key, text string) {
	a.span.Attributes = append(a.span.Attributes, span.Attribute{Key: key, Value: attributeValue(key, text, a.typed)})
}

// isTypeName reports whether a value is the name of a type, as .NET writes it for objects that do not override
// ToString.
func isTypeName(raw []byte) bool {
	return hasASCIIPrefix(raw, typeNames) || hasASCIIPrefix(raw, "Microsoft.")
}

// status sets the status of a span. The tags otel.status_code and otel.status_description are never attributes; they
// are the status if the Activity has none.
func (d *Decoder) status(a *activity, k *kind) {
	v := &d.values
	s := &a.span
	s.Status = statusOf(d.strings.of(v.of(propStatus)))
	if text := d.strings.of(v.of(propStatusCode)); text != "" && !k.listener && s.Status == span.StatusUnset {
		s.Status = statusOf(text)
	}
	message := d.strings.of(v.of(propStatusDescription))
	if code, text, ok := a.takeStatusTags(); ok && s.Status == span.StatusUnset {
		s.Status, message = statusOf(code), text
	}
	if s.Status == span.StatusError {
		s.StatusMessage = message
	}
}

// takeStatusTags removes the tags that contain the status and returns their last values. found is false if there are
// none.
func (a *activity) takeStatusTags() (code, text string, found bool) {
	all := a.span.Attributes
	n := 0
	for i := range all {
		if i < a.tagged && strings.HasPrefix(all[i].Key, "otel.status_") {
			switch all[i].Key {
			case "otel.status_code":
				code, found = all[i].Value.Str(), true
				continue
			case "otel.status_description":
				text, found = all[i].Value.Str(), true
				continue
			}
		}
		if n != i {
			all[n] = all[i]
		}
		n++
	}
	a.tagged -= len(all) - n
	a.span.Attributes = all[:n]
	return code, text, found
}

func statusOf(text string) span.StatusCode {
	switch {
	case strings.EqualFold(text, "Ok"):
		return span.StatusOK
	case strings.EqualFold(text, "Error"):
		return span.StatusError
	}
	return span.StatusUnset
}

func spanKind(text string) span.Kind {
	switch text {
	case "Internal":
		return span.KindInternal
	case "Server":
		return span.KindServer
	case "Client":
		return span.KindClient
	case "Producer":
		return span.KindProducer
	case "Consumer":
		return span.KindConsumer
	}
	return span.KindUnspecified
}

// traceFlags parses the text of ActivityTraceFlags, names separated by commas or a number, and returns the lowest 8
// bits of a span's flags.
func traceFlags(text string) (flags uint32) {
	switch text {
	case "None", "":
		return 0
	case "Recorded":
		return span.FlagSampled
	}
	if n, err := strconv.ParseUint(text, 10, 8); err == nil {
		return uint32(n)
	}
	for name := range strings.SplitSeq(text, ", ") {
		switch name {
		case "Recorded":
			flags |= span.FlagSampled
		case "RandomTraceId":
			flags |= 2 // W3C Trace Context level 2
		}
	}
	return flags
}

// A scopeKey distinguishes the scopes of a trace.
type scopeKey struct{ name, version, schemaURL, tags string }

const maxScopes = 1024 // maximum number of cached scopes

// scope returns the scope of a span. Equal scopes usually have the same pointer.
func (d *Decoder) scope(v *values) *span.Scope {
	key := scopeKey{
		name: d.strings.of(d.arguments.source),
		version: d.strings.of(
			v.of(propSourceVersion),
		), schemaURL: d.strings.of(v.of(propSchemaURL)), tags: d.strings.of(v.of(propSourceTags)),
	}
	if v.has.contains(propSource) && !v.is(propSource, "System.Diagnostics.ActivitySource") {
		key.name = d.strings.of(v.raw[propSource])
	}
	if d.lastScope != nil && key == d.lastScopeKey {
		return d.lastScope
	}
	s := d.scopes[key]
	if s == nil {
		if len(d.scopes) >= maxScopes {
			clear(d.scopes)
		}
		s = &span.Scope{
			Name:       key.name,
			Version:    key.version,
			SchemaURL:  key.schemaURL,
			Attributes: appendTags(nil, key.tags),
		}
		d.scopes[key] = s
	}
	d.lastScopeKey, d.lastScope = key, s
	return s
}
