package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ntconv/ntconv/internal/testing/corpus"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// builder builds collectors. Newer versions depend on modules that the proxy does not have.
const builder = "go.opentelemetry.io/collector/cmd/builder@v0.161.0"

// A program is the path of a collector, or the reason why it is missing.
type program struct {
	path    string
	err     error
	missing bool // it is not built, or its modules cannot be downloaded
}

// collectorProgram returns the collector of collector/builder.yaml. It keeps the program in the user's cache, because
// building it takes minutes; nightly tests build it.
var collectorProgram = sync.OnceValue(buildCollector)

func buildCollector() (p program) {
	config, err := os.ReadFile(filepath.Join("collector", "builder.yaml"))
	if err != nil {
		return program{err: err}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "ntconv-e2e")
	p.path = filepath.Join(dir, fmt.Sprintf("otelcol-%x.exe", sha256.Sum256(config))[:20]+".exe")
	if _, err := os.Stat(p.path); err == nil {
		return p
	}
	if !corpus.Nightly() {
		return program{missing: true, err: errors.New("make nightly builds the collector, and keeps it for other tests")}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return program{err: err}
	}
	work, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return program{err: err}
	}
	defer os.RemoveAll(work)
	if err := os.WriteFile(filepath.Join(work, "builder.yaml"), config, 0o600); err != nil {
		return program{err: err}
	}
	steps := []struct {
		dir     string
		missing bool
		args    []string
	}{
		{work, true, []string{"run", builder, "--config", "builder.yaml", "--skip-compilation"}},
		{filepath.Join(work, "dist"), true, []string{"mod", "download"}},
		{filepath.Join(work, "dist"), false, []string{"build", "-trimpath", "-o", filepath.Join(work, "otelcol.exe")}},
	}
	for _, s := range steps {
		cmd := exec.Command("go", s.args...)
		cmd.Dir = s.dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return program{err: fmt.Errorf("go %s: %w\n%s", strings.Join(s.args, " "), err, out), missing: s.missing}
		}
	}
	p.err = os.Rename(filepath.Join(work, "otelcol.exe"), p.path)
	return p
}

// A collector is a running OpenTelemetry Collector that writes what it receives to files.
type collector struct {
	grpc, http string // URLs
	// What was received.
	file, logs, metrics, profiles string
	config                        string
	dir                           string
	cmd                           *exec.Cmd
	log                           lockedBuffer
}

// newCollector starts a collector, or skips the test if there is none. settings are lines to add to both protocols.
func newCollector(t *testing.T, settings ...string) *collector {
	t.Helper()
	if testing.Short() {
		t.Skip("short mode: a collector takes minutes to build")
	}
	p := collectorProgram()
	if p.missing {
		t.Skip("no collector: ", p.err)
	}
	if p.err != nil {
		t.Fatal(p.err)
	}
	c := &collector{dir: t.TempDir()}
	c.file, c.logs, c.metrics = filepath.Join(c.dir, "spans.jsonl"), filepath.Join(c.dir, "logs.jsonl"), filepath.Join(c.dir, "metrics.jsonl")
	c.profiles = filepath.Join(c.dir, "profiles.jsonl")
	c.config = filepath.Join(c.dir, "config.yaml")
	remote, web := freePort(t), freePort(t)
	scheme := "http://"
	if len(settings) > 0 {
		scheme = "https://"
	}
	c.grpc, c.http = scheme+remote, scheme+web+"/v1/traces"
	protocol := func(name, address string) string {
		return fmt.Sprintf("      %s:\n        endpoint: %s\n", name, address) + strings.Join(append(settings, ""), "\n")
	}
	config := "receivers:\n  otlp:\n    protocols:\n" + protocol("grpc", remote) + protocol("http", web) + fmt.Sprintf(`exporters:
  file:
    path: %s
    append: true
    flush_interval: 50ms
  file/logs:
    path: %s
    append: true
    flush_interval: 50ms
  file/metrics:
    path: %s
    append: true
    flush_interval: 50ms
  file/profiles:
    path: %s
    append: true
    flush_interval: 50ms
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    traces: {receivers: [otlp], exporters: [file]}
    logs: {receivers: [otlp], exporters: [file/logs]}
    metrics: {receivers: [otlp], exporters: [file/metrics]}
    profiles: {receivers: [otlp], exporters: [file/profiles]}
`, c.file, c.logs, c.metrics, c.profiles)
	must(t, os.WriteFile(c.config, []byte(config), 0o600))
	c.start(t)
	t.Cleanup(func() { c.kill() })
	return c
}

