package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ntconv/ntconv/internal/files/fileio"
)

// accept starts a receiver that accepts everything, and returns its URL.
func accept(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	t.Cleanup(s.Close)
	return s.URL + "/v1/traces"
}

// Each way in which sending can end has its exit code, and a message that says the state of the spans.
func TestSendingExitCodes(t *testing.T) {
	url := accept(t)
	for name, c := range map[string]struct {
		args []string
		code int
		text []string
	}{
		"sent":        {[]string{trace(t, "spans-stop"), "--endpoint", url}, exitOK, []string{"41 spans sent to " + url + " in 1 batch, from 57 events of"}},
		"selected":    {[]string{trace(t, "spans-stop"), "--endpoint", url, "--provider", "Microsoft-Diagnostics-*"}, exitOK, []string{"spans sent to", "from 56 of 57 events in"}},
		"no spans":    {[]string{trace(t, "cpu-env"), "--endpoint", url}, exitEmpty, []string{"no spans among 1,786 events", "dotnet-trace collect --providers", "ntconv top --kind wall"}},
		"a limit":     {[]string{trace(t, "spans-stop"), "--endpoint", url, "--max-types", "1"}, exitLimit, []string{"raise --max-types"}}, // found before anything is sent
		"of output":   {[]string{trace(t, "spans-stop"), "--endpoint", url, "--max-output", "100"}, exitLimit, []string{"output too large: limit 100 bytes", "raise --max-output"}},
		"in a pipe":   {[]string{"-", "--endpoint", url, "--max-types", "1"}, exitLimit, []string{"--max-types", "0 spans sent to " + url + " before that"}},
		"two outputs": {[]string{trace(t, "spans-stop"), "--endpoint", url, "-o", "x"}, exitUsage, []string{"-o x: --endpoint writes no file"}},
		"no secret":   {[]string{trace(t, "spans-stop"), "--endpoint", url, "--header", "secret"}, exitUsage, []string{"--header: want key=value"}},
		"no effect":   {[]string{trace(t, "spans-stop"), "-o", "y.jsonl", "--protocol", "grpc"}, exitOK, []string{"--protocol has no effect"}},
		"truncated":   {[]string{"cut.nettrace", "--endpoint", url}, exitIncomplete, []string{"spans sent to", "truncated"}},
	} {
		dir := t.TempDir()
		write(t, dir, "cut.nettrace", unpacked(t, "spans-stop")[:60_000])
		r := invoke(t, dir, unpacked(t, "spans-stop"), append([]string{"to", "otlp"}, c.args...)...)
		if r.code != c.code || r.stdout != "" || strings.Contains(r.stderr, "secret") {
			t.Errorf("%s: code %d: %s%s", name, r.code, r.stdout, r.stderr)
		}
		for _, text := range c.text {
			if !strings.Contains(r.stderr, text) {
				t.Errorf("%s: no %q in %s", name, text, r.stderr)
			}
		}
	}
}

// TestUnclearAnswers checks that a run whose receiver does not say what it accepted does not end as a success.
func TestUnclearAnswers(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"partialSuccess":{"rejectedSpans":"7","errorMessage":"quo`)
	}))
	defer s.Close()
	r := invoke(t, t.TempDir(), nil, "to", "otlp", "--batch", "20", "--endpoint", s.URL+"/v1/traces", trace(t, "spans-stop"))
	for _, text := range []string{"0 spans sent to", "41 perhaps not received", "its response cannot be decoded"} {
		if !strings.Contains(r.stderr, text) {
			t.Errorf("no %q in %s", text, r.stderr)
		}
	}
	if r.code != exitIncomplete || strings.Contains(r.stderr, "accepted all") {
		t.Errorf("code %d, want %d: %s", r.code, exitIncomplete, r.stderr)
	}
}

// The command line that names a process is known to the first batch although .NET writes it last, but not if a pipe is
// read once.
func TestServiceNameIsKnown(t *testing.T) {
	dir := t.TempDir()
	args := []string{"to", "otlp", "--batch", "1", "-o", "out.jsonl", "-f"}
	for _, c := range []struct {
		input string
		stdin []byte
		args  []string
		want  string // of the first line
	}{
		{trace(t, "spans-stop"), nil, nil, `"shop"`},
		{"-", unpacked(t, "spans-stop"), nil, `"unknown_service:dotnet"`},
		{"-", unpacked(t, "spans-stop"), []string{"--service-name", "mine"}, `"mine"`},
	} {
		if r := invoke(t, dir, c.stdin, append(append(args, c.args...), c.input)...); r.code != exitOK {
			t.Fatalf("%s: %s", c.input, r.stderr)
		}
		b, err := os.ReadFile(filepath.Join(dir, "out.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := bytes.Cut(b, []byte("\n"))
		if !bytes.Contains(first, []byte(`{"key":"service.name","value":{"stringValue":`+c.want+`}}`)) {
			t.Errorf("%s %q: %.300s", c.input, c.args, first)
		}
	}
}

// The JSON summary of an upload has its counts, also if it failed.
func TestSendingReport(t *testing.T) {
	for url, want := range map[string]map[string]any{
		accept(t):                        {"items": 41.0, "spans": 41.0, "batches": 1.0, "unit": "span", "exit": 0.0},
		"http://127.0.0.1:1/no/receiver": {"unsent": 41.0, "spans": 41.0, "exit": 6.0},
	} {
		r := invoke(t, t.TempDir(), nil, "to", "otlp", trace(t, "spans-stop"), "--endpoint", url, "--report", "json", "--retry-for", "0")
		var got map[string]any
		if err := json.Unmarshal([]byte(r.stderr), &got); err != nil {
			t.Fatalf("%v: %s", err, r.stderr)
		}
		for key, value := range want {
			if got[key] != value {
				t.Errorf("%s: %s is %v, want %v: %s", url, key, got[key], value, r.stderr)
			}
		}
	}
}

// A connection that the receiver closed is an error with a message, although its cause is that of a pipe without a
// reader.
func TestBrokenConnectionIsNoBrokenPipe(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
	}{
		{&fileio.Error{Name: fileio.StdoutName, Op: "write", Err: syscall.EPIPE}, exitSignal + int(syscall.SIGPIPE)},
		{fmt.Errorf("http://collector:4318: %w", &net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.EPIPE)}), exitOutput},
	} {
		if got := outputFailure(c.err); codeOf(got) != c.code || (c.code == exitOutput) != (got.Error() != "") {
			t.Errorf("%v: code %d", c.err, codeOf(got))
		}
	}
}
