package otlpclient

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ntconv/ntconv/exporters/otlp"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

// batch returns a batch of n spans.
func batch(n int) []*tracepb.ResourceSpans {
	scope := &tracepb.ScopeSpans{Scope: &commonpb.InstrumentationScope{Name: "test"}}
	for i := range n {
		scope.Spans = append(scope.Spans, &tracepb.Span{TraceId: bytes.Repeat([]byte{1}, 16), SpanId: bytes.Repeat([]byte{byte(i + 1)}, 8), Name: "GET"})
	}
	return []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{scope}}}
}

func spanCount(m *coltracepb.ExportTraceServiceRequest) int { return int(spansOf(m.ResourceSpans)) }

// client returns a Client that is closed when the test ends.
func client(t *testing.T, c *Config) *Client {
	t.Helper()
	for _, name := range []string{"ENDPOINT", "PROTOCOL", "COMPRESSION", "TIMEOUT", "CERTIFICATE", "HEADERS", "INSECURE"} {
		t.Setenv(envAll+name, "nonsense") // the OpenTelemetry clients also read the environment
	}
	got, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = got.Close() })
	return got
}

// A webAnswer is the response of an HTTP receiver to a request.
type webAnswer struct {
	status int
	header []string // keys and values
	body   []byte
	after  time.Duration // send a Retry-After date that is this far in the future
	hangUp bool          // close the connection without a response
	hang   bool          // respond only after the client has disconnected
	// hangAfter sends the body, but does not end the response before the client has disconnected.
	hangAfter bool
}

// A webReceiver sends one response after the other, and repeats the last one.
type webReceiver struct {
	mu       sync.Mutex
	answers  []webAnswer
	requests []http.Header
	spans    []int
}

func (r *webReceiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	if q.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err == nil {
			body, _ = io.ReadAll(z)
		}
	}
	var m coltracepb.ExportTraceServiceRequest
	n := -1
	if q.Header.Get("Content-Type") == "application/json" {
		n = bytes.Count(body, []byte(`"spanId"`))
	} else if proto.Unmarshal(body, &m) == nil {
		n = spanCount(&m)
	}
	r.mu.Lock()
	a := r.answers[min(len(r.requests), len(r.answers)-1)]
	q.Header.Set("Path", q.URL.RequestURI())
	r.requests, r.spans = append(r.requests, q.Header), append(r.spans, n)
	r.mu.Unlock()
	switch {
	case a.hang:
		<-q.Context().Done()
		return
	case a.hangUp:
		panic(http.ErrAbortHandler)
	}
	for i := 0; i < len(a.header); i += 2 {
		w.Header().Set(a.header[i], a.header[i+1])
	}
	if a.after > 0 {
		w.Header().Set("Retry-After", time.Now().Add(a.after).UTC().Format(http.TimeFormat))
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
	if a.hangAfter {
		_ = http.NewResponseController(w).Flush()
		<-q.Context().Done()
	}
}

func web(t *testing.T, answers ...webAnswer) (*webReceiver, string) {
	t.Helper()
	r := &webReceiver{answers: answers}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return r, server.URL + "/v1/traces"
}

