package command

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/show/web"
)

// Every viewer is given a format that can be written, compressed.
func TestViewerFormats(t *testing.T) {
	for _, v := range web.Viewers() {
		f := formats.ByName(formats.Writable(), v.Format)
		if f == nil || !f.Compresses(".gz") {
			t.Errorf("%s: %v", v.Name, f)
		}
	}
}

// A shown is a run of ntconv view that has printed its address.
type shown struct {
	cmd     *exec.Cmd
	address string
	file    string // that the viewer of view --in fetches
	stderr  *strings.Builder
	read    chan struct{} // closed after the last of stderr
}

// show starts ntconv view.
func show(t *testing.T, dir string, args ...string) *shown {
	t.Helper()
	cmd := command(t, dir, append([]string{"view"}, args...)...)
	out, err := cmd.StdoutPipe()
	must(t, err)
	errs, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	s := &shown{cmd: cmd, stderr: new(strings.Builder), read: make(chan struct{})}
	go func() {
		defer close(s.read)
		_, _ = io.Copy(s.stderr, errs) // ends with the process
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		<-s.read
		t.Fatalf("%v: %s", err, s.stderr)
	}
	s.address = strings.TrimSpace(line)
	_, escaped, _ := strings.Cut(s.address, "http%3A")
	s.file, err = url.QueryUnescape("http%3A" + escaped)
	must(t, err)
	return s
}

// fetch returns what a page of an origin gets.
func (s *shown) fetch(t *testing.T, origin string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, s.file, nil)
	must(t, err)
	r.Header.Set("Origin", origin)
	r.Header.Set("Accept-Encoding", "gzip")
	resp, err := http.DefaultTransport.RoundTrip(r)
	must(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	must(t, err)
	if resp.Header.Get("Content-Encoding") == "gzip" {
		b = decompressed(t, b)
	}
	return resp, b
}

// end returns the exit code and the messages of the run.
func (s *shown) end(t *testing.T) (code int, stderr string) {
	t.Helper()
	ended := make(chan struct{})
	go func() { // before Wait, which closes the pipe
		<-s.read
		_ = s.cmd.Wait() // the code says more
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the command does not end")
	}
	return s.cmd.ProcessState.ExitCode(), s.stderr.String()
}

// free reports whether a port of this machine can be listened on.
func free(port int) bool {
	ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	return ln.Close() == nil
}

// view --in serves the output of ntconv to with the same summary, ends after the page has fetched it, and leaves no
// files.
func TestViewIn(t *testing.T) {
	for _, v := range web.Viewers() {
		if v.Port != 0 && !free(v.Port) {
			t.Logf("%s: port %d is in use", v.Name, v.Port) // by a program that is not a test
			continue
		}
		dir := t.TempDir() // also of temporary files
		in := trace(t, "cpu-env")
		for _, selection := range [][]string{nil, {"--to-time", "100ms"}} {
			args := append([]string{in}, selection...)
			out := filepath.Join(dir, "out.gz") // as the viewer gets it
			want := invoke(t, dir, nil, append([]string{"to", v.Format, "-f", "-o", out}, args...)...)
			s := show(t, dir, append([]string{"--in", v.Name}, args...)...)
			if !strings.HasPrefix(s.address, v.Origin+"/") || !strings.HasSuffix(s.file, "/cpu-env"+formats.ByName(formats.Writable(), v.Format).Exts[0]) {
				t.Errorf("%s: %s", v.Name, s.address)
			}
			if resp, b := s.fetch(t, "https://example.com"); resp.StatusCode != http.StatusForbidden {
				t.Errorf("%s: another origin gets %s, %d bytes", v.Name, resp.Status, len(b))
			}
			resp, b := s.fetch(t, v.Origin)
			if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Encoding") != "gzip" || string(b) != string(decompressed(t, contentAt(t, out))) {
				t.Errorf("%s: %s, %d bytes, or others than in %s", v.Name, resp.Status, len(b), out)
			}
			code, stderr := s.end(t)
			wantText := strings.NewReplacer(out+": ", "", " (--rundown to include)", "").Replace(want.stderr) // view has no such flag
			if code != want.code || stderr != wantText {
				t.Errorf("%s: code %d, %q, want %d, %q", v.Name, code, stderr, want.code, wantText)
			}
		}
		if left, err := filepath.Glob(filepath.Join(dir, "ntconv-*")); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", v.Name, left, err)
		}
	}
}

// The end of a trace may be missing: what there is is shown, and the exit code says so. The summary is JSON if that is
// asked for.
func TestViewInPartial(t *testing.T) {
	dir := t.TempDir()
	cut := write(t, dir, "cut.nettrace", unpacked(t, "cpu-env")[:200000])
	s := show(t, dir, "--in", "speedscope", "--report", "json", cut)
	if _, b := s.fetch(t, web.ViewerByName("speedscope").Origin); !json.Valid(b) {
		t.Errorf("%.100s", b)
	}
	code, stderr := s.end(t)
	var sum summaryJSON
	if err := json.Unmarshal([]byte(stderr), &sum); code != exitIncomplete || err != nil || sum.Exit != exitIncomplete || sum.Error == "" || strings.Contains(stderr, "output") {
		t.Errorf("code %d, %v: %s", code, err, stderr)
	}
}

// The only port that a viewer permits may be in use.
func TestViewInPort(t *testing.T) {
	dir, in := t.TempDir(), trace(t, "cpu-env")
	ln, err := net.Listen("tcp", "127.0.0.1:9001")
	if err != nil {
		t.Logf("the port of Perfetto is in use: %v", err) // by another program, which does as well
	} else {
		defer ln.Close()
	}
	r := invoke(t, dir, nil, "view", "--in", "perfetto", in)
	if r.code != exitOutput || !strings.Contains(r.stderr, "9001") || !strings.Contains(r.stderr, "no other port") || r.stdout != "" {
		t.Errorf("port in use: code %d: %s", r.code, r.stderr)
	}
}

// --open passes the address to the program that opens it. If no browser can be started, that is not an error.
func TestViewOpen(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell on this system")
	}
	dir, bin := t.TempDir(), t.TempDir()
	opener := filepath.Join(bin, browserCommand("")[0])
	write(t, bin, filepath.Base(opener), []byte("#!/bin/sh\nfor last; do :; done\nprintf %s \"$last\" > \"$0.tmp\" && mv \"$0.tmp\" \"$0.got\"\n"))
	must(t, os.Chmod(opener, 0o700))
	t.Setenv("PATH", bin+":/bin:/usr/bin")
	s := show(t, dir, "--in", "speedscope", "--open", trace(t, "cpu-env"))
	for end := time.Now().Add(10 * time.Second); !exists(opener + ".got"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no browser was started")
		}
	}
	if got := string(contentAt(t, opener+".got")); got != s.address {
		t.Errorf("opens %s, want %s", got, s.address)
	}
	t.Setenv("PATH", t.TempDir())
	s = show(t, dir, "--in", "speedscope", "-q", "--open", trace(t, "cpu-env"))
	s.fetch(t, web.ViewerByName("speedscope").Origin)
	if code, stderr := s.end(t); code != exitOK || !strings.Contains(stderr, "open the address yourself") {
		t.Errorf("code %d: %s", code, stderr)
	}
}
