package diagsource_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/diagsource"
)

// request returns a span of a request to an address.
func request(id byte, url string) *span.Span {
	s := &span.Span{Name: "POST", Kind: span.KindClient, Start: 100, End: 200, Scope: &span.Scope{Name: "System.Net.Http"}}
	s.TraceID[0], s.Context.ID[0] = id, id
	s.Attributes = []span.Attribute{
		{Key: "server.address", Value: span.String("127.0.0.1")}, {Key: "server.port", Value: span.String("4318")}, {Key: "url.full", Value: span.String(url)},
	}
	return s
}

// connection returns a span of a connection, in the trace of a request or in a new trace.
func connection(id, parent byte, name string, end uint64) *span.Span {
	s := &span.Span{Name: name, Start: end - 20, End: end, Scope: &span.Scope{Name: "Experimental.System.Net.Http.Connections"}}
	s.TraceID[0], s.Context.ID[0], s.ParentID[0] = id, 100+id, parent
	s.Attributes = []span.Attribute{{Key: "server.address", Value: span.String("127.0.0.1")}, {Key: "server.port", Value: span.String("4318")}}
	return s
}

func TestIsExport(t *testing.T) {
	for url, want := range map[string]bool{
		"http://127.0.0.1:4318/v1/traces": true, "http://h/prefix/v1/metrics?x=1": true, "http://h/v1/logs": true, "http://h/v1development/profiles": true,
		"http://h:4317/opentelemetry.proto.collector.trace.v1.TraceService/Export": true,
		"http://h/orders": false, "http://h/orders?next=/v1/traces": false, "": false, "http://h/v1/traces/1": false,
	} {
		if got := diagsource.IsExport(request(1, url)); got != want {
			t.Errorf("a request to %q: %t, want %t", url, got, want)
		}
	}
	server := request(1, "http://h/v1/traces")
	server.Kind = span.KindServer
	if diagsource.IsExport(server) {
		t.Error("a program that receives spans is taken for one that sends them")
	}
}

// TestExportFilter checks that the requests of an exporter and their connections are omitted, and nothing else.
func TestExportFilter(t *testing.T) {
	const export, orders = "http://127.0.0.1:4318/v1/traces", "http://127.0.0.1:4318/orders"
	linked := func() *span.Span {
		s := request(1, export)
		s.Links = []span.Link{{Context: span.Context{TraceID: span.TraceID{9}}}}
		return s
	}
	work := func(id byte, end uint64) *span.Span {
		s := connection(id, 0, fmt.Sprint("work ", id), end)
		s.Scope = &span.Scope{Name: "Shop"}
		return s
	}
	cases := []struct {
		name  string
		spans []*span.Span
		want  []string // in the order in which they leave the filter
	}{
		{"by link", []*span.Span{connection(9, 5, "socket", 130), connection(9, 0, "setup", 140), connection(1, 1, "wait", 150), linked()}, nil},
		{"by time and address", []*span.Span{connection(9, 5, "socket", 130), connection(9, 0, "setup", 140), connection(1, 1, "wait", 150), request(1, export)}, nil},
		{"other request", []*span.Span{connection(9, 0, "setup", 140), connection(1, 1, "wait", 150), request(1, orders)}, []string{"POST", "setup", "wait"}},
		{"earlier connection", []*span.Span{connection(9, 0, "setup", 90), connection(8, 0, "later", 250), request(1, export)}, []string{"setup", "later"}},
		{"other work", []*span.Span{connection(9, 0, "setup", 140), work(2, 150), linked(), work(3, 160)}, []string{"work 2", "work 3"}},
		{"held for 10 seconds", []*span.Span{connection(9, 0, "setup", 140), work(2, 10_000_000_140), work(3, 10_000_000_141), work(4, 10_000_000_142)}, []string{"work 2", "work 3", "setup", "work 4"}},
	}
	for _, c := range cases {
		var got []string
		f := diagsource.NewExportFilter(func(s *span.Span) { got = append(got, s.Name) })
		for _, s := range c.spans {
			f.Add(s)
			clear(s.Attributes) // it was borrowed
		}
		f.Finish()
		if !slices.Equal(got, c.want) || int(f.Omitted()) != len(c.spans)-len(c.want) {
			t.Errorf("%s: got %q and %d omitted, want %q", c.name, got, f.Omitted(), c.want)
		}
	}
}

// TestExportFilterHoldsFew checks the limit of held spans.
func TestExportFilterHoldsFew(t *testing.T) {
	n := 0
	f := diagsource.NewExportFilter(func(*span.Span) { n++ })
	for range 10_000 {
		f.Add(connection(9, 0, "setup", 140))
	}
	if held := 10_000 - n; held > 256 {
		t.Errorf("%d spans are held", held)
	}
	if f.Finish(); n != 10_000 {
		t.Errorf("%d spans of 10,000 were passed on", n)
	}
}