func encode(t *testing.T, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestUnclearAnswer checks that a successful response that does not state completely what the receiver accepted is neither
// accepted nor sent again: the batch is unconfirmed.
func TestUnclearAnswer(t *testing.T) {
	whole := encode(t, partly(2, "quota"))
	pb, js := []string{"Content-Type", "application/x-protobuf"}, []string{"Content-Type", "application/json"}
	for name, a := range map[string]webAnswer{
		"truncated protobuf": {header: pb, body: whole[:len(whole)-1]},
		"truncated JSON":     {header: js, body: []byte(`{"partialSuccess":{"rejectedSpans":"2"`)},
		"text":               {header: js, body: []byte("ok")},
		"plain text":         {header: []string{"Content-Type", "text/plain"}, body: []byte("accepted")},
		"unknown fields":     {header: []string{"Content-Type", "text/plain"}, body: []byte("\x7a\x02ok")},
		"no number":          {header: js, body: []byte(`{"partialSuccess":{"rejectedSpans":"two"}}`)},
		"negative":           {header: js, body: []byte(`{"partialSuccess":{"rejectedSpans":-3}}`)},
		"negative protobuf":  {header: pb, body: encode(t, partly(-1, "quota"))},
		"too long":           {header: pb, body: bytes.Repeat(whole, maxResponse/len(whole)+1)},
		"cut":                {header: append([]string{"Content-Length", "100"}, pb...), body: whole},
		"never ends":         {header: pb, body: whole, hangAfter: true},
	} {
		t.Run(name, func(t *testing.T) {
			a.status = http.StatusOK
			r, url := web(t, a)
			c := client(t, &Config{Endpoint: url, Timeout: 300 * time.Millisecond, RetryFor: time.Minute})
			err := c.UploadTraces(t.Context(), batch(3))
			var partial *otlp.PartialSuccessError
			if !errors.Is(err, otlp.ErrUnconfirmed) || errors.Is(err, otlp.ErrNotReceived) || errors.As(err, &partial) {
				t.Errorf("error %v, want %v and nothing else", err, otlp.ErrUnconfirmed)
			}
			if len(r.requests) != 1 || c.Stats() != (otlp.UploadStats{}) {
				t.Errorf("%d requests, %+v, want one", len(r.requests), c.Stats())
			}
		})
	}
}

// An answering is a codec of a gRPC server that sends other bytes as its response.
type answering struct {
	encoding.CodecV2
	response []byte
}

func (a answering) Marshal(any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(a.response)}, nil
}

// TestUnclearGRPCAnswer checks the same for responses of gRPC. The status that gRPC makes of them is of this process, not
// of the receiver.
func TestUnclearGRPCAnswer(t *testing.T) {
	whole := encode(t, partly(2, "quota"))
	for name, response := range map[string][]byte{
		"truncated": whole[:len(whole)-1],
		"negative":  encode(t, partly(-1, "quota")),
		"too long":  bytes.Repeat(whole, maxResponse/len(whole)+1),
	} {
		t.Run(name, func(t *testing.T) {
			r := &grpcReceiver{}
			_, url := serveGRPC(t, r, grpc.ForceServerCodecV2(answering{encoding.GetCodecV2("proto"), response}))
			c := client(t, &Config{Endpoint: url, RetryFor: time.Minute})
			var partial *otlp.PartialSuccessError
			err := c.UploadTraces(t.Context(), batch(3))
			if !errors.Is(err, otlp.ErrUnconfirmed) || errors.Is(err, otlp.ErrNotReceived) || errors.Is(err, otlp.ErrTooLarge) || errors.As(err, &partial) {
				t.Errorf("error %v, want %v and nothing else", err, otlp.ErrUnconfirmed)
			}
			if r.requests != 1 || c.Stats() != (otlp.UploadStats{}) {
				t.Errorf("%d requests, %+v, want one", r.requests, c.Stats())
			}
		})
	}
}

func partly(n int64, why string) *coltracepb.ExportTraceServiceResponse {
	return &coltracepb.ExportTraceServiceResponse{PartialSuccess: &coltracepb.ExportTracePartialSuccess{RejectedSpans: n, ErrorMessage: why}}
}

// A want is the expected result of an upload of 3 spans.
type want struct {
	err       string // part of it; "" for none
	is        error
	requests  int
	rejected  int64
	doubled   int64
	open      bool          // the receiver may have the spans
	atLeast   time.Duration // minimum duration
	retryFor  time.Duration
	twoBefore bool // the receiver accepts two batches before
}

// checkUpload uploads a batch.
func checkUpload(t *testing.T, c *Client, w *want, requests func() int) {
	t.Helper()
	begin := time.Now()
	before := requests()
	err := c.UploadTraces(t.Context(), batch(3))
	took := time.Since(begin)
	if (err == nil) != (w.err == "") || err != nil && !strings.Contains(err.Error(), w.err) || w.is != nil && !errors.Is(err, w.is) {
		t.Errorf("error %v, want %q, %v", err, w.err, w.is)
	}
	var partial *otlp.PartialSuccessError
	if errors.As(err, &partial) != (w.rejected > 0) || partial != nil && partial.Rejected != w.rejected {
		t.Errorf("%d spans are not rejected: %v", w.rejected, err)
	}
	if err != nil && partial == nil && errors.Is(err, otlp.ErrNotReceived) == (w.open || w.is == otlp.ErrTooLarge) {
		t.Errorf("not received: %v, want %v: %v", errors.Is(err, otlp.ErrNotReceived), !w.open, err)
	}
	if n := requests() - before; n != w.requests {
		t.Errorf("%d requests, want %d", n, w.requests)
	}
	if s := c.Stats(); s.Doubled != w.doubled || s.Retries != int64(w.requests-1) && w.requests > 0 {
		t.Errorf("%+v, want %d doubled and %d retries", s, w.doubled, w.requests-1)
	}
	if took < w.atLeast || took > w.atLeast+5*time.Second {
		t.Errorf("took %s, want %s", took, w.atLeast)
	}
}

