package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// TestSend sends a trace to a receiver that accepts only small requests, and to one that accepts none.
func TestSend(t *testing.T) {
	names := map[string]int{}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var req tracepb.TracesData // has the same encoding as a request
		if err := proto.Unmarshal(body, &req); err != nil || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%v, header %v", err, r.Header)
		}
		switch {
		case r.URL.Path != "/v1/traces":
			http.NotFound(w, r)
			return
		case len(body) > 4000:
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		for _, rs := range req.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					names[s.Name]++
				}
			}
		}
	}))
	defer receiver.Close()
	trace := corpus.Path("spans-stop.nettrace.zst")
	err := run([]string{trace, receiver.URL + "/v1/traces"})
	if err == nil || !strings.HasPrefix(err.Error(), "receiver rejected 1 of 41 items: request too large") { // one span has more than 4,000 bytes
		t.Errorf("error %v", err)
	}
	total := 0
	for _, n := range names {
		total += n
	}
	if total != 40 || names["reserve"] == 0 {
		t.Errorf("%d spans: %v", total, names)
	}
	if err := run([]string{trace, receiver.URL + "/nowhere"}); err == nil || !strings.Contains(err.Error(), "HTTP status 404 Not Found") || !strings.Contains(err.Error(), "most receivers accept traces at /v1/traces") {
		t.Errorf("error %v", err)
	}
}
