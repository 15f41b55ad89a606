package otlpclient

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/ntconv/ntconv/exporters/otlp"
)

// request returns a request of n spans with a name.
func request(n int, name string) []byte {
	scope := new(tracepb.ScopeSpans)
	for i := range n {
		scope.Spans = append(scope.Spans, &tracepb.Span{TraceId: bytes.Repeat([]byte{1}, 16), SpanId: bytes.Repeat([]byte{byte(i + 1)}, 8), Name: name})
	}
	b, _ := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{scope}}}})
	return b
}

// upload sends n spans.
func upload(ctx context.Context, c *Client, n int) error {
	return c.Upload(ctx, otlp.Traces, request(n, "GET"), n)
}

// spanCount returns the number of spans of a request, or -1 if it is invalid.
func spanCount(request []byte) (n int) {
	var m tracepb.TracesData
	if proto.Unmarshal(request, &m) != nil {
		return -1
	}
	for _, r := range m.ResourceSpans {
		for _, s := range r.ScopeSpans {
			n += len(s.Spans)
		}
	}
	return n
}

// fieldOf returns a protobuf message with one string, bytes or message.
func fieldOf(num protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), value)
}

// partly returns a response to a request of which n spans were rejected.
func partly(n int64, why string) []byte {
	b := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(n))
	return fieldOf(1, append(b, fieldOf(2, []byte(why))...))
}