func TestHTTPAnswers(t *testing.T) {
	ok := webAnswer{status: 200}
	pb := []string{"Content-Type", "application/x-protobuf"}
	js := []string{"Content-Type", "application/json; charset=utf-8"}
	for name, c := range map[string]struct {
		answers []webAnswer
		want    want
	}{
		"accepted":            {[]webAnswer{{status: 200, header: pb, body: encode(t, &coltracepb.ExportTraceServiceResponse{})}}, want{requests: 1}},
		"no content":          {[]webAnswer{{status: 204}}, want{requests: 1}},
		"partial":             {[]webAnswer{{status: 200, header: pb, body: encode(t, partly(2, "too\nold"))}}, want{requests: 1, rejected: 2, err: "too old"}},
		"partial in JSON":     {[]webAnswer{{status: 200, header: js, body: []byte(`{"partialSuccess":{"rejectedSpans":"2","errorMessage":"old"}}`)}}, want{requests: 1, rejected: 2, err: "old"}},
		"partial as a number": {[]webAnswer{{status: 200, header: js, body: []byte(`{"partialSuccess":{"rejectedSpans":3}}`)}}, want{requests: 1, rejected: 3, err: "3 spans"}},
		"partial as text":     {[]webAnswer{{status: 200, header: []string{"Content-Type", "text/plain"}, body: encode(t, partly(2, "old"))}}, want{requests: 1, rejected: 2, err: "old"}},
		"partial JSON as pb":  {[]webAnswer{{status: 200, header: pb, body: []byte(` {"partialSuccess":{"rejectedSpans":"2"}}`)}}, want{requests: 1, rejected: 2, err: "2 spans"}},
		"partial pb as JSON":  {[]webAnswer{{status: 200, header: js, body: encode(t, partly(2, "old"))}}, want{requests: 1, rejected: 2, err: "old"}},
		"untyped":             {[]webAnswer{{status: 202, header: []string{"Content-Type", ""}, body: encode(t, partly(2, "old"))}}, want{requests: 1, rejected: 2, err: "old"}},
		"other member":        {[]webAnswer{{status: 200, header: js, body: []byte(`{"partialSuccess":null,"more":[1]}`)}}, want{requests: 1}},
		"too large":           {[]webAnswer{{status: 413}}, want{requests: 1, err: "413", is: otlp.ErrTooLarge}},
		"unavailable":         {[]webAnswer{{status: 503}, ok}, want{requests: 2}},
		"seconds":             {[]webAnswer{{status: 429, header: []string{"Retry-After", "1"}}, ok}, want{requests: 2, atLeast: time.Second}},
		"date":                {[]webAnswer{{status: 503, after: 2 * time.Second}, ok}, want{requests: 2, atLeast: time.Second}},
		"too long":            {[]webAnswer{{status: 429, header: []string{"Retry-After", "3600"}}}, want{requests: 1, err: "retry after 1h"}},
		"huge":                {[]webAnswer{{status: 429, header: []string{"Retry-After", "99999999999"}}}, want{requests: 1, err: "retry after"}},
		"no date":             {[]webAnswer{{status: 429, header: []string{"Retry-After", "soon"}}, ok}, want{requests: 2}},
		"bad gateway":         {[]webAnswer{{status: 502}, ok}, want{requests: 2, doubled: 3}},
		"gateway timeout":     {[]webAnswer{{status: 504}, {status: 504}, ok}, want{requests: 3, doubled: 3}},
		"hung up":             {[]webAnswer{{hangUp: true}, ok}, want{requests: 2, doubled: 3}},
		"hung up for good":    {[]webAnswer{{hangUp: true}}, want{requests: 1, err: "EOF", open: true, retryFor: -1}},
		"refused":             {[]webAnswer{{status: 400, header: pb, body: encode(t, status.New(codes.Unknown, "bad span").Proto())}}, want{requests: 1, err: "400 Bad Request: bad span"}},
		"refused later":       {[]webAnswer{ok, {status: 500, header: js, body: []byte(`{"code":13,"message":"broken"}`)}}, want{requests: 1, err: "broken", rejected: 3, twoBefore: true}},
		"denied":              {[]webAnswer{ok, {status: 401}}, want{requests: 1, err: "--header", twoBefore: true}},
		"no such path":        {[]webAnswer{{status: 404, header: []string{"Content-Type", "text/plain"}, body: []byte("404 page not found")}}, want{requests: 1, err: "page not found; check the path"}},
		"web page":            {[]webAnswer{{status: 200, header: []string{"Content-Type", "text/html; charset=utf-8"}, body: []byte("<html>")}}, want{requests: 1, err: "web page"}},
		"redirect":            {[]webAnswer{{status: 307, header: []string{"Location", "/elsewhere"}}}, want{requests: 1, err: "redirects"}},
		"never":               {[]webAnswer{{hang: true}}, want{requests: 1, err: "no response within 300ms", open: true, retryFor: -1, atLeast: 300 * time.Millisecond}},
		"always unavailable":  {[]webAnswer{{status: 503}}, want{requests: 1, err: "raise --retry-for", retryFor: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			r, url := web(t, c.answers...)
			config := &Config{Endpoint: url, Timeout: 300 * time.Millisecond, RetryFor: 10 * time.Second}
			if c.want.retryFor < 0 {
				config.RetryFor = 0
			}
			u := client(t, config)
			if c.want.twoBefore {
				if err := u.UploadTraces(t.Context(), batch(1)); err != nil {
					t.Fatal(err)
				}
			}
			checkUpload(t, u, &c.want, func() int {
				r.mu.Lock()
				defer r.mu.Unlock()
				return len(r.requests)
			})
			if slices.Contains(r.spans, -1) {
				t.Errorf("spans of the requests: %d", r.spans)
			}
		})
	}
}

