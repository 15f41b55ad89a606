package otlpclient

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ntconv/ntconv/internal/data/message"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// newHTTP returns an HTTP client and a function that closes its idle connections. It sets all options that the
// environment could set, so that only c has an effect.
func newHTTP(c *Config, t *target) (otlptrace.Client, func(), error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if !t.plain {
		config, err := c.tls()
		if err != nil {
			return nil, nil, err
		}
		transport.TLSClientConfig = config
	}
	encoding := otlptracehttp.EncodingProtobuf
	if t.protocol == HTTPJSON {
		encoding = otlptracehttp.EncodingJSON
	}
	compression := otlptracehttp.NoCompression
	if c.Gzip {
		compression = otlptracehttp.GzipCompression
	}
	client := &http.Client{
		Transport: &observer{next: transport, query: t.query},
		// Following a redirect would turn POST into GET, or send the headers to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return otlptracehttp.NewClient(
		otlptracehttp.WithEndpointURL(t.String()),
		otlptracehttp.WithTLSClientConfig(nil),
		otlptracehttp.WithHTTPClient(client),
		otlptracehttp.WithHeaders(c.headers(t)),
		otlptracehttp.WithCompression(compression),
		otlptracehttp.WithEncoding(encoding),
		otlptracehttp.WithTimeout(c.Timeout),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}),
		otlptracehttp.WithMaxRequestSize(maxRequest),
	), transport.CloseIdleConnections, nil
}

// An observer records the outcome of each HTTP request.
type observer struct {
	next  http.RoundTripper
	query string
}

// Limits in bytes of a response body and of a message quoted from it.
const (
	maxResponse = 1 << 20
	maxMessage  = 300
)

// RoundTrip implements http.RoundTripper.
func (o *observer) RoundTrip(r *http.Request) (*http.Response, error) {
	out := outcomeOf(r.Context())
	out.change(func(f *outcomeFields) { f.begun = true })
	written := func() { out.change(func(f *outcomeFields) { f.sent = true }) }
	r = r.Clone(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{WroteHeaders: written}))
	r.URL.RawQuery = o.query
	answer, err := o.next.RoundTrip(r)
	if err != nil {
		out.change(func(f *outcomeFields) { f.failed(err) })
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxResponse+1))
	if len(body) > maxResponse {
		err = fmt.Errorf("limit %d bytes", maxResponse)
	}
	_ = answer.Body.Close()
	answer.Body = io.NopCloser(bytes.NewReader(body))
	out.change(func(f *outcomeFields) { f.answered(answer, body, err) })
	return answer, nil
}

// failed records that there was no response.
func (f *outcomeFields) failed(err error) {
	f.err = err
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &certificate):
		f.verdict, f.advice = denied, "set --ca to the certificate authority of the receiver"
	case errors.As(err, &record):
		f.verdict, f.advice = denied, "the receiver does not use TLS; use http:// instead of https://"
	}
}

// answered records the response of a receiver (OTLP specification, "OTLP/HTTP Response"). err is that of reading the
// body; the status of an error is valid without it.
func (f *outcomeFields) answered(r *http.Response, body []byte, err error) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.StatusCode/100 == 2 &&
		kind == "text/html" { // a login page or the user interface of a backend: nothing was received
		f.verdict, f.err = denied, fmt.Errorf("HTTP status %s with a web page as its body", r.Status)
		f.advice = "check host, port and path of the endpoint; most receivers accept spans at " + DefaultPath
		return
	}
	if r.StatusCode/100 == 2 {
		m := new(coltracepb.ExportTraceServiceResponse)
		if err == nil {
			err = decode(kind, body, m)
		}
		f.answer(m, err)
		return
	}
	f.err = fmt.Errorf("HTTP status %s", r.Status)
	if text := statusText(kind, body); text != "" {
		f.err = fmt.Errorf("%w: %s", f.err, text)
	}
	f.wait = retryAfter(r.Header.Get("Retry-After"), time.Now())
	switch r.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		f.verdict = again
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		f.verdict = uncertain
	case http.StatusRequestEntityTooLarge:
		f.verdict = tooLarge
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		f.verdict, f.advice = denied, "check the credentials in --header or OTEL_EXPORTER_OTLP_HEADERS"
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		f.verdict, f.advice = denied, "check the path of the endpoint; most receivers accept spans at "+DefaultPath
	case http.StatusUnsupportedMediaType:
		f.verdict, f.advice = denied, "choose another --protocol"
	default:
		f.verdict = refused
		if r.StatusCode/100 == 3 {
			f.verdict, f.advice = denied, "the receiver redirects to another endpoint; use that endpoint"
		}
	}
}

// decode decodes the body of a successful response. The body shows whether it is protobuf or JSON, because receivers
// state other types. A body of another type counts only if all of it is a response.
func decode(kind string, body []byte, m *coltracepb.ExportTraceServiceResponse) error {
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(body, m)
	}
	err := proto.Unmarshal(body, m)
	if err == nil && kind != "application/x-protobuf" && len(m.ProtoReflect().GetUnknown()) > 0 {
		err = errors.New("not a response of OTLP")
	}
	return err
}

// statusText returns the message in the body of an error response, a google.rpc.Status or plain text, or "" if there is
// none.
func statusText(kind string, body []byte) string {
	switch kind {
	case "application/x-protobuf":
		var m status.Status
		if proto.Unmarshal(body, &m) == nil {
			return shorten(m.GetMessage())
		}
	case "application/json":
		var m struct{ Message string }
		if json.Unmarshal(body, &m) == nil && m.Message != "" {
			return shorten(m.Message)
		}
		return shorten(string(body))
	case "text/plain":
		return shorten(string(body))
	}
	return ""
}

// shorten returns a message of the receiver on one line, truncated to maxMessage bytes.
func shorten(s string) string {
	s = message.Line(strings.Join(strings.Fields(s), " "))
	if len(s) <= maxMessage {
		return s
	}
	s = s[:maxMessage]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "..."
}

// retryAfter returns the delay in a Retry-After header, a number of seconds or a date. It returns 0 if there is none.
func retryAfter(s string, now time.Time) time.Duration {
	const limit = 1 << 31 // seconds; larger delays would overflow a time.Duration
	if n, err := strconv.ParseUint(s, 10, 64); err == nil {
		return time.Duration(min(n, limit)) * time.Second
	}
	if t, err := http.ParseTime(s); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}
