package otlpclient

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv/exporters/otlp"
)

func TestEndpoint(t *testing.T) {
	for _, c := range []struct {
		config   Config
		url      string
		protocol Protocol
	}{
		{Config{}, "http://localhost:4318/v1/traces", HTTPProtobuf},
		{Config{Protocol: GRPC}, "http://localhost:4317", GRPC},
		{Config{Endpoint: "http://localhost:4317"}, "http://localhost:4317", GRPC},
		{Config{Endpoint: "https://collector.example:4317/"}, "https://collector.example:4317", GRPC},
		{Config{Endpoint: "grpc://collector.example"}, "http://collector.example:4317", GRPC},
		{Config{Endpoint: "GRPCS://collector.example"}, "https://collector.example:443", GRPC},
		{Config{Endpoint: "localhost:4317"}, "http://localhost:4317", GRPC},
		{Config{Endpoint: "[::1]:4318"}, "http://[::1]:4318/v1/traces", HTTPProtobuf},
		{Config{Endpoint: "10.1.2.3:4317"}, "https://10.1.2.3:4317", GRPC},
		{Config{Endpoint: "10.1.2.3:4317", Insecure: true}, "http://10.1.2.3:4317", GRPC},
		{Config{Endpoint: "https://10.1.2.3:4317", Insecure: true}, "https://10.1.2.3:4317", GRPC},
		{Config{Endpoint: "http://localhost:4318"}, "http://localhost:4318/v1/traces", HTTPProtobuf},
		{Config{Endpoint: "http://localhost:4318/"}, "http://localhost:4318/v1/traces", HTTPProtobuf},
		{Config{Endpoint: "https://vendor.example/otlp/v1/traces"}, "https://vendor.example:443/otlp/v1/traces", HTTPProtobuf},
		{Config{Endpoint: "https://user:secret@vendor.example/otlp?key=secret"}, "https://vendor.example:443/otlp", HTTPProtobuf},
		{Config{Endpoint: "http://localhost:4318", Protocol: HTTPJSON}, "http://localhost:4318/v1/traces", HTTPJSON},
		{Config{Endpoint: "http://localhost:4317", Protocol: HTTPProtobuf}, "http://localhost:4317/v1/traces", HTTPProtobuf},
		{Config{Endpoint: "http://localhost", Protocol: HTTPProtobuf}, "http://localhost:80/v1/traces", HTTPProtobuf},
		{Config{Endpoint: "http://localhost:4318", Protocol: GRPC}, "http://localhost:4318", GRPC},
		{Config{Endpoint: "https://vendor.example/otlp/", Path: PathBase}, "https://vendor.example:443/otlp/v1/traces", HTTPProtobuf},
		{Config{Endpoint: "http://localhost:4318", Path: PathBase}, "http://localhost:4318/v1/traces", HTTPProtobuf},
		{Config{Endpoint: "http://localhost:4318", Path: PathExact}, "http://localhost:4318/", HTTPProtobuf},
		{Config{Endpoint: "http://localhost:4318/t/", Path: PathExact}, "http://localhost:4318/t/", HTTPProtobuf},
	} {
		got, err := c.config.target(otlp.Traces)
		if err != nil || got.String() != c.url || got.protocol != c.protocol {
			t.Errorf("%+v: %v over %v, %v; want %s over %s", c.config, got, got, err, c.url, c.protocol)
		}
	}
	for _, c := range []Config{
		{Endpoint: "localhost:0"}, {Endpoint: "http://localhost:65536"}, {Endpoint: "http://"}, {Endpoint: "ftp://localhost:1"}, {Endpoint: "http://localhost:4317/a", Protocol: GRPC},
		{Endpoint: "grpc://localhost:4317", Protocol: HTTPJSON}, {Endpoint: "http://user:secret@local host:1"}, {Endpoint: "http://localhost:port"},
		{Endpoint: "http://localhost:4317#x"}, {Endpoint: "localhost:4317?key=secret"},
	} {
		if got, err := c.target(otlp.Traces); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, %v", c.Endpoint, got, err)
		}
	}
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, p := range pairs {
			if value, ok := strings.CutPrefix(p, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// Variables for traces take precedence over general ones. An empty variable is treated as unset.
func TestEnvironment(t *testing.T) {
	c, err := FromEnvironment(env())
	if err != nil || c.Endpoint != "" || c.Timeout != 10*time.Second || c.RetryFor != time.Minute || c.Gzip || len(c.Headers) != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	c, err = FromEnvironment(env(
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://a:4318", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=",
		"OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json",
		"OTEL_EXPORTER_OTLP_HEADERS=Api-Key=a%2Cb%20c, x=1", "OTEL_EXPORTER_OTLP_TIMEOUT=1500",
		"OTEL_EXPORTER_OTLP_COMPRESSION=none", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION=gzip", "OTEL_EXPORTER_OTLP_INSECURE=TRUE",
		"OTEL_EXPORTER_OTLP_CERTIFICATE=ca.pem", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE=c.pem", "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY=k.pem",
	))
	if all := c; err == nil && (all.Protocol != GRPC || all.Gzip || all.Key != "" || all.Signals[otlp.Logs] != nil) {
		t.Errorf("all signals: %+v", all)
	} else if err == nil {
		c = c.Signals[otlp.Traces]
	}
	if err != nil || c.Endpoint != "http://a:4318" || c.Path != PathBase || c.Protocol != HTTPJSON || c.Headers["api-key"] != "a,b c" || c.Headers["x"] != "1" ||
		c.Timeout != 1500*time.Millisecond || !c.Gzip || !c.Insecure || c.CA != "ca.pem" || c.Cert != "c.pem" || c.Key != "k.pem" {
		t.Errorf("%+v, %v", c, err)
	}
	c, err = FromEnvironment(env("OTEL_EXPORTER_OTLP_ENDPOINT=http://a:4318", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://b:4318"))
	if err != nil || c.Endpoint != "http://a:4318" || c.Signals[otlp.Traces].Endpoint != "http://b:4318" || c.Signals[otlp.Traces].Path != PathExact {
		t.Errorf("%+v, %v", c, err)
	}
	for _, bad := range []string{
		"OTEL_EXPORTER_OTLP_PROTOCOL=secret", "OTEL_EXPORTER_OTLP_TIMEOUT=-1", "OTEL_EXPORTER_OTLP_TIMEOUT=10s", "OTEL_EXPORTER_OTLP_COMPRESSION=zstd",
		"OTEL_EXPORTER_OTLP_HEADERS=secret", "OTEL_EXPORTER_OTLP_TRACES_HEADERS=a b=secret", "OTEL_EXPORTER_OTLP_HEADERS=a=secret%0a",
		"OTEL_EXPORTER_OTLP_HEADERS=a=secret%zz", "OTEL_EXPORTER_OTLP_INSECURE=secret",
	} {
		name, _, _ := strings.Cut(bad, "=")
		if c, err := FromEnvironment(env(bad)); !strings.HasPrefix(fmt.Sprint(err), name+": want ") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %+v, %v", bad, c, err)
		}
	}
}

// No endpoint or variable causes a panic, and no error contains its value, which may be a secret.
func FuzzConfig(f *testing.F) {
	f.Add("http://user:secret@localhost:4317/path?key=secret", "a=b%20c,d=e")
	f.Add("grpcs://[::1]:1", "=,==")
	f.Fuzz(func(t *testing.T, endpoint, list string) {
		for _, rule := range []PathRule{PathGiven, PathBase, PathExact} {
			c := Config{Endpoint: "http://user:7secret7@" + endpoint, Path: rule}
			got, err := c.target(otlp.Traces)
			if err != nil && strings.Contains(err.Error(), "7secret7") || err == nil && strings.Contains(got.String(), "7secret7") {
				t.Errorf("%q shows the password: %v, %v", endpoint, got, err)
			}
		}
		c, err := FromEnvironment(env("OTEL_EXPORTER_OTLP_HEADERS=" + list))
		if err != nil {
			return
		}
		for key, value := range c.Headers {
			if !isToken(key) || !isHeaderValue(value) {
				t.Errorf("%q: header %q: %q", list, key, value)
			}
		}
	})
}
