package command

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
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
		"no spans":    {[]string{trace(t, "cpu-env"), "--endpoint", url}, exitEmpty, []string{"no spans among 1,786 events", "record Activities with ntconv collect --profile spans", "ntconv top --kind wall"}},
		"a limit":     {[]string{trace(t, "spans-stop"), "--endpoint", url, "--max-types", "1"}, exitLimit, []string{"raise --max-types"}}, // found before anything is sent
		"of output":   {[]string{trace(t, "spans-stop"), "--endpoint", url, "--max-output", "100"}, exitLimit, []string{"output too large: limit 100 bytes", "raise --max-output"}},
		"in a pipe":   {[]string{"-", "--endpoint", url, "--max-types", "1"}, exitLimit, []string{"--max-types", "0 items sent to " + url + " before that"}},
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
