package command

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal returns both ends of a pseudo terminal.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo terminals: ", err)
	}
	t.Cleanup(func() { master.Close() })
	must(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	must(t, err)
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	return master, slave
}

// Binary output does not go to a terminal, and the error says where else.
func TestBinaryToTerminal(t *testing.T) {
	refusesTerminal(t, "to", "pprof", "-o", "-", trace(t, "cpu-env"))
	refusesTerminal(t, "to", "otlp", "--form", "proto", "-o", "-", trace(t, "spans-stop"))
}

func refusesTerminal(t *testing.T, args ...string) {
	t.Helper()
	master, slave := openTerminal(t)
	cmd := command(t, t.TempDir(), args...)
	cmd.Stdout = slave
	var errs strings.Builder
	cmd.Stderr = &errs
	err := cmd.Run()
	slave.Close()
	if code := exitCode(t, err); code != exitUsage || !strings.Contains(errs.String(), "-o FILE") {
		t.Errorf("code %d: %s", code, errs.String())
	}
	if b, _ := io.ReadAll(master); len(b) > 0 { // the error is how the end of a terminal shows
		t.Errorf("%q on the terminal", b)
	}
}

// Progress is for terminals: what goes to a file has none, which testdata/messages shows. It leaves nothing
// before what the command says in the end; TestProgressEnds has more of that.
func TestProgress(t *testing.T) {
	for what, args := range map[string][]string{
		"reading": {"to", "nettrace", "-o", "out", "-"},
		"copying": {"print", "--frames", "-o", "out", "-"}, // a pipe is copied to be read twice
	} {
		shown := strings.ReplaceAll(progressOf(t, what, args...), "\r\n", "\n")
		if last := shown[strings.LastIndex(shown, "\r")+1:]; !strings.HasPrefix(last, "ntconv: ") {
			t.Errorf("%q: %q, want only messages after the progress", args, last)
		}
	}
}

// An upload shows how many items were sent, and its bar leaves nothing before the summary.
func TestUploadProgress(t *testing.T) {
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer receiver.Close()
	master, slave := openTerminal(t)
	cmd := command(t, t.TempDir(), "to", "otlp", "--endpoint", receiver.URL+"/v1/traces", "-")
	in, err := cmd.StdinPipe()
	must(t, err)
	cmd.Stderr = slave
	must(t, cmd.Start())
	slave.Close()
	data := unpacked(t, "spans-stop")
	if _, err := in.Write(data[:len(data)-10]); err != nil {
		t.Fatal(err)
	}
	seen := ""
	for b := make([]byte, 1000); !strings.Contains(seen, "reading, 41 items sent"); {
		n, err := master.Read(b)
		if err != nil {
			t.Fatalf("%v after %q", err, seen)
		}
		seen += string(b[:n])
	}
	if _, err := in.Write(data[len(data)-10:]); err != nil {
		t.Fatal(err)
	}
	in.Close()
	rest, _ := io.ReadAll(master) // the error is how the end of a terminal shows
	seen = strings.ReplaceAll(seen+string(rest), "\r\n", "\n")
	last := seen[strings.LastIndex(seen, "\r")+1:]
	if code := exitCode(t, cmd.Wait()); code != exitOK || !strings.HasPrefix(last, "41 spans sent to http://127.0.0.1:") || strings.Count(last, "\n") != 1 {
		t.Errorf("code %d: %q", code, last)
	}
}

// progressOf returns what a terminal shows of a command that waits in the middle of its input, which is truncated,
// until its progress says what.
func progressOf(t *testing.T, what string, args ...string) string {
	t.Helper()
	master, slave := openTerminal(t)
	cmd := command(t, t.TempDir(), args...)
	in, err := cmd.StdinPipe()
	must(t, err)
	cmd.Stderr = slave
	must(t, cmd.Start())
	slave.Close()
	if _, err := in.Write(unpacked(t, "cpu-env")[:100_000]); err != nil {
		t.Fatal(err)
	}
	seen := ""
	for b := make([]byte, 1000); !strings.Contains(seen, what); {
		n, err := master.Read(b)
		if err != nil {
			t.Fatalf("%v after %q", err, seen)
		}
		seen += string(b[:n])
	}
	in.Close()
	rest, _ := io.ReadAll(master)
	if code := exitCode(t, cmd.Wait()); code != exitIncomplete {
		t.Errorf("code %d: %q", code, rest)
	}
	return seen + string(rest)
}
