package otlpclient

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/exporters/otlp"
)

// A target is a parsed endpoint.
type target struct {
	signal   otlp.Signal
	method   Method
	protocol Protocol
	plain    bool   // no TLS
	address  string // HOST:PORT
	path     string // "" for gRPC
	query    string // of HTTP URLs, without the question mark
	basic    string // value of the Authorization header; "" if the URL has no user
}

// String returns the URL without user and query, which may be secrets.
func (t *target) String() string {
	scheme := "https"
	if t.plain {
		scheme = "http"
	}
	return scheme + "://" + t.address + t.path
}

// url returns the URL of requests.
func (t *target) url() string {
	switch {
	case t.protocol == GRPC:
		return t.String() + cmp.Or(t.method.Path, servicePaths[t.signal])
	case t.query != "":
		return t.String() + "?" + t.query
	}
	return t.String()
}

var errEndpoint = errors.New("want http://HOST:PORT or https://HOST:PORT, such as http://localhost:4317")

// target parses the endpoint for a signal.
func (c *Config) target(signal otlp.Signal) (*target, error) {
	text, scheme := cmp.Or(c.Endpoint, defaultEndpoint(c.Protocol)), ""
	if before, _, ok := strings.Cut(text, "://"); ok {
		scheme = strings.ToLower(before)
	} else {
		text = "//" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Fragment != "" {
		return nil, errEndpoint // not err, which contains the URL and thus possibly a password
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, fmt.Errorf("port %s: want 1 to 65535", port)
		}
	}
	t := &target{signal: signal, method: c.Method, protocol: c.Protocol, query: u.RawQuery, path: u.EscapedPath()}
	switch scheme {
	case "http", "grpc":
		t.plain = true
	case "https", "grpcs":
	case "":
		t.plain = c.Insecure || isLoopback(u.Hostname())
	default:
		return nil, fmt.Errorf("unknown scheme %s: %w", scheme, errEndpoint)
	}
	if strings.HasPrefix(scheme, "grpc") {
		if t.protocol != "" && t.protocol != GRPC {
			return nil, fmt.Errorf("scheme %s and protocol %s exclude each other", scheme, t.protocol)
		}
		t.protocol = GRPC
	}
	if t.protocol == "" {
		t.protocol = protocolOf(u)
	}
	if err := t.locate(c.Path); err != nil {
		return nil, err
	}
	if t.address = u.Host; u.Port() == "" {
		t.address = net.JoinHostPort(u.Hostname(), t.defaultPort())
	}
	if u.User != nil {
		password, _ := u.User.Password()
		t.basic = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
	}
	return t, nil
}

// protocolOf returns the default protocol of an endpoint: HTTP if it has the usual port of HTTP or a path, and
// otherwise gRPC.
func protocolOf(u *url.URL) Protocol {
	if u.Port() == "4318" || u.Port() != "4317" && u.Path != "" && u.Path != "/" {
		return HTTPProtobuf
	}
	return GRPC
}

// locate sets the path of requests.
func (t *target) locate(rule PathRule) error {
	given := strings.TrimSuffix(t.path, "/")
	switch {
	case t.protocol == GRPC && (t.query != "" || given != "" && rule != PathBase):
		return errors.New("gRPC has no path; omit it, or choose the protocol http/protobuf")
	case t.protocol == GRPC:
		t.path = ""
	case t.method.Path != "":
		t.path = strings.TrimSuffix(given, t.method.Path) + t.method.Path
	case rule == PathExact:
		if t.path == "" {
			t.path = "/"
		}
	case rule == PathBase, given == "":
		t.path = given + DefaultPath(t.signal)
	default:
		t.path = replacedPath(t.path, t.signal)
	}
	return nil
}

// replacedPath returns a path that was given for any signal: if it ends with the default path of one, with that of the
// signal.
func replacedPath(path string, signal otlp.Signal) string {
	for s := range otlp.NumSignals {
		if before, ok := strings.CutSuffix(path, DefaultPath(s)); ok {
			return before + DefaultPath(signal)
		}
	}
	return path
}

// defaultEndpoint returns the endpoint of a collector on this machine (OpenTelemetry specification, "OpenTelemetry
// Protocol Exporter").
func defaultEndpoint(p Protocol) string {
	if p == GRPC {
		return "http://localhost:4317"
	}
	return "http://localhost:4318"
}

// defaultPort returns the port of an endpoint without one.
func (t *target) defaultPort() string {
	switch {
	case !t.plain:
		return "443"
	case t.protocol == GRPC:
		return "4317"
	}
	return "80"
}

// isLoopback reports whether a host name or address denotes this machine. It does not resolve names.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}