// client returns a Client that is closed when the test ends.
func client(t *testing.T, c *Config) *Client {
	t.Helper()
	for _, name := range []string{"ENDPOINT", "PROTOCOL", "COMPRESSION", "TIMEOUT", "CERTIFICATE", "HEADERS", "INSECURE"} {
		t.Setenv(envPrefix+name, "nonsense") // the environment has an effect through FromEnvironment alone
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

func (r *webReceiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.requests)
}

func (r *webReceiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	if q.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err == nil {
			body, _ = io.ReadAll(z)
		}
	}
	n := bytes.Count(body, []byte(`"spanId"`))
	if q.Header.Get("Content-Type") != "application/json" {
		n = spanCount(body)
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

// TestUnclearAnswer checks that a successful response that does not state completely what the receiver accepted is neither
// accepted nor sent again: the batch is unconfirmed.
func TestUnclearAnswer(t *testing.T) {
	whole := partly(2, "quota")
	pb, js := []string{"Content-Type", "application/x-protobuf"}, []string{"Content-Type", "application/json"}
	for name, a := range map[string]webAnswer{
		"truncated protobuf": {header: pb, body: whole[:len(whole)-1]},
		"truncated JSON":     {header: js, body: []byte(`{"partialSuccess":{"rejectedSpans":"2"`)},
		"text":               {header: js, body: []byte("ok")},
		"plain text":         {header: []string{"Content-Type", "text/plain"}, body: []byte("accepted")},
		"unknown fields":     {header: []string{"Content-Type", "text/plain"}, body: []byte("\x7a\x02ok")},
		"no number":          {header: js, body: []byte(`{"partialSuccess":{"rejectedSpans":"two"}}`)},
		"negative":           {header: js, body: []byte(`{"partialSuccess":{"rejectedSpans":-3}}`)},
		"negative protobuf":  {header: pb, body: partly(-1, "quota")},
		"too long":           {header: pb, body: bytes.Repeat(whole, maxResponse/len(whole)+1)},
		"cut":                {header: append([]string{"Content-Length", "100"}, pb...), body: whole},
		"never ends":         {header: pb, body: whole, hangAfter: true},
	} {
		t.Run(name, func(t *testing.T) {
			a.status = http.StatusOK
			r, url := web(t, a)
			c := client(t, &Config{Endpoint: url, Timeout: 300 * time.Millisecond, RetryFor: time.Minute})
			checkUnclear(t, c, r.count)
		})
	}
}

// TestUnclearGRPCAnswer checks the same for responses of gRPC.
func TestUnclearGRPCAnswer(t *testing.T) {
	whole := partly(2, "quota")
	for name, a := range map[string]grpcAnswer{
		"truncated":   {response: whole[:len(whole)-1]},
		"negative":    {response: partly(-1, "quota")},
		"too long":    {response: bytes.Repeat(whole, maxResponse/len(whole)+1)},
		"no message":  {frame: []byte{}},
		"two":         {frame: slices.Concat(frame(0, nil), frame(0, nil))},
		"cut":         {frame: frame(0, whole)[:9]},
		"no gzip":     {frame: frame(1, whole)},
		"gzip bomb":   {frame: frame(1, compressed(make([]byte, maxResponse+1)))},
		"half a gzip": {frame: frame(1, compressed(whole)[:20])},
	} {
		t.Run(name, func(t *testing.T) {
			r, url := remote(t, a)
			c := client(t, &Config{Endpoint: url, RetryFor: time.Minute})
			checkUnclear(t, c, r.requests)
		})
	}
}

func checkUnclear(t *testing.T, c *Client, requests func() int) {
	t.Helper()
	err := upload(t.Context(), c, 3)
	var partial *otlp.PartialSuccessError
	if !errors.Is(err, otlp.ErrUnconfirmed) || errors.Is(err, otlp.ErrNotReceived) || errors.Is(err, otlp.ErrTooLarge) || errors.As(err, &partial) {
		t.Errorf("error %v, want %v and nothing else", err, otlp.ErrUnconfirmed)
	}
	if n := requests(); n != 1 || c.Stats() != (otlp.UploadStats{}) {
		t.Errorf("%d requests, %+v, want one", n, c.Stats())
	}
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
	err := upload(t.Context(), c, 3)
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
		"accepted":            {[]webAnswer{{status: 200, header: pb, body: nil}}, want{requests: 1}},
		"no content":          {[]webAnswer{{status: 204}}, want{requests: 1}},
		"partial":             {[]webAnswer{{status: 200, header: pb, body: partly(2, "too\nold")}}, want{requests: 1, rejected: 2, err: "too old"}},
		"partial in JSON":     {[]webAnswer{{status: 200, header: js, body: []byte(`{"partialSuccess":{"rejectedSpans":"2","errorMessage":"old"}}`)}}, want{requests: 1, rejected: 2, err: "old"}},
		"partial as a number": {[]webAnswer{{status: 200, header: js, body: []byte(`{"partialSuccess":{"rejectedSpans":3}}`)}}, want{requests: 1, rejected: 3, err: "3 items"}},
		"partial as text":     {[]webAnswer{{status: 200, header: []string{"Content-Type", "text/plain"}, body: partly(2, "old")}}, want{requests: 1, rejected: 2, err: "old"}},
		"partial JSON as pb":  {[]webAnswer{{status: 200, header: pb, body: []byte(` {"partialSuccess":{"rejectedSpans":"2"}}`)}}, want{requests: 1, rejected: 2, err: "2 items"}},
		"partial pb as JSON":  {[]webAnswer{{status: 200, header: js, body: partly(2, "old")}}, want{requests: 1, rejected: 2, err: "old"}},
		"untyped":             {[]webAnswer{{status: 202, header: []string{"Content-Type", ""}, body: partly(2, "old")}}, want{requests: 1, rejected: 2, err: "old"}},
		"other member":        {[]webAnswer{{status: 200, header: js, body: []byte(`{"partialSuccess":null,"more":[1]}`)}}, want{requests: 1}},
		"too large":           {[]webAnswer{{status: 413}}, want{requests: 1, err: "413", is: otlp.ErrTooLarge}},
		"body too large":      {[]webAnswer{{status: 400, header: []string{"Content-Type", "text/plain"}, body: []byte("http: request body too large\n")}}, want{requests: 1, err: "400", is: otlp.ErrTooLarge}},
		"body too large, pb":  {[]webAnswer{{status: 400, header: pb, body: fieldOf(2, []byte("http: request body too large"))}}, want{requests: 1, err: "400", is: otlp.ErrTooLarge}},
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
		"refused":             {[]webAnswer{{status: 400, header: pb, body: fieldOf(2, []byte("bad span"))}}, want{requests: 1, err: "400 Bad Request: bad span"}},
		"refused later":       {[]webAnswer{ok, {status: 500, header: js, body: []byte(`{"code":13,"message":"broken"}`)}}, want{requests: 1, err: "broken", rejected: 3, twoBefore: true}},
		"denied":              {[]webAnswer{ok, {status: 401}}, want{requests: 1, err: "Config.Headers", twoBefore: true}},
		"no such path":        {[]webAnswer{{status: 404, header: []string{"Content-Type", "text/plain"}, body: []byte("404 page not found")}}, want{requests: 1, err: "page not found; check the path"}},
		"web page":            {[]webAnswer{{status: 200, header: []string{"Content-Type", "text/html; charset=utf-8"}, body: []byte("<html>")}}, want{requests: 1, err: "web page"}},
		"redirect":            {[]webAnswer{{status: 307, header: []string{"Location", "/elsewhere"}}}, want{requests: 1, err: "redirects"}},
		"never":               {[]webAnswer{{hang: true}}, want{requests: 1, err: "no response within 300ms", open: true, retryFor: -1, atLeast: 300 * time.Millisecond}},
		"always unavailable":  {[]webAnswer{{status: 503}}, want{requests: 1, err: "raise Config.RetryFor", retryFor: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			r, url := web(t, c.answers...)
			config := &Config{Endpoint: url, Timeout: 300 * time.Millisecond, RetryFor: 10 * time.Second}
			if c.want.retryFor < 0 {
				config.RetryFor = 0
			}
			u := client(t, config)
			if c.want.twoBefore {
				if err := upload(t.Context(), u, 1); err != nil {
					t.Fatal(err)
				}
			}
			checkUpload(t, u, &c.want, r.count)
			if slices.Contains(r.spans, -1) {
				t.Errorf("spans of the requests: %d", r.spans)
			}
		})
	}
}

// A grpcAnswer is the response of a gRPC receiver to a call.
type grpcAnswer struct {
	code     code
	text     string
	after    time.Duration // in a RetryInfo
	response []byte
	frame    []byte // instead of the response with its head
	noStatus bool   // end without a status
	hang     chan struct{}
}

// frame returns a message with its head.
func frame(flag byte, text []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{flag}, uint32(len(text))), text...)
}

