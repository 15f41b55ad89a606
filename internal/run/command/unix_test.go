//go:build linux || darwin

package command

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
)

// All commands fail if their caller has closed standard output. A caller that redirects it to /dev/null, or that opens
// /dev/null for all output, wants none.
func TestClosedStdout(t *testing.T) {
	in := trace(t, "cpu-env")
	for _, args := range [][]string{
		{"print", in},
		{"print", "--stats", in},
		{"info", in},
		{"top", in},
		{"symbols", in},
		{"verify", in, in},
		{"diff", in, in},
		{"to", "folded", "-o", "-", in},
		{"filter", "-o", "/dev/stdout", in},
		{"help"},
		{"print", "--help"},
		{"version"},
		{"completion", "bash"},
	} {
		for redirect, want := range map[string]int{">&-": exitOutput, ">/dev/null": exitOK, "<>/dev/null >&0 2>&0": exitOK} {
			cmd := command(t, t.TempDir())
			self := cmd.Path
			cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `exec "$0" "$@" ` + redirect, self}, args...)
			var errs bytes.Buffer
			cmd.Stderr = &errs
			code := exitCode(t, cmd.Run())
			if code != want || want == exitOutput && !strings.Contains(errs.String(), "standard output") {
				t.Errorf("%q %s: exit code %d, want %d: %s", args, redirect, code, want, errs.String())
			}
		}
	}
}

// Wherever a write fails, nothing is left at the destination, and what was there stays.
func TestFailingWrites(t *testing.T) {
	for _, args := range [][]string{
		{"to", "pprof", "-o", "out", trace(t, "cpu-env")},
		{"to", "nettrace", "-o", "out", trace(t, "cpu-env")},
		{"print", "-o", "out", trace(t, "cpu-env")},
	} {
		dir := t.TempDir()
		succeed(t, dir, args...)
		info, err := os.Stat(filepath.Join(dir, "out"))
		must(t, err)
		for _, old := range []string{"", "old"} {
			factor := int64(10)
			if corpus.Nightly() {
				factor = 3
			}
			for limit := int64(0); limit < info.Size(); limit = limit*factor + 100 {
				dir := t.TempDir()
				if old != "" {
					write(t, dir, "out", []byte(old))
				}
				cmd := command(t, dir, append(args, "-f")...)
				cmd.Env = append(cmd.Env, fileLimit+"="+strconv.FormatInt(limit, 10))
				var errs bytes.Buffer
				cmd.Stderr = &errs
				if code := exitCode(t, cmd.Run()); code != exitOutput || !strings.Contains(errs.String(), "out: write") {
					t.Errorf("limit %d: code %d: %s", limit, code, errs.String())
				}
				b, err := os.ReadFile(filepath.Join(dir, "out"))
				if string(b) != old || (err == nil) != (old != "") || len(files(t, dir)) != len(b)/3 {
					t.Errorf("limit %d: %.20q, %v, %q", limit, b, err, files(t, dir))
				}
			}
		}
	}
}

// A full disk during the copy of standard input is reported as such.
func TestNoRoomForCopy(t *testing.T) {
	dir := t.TempDir()
	cmd := command(t, dir, "print", "--frames", "-")
	cmd.Env = append(cmd.Env, fileLimit+"=1000")
	cmd.Stdin = struct{ io.Reader }{bytes.NewReader(unpacked(t, "cpu-env"))}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if code := exitCode(t, cmd.Run()); code != exitOutput || !strings.Contains(errs.String(), "TMPDIR") || out.Len() > 0 {
		t.Errorf("code %d: %s", code, errs.String())
	}
	if got := files(t, dir); len(got) > 0 {
		t.Errorf("files %q", got)
	}
}

