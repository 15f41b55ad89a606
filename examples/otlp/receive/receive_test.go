package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/reader"
)

// request returns the body of a request with one span.
func request(t *testing.T, name string, id byte) []byte {
	span := &tracepb.Span{Name: name, TraceId: bytes.Repeat([]byte{id}, 16), SpanId: bytes.Repeat([]byte{id}, 8), StartTimeUnixNano: 5, EndTimeUnixNano: 7}
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{span}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestReceive checks that the trace has the spans of all valid requests.
func TestReceive(t *testing.T) {
	var trace bytes.Buffer
	spans := newRecorder(&trace)
	server := httptest.NewServer(spans)
	defer server.Close()
	for _, c := range []struct {
		body, contentType string
		status            int
	}{
		{string(request(t, "a", 1)), "application/x-protobuf", http.StatusOK},
		{string(request(t, "b", 2))[:20], "application/x-protobuf", http.StatusBadRequest},
		{string(request(t, "zero", 0)), "application/x-protobuf", http.StatusBadRequest},
		{"", "application/x-protobuf", http.StatusOK},
		{"{}", "application/json", http.StatusUnsupportedMediaType},
		{string(request(t, "c", 3)), "application/x-protobuf", http.StatusOK},
	} {
		resp, err := http.Post(server.URL, c.contentType, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.status {
			t.Errorf("%q: status %d, want %d", c.body, resp.StatusCode, c.status)
		}
	}
	if err := spans.close(); err != nil {
		t.Fatal(err)
	}
	if got := names(t, &trace); got != "a c" {
		t.Errorf("spans %q", got)
	}
}

// names returns the names of the spans in a trace.
func names(t *testing.T, trace *bytes.Buffer) string {
	src, err := reader.New(trace, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	sink := otlp.NewFile(&out, otlp.Protobuf, src.Info(), nil, nil)
	if _, err := ntconv.Copy(sink, src); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	var data tracepb.TracesData
	if err := proto.Unmarshal(out.Bytes(), &data); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range data.ResourceSpans {
		for _, s := range r.ScopeSpans {
			for _, span := range s.Spans {
				all = append(all, span.Name)
			}
		}
	}
	return strings.Join(all, " ")
}
