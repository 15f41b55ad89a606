package formats

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/exporters/otlp/otlpclient"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/spf13/pflag"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// jsonSpans is what the tests read of a line of OTLP/JSON.
type jsonSpans struct {
	ResourceLogs []struct {
		ScopeLogs []struct {
			LogRecords []struct{ TimeUnixNano string }
		}
	}
	ResourceMetrics []struct {
		ScopeMetrics []struct {
			Metrics []struct {
				Name                string
				Gauge, Sum, Summary struct {
					DataPoints []struct{ TimeUnixNano string }
				}
			}
		}
	}
	ResourceSpans []struct {
		ScopeSpans []struct {
			Spans []struct {
				TraceID, SpanID, Name              string
				Kind                               int
				StartTimeUnixNano, EndTimeUnixNano string
			}
		}
	}
}

// checkJSONLines reads JSON lines with another decoder, and returns the number of items of all signals.
func checkJSONLines(t *testing.T, out []byte) (n int64) {
	t.Helper()
	for line := range bytes.Lines(out) {
		var m jsonSpans
		if err := json.Unmarshal(line, &m); err != nil || len(m.ResourceSpans)+len(m.ResourceLogs)+len(m.ResourceMetrics) != 1 {
			t.Errorf("%.100s: %v", line, err)
		}
		for _, r := range m.ResourceLogs {
			for _, s := range r.ScopeLogs {
				n += int64(len(s.LogRecords))
			}
		}
		for _, r := range m.ResourceMetrics {
			for _, s := range r.ScopeMetrics {
				for _, one := range s.Metrics {
					points := slices.Concat(one.Gauge.DataPoints, one.Sum.DataPoints, one.Summary.DataPoints)
					if n += int64(len(points)); one.Name == "" || len(points) == 0 || points[0].TimeUnixNano == "" {
						t.Errorf("metric %+v", one)
					}
				}
			}
		}
		for _, r := range m.ResourceSpans {
			for _, s := range r.ScopeSpans {
				for _, one := range s.Spans {
					trace, err1 := hex.DecodeString(one.TraceID)
					id, err2 := hex.DecodeString(one.SpanID)
					if err := errors.Join(err1, err2); err != nil || len(trace) != 16 || len(id) != 8 || one.Kind == 0 || one.StartTimeUnixNano == "" {
						t.Errorf("%v in %+v", err, one)
					}
					n++
				}
			}
		}
	}
	return n
}

func countSpans(m *tracepb.TracesData) (n int64) {
	for _, r := range m.ResourceSpans {
		for _, s := range r.ScopeSpans {
			n += int64(len(s.Spans))
		}
	}
	return n
}

// writeOTLP converts a trace with the flags of ntconv to otlp and returns the content of the file.
func writeOTLP(t *testing.T, trace, name string, args ...string) ([]byte, Result, error) {
	t.Helper()
	return written(t, otlpFormat(), open(t, corpus.Path(trace+".nettrace.zst")), name, &Target{Report: new(ntconv.Report)}, append(args, "--output", name)...)
}