// After a signal nothing is at the destination, and no temporary file is left.
func TestSignals(t *testing.T) {
	for _, c := range []struct {
		signal syscall.Signal
		code   int
		args   []string
		said   string
	}{
		{syscall.SIGINT, 130, []string{"print", "-o", "out", "-"}, "ntconv: interrupted, nothing written\n"},
		{syscall.SIGINT, 130, []string{"print", "-q", "-o", "out", "-"}, ""},
		{syscall.SIGINT, 130, []string{"print", "--report", "json", "-o", "out", "-"}, ""},
		{syscall.SIGTERM, 143, []string{"to", "pprof", "-o", "out", "-"}, "ntconv: interrupted, nothing written\n"},
		{syscall.SIGHUP, 129, []string{"to", "nettrace", "-o", "out", "-"}, ""},
		{syscall.SIGTERM, 143, []string{"print", "--frames", "-o", "out", "-"}, "ntconv: interrupted, nothing written\n"},
	} {
		if signal.Ignored(c.signal) {
			continue // as under nohup: the command goes on
		}
		dir := t.TempDir()
		cmd := command(t, dir, c.args...)
		var said bytes.Buffer
		cmd.Stderr = &said
		in, err := cmd.StdinPipe()
		must(t, err)
		must(t, cmd.Start())
		// The trace does not end, so the command waits for more.
		read := make(chan bool)
		go func() {
			_, _ = in.Write(unpacked(t, "cpu-env")[:200_000])
			close(read)
		}()
		if c.args[1] == "--frames" {
			<-read // its copy of the input has no name, but a pipe holds less than was written
		} else {
			waitFor(t, "a temporary file", func() bool { return len(files(t, dir)) == 1 })
		}
		must(t, cmd.Process.Signal(c.signal))
		if code := exitCode(t, cmd.Wait()); code != c.code {
			t.Errorf("%v: code %d, want %d", c.signal, code, c.code)
		}
		if said.String() != c.said {
			t.Errorf("%v: %q: %q, want %q", c.signal, c.args, said.String(), c.said)
		}
		if got := files(t, dir); len(got) > 0 {
			t.Errorf("%v: files %q", c.signal, got)
		}
	}
}

// TestInterruptedDownload checks that a signal leaves no part of a file in the cache.
func TestInterruptedDownload(t *testing.T) {
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(make([]byte, 1<<20))
		_ = http.NewResponseController(w).Flush()
		select { // and then nothing more
		case <-r.Context().Done():
		case <-done:
		}
	}))
	defer server.Close()
	defer close(done)
	dir, cache := t.TempDir(), t.TempDir()
	cmd := command(t, dir, "to", "folded", "--debuginfod", server.URL, "-o", "out", trace(t, "cpu-v6"))
	cmd.Env = append(cmd.Env, "XDG_CACHE_HOME="+cache)
	must(t, cmd.Start())
	cached := func() (names []string) {
		_ = filepath.WalkDir(cache, func(name string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				names = append(names, name)
			}
			return nil
		})
		return names
	}
	waitFor(t, "a part of a file", func() bool { return len(cached()) == 1 })
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	if code := exitCode(t, cmd.Wait()); code != 143 {
		t.Errorf("code %d, want 143", code)
	}
	if got := append(cached(), files(t, dir)...); len(got) > 0 {
		t.Errorf("files %q are left", got)
	}
}

// An interruption reports the state of the output: printed lines cannot be taken back. The server of view
// ends that way.
func TestInterruptedWithLines(t *testing.T) {
	for _, c := range []struct {
		args []string
		said string
	}{
		{[]string{"print", "-"}, "ntconv: interrupted, the output is not complete\n"},
		{[]string{"view", "-q", trace(t, "cpu-env")}, ""},
		{[]string{"view", trace(t, "cpu-env")}, ""},
	} {
		cmd := command(t, t.TempDir(), c.args...)
		var said bytes.Buffer
		cmd.Stderr = &said
		in, out := startPiped(t, cmd)
		live := unpacked(t, "cpu-v6")
		go func() { _, _ = in.Write(live[:len(live)/2]) }() // and then it goes on, for all that is known
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatalf("%q: %v", c.args, err)
		}
		go func() { _, _ = io.Copy(io.Discard, out) }()
		must(t, cmd.Process.Signal(syscall.SIGINT))
		if code := exitCode(t, cmd.Wait()); code != 130 || c.said == "" && strings.Contains(said.String(), "interrupted") || c.said != "" && said.String() != c.said {
			t.Errorf("%q: code %d: %q", c.args, code, said.String())
		}
	}
}

// startPiped starts a command whose input goes on while its output is read.
func startPiped(t *testing.T, cmd *exec.Cmd) (in io.WriteCloser, out io.Reader) {
	t.Helper()
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err = cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	return in, out
}

