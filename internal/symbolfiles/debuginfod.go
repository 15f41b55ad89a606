package symbolfiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// errNotOnServer means that no server has a file.
var errNotOnServer = errors.New("not on the debuginfod servers")

// Limits of downloads.
const (
	maxDownload     = 4 << 30 // bytes of one file
	maxRedirects    = 5
	headerTimeout   = 30 * time.Second
	downloadTimeout = 10 * time.Minute
)

// A server is a client of debuginfod servers (debuginfod(8)) with a cache in the file system: DIR/BUILDID/KIND.
type server struct {
	urls   []string
	cache  string
	err    error // why there is no cache
	client *http.Client
	failed map[string]error // servers that do not answer; they are not asked again
	known  map[string]error // results per file
}

func newServer(urls []string, cache string) *server {
	s := &server{urls: urls, cache: cache, failed: make(map[string]error), known: make(map[string]error)}
	if cache == "" {
		var dir string
		if dir, s.err = os.UserCacheDir(); s.err == nil {
			s.cache = filepath.Join(dir, "ntconv", "debuginfod")
		}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = headerTimeout
	s.client = &http.Client{
		Timeout: downloadTimeout, Transport: transport,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return fmt.Errorf("more than %d redirects", maxRedirects)
			}
			if via[0].URL.Scheme == "https" && r.URL.Scheme != "https" {
				return fmt.Errorf("redirect from https to %s", r.URL.Redacted())
			}
			return checkURL(r.URL)
		},
	}
	return s
}

func checkURL(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%s: want a URL that begins with https:// or http://", u.Redacted())
	}
	return nil
}

// CheckServer returns an error if text is not the URL of a server.
func CheckServer(text string) error {
	u, err := url.Parse(text)
	if err != nil {
		return err
	}
	return checkURL(u)
}

// fetch returns the name of a local copy of a file: kind is executable or debuginfo. The error is errNotOnServer if no
// server has it. The caller checks the build ID.
func (s *server) fetch(id, kind string) (string, error) {
	if s.err != nil {
		return "", fmt.Errorf("no cache directory for debuginfod: %w", s.err)
	}
	name := filepath.Join(s.cache, id, kind)
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		return name, nil
	}
	key := id + "/" + kind
	if err, ok := s.known[key]; ok {
		return "", err
	}
	err := errNotOnServer
	for _, base := range s.urls {
		if s.failed[base] != nil {
			continue
		}
		got := s.download(strings.TrimRight(base, "/")+"/buildid/"+key, name)
		if got == nil {
			return name, nil
		}
		if !errors.Is(got, errNotOnServer) {
			s.failed[base], err = got, got
		}
	}
	s.known[key] = err
	return "", err
}

// download stores a file under its name. The name appears only when the file is complete.
func (s *server) download(from, name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), downloadTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return fmt.Errorf("debuginfod: %w", err)
	}
	r.Header.Set("User-Agent", "ntconv")
	answer, err := s.client.Do(r)
	if err != nil {
		return fmt.Errorf("debuginfod: %w", err)
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusNotFound:
		return errNotOnServer
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("debuginfod: %s: %s", r.URL.Redacted(), answer.Status)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("debuginfod: %w", err)
	}
	part, err := os.CreateTemp(filepath.Dir(name), ".part-*")
	if err != nil {
		return fmt.Errorf("debuginfod: %w", err)
	}
	defer os.Remove(part.Name()) // after the rename there is nothing to remove
	n, err := io.Copy(part, io.LimitReader(answer.Body, maxDownload+1))
	if closeErr := part.Close(); err == nil {
		err = closeErr
	}
	if err == nil && n > maxDownload {
		err = fmt.Errorf("limit %d bytes", int64(maxDownload))
	}
	if err == nil {
		err = os.Rename(part.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("debuginfod: %s: %w", r.URL.Redacted(), err)
	}
	return nil
}
