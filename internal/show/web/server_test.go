package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// content is the content of the served file. It exceeds the buffers of a connection, so that a response takes several
// writes.
func content() []byte { return bytes.Repeat([]byte("0123456789abcdef"), 1<<20) }

// A serving is a running Server.
type serving struct {
	viewer *Viewer
	file   string // address
	ended  chan error
	stop   context.CancelFunc
}

// serve runs a Server for the first viewer that permits any port.
func serve(t *testing.T, compressed bool) *serving {
	t.Helper()
	path, data := filepath.Join(t.TempDir(), "f"), content()
	if compressed {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		data = b.Bytes()
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v := ViewerByName("speedscope")
	s, err := NewFileServer(v, ln, File{Path: path, Name: "my trace.json", Gzip: compressed})
	if err != nil {
		t.Fatal(err)
	}
	file, err := url.QueryUnescape(strings.TrimPrefix(s.Address(), v.Origin+"/#profileURL="))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	r := &serving{viewer: v, file: file, ended: make(chan error, 1), stop: cancel}
	go func() { r.ended <- s.Serve(ctx) }()
	return r
}

// ask sends a request with the origin of the viewer, which change may alter.
func (s *serving) ask(t *testing.T, method string, change func(*http.Request)) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequest(method, s.file, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", s.viewer.Origin)
	r.Header.Set("Accept-Encoding", "identity")  // otherwise the client decompresses
	r.Header.Set("Sec-Fetch-Site", "cross-site") // as a browser sends it for fetch
	r.Header.Set("Sec-Fetch-Mode", "cors")
	r.Header.Set("Sec-Fetch-Dest", "empty")
	if change != nil {
		change(r)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, body
}

// running reports an error if the Server has stopped.
func (s *serving) running(t *testing.T, after string) {
	t.Helper()
	select {
	case err := <-s.ended:
		t.Fatalf("the server has ended after %s: %v", after, err)
	case <-time.After(20 * time.Millisecond):
	}
}

// A page of the viewer gets the file, compressed or not, and the Server stops. Only a complete GET stops it.
func TestFetch(t *testing.T) {
	for _, tt := range []struct {
		name       string
		compressed bool
		accept     string
		encoding   string
	}{
		{"plain file", false, "gzip", ""},
		{"compressed file", true, "br, gzip;q=0.5", "gzip"},
		{"compressed file for a client without gzip", true, "identity", ""},
		{"compressed file for a client that refuses gzip", true, "gzip;q=0, *", ""},
		{"compressed file for a client that takes anything", true, "*", "gzip"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, tt.compressed)
			set := func(r *http.Request) { r.Header.Set("Accept-Encoding", tt.accept) }
			head, body := s.ask(t, http.MethodHead, set)
			if head.StatusCode != http.StatusOK || len(body) != 0 {
				t.Errorf("HEAD: %s, %d bytes", head.Status, len(body))
			}
			s.running(t, "HEAD")
			resp, body := s.ask(t, http.MethodGet, set)
			if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Encoding") != tt.encoding || resp.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s %v", resp.Status, resp.Header)
			}
			checkFileHeaders(t, "GET", resp.Header)
			if resp.Header.Get("Access-Control-Allow-Origin") != s.viewer.Origin || !strings.Contains(resp.Header.Get("Vary"), "Origin") {
				t.Errorf("%v", resp.Header)
			}
			if head.Header.Get("Content-Length") != resp.Header.Get("Content-Length") {
				t.Errorf("HEAD says %s bytes, GET %s", head.Header.Get("Content-Length"), resp.Header.Get("Content-Length"))
			}
			if tt.encoding == "gzip" {
				body = decompress(t, body)
			}
			if !bytes.Equal(body, content()) {
				t.Errorf("%d bytes, or others", len(body))
			}
			select {
			case err := <-s.ended:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(10 * time.Second):
				t.Error("the server does not end")
			}
			if c, err := net.Dial("tcp", strings.Split(s.file, "/")[2]); err == nil {
				c.Close()
				t.Error("the port is still open")
			}
		})
	}
}

func decompress(t *testing.T, b []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return b
}

// checkFileHeaders checks that a browser does not guess the type of a response, show it, share it or store it.
func checkFileHeaders(t *testing.T, what string, h http.Header) {
	t.Helper()
	for key, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"Cross-Origin-Resource-Policy": "same-origin",
	} {
		if h.Get(key) != want {
			t.Errorf("%s: %s: %q, want %q", what, key, h.Get(key), want)
		}
	}
	if policy := h.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("%s: policy %q", what, policy)
	}
}

