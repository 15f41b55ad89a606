package command

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A fileServer serves files over HTTP as stores do, and counts the requests.
type fileServer struct {
	*httptest.Server
	files    map[string][]byte
	requests atomic.Int64
	fail     func(n int64, w http.ResponseWriter) bool // whether it has answered request n itself
	whole    bool                                      // ranges are not supported
}

func serveFiles(t *testing.T, files map[string][]byte) *fileServer {
	s := &fileServer{files: files}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := s.requests.Add(1); s.fail != nil && s.fail(n, w) {
			return
		}
		data, ok := s.files[strings.TrimPrefix(r.URL.Path, "/")]
		switch {
		case !ok:
			http.NotFound(w, r)
		case r.URL.Query().Get("signature") != "secret":
			http.Error(w, "no signature", http.StatusForbidden)
		case s.whole:
			w.Write(data)
		default:
			w.Header().Set("ETag", fmt.Sprintf(`"%x"`, len(data)))
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// address returns the signed address of a file.
func (s *fileServer) address(name string) string { return s.URL + "/" + name + "?signature=secret" }

// Addresses are inputs of commands: what is read is what the file has, whether the server knows ranges or not, and no message has the
// signature.
func TestRemote(t *testing.T) {
	dir := t.TempDir()
	succeed(t, dir, "to", "parquet", "-q", trace(t, "jit"), "-o", "events.parquet")
	events, err := os.ReadFile(filepath.Join(dir, "events.parquet"))
	must(t, err)
	stored := storedTrace(t, "jit")
	large := bytes.Repeat([]byte("a;b 1\n"), 3<<20) // 18 MiB, in many requests
	s := serveFiles(t, map[string][]byte{
		"run/app.nettrace.zst": stored, "events.parquet": events, "empty.nettrace": {}, "large.folded": large,
	})
	for _, whole := range []bool{false, true} {
		s.whole = whole
		for _, c := range []struct{ args, local string }{
			{"print " + s.address("run/app.nettrace.zst"), "print " + trace(t, "jit")},
			{"to pprof --kind jit -o - " + s.address("run/app.nettrace.zst"), "to pprof --kind jit -o - " + trace(t, "jit")}, // reads twice
			{"print " + s.address("events.parquet"), "print events.parquet"},
		} {
			got, want := invoke(t, dir, nil, strings.Fields(c.args)...), succeed(t, dir, strings.Fields(c.local)...)
			if got.code != exitOK || got.stdout != want.stdout || len(want.stdout) < 1000 {
				t.Errorf("ranges %v: %s: code %d, %d bytes, want %d: %s", !whole, c.args, got.code, len(got.stdout), len(want.stdout), got.stderr)
			}
			if strings.Contains(got.stderr, "secret") {
				t.Errorf("the signature is shown: %s", got.stderr)
			}
		}
	}
	s.whole = false
	s.requests.Store(0)
	r := succeed(t, dir, "to", "pprof", "-o", "large.pb.gz", s.address("large.folded"))
	if n := s.requests.Load(); n < 3 || n > 10 || !strings.Contains(r.stderr, s.URL+"/large.folded") {
		t.Errorf("%d requests: %s", n, r.stderr)
	}
	// The default output has the name of the file.
	succeed(t, dir, "to", "pprof", s.address("run/app.nettrace.zst"))
	if !exists(filepath.Join(dir, "app.pb.gz")) {
		t.Errorf("%q", namesIn(t, dir))
	}
	succeed(t, dir, "to", "parquet", "--dataset", "fleet", s.address("run/app.nettrace.zst"))
	if r := succeed(t, dir, "to", "parquet", "--dataset", "fleet", trace(t, "jit")); !strings.Contains(r.stderr, "1 already there") {
		t.Errorf("%s", r.stderr)
	}
	if r := succeed(t, dir, "dataset", "ls", "--json", "fleet"); strings.Contains(r.stdout, "secret") || !strings.Contains(r.stdout, s.URL) {
		t.Errorf("%s", r.stdout)
	}
}

// What a server does wrong is an error that says so, and what passes is tried again.
func TestRemoteFaults(t *testing.T) {
	dir := t.TempDir()
	s := serveFiles(t, map[string][]byte{"app.nettrace": unpacked(t, "jit"), "empty.nettrace": {}})
	in := s.address("app.nettrace")
	want := succeed(t, dir, "print", trace(t, "jit")).stdout
	for _, c := range []struct {
		name, in, says string
		code           int
		fail           func(n int64, w http.ResponseWriter) bool
	}{
		{"busy", in, "", exitOK, func(n int64, w http.ResponseWriter) bool {
			if n < 3 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			return n < 3
		}},
		{"always busy", in, "the server answers 503 Service Unavailable", exitInput, func(n int64, w http.ResponseWriter) bool {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}},
		{"missing", s.address("no.nettrace"), "the server answers 404 Not Found", exitInput, nil},
		{"without a signature", s.URL + "/app.nettrace", "the server answers 403 Forbidden; use an address that is signed", exitInput, nil},
		{"empty", s.address("empty.nettrace"), "empty", exitInput, nil},
		{"another range", in, "the server answers with the range", exitInput, func(n int64, w http.ResponseWriter) bool {
			w.Header().Set("Content-Range", "bytes 5-10/100")
			w.WriteHeader(http.StatusPartialContent)
			io.WriteString(w, "12345")
			return true
		}},
		{"a range without end", in, "the server answers with the range", exitInput, func(n int64, w http.ResponseWriter) bool {
			w.Header().Set("Content-Range", "bytes 0-/*")
			w.WriteHeader(http.StatusPartialContent)
			return true
		}},
		{"no server", "http://127.0.0.1:1/app.nettrace", "connection refused", exitInput, nil},
		{"no host", "http://", "", exitInput, nil},
	} {
		s.requests.Store(0)
		s.fail = c.fail
		r := invoke(t, dir, nil, "print", c.in)
		if r.code != c.code || !strings.Contains(r.stderr, c.says) || strings.Contains(r.stderr, "secret") || c.code == exitOK && r.stdout != want {
			t.Errorf("%s: code %d, want %d: %s", c.name, r.code, c.code, r.stderr)
		}
	}
	// A file that is replaced while it is read is no input.
	s.files["app.folded"] = bytes.Repeat([]byte("a;b 1\n"), 1<<20)
	s.requests.Store(0)
	s.fail = func(n int64, w http.ResponseWriter) bool {
		if n == 2 {
			s.files["app.folded"] = bytes.Repeat([]byte("a;c 1\n"), 1<<20+1)
		}
		return false
	}
	if r := invoke(t, dir, nil, "to", "pprof", "-o", "x.pb.gz", s.address("app.folded")); r.code != exitInput && r.code != exitIncomplete || !strings.Contains(r.stderr, "replaced while it was read") {
		t.Errorf("replaced: code %d: %s", r.code, r.stderr)
	}
}
