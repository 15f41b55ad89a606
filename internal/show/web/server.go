package web

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

// A File is the file that a Server serves.
type File struct {
	Path string // in the file system
	// Name is the name that the viewer shows. New replaces characters other than ASCII letters, digits, dots, hyphens
	// and underscores, because viewers unescape addresses differently.
	Name string
	// Gzip states that the file is compressed with gzip. The Server decompresses it for clients that do not accept
	// gzip.
	Gzip bool
}

// A Server serves one file to pages of one viewer, until one of them has fetched it. It implements http.Handler and is
// safe for concurrent use; call Serve once.
type FileServer struct {
	viewer  *Viewer
	ln      net.Listener
	file    File
	path    string
	fetched chan struct{}
	once    sync.Once
}

// NewFileServer returns a Server for connections to ln, which Serve closes. It fails unless the address of ln is 127.0.0.1,
// because a trace may be confidential.
func NewFileServer(v *Viewer, ln net.Listener, file File) (*FileServer, error) {
	addr, ok := ln.Addr().(*net.TCPAddr)
	if !ok || !addr.IP.Equal(net.IPv4(127, 0, 0, 1)) {
		return nil, fmt.Errorf("serve %s on %s: want 127.0.0.1", file.Name, ln.Addr())
	}
	return &FileServer{
		viewer:  v,
		ln:      ln,
		file:    file,
		path:    "/" + rand.Text() + "/" + plainName(file.Name),
		fetched: make(chan struct{}),
	}, nil
}

// plainName replaces all characters of a name that may have a meaning in an address.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
}

// Address returns the address of the viewer's page that fetches the file. It contains a random path that other programs
// cannot guess.
func (s *FileServer) Address() string {
	return s.viewer.Address("http://" + s.ln.Addr().String() + s.path)
}

// shutdownTime bounds the time for which Serve waits until connections are idle after the file was fetched.
const shutdownTime = 5 * time.Second

// Serve serves the file until a page has fetched it completely, and then returns nil. If ctx is done before that, Serve
// returns its error. Serve closes the listener.
func (s *FileServer) Serve(ctx context.Context) error {
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
		_ = server.Close() // ctx.Err states the reason
		return ctx.Err()
	case <-s.fetched:
	}
	// The handler has written the file, but its last bytes may still be in the buffer of the connection.
	ctx, cancel := context.WithTimeout(ctx, shutdownTime)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		_ = server.Close() // other connections, such as a client that sends its request slowly
	}
	return nil
}

// ServeHTTP implements http.Handler. The Host header of a request must be the address that the viewer got, so that a
// site whose name resolves to this machine cannot read the file (DNS rebinding). The request must also come from a
// script of a page of the viewer.
func (s *FileServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
		http.Error(w, "forbidden: this address serves programs on this machine only", http.StatusForbidden)
	case subtle.ConstantTimeCompare([]byte(r.URL.Path), []byte(s.path)) != 1:
		http.NotFound(w, r)
	case r.Header.Get("Origin") != s.viewer.Origin:
		http.Error(w, "forbidden: this file is available to "+s.viewer.Origin+" only", http.StatusForbidden)
	case !isFetch(r.Header):
		http.Error(w, "forbidden: this file is available to scripts of "+s.viewer.Origin+" only", http.StatusForbidden)
	default:
		h.Set("Access-Control-Allow-Origin", s.viewer.Origin)
		s.answer(w, r)
	}
}

// isFetch reports whether a request may come from a script of another site that asks for permission to read the
// response. The headers of the browser exclude elements of a page, such as images and frames, and navigation by the
// user. Browsers that do not send these headers pass.
func isFetch(h http.Header) bool {
	for key, want := range map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"} {
		if got := h.Get(key); got != "" && got != want {
			return false
		}
	}
	return true
}

// answer responds to a request that ServeHTTP has accepted.
func (s *FileServer) answer(w http.ResponseWriter, r *http.Request) {
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
		http.Error(w, "method not allowed: want GET or HEAD", http.StatusMethodNotAllowed)
	}
}

// send sends the file. It does not serve ranges, because the Server stops after one complete transfer.
func (s *FileServer) send(w http.ResponseWriter, r *http.Request) {
	body, err := s.open(w.Header(), acceptsGzip(r.Header))
	if err != nil {
		http.Error(w, "cannot read the file", http.StatusInternalServerError)
		return
	}
	defer body.Close()
	if r.Method == http.MethodHead {
		return
	}
	if _, err := io.Copy(w, body); err != nil {
		panic(http.ErrAbortHandler) // close the connection, so that the client sees the truncation
	}
	if http.NewResponseController(w).Flush() == nil {
		s.once.Do(func() { close(s.fetched) })
	}
}

// open returns the body of a response and sets the headers that describe it.
func (s *FileServer) open(h http.Header, compressed bool) (io.ReadCloser, error) {
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

// A plainBody is the decompressed content of a compressed file.
type plainBody struct {
	io.Reader
	io.Closer
}

// contentType derives the media type from the name, because Firefox Profiler checks it.
func (s *FileServer) contentType() string {
	if strings.HasSuffix(s.file.Name, ".json") {
		return "application/json"
	}
	return "application/octet-stream"
}

// acceptsGzip reports whether a client accepts responses compressed with gzip.
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
