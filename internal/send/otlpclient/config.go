// Package otlpclient sends batches of spans to an OTLP receiver over gRPC or HTTP, both with net/http. After each
// attempt it states whether the receiver has the spans, and repeats requests if necessary. Only the command imports it.
package otlpclient

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
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

// Prefixes of the environment variables (OpenTelemetry specification, "OpenTelemetry Protocol Exporter"). Variables for
// traces take precedence over variables for all signals.
const (
	envAll    = "OTEL_EXPORTER_OTLP_"
	envTraces = "OTEL_EXPORTER_OTLP_TRACES_"
)

// FromEnvironment returns the configuration in the environment variables, with the defaults for unset ones. getenv is
// usually os.Getenv. An error names a variable and what a valid value would be, but not the value, which may be secret.
func FromEnvironment(getenv func(string) string) (*Config, error) {
	c := &Config{Timeout: DefaultTimeout, RetryFor: DefaultRetryFor}
	for _, v := range []struct {
		name string
		set  func(c *Config, value string) error
	}{
		{"PROTOCOL", func(c *Config, s string) error { return c.SetProtocol(s) }},
		{"HEADERS", (*Config).setHeaders},
		{"TIMEOUT", (*Config).setTimeout},
		{"COMPRESSION", func(c *Config, s string) error { return c.SetCompression(s) }},
		{"INSECURE", (*Config).setInsecure},
		{"CERTIFICATE", func(c *Config, s string) error { c.CA = s; return nil }},
		{"CLIENT_CERTIFICATE", func(c *Config, s string) error { c.Cert = s; return nil }},
		{"CLIENT_KEY", func(c *Config, s string) error { c.Key = s; return nil }},
	} {
		for _, name := range []string{envTraces + v.name, envAll + v.name} {
			value := strings.TrimSpace(getenv(name))
			if value == "" {
				continue
			}
			if err := v.set(c, value); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			break
		}
	}
	if s := strings.TrimSpace(getenv(envTraces + "ENDPOINT")); s != "" {
		c.Endpoint, c.Path = s, PathExact
	} else if s := strings.TrimSpace(getenv(envAll + "ENDPOINT")); s != "" {
		c.Endpoint, c.Path = s, PathBase
	}
	return c, nil
}

// SetProtocol sets the protocol by its name, and fails for unknown names.
func (c *Config) SetProtocol(s string) error {
	switch p := Protocol(s); p {
	case GRPC, HTTPProtobuf, HTTPJSON:
		c.Protocol = p
		return nil
	}
	return fmt.Errorf("want %s, %s or %s", GRPC, HTTPProtobuf, HTTPJSON)
}

// SetCompression sets the compression of requests: gzip or none.
func (c *Config) SetCompression(s string) error {
	if s != "gzip" && s != "none" {
		return errors.New("want gzip or none")
	}
	c.Gzip = s == "gzip"
	return nil
}

// AddHeader adds a header given as key=value. Keys are case-insensitive; a later header replaces an earlier one with
// the same key. Errors do not contain the value.
func (c *Config) AddHeader(s string) error {
	key, value, ok := strings.Cut(s, "=")
	key = strings.ToLower(strings.TrimSpace(key))
	if !ok || !isToken(key) || !isHeaderValue(value) {
		return errors.New("want key=value, with a key of letters, digits and hyphens")
	}
	if c.Headers == nil {
		c.Headers = make(map[string]string)
	}
	c.Headers[key] = strings.TrimSpace(value)
	return nil
}

// setHeaders adds the headers of a list as in ParseList.
func (c *Config) setHeaders(s string) error {
	list, err := ParseList(s)
	if err != nil {
		return err
	}
	for _, pair := range list {
		if err := c.AddHeader(pair[0] + "=" + pair[1]); err != nil {
			return err
		}
	}
	return nil
}

// ParseList parses key=value,key=value with percent-encoded values, the format of OTEL_EXPORTER_OTLP_HEADERS and
// OTEL_RESOURCE_ATTRIBUTES. It returns the keys and values in order.
func ParseList(s string) (list [][2]string, err error) {
	for pair := range strings.SplitSeq(s, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if err != nil || !ok || key == "" {
			return nil, errors.New("want key=value,key=value with percent-encoded values")
		}
		list = append(list, [2]string{key, value})
	}
	return list, nil
}

// setTimeout parses a number of milliseconds.
func (c *Config) setTimeout(s string) error {
	ms, err := strconv.ParseInt(s, 10, 64)
	if err != nil || ms <= 0 || ms > int64(24*time.Hour/time.Millisecond) {
		return errors.New("want a number of milliseconds from 1 to 86400000")
	}
	c.Timeout = time.Duration(ms) * time.Millisecond
	return nil
}

func (c *Config) setInsecure(s string) error {
	switch strings.ToLower(s) {
	case "true":
		c.Insecure = true
	case "false":
	default:
		return errors.New("want true or false")
	}
	return nil
}

// isToken reports whether both HTTP and gRPC accept s as the name of a header.
func isToken(s string) bool {
	for _, r := range s {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_.", r) {
			return false
		}
	}
	return s != "" && !strings.HasPrefix(s, "grpc-")
}

// isHeaderValue reports whether s is printable ASCII, as gRPC requires for the value of a header.
func isHeaderValue(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
