// Package otlpclient sends batches of spans to an OTLP receiver over gRPC or HTTP, both with net/http. After each
// attempt it states whether the receiver has the spans, and repeats requests if necessary. Only the command imports it.
package otlpclient

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"
)

// Protocol is the transport of requests, named as in the OpenTelemetry specification.
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

// firstContact limits how long a Client repeats connecting before the receiver has responded for the first time,
// because most such failures are caused by a wrong endpoint.
const firstContact = 5 * time.Second

// A Config states where and how spans are sent. Empty strings and zero durations select the defaults, except where
// noted.
type Config struct {
	// Endpoint is HOST:PORT, or a URL with the scheme http, https, grpc or grpcs. Without a scheme, connections to this
	// machine are unencrypted and all others use TLS, unless Insecure is set.
	Endpoint string
	// Path states how the path of an HTTP URL determines the path of requests.
	Path     PathRule
	Protocol Protocol
	Insecure bool
	// Headers are sent with each request. Their values are secrets, which no message contains.
	Headers map[string]string
	Gzip    bool
	// Timeout is the maximum duration of one request.
	Timeout time.Duration
	// RetryFor limits how long a batch is sent again. 0 means that it is sent once.
	RetryFor time.Duration
	// Patient applies RetryFor from the start, instead of the shorter limit that detects wrong endpoints.
	Patient bool

	// CA, Cert and Key are names of PEM files: the certificate authority of the receiver, and the certificate and key
	// of the client. They are read only for TLS connections.
	CA, Cert, Key string
	SkipVerify    bool // accept any certificate
}

// PathRule states how a URL determines the path of requests over HTTP. If the URL has no path, all rules except
// PathExact use DefaultPath.
type PathRule uint8

const (
	PathGiven PathRule = iota // the path of the URL
	PathBase                  // the path of the URL with DefaultPath appended (OTEL_EXPORTER_OTLP_ENDPOINT)
	PathExact                 // the path of the URL, or "/" (OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)
)

// DefaultPath is the path at which HTTP receivers accept spans.
const DefaultPath = "/v1/traces"

// tls returns the configuration of TLS connections. It reads the certificate files.
func (c *Config) tls() (*tls.Config, error) {
	t := &tls.Config{InsecureSkipVerify: c.SkipVerify}
	if c.CA != "" {
		pem, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, fmt.Errorf("certificate authority: %w", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("certificate authority: %s contains no certificate in PEM format", c.CA)
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