func compressed(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}

// details returns a google.rpc.Status with a RetryInfo among its details.
func details(after time.Duration) string {
	delay := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(after/time.Second))
	info := slices.Concat(fieldOf(1, []byte("type.googleapis.com/google.rpc.RetryInfo")), fieldOf(2, fieldOf(1, delay)))
	other := fieldOf(1, []byte("type.googleapis.com/google.rpc.Help"))
	return base64.RawStdEncoding.EncodeToString(slices.Concat(fieldOf(2, []byte("busy")), fieldOf(3, other), fieldOf(3, info)))
}

// A grpcReceiver sends one response after the other, and repeats the last one.
type grpcReceiver struct {
	t       *testing.T
	answers []grpcAnswer
	limit   int // of a request in bytes; 0 for none

	mu      sync.Mutex
	headers []http.Header
}

func (r *grpcReceiver) requests() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.headers)
}

func (r *grpcReceiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	if q.ProtoMajor != 2 || q.URL.Path != servicePaths[otlp.Traces] || q.Header.Get("Content-Type") != "application/grpc" || q.Header.Get("Te") != "trailers" ||
		len(body) < messageHead || !bytes.Equal(body, frame(body[0], body[messageHead:])) {
		r.t.Errorf("%s %s with %d bytes: %v", q.Proto, q.URL.Path, len(body), q.Header)
	}
	text := body[messageHead:]
	if body[0] == 1 {
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil || q.Header.Get("Grpc-Encoding") != "gzip" {
			r.t.Errorf("%v: %v", err, q.Header)
			return
		}
		text, _ = io.ReadAll(z)
	}
	w.Header().Set("Content-Type", "application/grpc")
	if r.limit > 0 && len(text) > r.limit { // grpc-go refuses such a request before it counts
		w.Header().Set("Grpc-Status", fmt.Sprint(int(codeResourceExhausted)))
		return
	}
	if spanCount(text) < 1 {
		r.t.Errorf("no spans in %x", text)
	}
	r.mu.Lock()
	a := r.answers[min(len(r.headers), len(r.answers)-1)]
	r.headers = append(r.headers, q.Header)
	r.mu.Unlock()
	if a.hang != nil {
		close(a.hang)
		<-q.Context().Done()
		return
	}
	h, prefix := w.Header(), "" // the status is in the header if there is no message
	if a.code == codeOK {
		prefix = http.TrailerPrefix
		if a.frame == nil {
			a.frame = frame(0, a.response)
			if body[0] == 1 { // as gRPC for Go
				a.frame = frame(1, compressed(a.response))
			}
		}
		_, _ = w.Write(a.frame)
	}
	if a.noStatus {
		return
	}
	h.Set(prefix+"Grpc-Status", fmt.Sprint(int(a.code)))
	h.Set(prefix+"Grpc-Message", url.PathEscape(a.text))
	if a.after > 0 {
		h.Set(prefix+"Grpc-Status-Details-Bin", details(a.after))
	}
}

