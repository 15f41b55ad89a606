package diagsource

import (
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/span"
)

// exportPaths lists the ends of the paths of OTLP/HTTP requests.
var exportPaths = [...]string{"/v1/traces", "/v1/metrics", "/v1/logs", "/v1development/profiles"}

// exportService is part of the path of OTLP/gRPC requests.
const exportService = "/opentelemetry.proto.collector."

// IsExport reports whether a span is a request of an OTLP exporter that sends spans, metrics, logs or profiles. A
// program records such requests if a listener other than its own SDK asks for them, because only the SDK knows which
// requests to suppress.
func IsExport(s *span.Span) bool {
	if s.Kind != span.KindClient {
		return false
	}
	for i := range s.Attributes {
		switch x := &s.Attributes[i]; x.Key {
		case "url.full", "url.path", "http.url", "grpc.method":
			path, _, _ := strings.Cut(x.Value.Str(), "?")
			if strings.Contains(path, exportService) ||
				slices.ContainsFunc(exportPaths[:], func(p string) bool { return strings.HasSuffix(path, p) }) {
				return true
			}
		}
	}
	return false
}

// An ExportFilter omits the HTTP spans of an OTLP exporter: its requests, and the spans of the connections that these
// opened. The spans of a connection end before its request, so the filter holds them until the request may have ended.
// It is not safe for concurrent use.
type ExportFilter struct {
	emit    func(*span.Span)
	held    []*span.Span // copies of spans of connections, in the order of their ends
	omitted int64
}

const (
	// connectionScopes is the prefix of the sources whose spans describe how a connection was opened.
	connectionScopes = "Experimental.System.Net."
	// maxHeldTime limits how long a span is held after its end, in nanoseconds. The SDK aborts a request after 10 s.
	maxHeldTime  = 10_000_000_000
	maxHeldSpans = 256
)

// NewExportFilter returns a filter that passes spans to emit, which borrows them until it returns.
func NewExportFilter(emit func(*span.Span)) *ExportFilter { return &ExportFilter{emit: emit} }

// Add processes a span, which it borrows. It delays spans of connections by at most 10 s of trace time, or 256 such
// spans.
func (f *ExportFilter) Add(s *span.Span) {
	switch {
	case IsExport(s):
		f.omitted++
		f.omit(s)
	case s.Scope != nil && strings.HasPrefix(s.Scope.Name, connectionScopes) && !s.Unfinished:
		f.held = append(f.held, clone(s))
	default:
		f.emit(s)
	}
	n := 0
	for n < len(f.held) && (len(f.held)-n > maxHeldSpans || int64(s.End)-int64(f.held[n].End) > maxHeldTime) {
		f.emit(f.held[n])
		n++
	}
	f.held = slices.Delete(f.held, 0, n)
}

// Finish emits the spans that are still held. Call it after the last span.
func (f *ExportFilter) Finish() {
	for _, h := range f.held {
		f.emit(h)
	}
	f.held = nil
}

// Omitted returns the number of omitted spans.
func (f *ExportFilter) Omitted() int64 { return f.omitted }

// omit drops the held spans that belong to a request: its children, and the trace in which its connection was opened.
// The request has a link to that trace. If links were not recorded, a connection to the same server belongs to the
// request during which it was opened.
func (f *ExportFilter) omit(request *span.Span) {
	traces := make(map[span.TraceID]bool)
	for _, l := range request.Links {
		traces[l.TraceID] = true
	}
	for _, h := range f.held {
		if len(request.Links) == 0 && h.ParentID.IsZero() && during(h, request) && sameServer(h, request) {
			traces[h.TraceID] = true
		}
	}
	f.held = slices.DeleteFunc(f.held, func(h *span.Span) bool {
		omit := traces[h.TraceID] || h.TraceID == request.TraceID && h.ParentID == request.ID
		if omit {
			f.omitted++
		}
		return omit
	})
}

// during reports whether the interval of inner is within the interval of outer.
func during(inner, outer *span.Span) bool {
	return int64(inner.Start) >= int64(outer.Start) && int64(inner.End) <= int64(outer.End)
}

// sameServer reports whether both spans have the same server address and port.
func sameServer(a, b *span.Span) bool {
	for _, key := range [...]string{"server.address", "server.port"} {
		x, ok1 := find(a.Attributes, key)
		y, ok2 := find(b.Attributes, key)
		if !ok1 || !ok2 || x.Kind() != y.Kind() || x.Str() != y.Str() || x.Int() != y.Int() {
			return false
		}
	}
	return true
}

func find(attributes []span.Attribute, key string) (span.Value, bool) {
	for i := range attributes {
		if attributes[i].Key == key {
			return attributes[i].Value, true
		}
	}
	return span.Value{}, false
}

// clone returns a deep copy of a span, except for immutable parts.
func clone(s *span.Span) *span.Span {
	c := *s
	c.Attributes, c.Events, c.Links = slices.Clone(s.Attributes), slices.Clone(s.Events), slices.Clone(s.Links)
	for i := range c.Events {
		c.Events[i].Attributes = slices.Clone(c.Events[i].Attributes)
	}
	for i := range c.Links {
		c.Links[i].Attributes = slices.Clone(c.Links[i].Attributes)
	}
	return &c
}
