package otlpclient

import (
	"bytes"
	"cmp"
	"context"
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
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/internal/data/message"
)

// A verdict states how the sender must proceed after an attempt.
type verdict uint8

const (
	unknown     verdict = iota // no response: send again
	accepted                   // the receiver has the spans that it did not reject
	again                      // temporarily refused: send again
	uncertain                  // a proxy responded, and the receiver may have the spans: send again
	unclear                    // the receiver has answered, but not in a way that states what it accepted: do not send again
	tooLarge                   // the receiver accepts only smaller requests
	refused                    // the receiver does not accept this request
	denied                     // the receiver will not accept any request sent in the same way
	unsupported                // the receiver does not accept the signal
)

// An outcome is what is known about one attempt to send a request.
type outcome struct {
	target  *target
	verdict verdict
	sent    bool                      // bytes of the request may have reached the receiver
	err     error                     // reason why the request was not accepted
	wait    time.Duration             // minimum delay requested by the receiver
	advice  advice                    // next step for the user
	partial *otlp.PartialSuccessError // what an accepted request lost, or a warning
}

// mayHaveArrived reports whether the receiver may have the spans although it did not confirm them.
func (o *outcome) mayHaveArrived() bool {
	return o.verdict == uncertain || o.verdict == unknown && o.sent
}

// Limits in bytes of a response body and of a message quoted from it.
const (
	maxResponse = 1 << 20
	maxMessage  = 300
)

var errTooLong = fmt.Errorf("limit %d bytes", maxResponse)

// exchange sends an HTTP request with this body once. size is the size of the uncompressed message. It does not follow
// redirects, because that would turn POST into GET, or send the headers to another host.
func (c *sender) exchange(ctx context.Context, body []byte, size int) (o outcome) {
	o.target = c.target
	var sent atomic.Bool // the hook may run later than the transport returns
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.target.url(), bytes.NewReader(body))
	if err != nil {
		return outcome{target: c.target, verdict: refused, err: err}
	}
	r.Header = c.header.Clone()
	c.other.Store(nil)
	answer, err := c.transport.RoundTrip(r)
	if err != nil {
		if other := c.other.Load(); other != nil {
			err = *other
		}
		o.failed(err)
		o.sent = sent.Load()
		return o
	}
	reply, err := io.ReadAll(io.LimitReader(answer.Body, maxResponse+1))
	if len(reply) > maxResponse {
		err = errTooLong
	}
	_ = answer.Body.Close()
	o.sent = true
	if c.target.protocol == GRPC {
		o.answeredCall(answer, reply, err, size)
	} else {
		o.answered(answer, reply, err)
	}
	return o
}

// failed records that there was no response.
func (o *outcome) failed(err error) {
	o.err = err
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &certificate):
		o.verdict, o.advice = denied, advice{"set %s to the certificate authority of the receiver", OptionCA}
	case errors.As(err, &record):
		o.verdict, o.advice = denied, advice{text: "the receiver does not use TLS; use http:// instead of https://"}
	case errors.Is(err, errHTTP1):
		o.verdict, o.advice = denied, o.target.grpc()
	case errors.Is(err, errHTTP2):
		o.verdict, o.advice = denied, advice{"choose %s grpc", OptionProtocol}
	case errors.Is(err, errTLS):
		o.verdict, o.advice = denied, adviceTLS
	}
}

// answered records the response of a receiver (OTLP specification, "OTLP/HTTP Response"). err is that of reading the
// body; the status of an error is valid without it.
func (o *outcome) answered(r *http.Response, body []byte, err error) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case r.StatusCode/100 != 2:
		o.refusedWith(r, kind, body)
	case kind == "text/html": // a login page or the user interface of a backend: nothing was received
		o.verdict, o.err = denied, fmt.Errorf("HTTP status %s with a web page as its body", r.Status)
		o.advice = o.target.location("check host, port and path of the endpoint")
	case err != nil:
		o.accept(err)
	default:
		o.accept(parse(kind, body))
	}
}

