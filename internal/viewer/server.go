package viewer

import (
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A File is what a viewer is given.
type File struct {
	Path string
	// Name is what the viewer calls it. Characters other than ASCII letters, digits, dots, hyphens and underscores are
	// replaced, because viewers unescape the address differently.
	Name string
	// Gzip means that the file is compressed with gzip. It is decompressed for clients that do not accept that.
	Gzip bool
}

// A Server serves one file to pages of one viewer, until one of them has fetched it.
type Server struct {
	viewer  *Viewer
	ln      net.Listener
	file    File
	path    string
	fetched chan struct{}
	once    sync.Once
}

// New returns a Server for connections to ln. The address of ln must be 127.0.0.1, because a trace may be confidential.
func New(v *Viewer, ln net.Listener, file File) (*Server, error) {
	addr, ok := ln.Addr().(*net.TCPAddr)
	if !ok || !addr.IP.Equal(net.IPv4(127, 0, 0, 1)) {
		return nil, fmt.Errorf("serve %s on %s: want 127.0.0.1", file.Name, ln.Addr())
	}
	return &Server{
		viewer:  v,
		ln:      ln,
		file:    file,
		path:    "/" + rand.Text() + "/" + plainName(file.Name),
		fetched: make(chan struct{}),
	}, nil
}

// plainName returns a name with characters that have no meaning in an address.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
}

// Address returns the address of the viewer that makes it fetch the file. It contains the random path, which other
// programs cannot guess.
func (s *Server) Address() string { return s.viewer.Address("http://" + s.ln.Addr().String() + s.path) }

// shutdownTime is how long the connection over which the file was fetched may take to become idle.
const shutdownTime = 5 * time.Second

// Serve serves the file. It returns nil when a page has fetched it completely, and the error of ctx if that is done
// before. It closes the listener.
func (s *Server) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(s.ln) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		_ = server.Close() // ctx says why
		return ctx.Err()
	case <-s.fetched:
	}
	// The handler has written the file, but its last bytes may still be in the buffer of the connection.
	ctx, cancel := context.WithTimeout(ctx, shutdownTime)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		_ = server.Close() // connections of others, such as a client that sends its request slowly
	}
	return nil
}

// ServeHTTP implements http.Handler. A request must name this machine by the address that was given to the viewer, so
// that no site whose name resolves to it reaches the file (DNS rebinding), and must come from a page of the viewer.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Vary", "Origin, Accept-Encoding")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set(
		"Content-Security-Policy",
		"default-src 'none'; frame-ancestors 'none'; sandbox",
	) // in case a browser shows it
	h.Set(
		"Cross-Origin-Resource-Policy",
		"same-origin",
	) // the viewer's page asks in the mode "cors", to which that does not apply
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	switch {
	case r.Host != s.ln.Addr().String():
		http.Error(w, "this address is for the machine itself", http.StatusForbidden)
	case subtle.ConstantTimeCompare([]byte(r.URL.Path), []byte(s.path)) != 1:
		http.NotFound(w, r)
	case r.Header.Get("Origin") != s.viewer.Origin:
		http.Error(w, "this file is for "+s.viewer.Origin, http.StatusForbidden)
	case !isFetch(r.Header):
		http.Error(w, "this file is for scripts of "+s.viewer.Origin, http.StatusForbidden)
	default:
		h.Set("Access-Control-Allow-Origin", s.viewer.Origin)
		s.answer(w, r)
	}
}

// isFetch reports whether a request comes from a script of another site that asks for permission to read the response,
// as far as the browser says: not from an element of a page, such as an image or a frame, and not from the user.
func isFetch(h http.Header) bool {
	for key, want := range map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"} {
		if got := h.Get(key); got != "" && got != want {
			return false
		}
	}
	return true
}

// answer serves a request that is allowed.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodOptions: // a preflight request
		w.Header().Set("Access-Control-Allow-Methods", "GET, HEAD")
		// Chromium 104 to 141 asks machines whether public sites may connect to them (Private Network Access). Later
		// versions ask the user instead.
		if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
			w.Header().Set("Access-Control-Allow-Private-Network", "true")
		}
		w.WriteHeader(http.StatusNoContent)
	case http.MethodGet, http.MethodHead:
		s.send(w, r)
	default:
		w.Header().Set("Allow", "GET, HEAD, OPTIONS")
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
	}
}

// send sends the file. It does not serve ranges, because the Server ends when a viewer has read from the beginning to
// the end.
func (s *Server) send(w http.ResponseWriter, r *http.Request) {
	body, err := s.open(w.Header(), acceptsGzip(r.Header))
	if err != nil {
		http.Error(w, "the file cannot be read", http.StatusInternalServerError)
		return
	}
	defer body.Close()
	if r.Method == http.MethodHead {
		return
	}
	if _, err := io.Copy(w, body); err != nil {
		panic(http.ErrAbortHandler) // so that the client does not mistake what it has for the whole
	}
	if http.NewResponseController(w).Flush() == nil {
		s.once.Do(func() { close(s.fetched) })
	}
}

// open returns the content of a response and sets the headers that describe it.
func (s *Server) open(h http.Header, compressed bool) (io.ReadCloser, error) {
	f, err := os.Open(s.file.Path)
	if err != nil {
		return nil, err
	}
	if s.file.Gzip && !compressed {
		z, err := gzip.NewReader(f)
		if err != nil {
			f.Close()
			return nil, err
		}
		h.Set("Content-Type", s.contentType())
		return plainBody{z, f}, nil
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	if s.file.Gzip {
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	h.Set("Content-Type", s.contentType())
	return f, nil
}

// A plainBody is the content of a compressed file.
type plainBody struct {
	io.Reader
	io.Closer
}

// contentType returns the media type by the name: Firefox Profiler looks at it.
func (s *Server) contentType() string {
	if strings.HasSuffix(s.file.Name, ".json") {
		return "application/json"
	}
	return "application/octet-stream"
}

// acceptsGzip reports whether a client accepts responses that are compressed with gzip.
func acceptsGzip(h http.Header) bool {
	for _, value := range h.Values("Accept-Encoding") {
		for _, part := range strings.Split(value, ",") {
			name, quality, _ := strings.Cut(part, ";")
			name = strings.TrimSpace(name)
			if name != "gzip" && name != "*" {
				continue
			}
			q, found := strings.CutPrefix(strings.ReplaceAll(quality, " ", ""), "q=")
			n, err := strconv.ParseFloat(q, 64)
			return !found || err == nil && n > 0
		}
	}
	return false
}
