package otlpclient

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Prefixes of the environment variables (OpenTelemetry specification, "OpenTelemetry Protocol Exporter"). Variables for
// traces take precedence over variables for all signals.
const (
	envAll    = "OTEL_EXPORTER_OTLP_"
	envTraces = "OTEL_EXPORTER_OTLP_TRACES_"
)

// An EnvError reports an environment variable with an invalid value. The message does not contain the value, which may
// be a secret.
type EnvError struct {
	Name string // of the variable
	Err  error  // what a valid value would be
}

func (e *EnvError) Error() string { return e.Name + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *EnvError) Unwrap() error { return e.Err }

// FromEnvironment returns the configuration in the environment variables, with the defaults for unset ones. getenv is
// usually os.Getenv. Errors are of type *EnvError.
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
				return nil, &EnvError{name, err}
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