// Requests that do not come from a page of the viewer, or do not have the path, are rejected without permission for any
// origin, and do not stop the Server.
func TestRefused(t *testing.T) {
	s := serve(t, false)
	host := strings.Split(s.file, "/")[2]
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		method string
		change func(*http.Request)
		status int
	}{
		{"another origin", http.MethodGet, func(r *http.Request) { r.Header.Set("Origin", "https://example.com") }, http.StatusForbidden},
		{"another viewer", http.MethodGet, func(r *http.Request) { r.Header.Set("Origin", "https://ui.perfetto.dev") }, http.StatusForbidden},
		{"no origin", http.MethodGet, func(r *http.Request) { r.Header.Del("Origin") }, http.StatusForbidden},
		{"an opaque origin", http.MethodGet, func(r *http.Request) { r.Header.Set("Origin", "null") }, http.StatusForbidden},
		{"the origin as a prefix", http.MethodGet, func(r *http.Request) { r.Header.Set("Origin", s.viewer.Origin+".example.com") }, http.StatusForbidden},
		{"the origin without TLS", http.MethodGet, func(r *http.Request) { r.Header.Set("Origin", "http://www.speedscope.app") }, http.StatusForbidden},
		{"preflight of another origin", http.MethodOptions, func(r *http.Request) { r.Header.Set("Origin", "https://example.com") }, http.StatusForbidden},
		{"another host", http.MethodGet, func(r *http.Request) { r.Host = "example.com:" + port }, http.StatusForbidden},
		{"localhost", http.MethodGet, func(r *http.Request) { r.Host = "localhost:" + port }, http.StatusForbidden},
		{"no port", http.MethodGet, func(r *http.Request) { r.Host = "127.0.0.1" }, http.StatusForbidden},
		{"an image of the page", http.MethodGet, func(r *http.Request) { r.Header.Set("Sec-Fetch-Mode", "no-cors") }, http.StatusForbidden},
		{"a link of the page", http.MethodGet, func(r *http.Request) { r.Header.Set("Sec-Fetch-Mode", "navigate") }, http.StatusForbidden},
		{"a frame of the page", http.MethodGet, func(r *http.Request) { r.Header.Set("Sec-Fetch-Dest", "iframe") }, http.StatusForbidden},
		{"a page on another port", http.MethodGet, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, http.StatusForbidden},
		{"the user", http.MethodGet, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") }, http.StatusForbidden},
		{"preflight for a frame", http.MethodOptions, func(r *http.Request) { r.Header.Set("Sec-Fetch-Dest", "iframe") }, http.StatusForbidden},
		{"the root", http.MethodGet, func(r *http.Request) { r.URL.Path = "/" }, http.StatusNotFound},
		{"another path", http.MethodGet, func(r *http.Request) { r.URL.Path = "/AAAAAAAAAAAAAAAAAAAAAAAAAA/my_trace.json" }, http.StatusNotFound},
		{"a longer path", http.MethodGet, func(r *http.Request) { r.URL.Path += "/" }, http.StatusNotFound},
		{"what Perfetto asks trace_processor_shell", http.MethodPost, func(r *http.Request) { r.URL.Path = "/status" }, http.StatusNotFound},
	} {
		resp, body := s.ask(t, tt.method, tt.change)
		if resp.StatusCode != tt.status || resp.Header.Get("Access-Control-Allow-Origin") != "" || len(body) > 100 {
			t.Errorf("%s: %s, %v, %d bytes", tt.name, resp.Status, resp.Header, len(body))
		}
		checkFileHeaders(t, tt.name, resp.Header)
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		if resp, _ := s.ask(t, method, nil); resp.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s: %s", method, resp.Status)
		}
	}
	s.running(t, "refused requests")
}

// The response to a preflight request permits a public site to connect to this machine if the browser asks.
func TestPreflight(t *testing.T) {
	s := serve(t, false)
	for _, private := range []string{"", "true"} {
		resp, body := s.ask(t, http.MethodOptions, func(r *http.Request) {
			r.Header.Set("Access-Control-Request-Method", "GET")
			if private != "" {
				r.Header.Set("Access-Control-Request-Private-Network", private)
			}
		})
		h := resp.Header
		if resp.StatusCode != http.StatusNoContent || len(body) != 0 || h.Get("Access-Control-Allow-Origin") != s.viewer.Origin ||
			!strings.Contains(h.Get("Access-Control-Allow-Methods"), "GET") || h.Get("Access-Control-Allow-Private-Network") != private {
			t.Errorf("private network %q: %s %v", private, resp.Status, h)
		}
	}
	s.running(t, "preflight requests")
}

// A client that disconnects during the transfer does not stop the Server: the next client gets the file.
func TestInterruptedFetch(t *testing.T) {
	s := serve(t, false)
	host := strings.Split(s.file, "/")[2]
	c, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimPrefix(s.file, "http://"+host)
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: "+host+"\r\nOrigin: "+s.viewer.Origin+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	c.Close()
	s.running(t, "a client that went away")
	if _, body := s.ask(t, http.MethodGet, nil); !bytes.Equal(body, content()) {
		t.Errorf("%d bytes", len(body))
	}
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}

// A Server without requests stops with its context. New rejects a listener that other machines can reach.
func TestEnd(t *testing.T) {
	s := serve(t, false)
	s.stop()
	if err := <-s.ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	ln, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if _, err := NewFileServer(ViewerByName("perfetto"), ln, File{}); err == nil {
		t.Error("serves to all machines")
	}
}

// Address returns an address of the viewer's site, from which the viewer can decode the file's address unchanged.
func TestAddress(t *testing.T) {
	const file = "http://127.0.0.1:9001/ABC/my_trace.json.gz"
	for _, v := range Viewers() {
		if got := ViewerByName(v.Name); got == nil || got.Format != v.Format {
			t.Errorf("%s: %v", v.Name, got)
		}
		u, err := url.Parse(v.Address(file))
		if err != nil {
			t.Fatal(err)
		}
		if origin := u.Scheme + "://" + u.Host; origin != v.Origin || u.Scheme != "https" {
			t.Errorf("%s: %s, pages are of %s", v.Name, u, v.Origin)
		}
		if !strings.Contains(u.Fragment+u.Path, file) { // both are unescaped
			t.Errorf("%s: %s", v.Name, u)
		}
	}
	if got := plainName("a b+c%/ü?#&.json"); strings.ContainsAny(got, " +%/?#&ü") || !strings.HasSuffix(got, ".json") {
		t.Error(got)
	}
	if ViewerByName("") != nil {
		t.Error("a viewer without a name")
	}
}
