package e2e

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A collector receives the spans of a file, for every way of sending them.
func TestCollectorReceives(t *testing.T) {
	c := newCollector(t)
	for _, tr := range spanTraces(t) {
		want := protobuf(t, convertSpans(t, tr.path, "a.binpb"))
		for _, args := range [][]string{
			{"--endpoint", c.grpc},
			{"--endpoint", c.grpc, "--compression", "gzip", "--batch", "3"},
			{"--endpoint", c.http},
			{"--endpoint", c.http, "--compression", "gzip", "--batch-bytes", "1KiB"},
			{"--endpoint", c.http, "--protocol", "http/json"},
			{"--endpoint", c.http, "--protocol", "http/json", "--compression", "gzip"},
		} {
			r := run(t, command, append([]string{"to", "otlp", tr.path}, args...)...)
			if r.code != 0 || !strings.Contains(string(r.stderr), fmt.Sprintf("%d spans sent to http://127.0.0.1", want.total())) {
				t.Fatalf("%s %s: exit code %d: %s", tr.name, args, r.code, r.stderr)
			}
			eventually(t, "the collector has all spans", func() bool { return c.received(t).total() >= want.total() })
			sameSpans(t, tr.name+" "+strings.Join(args[2:], " "), c.received(t), want)
			must(t, os.Truncate(c.file, 0))
		}
	}
}

// The environment variables of OpenTelemetry select the endpoint; a named output file takes precedence.
func TestCollectorByEnvironment(t *testing.T) {
	c := newCollector(t)
	tr := find(t, "spans-stop")
	for _, env := range [][]string{
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.grpc},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + strings.TrimSuffix(c.http, "/v1/traces"), "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=" + c.http, "OTEL_EXPORTER_OTLP_COMPRESSION=gzip", "OTEL_EXPORTER_OTLP_CERTIFICATE=none.pem"},
	} {
		before := c.received(t).total()
		cmd := exec.Command(command, "to", "otlp", tr.path)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Count(string(out), "\n") != 1 {
			t.Fatalf("%s: %v: %s", env, err, out)
		}
		eventually(t, "the collector has all spans", func() bool { return c.received(t).total() == before+41 })
		file := filepath.Join(t.TempDir(), "a.binpb")
		cmd = exec.Command(command, "to", "otlp", tr.path, "-o", file)
		cmd.Env = append(os.Environ(), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", env, err, out)
		}
		if _, err := os.Stat(file); err != nil || c.received(t).total() != before+41 {
			t.Errorf("%v: the spans were sent although a file is named", err)
		}
	}
}

// A feeder runs ntconv to otlp with a pipe as input, as with tail -f.
type feeder struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr strings.Builder
	data   []byte
	fed    int
}

func feed(t *testing.T, data []byte, args ...string) *feeder {
	t.Helper()
	f := &feeder{cmd: exec.Command(command, append([]string{"to", "otlp", "-"}, args...)...), data: data}
	f.cmd.Stderr = &f.stderr
	var err error
	f.in, err = f.cmd.StdinPipe()
	must(t, err)
	must(t, f.cmd.Start())
	t.Cleanup(func() { _ = f.cmd.Process.Kill() }) // it may have ended
	return f
}

// to feeds all bytes up to an offset.
func (f *feeder) to(t *testing.T, end int) {
	t.Helper()
	if _, err := f.in.Write(f.data[f.fed:end]); err != nil {
		t.Fatalf("%v: %s", err, f.stderr.String())
	}
	f.fed = end
}

// end feeds the rest and returns the exit code.
func (f *feeder) end(t *testing.T) int {
	t.Helper()
	f.to(t, len(f.data))
	must(t, f.in.Close())
	return f.wait(t)
}

// wait returns the exit code of a command, which must end within a minute.
func (f *feeder) wait(t *testing.T) int {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = f.cmd.Wait() // the exit code is checked below
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the command does not end")
	}
	return f.cmd.ProcessState.ExitCode()
}

// generated returns a trace of n Activities.
func generated(t *testing.T, n int) []byte {
	t.Helper()
	cmd := exec.Command("go", "run", "./internal/testing/tracegen/tracegen", "-spans", fmt.Sprint(n))
	cmd.Dir = ".."
	out, err := cmd.Output()
	must(t, err)
	return out
}

// blocks returns the offsets of the objects in a trace of version 4: the blocks before each offset are complete.
func blocks(data []byte) (starts []int) {
	for _, m := range regexp.MustCompile(`(?:EventBlock|MetadataBlock|StackBlock|SPBlock)`).FindAllIndex(data, -1) {
		starts = append(starts, m[0]-3-3*4) // three tags, two versions and the length of the name
	}
	return append(starts, len(data))
}

// blockAt returns the last start of a block at or before an offset.
func blockAt(data []byte, n int) (start int) {
	for _, at := range blocks(data) {
		if at <= n {
			start = at
		}
	}
	return start
}