// server returns a server of HTTP/2 that has not started.
func server(t *testing.T, handler http.Handler) *httptest.Server {
	s := httptest.NewUnstartedServer(handler)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Config.Protocols.SetHTTP2(true)
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	return s
}

func remote(t *testing.T, answers ...grpcAnswer) (*grpcReceiver, string) {
	t.Helper()
	r := &grpcReceiver{t: t, answers: answers}
	s := server(t, r)
	s.Start()
	return r, s.URL
}

func TestGRPCAnswers(t *testing.T) {
	ok := grpcAnswer{}
	for name, c := range map[string]struct {
		answers []grpcAnswer
		want    want
	}{
		"accepted":          {[]grpcAnswer{ok}, want{requests: 1}},
		"partial":           {[]grpcAnswer{{response: partly(2, "too\nold")}}, want{requests: 1, rejected: 2, err: "too old"}},
		"unavailable":       {[]grpcAnswer{{code: codeUnavailable, text: "busy"}, ok}, want{requests: 2}},
		"retry info":        {[]grpcAnswer{{code: codeUnavailable, after: time.Second}, ok}, want{requests: 2, atLeast: time.Second}},
		"exhausted":         {[]grpcAnswer{{code: codeResourceExhausted, after: time.Second}, ok}, want{requests: 2, atLeast: time.Second}},
		"quota":             {[]grpcAnswer{{code: codeResourceExhausted}}, want{requests: 1, err: "quota"}},
		"deadline":          {[]grpcAnswer{{code: codeDeadlineExceeded}, ok}, want{requests: 2, doubled: 3}},
		"too long":          {[]grpcAnswer{{code: codeUnavailable, after: time.Hour}}, want{requests: 1, err: "retry after 1h"}},
		"invalid":           {[]grpcAnswer{{code: codeInvalidArgument, text: "100 % no"}}, want{requests: 1, err: "InvalidArgument: 100 % no"}},
		"refused later":     {[]grpcAnswer{ok, {code: codeInternal, text: "broken"}}, want{requests: 1, err: "Internal: broken", rejected: 3, twoBefore: true}},
		"unheard of":        {[]grpcAnswer{{code: 99}}, want{requests: 1, err: "Code(99)"}},
		"not authenticated": {[]grpcAnswer{{code: codeUnauthenticated}}, want{requests: 1, err: "Config.Headers"}},
		"not implemented":   {[]grpcAnswer{{code: codeUnimplemented}}, want{requests: 1, err: "Config.Protocol"}},
		"no status":         {[]grpcAnswer{{noStatus: true}, ok}, want{requests: 2, doubled: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			r, url := remote(t, c.answers...)
			u := client(t, &Config{Endpoint: url, RetryFor: 10 * time.Second})
			if c.want.twoBefore {
				if err := upload(t.Context(), u, 1); err != nil {
					t.Fatal(err)
				}
			}
			checkUpload(t, u, &c.want, r.requests)
		})
	}
}