// A grpcReceiver responds with the result of a function, which gets the number of the request.
type grpcReceiver struct {
	coltracepb.UnimplementedTraceServiceServer
	mu       sync.Mutex
	answer   func(ctx context.Context, n int) (*coltracepb.ExportTraceServiceResponse, error)
	requests int
	md       metadata.MD
}

func (r *grpcReceiver) Export(ctx context.Context, m *coltracepb.ExportTraceServiceRequest) (*coltracepb.ExportTraceServiceResponse, error) {
	r.mu.Lock()
	n := r.requests
	r.requests++
	r.md, _ = metadata.FromIncomingContext(ctx)
	r.mu.Unlock()
	if r.answer == nil {
		return &coltracepb.ExportTraceServiceResponse{}, nil
	}
	return r.answer(ctx, n)
}

func serveGRPC(t *testing.T, r *grpcReceiver, opts ...grpc.ServerOption) (*grpc.Server, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(opts...)
	coltracepb.RegisterTraceServiceServer(s, r)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return s, "http://" + l.Addr().String()
}

// fail returns a status with a retry delay.
func fail(t *testing.T, code codes.Code, after time.Duration) error {
	t.Helper()
	s := status.New(code, "busy")
	if after > 0 {
		var err error
		if s, err = s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(after)}); err != nil {
			t.Fatal(err)
		}
	}
	return s.Err()
}

func TestGRPCAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		first    error // nil for a partial success
		then     error // nil for acceptance
		rejected int64
		want     want
	}{
		"accepted":          {want: want{requests: 1}},
		"partial":           {rejected: 2, want: want{requests: 1, rejected: 2, err: "old"}},
		"unavailable":       {first: fail(t, codes.Unavailable, 0), want: want{requests: 2}},
		"retry info":        {first: fail(t, codes.Unavailable, time.Second), want: want{requests: 2, atLeast: time.Second}},
		"exhausted":         {first: fail(t, codes.ResourceExhausted, time.Second), want: want{requests: 2, atLeast: time.Second}},
		"quota":             {first: fail(t, codes.ResourceExhausted, 0), want: want{requests: 1, err: "quota"}},
		"deadline":          {first: fail(t, codes.DeadlineExceeded, 0), want: want{requests: 2, doubled: 3}},
		"too long":          {first: fail(t, codes.Unavailable, time.Hour), want: want{requests: 1, err: "retry after 1h"}},
		"invalid":           {first: fail(t, codes.InvalidArgument, 0), want: want{requests: 1, err: "InvalidArgument: busy"}},
		"not authenticated": {first: fail(t, codes.Unauthenticated, 0), want: want{requests: 1, err: "--header"}},
		"not implemented":   {first: fail(t, codes.Unimplemented, 0), want: want{requests: 1, err: "--protocol"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &grpcReceiver{answer: func(_ context.Context, n int) (*coltracepb.ExportTraceServiceResponse, error) {
				if n == 0 && c.first != nil {
					return nil, c.first
				}
				return partly(c.rejected, strings.Repeat("old", int(c.rejected))), c.then
			}}
			_, url := serveGRPC(t, r)
			u := client(t, &Config{Endpoint: url, RetryFor: 10 * time.Second})
			checkUpload(t, u, &c.want, func() int {
				r.mu.Lock()
				defer r.mu.Unlock()
				return r.requests
			})
		})
	}
}

// A request beyond the size limit of a gRPC server is an error for which the sink halves the batch.
func TestGRPCTooLarge(t *testing.T) {
	r := &grpcReceiver{}
	_, url := serveGRPC(t, r, grpc.MaxRecvMsgSize(smallRequest))
	u := client(t, &Config{Endpoint: url})
	large := batch(1)
	large[0].ScopeSpans[0].Spans[0].Name = strings.Repeat("x", smallRequest+1)
	if err := u.UploadTraces(t.Context(), large); !errors.Is(err, otlp.ErrTooLarge) || r.requests != 0 {
		t.Errorf("%v after %d requests", err, r.requests)
	}
	if err := u.UploadTraces(t.Context(), batch(1)); err != nil || r.requests != 1 {
		t.Errorf("%v after %d requests", err, r.requests)
	}
}

// A receiver that stops after it has read a request may have the spans; one that does not listen cannot have them.
func TestGRPCNoAnswer(t *testing.T) {
	received, stop := make(chan struct{}), make(chan struct{})
	r := &grpcReceiver{answer: func(context.Context, int) (*coltracepb.ExportTraceServiceResponse, error) {
		close(received)
		<-stop
		return nil, nil
	}}
	s, url := serveGRPC(t, r)
	u := client(t, &Config{Endpoint: url, RetryFor: 700 * time.Millisecond})
	go func() {
		<-received
		go s.Stop()
		time.Sleep(100 * time.Millisecond)
		close(stop)
	}()
	err := u.UploadTraces(t.Context(), batch(3))
	var e *Error
	if !errors.As(err, &e) || !e.Open || errors.Is(err, otlp.ErrNotReceived) || e.Attempts < 2 || u.Stats().Doubled != 0 {
		t.Errorf("after it was received: %v, %+v", err, u.Stats())
	}
	err = u.UploadTraces(t.Context(), batch(3))
	if !errors.As(err, &e) || e.Open || !errors.Is(err, otlp.ErrNotReceived) || !strings.Contains(err.Error(), "check that a receiver listens") {
		t.Errorf("not listening: %v", err)
	}
}

// A wrong endpoint is reported early unless Patient is set. For an endpoint that has responded before, RetryFor
// applies.
func TestFirstContact(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	for _, protocol := range []Protocol{GRPC, HTTPProtobuf} {
		c := client(t, &Config{Endpoint: "http://" + address, Protocol: protocol, RetryFor: time.Hour})
		s := &sending{client: c, batch: batch(1), begin: time.Now().Add(-firstContact)}
		o := s.attempt(t.Context())
		if _, final := s.result(&o); final || s.open {
			t.Errorf("%s: %+v", protocol, o)
		}
		if wait, err := s.pause(&o); err == nil {
			t.Errorf("%s: waits for %s", protocol, wait)
		}
		c.config.Patient = true
		if _, err := s.pause(&o); err != nil {
			t.Errorf("%s: no patience: %v", protocol, err)
		}
		c.config.Patient = false
		c.answered.Store(true)
		if _, err := s.pause(&o); err != nil {
			t.Errorf("%s: the receiver was there: %v", protocol, err)
		}
	}
}