// start starts the collector and waits until it listens.
func (c *collector) start(t *testing.T) {
	t.Helper()
	c.cmd = exec.Command(collectorProgram().path, "--config", c.config, "--feature-gates=service.profilesSupport")
	c.cmd.Dir = c.dir
	c.cmd.Stdout, c.cmd.Stderr = &c.log, &c.log
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("collector: %.3000s", c.log.String())
		}
	})
	must(t, c.cmd.Start())
	for _, url := range []string{c.grpc, c.http} {
		address := strings.TrimSuffix(url[strings.Index(url, "//")+2:], "/v1/traces")
		eventually(t, "the collector listens", func() bool {
			conn, err := net.DialTimeout("tcp", address, time.Second)
			if err != nil {
				return false
			}
			return conn.Close() == nil
		})
	}
}

// kill kills the collector, as a crash would.
func (c *collector) kill() {
	_ = c.cmd.Process.Kill() // it may have ended
	_ = c.cmd.Wait()
}

// freePort returns an unused local address.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}

// eventually waits at most 30 seconds until a condition is true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatal("never: ", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// A spanSet counts spans by all of their data: resource, scope and span as OTLP/JSON.
type spanSet map[string]int

func (s spanSet) add(t *testing.T, traces ptrace.Traces) {
	t.Helper()
	var m ptrace.JSONMarshaler
	for _, r := range traces.ResourceSpans().All() {
		for _, sc := range r.ScopeSpans().All() {
			for _, sp := range sc.Spans().All() {
				one := ptrace.NewTraces()
				resource := one.ResourceSpans().AppendEmpty()
				r.Resource().CopyTo(resource.Resource())
				resource.SetSchemaUrl(r.SchemaUrl())
				scope := resource.ScopeSpans().AppendEmpty()
				sc.Scope().CopyTo(scope.Scope())
				scope.SetSchemaUrl(sc.SchemaUrl())
				sp.CopyTo(scope.Spans().AppendEmpty())
				b, err := m.MarshalTraces(one)
				must(t, err)
				s[string(b)]++
			}
		}
	}
}

func (s spanSet) total() (n int) {
	for _, k := range s {
		n += k
	}
	return n
}

// received returns the spans that the collector has written.
func (c *collector) received(t *testing.T) spanSet {
	t.Helper()
	b, err := os.ReadFile(c.file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return jsonLines(t, b[:bytes.LastIndexByte(b, '\n')+1])
}

// jsonLines reads OTLP/JSON lines.
func jsonLines(t *testing.T, b []byte) spanSet {
	t.Helper()
	set := spanSet{}
	var m ptrace.JSONUnmarshaler
	for line := range bytes.Lines(b) {
		traces, err := m.UnmarshalTraces(line)
		if err != nil {
			t.Fatalf("%.200s: %v", line, err)
		}
		set.add(t, traces)
	}
	return set
}

// sameSpans compares two sets.
func sameSpans(t *testing.T, what string, got, want spanSet) {
	t.Helper()
	shown := 0
	for key, n := range want {
		if got[key] != n && shown < 3 {
			shown++
			t.Errorf("%s: %d times, want %d: %.600s", what, got[key], n, key)
		}
	}
	for key, n := range got {
		if want[key] == 0 && shown < 6 {
			shown++
			t.Errorf("%s: %d times, want none: %.600s", what, n, key)
		}
	}
	if len(want) == 0 {
		t.Errorf("%s: no spans to compare", what)
	}
}