// Receivers and proxies that do not know gRPC are not mistaken for those that do.
func TestNoGRPC(t *testing.T) {
	for name, c := range map[string]struct {
		answers []webAnswer
		want    want
	}{
		"web page":      {[]webAnswer{{status: 200, header: []string{"Content-Type", "text/html"}}}, want{requests: 1, err: "not one of gRPC; check that the endpoint accepts OTLP over gRPC"}},
		"no such path":  {[]webAnswer{{status: 404}}, want{requests: 1, err: "404 Not Found; check that the endpoint accepts OTLP over gRPC"}},
		"a login":       {[]webAnswer{{status: 401}}, want{requests: 1, err: "Config.Headers"}},
		"busy proxy":    {[]webAnswer{{status: 503}}, want{requests: 1, err: "503", retryFor: -1}},
		"bad gateway":   {[]webAnswer{{status: 502}, {status: 404}}, want{requests: 2, err: "404", doubled: 3, open: true}},
		"never answers": {[]webAnswer{{hang: true}}, want{requests: 1, err: "no response within 300ms", open: true, retryFor: -1, atLeast: 300 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &webReceiver{answers: c.answers}
			s := server(t, r)
			s.Start()
			config := &Config{Endpoint: s.URL, Protocol: GRPC, Timeout: 300 * time.Millisecond, RetryFor: 10 * time.Second}
			if c.want.retryFor < 0 {
				config.RetryFor = 0
			}
			checkUpload(t, client(t, config), &c.want, r.count)
		})
	}
	_, url := web(t, webAnswer{status: 200}) // HTTP/1 only
	err := upload(t.Context(), client(t, &Config{Endpoint: strings.TrimSuffix(url, "/v1/traces"), Protocol: GRPC, RetryFor: time.Minute}), 1)
	// The server closes the connection after its answer; a client that still writes may read a reset instead, and repeats.
	if !errors.Is(err, otlp.ErrNotReceived) || !strings.Contains(err.Error(), "answers with HTTP/1") ||
		!strings.Contains(err.Error(), "; check that the endpoint accepts OTLP over gRPC") {
		t.Errorf("HTTP/1: %v", err)
	}
}

// A request beyond the size limit of a gRPC server is an error for which the sink halves the batch.
func TestGRPCTooLarge(t *testing.T) {
	r, url := remote(t, grpcAnswer{})
	r.limit = smallRequest
	u := client(t, &Config{Endpoint: url})
	if err := u.Upload(t.Context(), otlp.Traces, request(1, strings.Repeat("x", smallRequest+1)), 1); !errors.Is(err, otlp.ErrTooLarge) || r.requests() != 0 {
		t.Errorf("%v after %d requests", err, r.requests())
	}
	if err := upload(t.Context(), u, 1); err != nil || r.requests() != 1 {
		t.Errorf("%v after %d requests", err, r.requests())
	}
}