// decompress returns what a file with an extension of a compression contains.
func decompress(t *testing.T, b []byte, name string) []byte {
	t.Helper()
	in, err := fileio.FromReader(name, bytes.NewReader(b), fileio.InputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := in.Stream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	content, err := io.ReadAll(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, ext := CutCompression(name); (ext != "") == bytes.Equal(content, b) {
		t.Errorf("%s: is it compressed? %v", name, bytes.Equal(content, b))
	}
	return content
}

// The extension chooses form and compression, --form the form alone; all have the same spans.
func TestOTLPForms(t *testing.T) {
	const spans = 35 // of the truth: 35 ended
	for _, c := range []struct {
		name, flag string
		form       otlp.Form
	}{
		{"a.binpb", "", otlp.Protobuf}, {"a.OTLP", "", otlp.Protobuf}, {"a.jsonl", "", otlp.JSONLines}, {"a", "", otlp.JSONLines}, {"a.json", "", otlp.JSONLines},
		{"a.binpb.gz", "", otlp.Protobuf}, {"a.binpb.zst", "", otlp.Protobuf}, {"a.jsonl.gz", "", otlp.JSONLines}, {"a.jsonl.ZST", "", otlp.JSONLines},
		{"a.binpb", "--form=delimited", otlp.Delimited}, {"a.jsonl", "--form=proto", otlp.Protobuf}, {"a.binpb.gz", "--form=json", otlp.JSONLines},
	} {
		args := []string{"--batch=10"}
		if c.flag != "" {
			args = append(args, c.flag)
		}
		b, result, err := writeOTLP(t, "spans-stop", c.name, args...)
		if err != nil {
			t.Fatal(err)
		}
		b = decompress(t, b, c.name)
		n := int64(-1)
		switch c.form {
		case otlp.JSONLines:
			n = checkJSONLines(t, b)
		case otlp.Protobuf:
			var m tracepb.TracesData
			if err := proto.Unmarshal(b, &m); err != nil {
				t.Error(err)
			}
			n = countSpans(&m)
		case otlp.Delimited:
			for n = 0; len(b) > 4; {
				size := binary.BigEndian.Uint32(b)
				var m tracepb.TracesData
				if err := proto.Unmarshal(b[4:4+size], &m); err != nil {
					t.Error(err)
				}
				n, b = n+countSpans(&m), b[4+size:]
			}
		}
		if r := result.(*spansResult); n != r.Items || r.Items != r.Spans || n < spans || r.Batches < 4 || len(result.Notes()) != 0 {
			t.Errorf("%s %s: %d spans, result %+v", c.name, c.flag, n, r)
		}
	}
}

// Invalid values of flags are errors of usage, and values that may be secret are not repeated.
func TestOTLPFlags(t *testing.T) {
	for _, bad := range [][]string{
		{"--spans=foo"}, {"--spans=gc,"}, {"--attributes=typed"}, {"--form=xml"}, {"--batch=0"}, {"--resource=x"}, {"--resource==x"}, {"--flush-every=-1s"},
		{"--unfinished=no"}, {"--span-id-order=x"}, {"--max-open-spans=-1"},
		{"--endpoint="}, {"--endpoint=ftp://secret"}, {"--endpoint=http://u:secret@h:x"}, {"--endpoint=http://localhost:1", "--header=secret"},
		{"--endpoint=http://localhost:1", "--protocol=udp"}, {"--endpoint=http://localhost:1", "--timeout=0s"}, {"--endpoint=http://localhost:1", "--retry-for=-1s"},
		{"--endpoint=http://localhost:1", "--ca=x"}, {"--endpoint=https://localhost:1", "--ca=/no/such.pem"}, {"--endpoint=http://localhost:1", "--compression=zstd"},
	} {
		if _, _, err := writeOTLP(t, "spans-stop", "a.binpb", bad...); err == nil || strings.Contains(err.Error(), "secret") && !strings.Contains(bad[0], "ftp") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	_, result, err := writeOTLP(t, "spans-stop", "a.binpb", "--header=a=b", "--protocol=grpc")
	if err != nil || len(result.Notes()) != 2 {
		t.Errorf("%v, %q", err, result.Notes())
	}
}

func TestSpanSources(t *testing.T) {
	for text, want := range map[string]otlp.Sources{
		"gc": otlp.GC | otlp.Imported | otlp.Chrome, "default, jit": otlp.DefaultSources | otlp.JIT, "labels,activities,pairs": otlp.DefaultSources,
		"all":   otlp.DefaultSources | otlp.GC | otlp.JIT | otlp.Contention | otlp.Waits | otlp.Exceptions | otlp.Requests,
		"waits": otlp.Waits | otlp.Imported | otlp.Chrome, "all,suspensions": otlp.DefaultSources | otlp.Sources(operation.Runtime) | otlp.Suspensions,
	} {
		var v, again spansValue
		if err := v.Set(text); err != nil || otlp.Sources(v) != want {
			t.Errorf("%s: %b, %v", text, v, err)
		}
		if err := again.Set(v.String()); err != nil || again != v {
			t.Errorf("%s: written as %s", text, v.String())
		}
	}
}

// A file is written if the user names one. Otherwise the environment may name a collector, but not for ntconv convert.
func TestOTLPDestination(t *testing.T) {
	for _, c := range []struct {
		args    []string
		command bool // ntconv to otlp, which has --output
		env     string
		want    Destination
	}{
		{nil, true, "", ToFile},
		{nil, true, "http://localhost:1", ToNothing},
		{nil, false, "http://localhost:1", ToFile},
		{[]string{"--output=x"}, true, "http://localhost:1", ToFile},
		{[]string{"--endpoint=http://localhost:1"}, true, "", ToNothing},
		{[]string{"--endpoint="}, true, "", ToNothing},                                 // an error, see TestOTLPFlags
		{[]string{"--endpoint=http://localhost:1", "--output=x"}, true, "", ToNothing}, // which the command refuses
	} {
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.env)
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		if c.command {
			flags.String("output", "", "")
		}
		creator := bindOTLP(flags)
		if err := flags.Parse(c.args); err != nil {
			t.Fatal(err)
		}
		if got, flag := creator.destination(); got != c.want || (got == ToNothing) != (flag != "") {
			t.Errorf("%+v: %v by %q", c, got, flag)
		}
	}
}

// Flags take precedence over the environment, and the environment never changes what is written to a file.
func TestResourceFromEnvironment(t *testing.T) {
	env := map[string]string{"OTEL_SERVICE_NAME": "shop", "OTEL_RESOURCE_ATTRIBUTES": "a=1%2C2,service.name=x,b=3"}
	o := otlp.Options{Resource: ntconv.Attrs{{Key: "b", Value: "given"}}}
	notes, err := resourceFromEnvironment(&o, func(name string) string { return env[name] })
	if a, _ := o.Resource.Get("a"); err != nil || len(notes) != 2 || a != "1,2" || o.ServiceName != "shop" || len(o.Resource) != 2 {
		t.Errorf("%+v, %q, %v", o, notes, err)
	}
	given := otlp.Options{ServiceName: "given"}
	if _, err := resourceFromEnvironment(&given, func(name string) string { return env[name] }); err != nil || given.ServiceName != "given" {
		t.Errorf("%+v, %v", given, err)
	}
	env["OTEL_RESOURCE_ATTRIBUTES"] = "nonsense"
	if _, err := resourceFromEnvironment(&o, func(name string) string { return env[name] }); err == nil {
		t.Error("nonsense was accepted")
	}
	t.Setenv("OTEL_SERVICE_NAME", "from the environment")
	b, _, err := writeOTLP(t, "spans-stop", "a.jsonl")
	if err != nil || bytes.Contains(b, []byte("from the environment")) {
		t.Errorf("%v: the environment is in the file", err)
	}
}

// Each number of a summary that says what is not as in the trace is in the text for users and in the JSON of the
// result.
func TestOTLPResult(t *testing.T) {
	hidden := []string{"Items", "Sent", "Batches", "Bytes", "Warnings"} // shown otherwise, or of no interest
	unused := []string{"NotRecorded", "Unmatched"}                      // of options that the command does not have, or no spans
	for _, field := range reflect.VisibleFields(reflect.TypeFor[otlp.Summary]()) {
		name := field.Name
		if field.Type.Kind() != reflect.Int64 || slices.Contains(hidden, name) || slices.Contains(unused, name) {
			continue
		}
		s := otlp.Summary{Intervals: 1} // Linked is a part of it
		reflect.ValueOf(&s).Elem().FieldByIndex(field.Index).SetInt(4711)
		s.Signals[otlp.Traces] = s.Counts
		var r spansResult
		r.set(s)
		text, _ := r.Detail()
		data, err := json.Marshal(&r)
		if err != nil || !bytes.Contains(data, []byte("4711")) {
			t.Errorf("%s is not in %s, %v", name, data, err)
		}
		if name != "Unsent" && !strings.Contains(text, "4,711 ") {
			t.Errorf("%s is not in %q", name, text)
		}
	}
}

// Each flag of the connection sets its member of the configuration and overrides its environment variable.
func TestConnectionConfig(t *testing.T) {
	for name, value := range map[string]string{
		"ENDPOINT": "http://env:1", "PROTOCOL": "grpc", "HEADERS": "a=env,b=2", "TIMEOUT": "1000", "COMPRESSION": "gzip", "CERTIFICATE": "env.ca",
		"CLIENT_CERTIFICATE": "env.cert", "CLIENT_KEY": "env.key",
	} {
		t.Setenv("OTEL_EXPORTER_OTLP_"+name, value)
	}
	environment := otlpclient.Config{
		Endpoint: "http://env:1", Path: otlpclient.PathBase, Protocol: otlpclient.GRPC, Headers: map[string]string{"a": "env", "b": "2"}, Gzip: true,
		Timeout: time.Second, RetryFor: otlpclient.DefaultRetryFor, CA: "env.ca", Cert: "env.cert", Key: "env.key",
	}
	for _, c := range []struct {
		flag string
		set  func(c *otlpclient.Config)
	}{
		{"", func(*otlpclient.Config) {}},
		{"--endpoint=http://flag:2/x", func(c *otlpclient.Config) { c.Endpoint, c.Path = "http://flag:2/x", otlpclient.PathGiven }},
		{"--protocol=http/json", func(c *otlpclient.Config) { c.Protocol = otlpclient.HTTPJSON }},
		{"--compression=none", func(c *otlpclient.Config) { c.Gzip = false }},
		{"--header=A=flag", func(c *otlpclient.Config) { c.Headers = map[string]string{"a": "flag", "b": "2"} }},
		{"--ca=x", func(c *otlpclient.Config) { c.CA = "x" }},
		{"--cert=x", func(c *otlpclient.Config) { c.Cert = "x" }},
		{"--key=x", func(c *otlpclient.Config) { c.Key = "x" }},
		{"--insecure-skip-verify", func(c *otlpclient.Config) { c.SkipVerify = true }},
		{"--timeout=3s", func(c *otlpclient.Config) { c.Timeout = 3 * time.Second }},
		{"--retry-for=0", func(c *otlpclient.Config) { c.RetryFor, c.Patient = 0, true }},
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		link := bindCollector(flags)
		var args []string
		if c.flag != "" {
			args = []string{c.flag}
		}
		if err := flags.Parse(args); err != nil {
			t.Fatal(err)
		}
		want := environment
		c.set(&want)
		got, err := link.config(os.Getenv)
		if err != nil || got.OptionName(otlpclient.OptionCA) != "--ca" {
			t.Errorf("%s: %v", c.flag, err)
			continue
		}
		got.OptionName = nil // functions are not comparable
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %v, got %+v, want %+v", c.flag, err, got, want)
		}
	}
}
