// Package otlpclient sends the batches of an otlp.Sink to an OTLP receiver over gRPC or HTTP, both with net/http. It is
// the client of the command ntconv. After each attempt it states whether the receiver has the batch, and repeats requests
// if necessary.
//
//	client, err := otlpclient.New(nil) // OTEL_EXPORTER_OTLP_..., or a collector on this machine
//	sink := otlp.New(ctx, client, src.Info(), nil, nil)
//	_, err = ntconv.Copy(sink, src)
//	err = errors.Join(err, sink.Close(), client.Close())
//	fmt.Println(sink.Summary())
//
// Errors that waiting cannot repair, such as an unknown certificate authority or a receiver of another protocol, end the
// upload at once and name the member of Config that repairs them.
package otlpclient

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ntconv/ntconv/exporters/otlp"
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

// A Config states where and how batches are sent. Empty strings and zero durations select the defaults, except where
// noted.
type Config struct {
	// Endpoint is HOST:PORT, or a URL with the scheme http, https, grpc or grpcs. Without a scheme, connections to this
	// machine are unencrypted and all others use TLS, unless Insecure is set. "" means a collector on this machine:
	// http://localhost:4318, or port 4317 if Protocol is GRPC.
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

	// Method, if it has a path, replaces the methods of OTLP for all signals. The endpoint needs a scheme or a Protocol,
	// because the usual ports are those of OTLP.
	Method Method

	// UserAgent is sent with each request; "" means ntconv/VERSION with the version of this module.
	UserAgent string
	// Signals are the complete configurations of signals that have their own; nil ones use this Config. Their Signals are
	// ignored.
	Signals [otlp.NumSignals]*Config
	// OptionName, if not nil, returns what the user calls an option, for the advice of errors.
	OptionName func(Option) string
}

// A Method is a method of a service that is not one of OTLP: it takes one protobuf message, and its answer is an empty
// message.
type Method struct {
	Path        string // such as "/package.Service/Method", at the end of the URL
	ContentType string // of requests over HTTP; "" means application/x-protobuf
}

// PathRule states how a URL determines the path of requests over HTTP. If the URL has no path, all rules except
// PathExact use DefaultPath.
type PathRule uint8

const (
	// PathGiven means the path of the URL. If it ends with the default path of a signal, other signals use theirs.
	PathGiven PathRule = iota
	PathBase           // the path of the URL with DefaultPath appended (OTEL_EXPORTER_OTLP_ENDPOINT)
	PathExact          // the path of the URL, or "/" (OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)
)

// DefaultPath returns the path at which HTTP receivers accept a signal.
func DefaultPath(s otlp.Signal) string {
	if s == otlp.Profiles {
		return "/v1development/profiles"
	}
	return "/v1/" + s.String()
}

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

// envPrefix is the prefix of the environment variables (OpenTelemetry specification, "OpenTelemetry Protocol Exporter").
// Variables of one signal have its name after the prefix and take precedence over those of all signals.
const envPrefix = "OTEL_EXPORTER_OTLP_"

// variables are the environment variables without prefix, except for the endpoint.
var variables = []struct {
	name string
	set  func(c *Config, value string) error
}{
	{"PROTOCOL", (*Config).SetProtocol},
	{"HEADERS", (*Config).setHeaders},
	{"TIMEOUT", (*Config).setTimeout},
	{"COMPRESSION", (*Config).SetCompression},
	{"INSECURE", (*Config).setInsecure},
	{"CERTIFICATE", func(c *Config, s string) error { c.CA = s; return nil }},
	{"CLIENT_CERTIFICATE", func(c *Config, s string) error { c.Cert = s; return nil }},
	{"CLIENT_KEY", func(c *Config, s string) error { c.Key = s; return nil }},
}

// FromEnvironment returns the configuration in the environment variables OTEL_EXPORTER_OTLP_ENDPOINT, _PROTOCOL,
// _HEADERS, _TIMEOUT, _COMPRESSION, _INSECURE, _CERTIFICATE, _CLIENT_CERTIFICATE and _CLIENT_KEY, and
// OTEL_EXPORTER_OTLP_TRACES_..., _LOGS_..., _METRICS_... and _PROFILES_... for one signal, with the defaults for unset
// ones. getenv is usually os.Getenv. An error names a variable and what a valid value would be, but not the value, which
// may be secret.
func FromEnvironment(getenv func(string) string) (*Config, error) {
	c := &Config{Timeout: DefaultTimeout, RetryFor: DefaultRetryFor}
	if _, err := c.read(getenv, envPrefix, PathBase); err != nil {
		return nil, err
	}
	for i := range c.Signals {
		own := *c
		own.Signals = [otlp.NumSignals]*Config{}
		own.Headers = maps.Clone(c.Headers)
		prefix := envPrefix + strings.ToUpper(otlp.Signal(i).String()) + "_"
		if found, err := own.read(getenv, prefix, PathExact); err != nil {
			return nil, err
		} else if found {
			c.Signals[i] = &own
		}
	}
	return c, nil
}

// read sets the members for which there are variables with the prefix. found reports whether there are any.
func (c *Config) read(getenv func(string) string, prefix string, path PathRule) (found bool, err error) {
	for _, v := range variables {
		value := strings.TrimSpace(getenv(prefix + v.name))
		if value == "" {
			continue
		}
		if v.name == "HEADERS" {
			c.Headers = nil // those of a signal replace those of all
		}
		if err := v.set(c, value); err != nil {
			return false, fmt.Errorf("%s: %w", prefix+v.name, err)
		}
		found = true
	}
	if s := strings.TrimSpace(getenv(prefix + "ENDPOINT")); s != "" {
		c.Endpoint, c.Path, found = s, path, true
	}
	return found, nil
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