// A receiver that stops after it has read a request may have the spans; one that does not listen cannot have them.
func TestGRPCNoAnswer(t *testing.T) {
	received := make(chan struct{})
	s := server(t, &grpcReceiver{t: t, answers: []grpcAnswer{{hang: received}}})
	s.Start()
	u := client(t, &Config{Endpoint: s.URL, RetryFor: 700 * time.Millisecond})
	go func() {
		<-received
		_ = s.Config.Close()
	}()
	err := upload(t.Context(), u, 3)
	if err == nil || errors.Is(err, otlp.ErrNotReceived) || !strings.Contains(err.Error(), " attempts in ") || u.Stats().Retries == 0 || u.Stats().Doubled != 0 {
		t.Errorf("after it was received: %v, %+v", err, u.Stats())
	}
	err = upload(t.Context(), u, 3)
	if !errors.Is(err, otlp.ErrNotReceived) || !strings.Contains(err.Error(), "check that a receiver listens") {
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
		c := client(t, &Config{Endpoint: "http://" + address, Protocol: protocol, RetryFor: time.Hour}).senders[otlp.Traces]
		s := &sending{sender: c, items: 1, begin: time.Now().Add(-firstContact)}
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
		err := upload(ctx, u, 1)
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
		if err := upload(t.Context(), u, 4); err != nil {
			t.Fatal(err)
		}
		h := r.requests[0]
		kind := map[Protocol]string{HTTPProtobuf: "application/x-protobuf", HTTPJSON: "application/json"}[protocol]
		if h.Get("X-Key") != "1" || h.Get("Authorization") != "Basic dXNlcjpwYXNz" || h.Get("Content-Encoding") != "gzip" || h.Get("Content-Type") != kind ||
			h.Get("Path") != "/v1/traces?v=1" || r.spans[0] != 4 {
			t.Errorf("%s: %v, %d spans", protocol, h, r.spans)
		}
		if strings.Contains(fmt.Sprint(u.Endpoint(otlp.Traces)), "pass") {
			t.Error(u.Endpoint(otlp.Traces))
		}
	}
	r, url := remote(t, grpcAnswer{response: partly(2, "old")})
	u := client(t, &Config{Endpoint: strings.Replace(url, "http://", "http://user:pass@", 1), Gzip: true, Headers: map[string]string{"x-key": "1"}})
	var partial *otlp.PartialSuccessError
	if err := upload(t.Context(), u, 4); !errors.As(err, &partial) || partial.Rejected != 2 {
		t.Errorf("gRPC: %v", err)
	}
	if h := r.headers[0]; h.Get("X-Key") != "1" || h.Get("Authorization") != "Basic dXNlcjpwYXNz" {
		t.Errorf("gRPC: %v", h)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add("application/json", []byte(`{"partialSuccess":{"rejectedSpans":"2"}}`), "1")
	f.Add("application/x-protobuf", []byte{10, 2, 8, 1}, "Sun, 06 Nov 1994 08:49:37 GMT")
	f.Add("text/plain", []byte("no"), "7")
	f.Add("text/plain", []byte("no"), "12")
	f.Fuzz(func(t *testing.T, kind string, body []byte, after string) {
		to := &target{protocol: GRPC, signal: otlp.Traces}
		o, call := outcome{target: to}, outcome{target: to}
		o.accept(parse(kind, body))
		if (o.verdict == accepted) != (o.err == nil) || o.partial != nil && (o.err != nil || o.partial.Rejected < 0) {
			t.Errorf("%q: %+v", body, &o)
		}
		call.answeredCall(&http.Response{Trailer: http.Header{
			"Grpc-Status": {after}, "Grpc-Message": {string(body)}, "Grpc-Status-Details-Bin": {base64.StdEncoding.EncodeToString(body)},
		}}, body, nil, 1)
		if call.wait < 0 {
			t.Errorf("%q: a negative time", body)
		}
		for _, s := range []string{fmt.Sprint(o.partial), fmt.Sprint(o.err), fmt.Sprint(call.err), statusText(kind, body)} {
			if len(s) > 2*maxMessage || strings.ContainsAny(s, "\n\x1b") {
				t.Errorf("%q is not fit for a message", s)
			}
		}
		if retryAfter(after, time.Now()) < 0 {
			t.Errorf("%q: a negative time", after)
		}
	})
}

// peer returns the endpoint of a receiver that answers every connection with some bytes.
func peer(t *testing.T, answer []byte) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write(answer)
			t.Cleanup(func() { _ = conn.Close() })
		}
	}()
	return "http://" + l.Addr().String()
}