// prefixSpans returns the number of spans in the first bytes of a trace.
func prefixSpans(t *testing.T, data []byte, n int) int {
	t.Helper()
	file := filepath.Join(t.TempDir(), "prefix.nettrace")
	must(t, os.WriteFile(file, data[:n], 0o600))
	r := run(t, command, "to", "otlp", "--order", "file", file, "-o", "-")
	if r.code == 2 || r.code == 4 { // no spans yet
		return 0
	}
	if r.code != 0 && r.code != 3 {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	return jsonLines(t, r.stdout).total()
}

// A collector that is killed and restarted while spans arrive receives each of them once: those that it had written
// before, and those that the command could not send meanwhile.
func TestCollectorRestarts(t *testing.T) {
	t.Parallel() // it waits most of the time
	data := generated(t, 4000)
	third := blockAt(data, len(data)/3)
	first := prefixSpans(t, data, third)
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		c := newCollector(t)
		endpoint := map[string]string{"grpc": c.grpc, "http/protobuf": c.http}[protocol]
		f := feed(t, data, "--endpoint", endpoint, "--batch", "100", "--flush-every", "100ms")
		f.to(t, third)
		eventually(t, "the collector has written the first spans", func() bool { return c.received(t).total() == first })
		c.kill()
		rest := make(chan error, 1)
		go func() { // the command stops reading while it cannot send
			_, err := f.in.Write(data[third:])
			rest <- errors.Join(err, f.in.Close())
		}()
		time.Sleep(500 * time.Millisecond)
		c.start(t)
		if err := <-rest; err != nil {
			t.Error(err)
		}
		if code := f.wait(t); code != 0 {
			t.Fatalf("%s: exit code %d: %s", protocol, code, f.stderr.String())
		}
		message := f.stderr.String()
		eventually(t, "the collector has all spans", func() bool { return c.received(t).total() >= 4000 })
		got := c.received(t)
		// A request sent before the command noticed the end of the connection may have arrived: the command reports it,
		// but the collector has not stored it.
		// did not.
		if len(got) != 4000 || got.total() != 4000 && !strings.Contains(message, "twice") || !strings.Contains(message, "4,000 spans sent") || !strings.Contains(message, "repeated") {
			t.Errorf("%s: %d spans, %d different: %s", protocol, got.total(), len(got), message)
		}
	}
}

// If a collector is killed and not restarted, the command ends with an error that states the number of delivered spans.
func TestCollectorDies(t *testing.T) {
	t.Parallel() // it waits most of the time
	data := generated(t, 4000)
	half := blockAt(data, len(data)/2)
	first := prefixSpans(t, data, half)
	c := newCollector(t)
	f := feed(t, data, "--endpoint", c.grpc, "--batch", "100", "--flush-every", "100ms", "--retry-for", "1s")
	f.to(t, half)
	eventually(t, "the collector has written the first spans", func() bool { return c.received(t).total() == first })
	c.kill()
	_, _ = f.in.Write(data[half:]) // the command may end before it has read all
	_ = f.in.Close()
	if code := f.wait(t); code != 6 || !strings.Contains(f.stderr.String(), fmt.Sprintf("%d spans delivered", first)) {
		t.Errorf("exit code %d, want %d spans: %s", code, first, f.stderr.String())
	}
}

// A span is sent when the bytes of its event have arrived, even if no more bytes follow.
func TestSpansLeaveAsTheyArrive(t *testing.T) {
	t.Parallel() // it waits most of the time
	traces := map[string][]byte{"generated": generated(t, 1000)}
	for _, tr := range spansInBlocks(t) {
		traces[tr.name] = unzstd(t, tr.path)
	}
	for name, data := range traces {
		s := newReceiver(t)
		f := feed(t, data, "--endpoint", s.url)
		for part, end := range blocks(data) {
			want := prefixSpans(t, data, end)
			f.to(t, end)
			begin := time.Now()
			eventually(t, fmt.Sprintf("%s: %d spans of %d bytes", name, want, end), func() bool { return s.spans() >= want })
			t.Logf("%s: part %d, %d spans, after %s", name, part, want, time.Since(begin))
		}
		if code := f.end(t); code != 0 {
			t.Errorf("%s: exit code %d: %s", name, code, f.stderr.String())
		}
	}
}

// Spans written to a pipe reach its reader, compressed or not, while the trace still grows.
func TestSpansArePiped(t *testing.T) {
	data := generated(t, 1000)
	end := blockAt(data, len(data)/2)
	want := prefixSpans(t, data, end)
	f := &feeder{cmd: exec.Command(command, "to", "otlp", "-"), data: data}
	out := new(lockedBuffer)
	f.cmd.Stdout, f.cmd.Stderr = out, &f.stderr
	var err error
	f.in, err = f.cmd.StdinPipe()
	must(t, err)
	must(t, f.cmd.Start())
	f.to(t, end)
	eventually(t, "the spans of the first half", func() bool { return strings.Count(out.String(), `"spanId"`) >= want })
	if code := f.end(t); code != 0 || jsonLines(t, []byte(out.String())).total() != 1000 {
		t.Errorf("exit code %d: %s", code, f.stderr.String())
	}
}
