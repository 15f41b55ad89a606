// Package otlpclient sends batches of spans to an OTLP receiver over gRPC or HTTP. It wraps the clients of
// OpenTelemetry, whose errors do not say whether the receiver has the spans: below these clients it notes what the
// receiver answered, and it repeats requests itself. Only the command imports it.
package otlpclient

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"
)

// Protocol is how requests are sent, in the words of the specification of OpenTelemetry.
type Protocol string

const (
	GRPC         Protocol = "grpc"
	HTTPProtobuf Protocol = "http/protobuf"
	HTTPJSON     Protocol = "http/json"
)

// Defaults of Config.
const (
	DefaultTimeout  = 10 * time.Second
	DefaultRetryFor = time.Minute
)

// firstContact limits how long connecting is repeated before the receiver has answered for the first time: most such
// failures are a wrong endpoint.
const firstContact = 5 * time.Second

// A Config says where and how spans are sent. Empty strings and zero durations select the defaults, except where noted.
type Config struct {
	// Endpoint is HOST:PORT, or a URL with the scheme http, https, grpc or grpcs. Without a scheme, connections to this
	// machine are plain text and all others use TLS, unless Insecure is set.
	Endpoint string
	// Path says what a URL of HTTP without a path, and one with a path, mean.
	Path     PathRule
	Protocol Protocol
	Insecure bool
	// Headers are sent with each request. Their values are secrets: no message contains them.
	Headers map[string]string
	Gzip    bool
	// Timeout limits one request.
	Timeout time.Duration
	// RetryFor limits how long a batch is sent again. 0 means that it is sent once.
	RetryFor time.Duration
	// Patient applies RetryFor also before the receiver has answered for the first time, and not the shorter limit for
	// wrong endpoints.
	Patient bool

	// CA, Cert and Key are names of PEM files: the authority of the receiver's certificate, the client's certificate
	// and its key. They are read for connections with TLS only.
	CA, Cert, Key string
	SkipVerify    bool // accept any certificate
}

// PathRule says which path of an HTTP receiver a URL means. All add DefaultPath to a URL without a path, except
// PathExact.
type PathRule uint8

const (
	PathGiven PathRule = iota // a path of the URL is the path of the request
	PathBase                  // the path of the request is DefaultPath below that of the URL (OTEL_EXPORTER_OTLP_ENDPOINT)
	PathExact                 // the path of the URL, "/" if it has none (OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)
)

// DefaultPath is where receivers of HTTP take spans.
const DefaultPath = "/v1/traces"

// tls returns the configuration of TLS connections.
func (c *Config) tls() (*tls.Config, error) {
	t := &tls.Config{InsecureSkipVerify: c.SkipVerify}
	if c.CA != "" {
		pem, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, fmt.Errorf("certificate authority: %w", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("certificate authority: %s holds no certificate in PEM form", c.CA)
		}
	}
	if (c.Cert == "") != (c.Key == "") {
		return nil, errors.New("client certificate: want both the certificate and its key")
	}
	if c.Cert != "" {
		pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		if err != nil {
			return nil, fmt.Errorf("client certificate %s: %w", c.Cert, err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}
