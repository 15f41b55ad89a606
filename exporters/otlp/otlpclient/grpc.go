package otlpclient

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/internal/data/bin"
)

// A call of gRPC with one message in each direction is an HTTP/2 request whose response ends with a status in its
// trailer (PROTOCOL-HTTP2.md of gRPC).

// servicePaths are the paths of the methods with which receivers accept batches.
var servicePaths = [otlp.NumSignals]string{
	otlp.Traces:   "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
	otlp.Logs:     "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
	otlp.Metrics:  "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
	otlp.Profiles: "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export",
}

// messageHead is the number of bytes before a message: whether it is compressed, and its length.
const messageHead = 5

// forGRPC makes a transport use HTTP/2 only.
func forGRPC(t *http.Transport, plain bool) {
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP2(!plain)
	t.Protocols.SetUnencryptedHTTP2(plain)
	t.DisableCompression = true // gRPC compresses messages, not bodies
	if plain {
		t.Proxy = nil // requests to a proxy would be HTTP/2, which proxies do not understand
	}
}

// A code is the status of a call.
type code uint64

const (
	codeOK code = iota
	codeCanceled
	codeUnknown
	codeInvalidArgument
	codeDeadlineExceeded
	codeNotFound
	codeAlreadyExists
	codePermissionDenied
	codeResourceExhausted
	codeFailedPrecondition
	codeAborted
	codeOutOfRange
	codeUnimplemented
	codeInternal
	codeUnavailable
	codeDataLoss
	codeUnauthenticated
)

// String returns the name of the code in gRPC for Go.
func (c code) String() string {
	names := [...]string{
		"OK", "Canceled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists", "PermissionDenied", "ResourceExhausted",
		"FailedPrecondition", "Aborted", "OutOfRange", "Unimplemented", "Internal", "Unavailable", "DataLoss", "Unauthenticated",
	}
	if c < code(len(names)) {
		return names[c]
	}
	return fmt.Sprintf("Code(%d)", uint64(c))
}

// answeredCall records the response to a call. err is that of reading the body. size is the size of the request in
// bytes.
func (o *outcome) answeredCall(r *http.Response, body []byte, err error, size int) {
	trailer := r.Trailer
	if r.Header.Get("Grpc-Status") != "" { // a response without a message
		trailer = r.Header
	}
	status := trailer.Get("Grpc-Status")
	switch {
	case errors.Is(err, errTooLong):
		o.accept(err)
	case status != "":
		c, err := strconv.ParseUint(status, 10, 32)
		if err != nil {
			c = uint64(codeUnknown)
		}
		if code(c) != codeOK {
			o.refusedBy(code(c), trailer, size)
			return
		}
		message, err := unframe(body)
		if err == nil {
			err = otlp.ParseResponse(message)
		}
		o.accept(err)
	case err != nil: // the call has not ended
		o.err = err
	case r.StatusCode == http.StatusOK && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc"):
		o.err = errors.New("the response has no status")
	case r.StatusCode/100 == 2:
		o.verdict, o.err, o.advice = denied, errors.New("the response is not one of gRPC"), o.target.grpc()
	default: // of a proxy, or of a receiver that does not know gRPC
		o.refusedWith(r, "", nil)
		if o.advice.text != "" && o.advice != o.target.credentials() && o.advice != adviceTLS {
			o.advice = o.target.grpc()
		}
	}
}

// unframe returns the message in the body of a response.
func unframe(body []byte) ([]byte, error) {
	if len(body) < messageHead || int64(binary.BigEndian.Uint32(body[1:])) != int64(len(body)-messageHead) {
		return nil, errors.New("not one message")
	}
	message := body[messageHead:]
	if body[0] == 0 {
		return message, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(message))
	if err != nil {
		return nil, err
	}
	if message, err = io.ReadAll(io.LimitReader(z, maxResponse+1)); len(message) > maxResponse {
		err = errTooLong
	}
	return message, err
}

// smallRequest is a size in bytes that no receiver rejects as too large, because the limits of gRPC servers are
// megabytes. For smaller requests, ResourceExhausted means a quota.
const smallRequest = 64 << 10

// refusedBy records the status of a call that was not accepted (OTLP specification, "OTLP/gRPC Response"). size is the
// size of the request in bytes.
func (o *outcome) refusedBy(c code, trailer http.Header, size int) {
	text, err := url.PathUnescape(trailer.Get("Grpc-Message"))
	if err != nil {
		text = trailer.Get("Grpc-Message")
	}
	o.err = fmt.Errorf("gRPC status %s: %s", c, shorten(text))
	var asked bool
	o.wait, asked = retryInfo(trailer.Get("Grpc-Status-Details-Bin"))
	switch c {
	case codeUnavailable, codeAborted, codeOutOfRange, codeDataLoss:
		o.verdict = again
	case codeCanceled, codeDeadlineExceeded:
		o.verdict = uncertain
	case codeResourceExhausted:
		switch {
		case asked:
			o.verdict = again
		case size > smallRequest:
			o.verdict = tooLarge
		default:
			o.verdict = denied
			o.advice.text = "the receiver has no capacity for more " + o.target.signal.String() + ", or its quota is exhausted"
		}
	case codeUnauthenticated, codePermissionDenied:
		o.verdict, o.advice = denied, o.target.credentials()
	case codeUnimplemented, codeNotFound:
		o.verdict, o.advice = unsupported, o.target.grpc()
	default:
		o.verdict = refused
	}
}

// retryInfo returns the receiver's statement of when to send again. details is a google.rpc.Status in base64, whose
// details may have a google.rpc.RetryInfo.
func retryInfo(details string) (wait time.Duration, ok bool) {
	status, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(details, "="))
	if err != nil {
		return 0, false
	}
	for len(status) > 0 {
		number, _, detail, rest := bin.CutField(status)
		if number == 3 && strings.HasSuffix(string(field(detail, 1)), "/google.rpc.RetryInfo") {
			for delay := field(field(detail, 2), 1); len(delay) > 0; {
				number, n, _, rest := bin.CutField(delay)
				switch {
				case number == 1 && int64(n) > 0:
					wait += seconds(n)
				case number == 2 && int64(n) > 0:
					wait += time.Duration(min(n, uint64(time.Second)))
				}
				delay = rest
			}
			return wait, true
		}
		status = rest
	}
	return 0, false
}

// field returns the first string, bytes or message with this number in a message, else nil.
func field(message []byte, number int) []byte {
	for len(message) > 0 {
		found, _, text, rest := bin.CutField(message)
		if found == number && text != nil {
			return text
		}
		message = rest
	}
	return nil
}