// If a receiver understands another protocol than that of the requests, the upload fails without a retry, and the error
// names what to change.
func TestOtherProtocol(t *testing.T) {
	grpc := peer(t, []byte{0, 0, 0, 4, 0, 0, 0, 0, 0}) // an empty SETTINGS frame, which grpc-go sends first
	alert := peer(t, []byte{21, 3, 1, 0, 2, 2, 70})    // protocol_version, as OpenSSL answers
	secure := server(t, http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	encrypted := strings.Replace(secure.URL, "https:", "http:", 1)
	for _, c := range []struct {
		endpoint string
		protocol Protocol
		want     string
	}{
		{grpc, HTTPProtobuf, "choose Config.Protocol grpc"},
		{grpc, HTTPJSON, "choose Config.Protocol grpc"},
		{encrypted, HTTPProtobuf, "use https://"},
		{alert, GRPC, "use https://"},
		{alert, HTTPProtobuf, "use https://"},
	} {
		u := client(t, &Config{Endpoint: c.endpoint, Protocol: c.protocol, Timeout: 10 * time.Second, RetryFor: time.Minute, Patient: true})
		begin := time.Now()
		err := upload(t.Context(), u, 1)
		if !errors.Is(err, otlp.ErrNotReceived) || !strings.Contains(fmt.Sprint(err), c.want) || time.Since(begin) > 10*time.Second {
			t.Errorf("%s over %s: %v after %s, want %q", c.endpoint, c.protocol, err, time.Since(begin), c.want)
		}
	}
}

// Each signal has its path, and the receiver is named by the items that it does not take.
func TestSignals(t *testing.T) {
	paths := map[otlp.Signal]string{otlp.Traces: "/v1/traces", otlp.Logs: "/v1/logs", otlp.Metrics: "/v1/metrics", otlp.Profiles: "/v1development/profiles"}
	for signal, path := range paths {
		r, url := web(t, webAnswer{status: 200}, webAnswer{status: 404})
		u := client(t, &Config{Endpoint: strings.TrimSuffix(url, "/v1/traces"), Protocol: HTTPProtobuf})
		if err := u.Upload(t.Context(), signal, nil, 1); err != nil || r.requests[0].Get("Path") != path || !strings.HasSuffix(u.Endpoint(signal), path) {
			t.Errorf("%s: %v, sent to %s", signal, err, r.requests[0].Get("Path"))
		}
		if ua := r.requests[0].Get("User-Agent"); !strings.HasPrefix(ua, "ntconv/") {
			t.Errorf("user agent %q", ua)
		}
		if err := u.Upload(t.Context(), signal, nil, 1); !errors.Is(err, otlp.ErrUnsupportedSignal) || !errors.Is(err, otlp.ErrNotReceived) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", signal, err)
		}
	}
	for path, want := range map[string]string{"/otlp/v1/traces": "/otlp/v1/logs", "/v1/logs": "/v1/logs", "/otlp": "/otlp", "/v1development/profiles": "/v1/logs"} {
		if got := client(t, &Config{Endpoint: "http://localhost:4318" + path}).Endpoint(otlp.Logs); got != "http://localhost:4318"+want {
			t.Errorf("%s: logs are sent to %s", path, got)
		}
	}
}

// If the receiver does not use TLS, the upload fails without a retry, and the error names the scheme to use.
func TestReceiverWithoutTLS(t *testing.T) {
	r, url := web(t, webAnswer{status: 200})
	c := client(t, &Config{Endpoint: strings.Replace(url, "http:", "https:", 1), Timeout: 10 * time.Second, RetryFor: time.Minute})
	begin := time.Now()
	err := upload(t.Context(), c, 1)
	if !errors.Is(err, otlp.ErrNotReceived) || !strings.Contains(fmt.Sprint(err), "use http://") || len(r.requests) > 0 {
		t.Errorf("%v, %d requests", err, len(r.requests))
	}
	if took := time.Since(begin); took > firstContact {
		t.Errorf("tried for %s", took)
	}
}