// accept records a response to a request that succeeded: the result of otlp.ParseResponse, or the error of reading and
// decoding it.
func (o *outcome) accept(err error) {
	o.verdict = accepted
	if errors.As(err, &o.partial) {
		o.partial.Message = shorten(o.partial.Message)
		if err = nil; o.partial.Rejected < 0 {
			err = fmt.Errorf("%d rejected %ss", o.partial.Rejected, o.target.signal.Item())
		}
	}
	if err != nil {
		o.verdict, o.err, o.partial = unclear, fmt.Errorf("its response cannot be decoded: %s", shorten(err.Error())), nil
	}
}

// parse parses the body of a successful response. The body shows whether it is protobuf or JSON, because receivers
// state other types. A body of another type is a response only if it begins as one: with the tag of its only field.
func parse(kind string, body []byte) error {
	const tag = 1<<3 | 2
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		return parseJSON(body)
	}
	if len(body) > 0 && body[0] != tag && kind != "application/x-protobuf" {
		return errors.New("not a response of OTLP")
	}
	return otlp.ParseResponse(body)
}

// parseJSON is otlp.ParseResponse for JSON.
func parseJSON(body []byte) error {
	var m struct {
		PartialSuccess struct {
			RejectedSpans, RejectedLogRecords, RejectedDataPoints, RejectedProfiles json.Number // also as a string
			ErrorMessage                                                            string
		}
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return err
	}
	partial := &otlp.PartialSuccessError{Message: m.PartialSuccess.ErrorMessage}
	p := &m.PartialSuccess
	if n := cmp.Or(p.RejectedSpans, p.RejectedLogRecords, p.RejectedDataPoints, p.RejectedProfiles); n != "" {
		var err error
		if partial.Rejected, err = n.Int64(); err != nil {
			return err
		}
	}
	if *partial == (otlp.PartialSuccessError{}) {
		return nil
	}
	return partial
}

// refusedWith records the status of a request that was not accepted.
func (o *outcome) refusedWith(r *http.Response, kind string, body []byte) {
	o.err = fmt.Errorf("HTTP status %s", r.Status)
	text := statusText(kind, body)
	if text != "" {
		o.err = fmt.Errorf("%w: %s", o.err, text)
	}
	o.wait = retryAfter(r.Header.Get("Retry-After"), time.Now())
	switch {
	case r.StatusCode != http.StatusBadRequest:
	case strings.Contains(text, bodyTooLarge):
		o.verdict = tooLarge
		return
	case strings.Contains(string(body), httpToTLS):
		o.verdict, o.advice = denied, adviceTLS
		return
	}
	switch r.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		o.verdict = again
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		o.verdict = uncertain
	case http.StatusRequestEntityTooLarge:
		o.verdict = tooLarge
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		o.verdict, o.advice = denied, o.target.credentials()
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		o.verdict, o.advice = unsupported, o.target.location("check the path of the endpoint")
	case http.StatusUnsupportedMediaType:
		o.verdict, o.advice = denied, advice{"choose another %s", OptionProtocol}
	default:
		o.verdict = refused
		if r.StatusCode/100 == 3 {
			o.verdict, o.advice = denied, advice{text: "the receiver redirects to another endpoint; use that endpoint"}
		}
	}
}

// bodyTooLarge is in the message of the OpenTelemetry Collector, which answers 400 instead of 413: it is the error of
// http.MaxBytesReader.
const bodyTooLarge = "request body too large"

// httpToTLS is in the answer of net/http's server, and of other servers, to a request without TLS. It has no type.
const httpToTLS = "HTTP request to a"

// statusText returns the message in the body of an error response, a google.rpc.Status or plain text, or "" if there is
// none.
func statusText(kind string, body []byte) string {
	switch kind {
	case "application/x-protobuf":
		return shorten(string(field(body, 2)))
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
	if n, err := strconv.ParseUint(s, 10, 64); err == nil {
		return seconds(n)
	}
	if t, err := http.ParseTime(s); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

// seconds returns a delay of n seconds. Delays that would overflow a time.Duration become 68 years.
func seconds(n uint64) time.Duration { return time.Duration(min(n, 1<<31)) * time.Second }
