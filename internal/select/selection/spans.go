package selection

import (
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/select/where"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
)

// spanKind returns the kind of all spans.
func spanKind() intervalKind {
	return intervalKind{
		subject: SpanSubject(), noun: "span", tallied: "name",
		record: "record Activities, or event sources that start and stop operations",
		isSpan: func(*span.Span) bool { return true }, ofSpan: SpanValue,
	}
}

// A spanProperty is a property of spans of a kind.
type spanProperty struct {
	where.Property
	read func(s *span.Span, key string) ntconv.Value
}

// requestKind returns the kind of HTTP requests that servers and clients report, as Activities with the attributes of
// the semantic conventions or as events of .NET's event sources.
func requestKind() intervalKind {
	list := requestProperties()
	subject := &where.Subject{Name: "request", Example: `request.route == "/cart"`}
	for _, p := range list {
		subject.Properties = append(subject.Properties, p.Property)
	}
	return intervalKind{
		subject: subject, noun: "request", tallied: "route", isSpan: isRequest,
		record: "record the Activities of ASP.NET Core or System.Net.Http, or the event sources Microsoft.AspNetCore.Hosting, " +
			"Microsoft-AspNetCore-Server-Kestrel and System.Net.Http",
		ofSpan: func(s *span.Span, property int, key string) ntconv.Value { return list[property].read(s, key) },
	}
}

// Keys of attributes in the current and the former semantic conventions, and fields of the event sources.
func methodKeys() []string { return []string{"http.request.method", "http.method", "method"} }
func routeKeys() []string {
	return []string{"http.route", "url.path", "http.target", "path", "pathAndQuery", "url.full", "http.url"}
}
func hostKeys() []string {
	return []string{"server.address", "net.peer.name", "net.host.name", "http.host", "host"}
}
func statusKeys() []string {
	return []string{"http.response.status_code", "http.status_code", "statusCode"}
}

func requestProperties() []spanProperty {
	return []spanProperty{
		{where.Property{Name: "route"}, firstOf(routeKeys())},
		{where.Property{Name: "path"}, firstOf(routeKeys()[1:])},
		{where.Property{Name: "method", Kind: where.PropertyWord}, firstOf(methodKeys())},
		{where.Property{Name: "host", Kind: where.PropertyWord}, firstOf(hostKeys())},
		{where.Property{Name: "status", Kind: where.PropertyNumber}, func(s *span.Span, _ string) ntconv.Value {
			return asNumber(firstOf(statusKeys())(s, ""))
		}},
		{where.Property{Name: "side", Kind: where.PropertyWord, Values: []string{"server", "client"}}, side},
		{where.Property{Name: "duration", Kind: where.PropertyDuration}, spanDuration},
		{where.Property{Name: "start", Kind: where.PropertyTime}, spanStart},
		{where.Property{Name: "attributes", Kind: where.PropertyKeyed}, SpanAttribute},
	}
}

// firstOf returns the function that reads the first of several attributes that a span has.
func firstOf(keys []string) func(*span.Span, string) ntconv.Value {
	return func(s *span.Span, _ string) (none ntconv.Value) {
		for _, key := range keys {
			if v := SpanAttribute(s, key); v.Kind() != ntconv.ValueNull {
				return v
			}
		}
		return none
	}
}

// asNumber converts a number in text form, as DiagnosticSource records numbers.
func asNumber(v ntconv.Value) ntconv.Value {
	if v.Kind() != ntconv.ValueString {
		return v
	}
	n, err := strconv.ParseInt(v.String(), 10, 64)
	if err != nil {
		return ntconv.Value{}
	}
	return ntconv.IntValue(n)
}

// kestrelProvider reports the requests that a server receives, with the kind of an internal span.
const kestrelProvider = "Microsoft-AspNetCore-Server-Kestrel"

func side(s *span.Span, _ string) ntconv.Value {
	switch {
	case s.Kind == span.KindServer || s.Scope.Name == kestrelProvider:
		return ntconv.StringValue("server")
	case s.Kind == span.KindClient:
		return ntconv.StringValue("client")
	}
	return ntconv.Value{}
}

// isRequest reports whether a span is an HTTP request: a pair of one of .NET's event sources, or a span with a method.
func isRequest(s *span.Span) bool {
	if s.Evidence == span.FromPair {
		return tracker.SourceOf(s) == operation.Requests && s.Name == "Request"
	}
	return firstOf(methodKeys()[:2])(s, "").Kind() != ntconv.ValueNull
}

func spanDuration(s *span.Span, _ string) ntconv.Value {
	if s.End == 0 {
		return ntconv.Value{}
	}
	return ntconv.IntValue(int64(s.End - s.Start))
}

func spanStart(s *span.Span, _ string) ntconv.Value { return ntconv.IntValue(int64(s.Start)) }

func isSourcePair(s *span.Span) bool { return s.Evidence == span.FromPair }

// sourcePairValue returns a property of the kind pair for a span. The indices are those of pairKind.
func sourcePairValue(s *span.Span, property int, key string) ntconv.Value {
	switch property {
	case 0:
		return ntconv.StringValue(s.Name)
	case 1:
		return ntconv.StringValue(s.Scope.Name)
	case 2:
		return spanDuration(s, key)
	case 3:
		return spanStart(s, key)
	}
	return SpanAttribute(s, key)
}