// A reader that has seen enough, as head, ends the command without words.
func TestBrokenPipe(t *testing.T) {
	for _, args := range [][]string{
		{"print", trace(t, "cpu-env")}, {"print", "--json", "--frames", trace(t, "cpu-env")}, {"to", "pprof", "-o", "-", trace(t, "cpu-env")},
		{"info", trace(t, "cpu-env")}, {"top", trace(t, "cpu-env")}, {"version"},
	} {
		r, w, err := os.Pipe()
		must(t, err)
		must(t, r.Close())
		cmd := command(t, t.TempDir(), args...)
		cmd.Stdout = w
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if code := exitCode(t, cmd.Run()); code != 141 || errs.Len() > 0 {
			t.Errorf("%q: code %d: %s", args, code, errs.String())
		}
		w.Close()
	}
}

// While a trace is recorded, the events that the reader delivers from the bytes so far appear on standard output. The
// rest of the trace follows only when they have appeared.
func TestFollow(t *testing.T) {
	for _, c := range []struct {
		trace string
		order reader.Order
		args  []string
	}{
		{"threads", reader.ByTime, []string{"print", "--json", "--order", "time", "-"}},
		{"cpu-env", reader.ByTime, []string{"print", "--json", "--order", "time", "-"}},
		{"cpu-env", reader.FileOrder, []string{"print", "--json", "--order", "file", "-"}},
		{"cpu-v6", reader.FileOrder, []string{"print", "--json", "--order", "file", "-"}},
	} {
		cmd := command(t, t.TempDir(), c.args...)
		in, out := startPiped(t, cmd)
		trace, printed, lines := unpacked(t, c.trace), 0, bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		const pieces = 7
		for i := range pieces {
			piece := trace[i*len(trace)/pieces : (i+1)*len(trace)/pieces]
			if _, err := in.Write(piece); err != nil {
				t.Fatal(err)
			}
			for want := delivered(t, trace[:(i+1)*len(trace)/pieces], c.order); printed < want && lines.Scan(); {
				printed++
			}
		}
		in.Close()
		for lines.Scan() {
			printed++
		}
		if code := exitCode(t, cmd.Wait()); code != exitOK || printed != delivered(t, trace, c.order) {
			t.Errorf("%q: code %d after %d lines", c.args, code, printed)
		}
	}
}

// delivered returns how many events the reader delivers before it reads beyond the data.
func delivered(t *testing.T, data []byte, order reader.Order) int {
	t.Helper()
	n, atEnd := 0, -1
	in := readerFunc(func(p []byte) (int, error) {
		if len(data) == 0 {
			if atEnd < 0 {
				atEnd = n
			}
			return 0, io.EOF
		}
		k := copy(p, data)
		data = data[k:]
		return k, nil
	})
	r, err := reader.New(in, &reader.Options{Order: order})
	must(t, err)
	for e, err := range ntconv.Events(r) {
		if err != nil {
			break // the data ends in the middle
		}
		if e.Kind == ntconv.KindEvent {
			n++
		}
	}
	if atEnd < 0 {
		return n
	}
	return atEnd
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// Each complete window of a live trace is written, although the writer has not filled its buffers.
func TestFollowRewritten(t *testing.T) {
	cmd := command(t, t.TempDir(), "filter", "-o", "-", "-")
	in, out := startPiped(t, cmd)
	trace := unpacked(t, "threads")
	go func() { _, _ = in.Write(trace[:len(trace)-1]) }() // the test ends without the last byte
	r, err := reader.New(out, &reader.Options{Order: reader.FileOrder})
	must(t, err)
	for marks := 0; marks == 0; {
		e, err := r.Next()
		must(t, err)
		if e.Kind == ntconv.KindMark {
			marks++
		}
	}
	in.Close()
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(t, cmd.Wait()); code != exitIncomplete {
		t.Errorf("code %d", code)
	}
}

// A FIFO is opened once, even where the input is read twice: its writer ends when its reader goes away.
func TestFIFO(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	must(t, syscall.Mkfifo(fifo, 0o600))
	done := make(chan error, 1)
	go func() {
		w, err := os.OpenFile(fifo, os.O_WRONLY, 0)
		if err == nil {
			_, err = w.Write(unpacked(t, "cpu-env"))
			w.Close()
		}
		done <- err
	}()
	r := invoke(t, dir, nil, "print", "--frames", "-q", fifo)
	if err := <-done; err != nil || r.code != exitOK || !strings.Contains(r.stdout, "Shop.Cpu.Spin") {
		t.Errorf("writer: %v; code %d: %s", err, r.code, r.stderr)
	}
}