// Cancelling the context ends an attempt and a pause.
func TestContext(t *testing.T) {
	_, hang := web(t, webAnswer{hang: true})
	_, busy := web(t, webAnswer{status: 503, header: []string{"Retry-After", "30"}})
	for _, url := range []string{hang, busy} {
		u := client(t, &Config{Endpoint: url, Timeout: time.Minute, RetryFor: time.Hour, Patient: true})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		begin := time.Now()
		err := u.UploadTraces(ctx, batch(1))
		cancel()
		if err == nil || time.Since(begin) > 5*time.Second || errors.Is(err, otlp.ErrNotReceived) == (url == hang) {
			t.Errorf("%s: %v after %s", url, err, time.Since(begin))
		}
	}
}

// Requests have the configured encoding, headers, path and query, regardless of the environment.
func TestRequest(t *testing.T) {
	for _, protocol := range []Protocol{HTTPProtobuf, HTTPJSON} {
		r, url := web(t, webAnswer{status: 200})
		url = strings.Replace(url, "http://", "http://user:pass@", 1) + "?v=1"
		u := client(t, &Config{Endpoint: url, Protocol: protocol, Gzip: true, Headers: map[string]string{"x-key": "1"}})
		if err := u.UploadTraces(t.Context(), batch(4)); err != nil {
			t.Fatal(err)
		}
		h := r.requests[0]
		kind := map[Protocol]string{HTTPProtobuf: "application/x-protobuf", HTTPJSON: "application/json"}[protocol]
		if h.Get("X-Key") != "1" || h.Get("Authorization") != "Basic dXNlcjpwYXNz" || h.Get("Content-Encoding") != "gzip" || h.Get("Content-Type") != kind ||
			h.Get("Path") != "/v1/traces?v=1" || r.spans[0] != 4 {
			t.Errorf("%s: %v, %d spans", protocol, h, r.spans)
		}
		if strings.Contains(fmt.Sprint(u.Endpoint()), "pass") {
			t.Error(u.Endpoint())
		}
	}
	r := &grpcReceiver{}
	_, url := serveGRPC(t, r)
	u := client(t, &Config{Endpoint: url, Gzip: true, Headers: map[string]string{"x-key": "1"}})
	if err := u.UploadTraces(t.Context(), batch(4)); err != nil || !slices.Equal(r.md["x-key"], []string{"1"}) {
		t.Errorf("%v: %v", err, r.md)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add("application/json", []byte(`{"partialSuccess":{"rejectedSpans":"2"}}`), "1")
	f.Add("application/x-protobuf", []byte{10, 2, 8, 1}, "Sun, 06 Nov 1994 08:49:37 GMT")
	f.Fuzz(func(t *testing.T, kind string, body []byte, after string) {
		var o outcomeFields
		m := new(coltracepb.ExportTraceServiceResponse)
		o.answer(m, decode(kind, body, m))
		if (o.verdict == accepted) != (o.err == nil) || o.verdict == accepted && o.rejected < 0 {
			t.Errorf("%q: %+v", body, &o)
		}
		for _, s := range []string{o.message, fmt.Sprint(o.err), statusText(kind, body)} {
			if len(s) > 2*maxMessage || strings.ContainsAny(s, "\n\x1b") {
				t.Errorf("%q is not fit for a message", s)
			}
		}
		if retryAfter(after, time.Now()) < 0 {
			t.Errorf("%q: a negative time", after)
		}
	})
}

// If the receiver does not use TLS, the upload fails without a retry, and the error names the scheme to use.
func TestReceiverWithoutTLS(t *testing.T) {
	r, url := web(t, webAnswer{status: 200})
	c := client(t, &Config{Endpoint: strings.Replace(url, "http:", "https:", 1), Timeout: 10 * time.Second, RetryFor: time.Minute})
	begin := time.Now()
	err := c.UploadTraces(t.Context(), batch(1))
	if !errors.Is(err, otlp.ErrNotReceived) || !strings.Contains(fmt.Sprint(err), "use http://") || len(r.requests) > 0 {
		t.Errorf("%v, %d requests", err, len(r.requests))
	}
	if took := time.Since(begin); took > firstContact {
		t.Errorf("tried for %s", took)
	}
}
