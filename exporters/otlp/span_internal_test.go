package otlp

import (
	"encoding/binary"
	"fmt"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/testing/spangen"
)

// shop is a process for tests.
var shop = &ntconv.Process{PID: 42}

// numbered returns the i-th of a sequence of ordinary spans: six string attributes, two scopes.
func numbered(i int, p *ntconv.Process) *span.Span {
	s := &span.Span{
		Name: fmt.Sprintf("GET /cart/%d", i%100), Kind: span.KindServer, Start: 1_700_000_000_000_000_000 + uint64(i)*1000,
		Flags: span.FlagSampled | span.FlagRemoteKnown, Scope: scopes[i/3%2], Process: p, Evidence: span.FromActivity,
		Attributes: []span.Attribute{
			{Key: "http.request.method", Value: span.String("GET")}, {Key: "url.path", Value: span.String("/cart")},
			{Key: "http.response.status_code", Value: span.String("200")}, {Key: "server.address", Value: span.String("shop.example")},
			{Key: "user.id", Value: span.String(fmt.Sprint(i))}, {Key: "items", Value: span.String("3")},
		},
	}
	s.End = s.Start + 500
	binary.BigEndian.PutUint64(s.TraceID[8:], uint64(i/10+1))
	binary.BigEndian.PutUint64(s.ID[:], uint64(i+1))
	return s
}

var scopes = [...]*span.Scope{{Name: "Shop.Stock"}, {Name: "Shop.Checkout", Version: "2.1"}}

// spanLists generates spans of every kind in any order of resources and scopes.
func spanLists() *rapid.Generator[[]*span.Span] {
	return rapid.Custom(func(t *rapid.T) []*span.Span {
		scopes := rapid.SliceOfN(spangen.Scope(), 1, 3).Draw(t, "scopes")
		resources := rapid.SliceOfN(spangen.Resource(), 1, 3).Draw(t, "resources")
		return rapid.SliceOfN(spangen.Span(scopes, resources), 1, 6).Draw(t, "spans")
	})
}

// requestOf returns the request of a batch with these spans.
func requestOf(b *batch, spans []*span.Span) []byte {
	b.reset()
	var tab table
	for _, s := range spans {
		addTo(b, s, path{tab.resourceOf(s.Resource), tab.scopeOf(s.Scope)}, 1<<30)
	}
	return b.request(b.rows)
}

// addTo adds a span to a batch.
func addTo(b *batch, s *span.Span, at path, limit int) bool {
	return b.add(at, func(e *encoder) { e.span(s, nil) }, limit)
}

// decodeProto returns what a receiver gets.
func decodeProto(t rapid.TB, request []byte) *tracepb.TracesData {
	t.Helper()
	data := new(tracepb.TracesData)
	if err := proto.Unmarshal(request, data); err != nil {
		t.Fatal(err)
	}
	return data
}
