package symbolfiles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ntconv/ntconv/internal/files/fileio"
)

// Errors of downloads.
var (
	errNotOnServer = errors.New("not on the debuginfod servers")
	errStalled     = fmt.Errorf("the server sent no bytes for %s", stallTimeout)
	errSlow        = fmt.Errorf("the download took longer than %s", downloadTimeout)
)

// Limits of downloads.
const (
	maxDownload     = 4 << 30 // bytes of one file
	maxRedirects    = 5
	stallTimeout    = 30 * time.Second // without a byte, also before the first one
	downloadTimeout = 10 * time.Minute // of one file
)

// A Host is the program for which a Finder downloads files. The zero value is ready for use.
type Host struct {
	// Context, if not nil, ends downloads when it is done.
	Context context.Context
	// Cleaner, if not nil, removes the temporary file of a download when the process ends.
	Cleaner *fileio.Cleaner
	// Progress, if not nil, shows a download until stop is called. size is in bytes, 0 or less if unknown.
	Progress func(file string, size int64, read func() int64) (stop func())
}

// A server is a client of debuginfod servers (debuginfod(8)) with a cache in the file system: DIR/BUILDID/KIND.
type server struct {
	urls   []string
	cache  string
	host   *Host
	err    error // why there is no cache
	client *http.Client
	failed map[string]error // servers that do not answer; they are not asked again
	known  map[string]error // results per file
}

func newServer(urls []string, cache string, host *Host) *server {
	s := &server{urls: urls, cache: cache, host: host, failed: make(map[string]error), known: make(map[string]error)}
	if cache == "" {
		var dir string
		if dir, s.err = os.UserCacheDir(); s.err == nil {
			s.cache = filepath.Join(dir, "ntconv", "debuginfod")
		}
	}
	s.client = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone(), CheckRedirect: s.redirect}
	return s
}

// redirect returns an error if a redirect must not be followed. Only hosts that the user named are asked: a server could
// otherwise make this machine send requests into its own network.
func (s *server) redirect(r *http.Request, via []*http.Request) error {
	named := func(text string) bool {
		u, err := url.Parse(text)
		return err == nil && strings.EqualFold(u.Hostname(), r.URL.Hostname())
	}
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("more than %d redirects", maxRedirects)
	case via[0].URL.Scheme == "https" && r.URL.Scheme != "https":
		return fmt.Errorf("redirect from https to %s", r.URL.Redacted())
	case !slices.ContainsFunc(s.urls, named):
		return fmt.Errorf("redirect to the host %s, which no --debuginfod names", r.URL.Host)
	}
	return checkURL(r.URL)
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
	ctx, cancel := context.WithTimeoutCause(cmp.Or(s.host.Context, context.Background()), downloadTimeout, errSlow)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	watch := time.AfterFunc(stallTimeout, func() { stop(errStalled) })
	defer watch.Stop()
	err := s.get(ctx, from, name, watch)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		u, _ := url.Parse(from) // CheckServer has parsed its beginning
		err = fmt.Errorf("%s: %w", u.Redacted(), cause)
	}
	if err != nil && !errors.Is(err, errNotOnServer) {
		return fmt.Errorf("debuginfod: %w", err)
	}
	return err
}

// get sends a request and stores its answer. It resets watch whenever bytes arrive.
func (s *server) get(ctx context.Context, from, name string, watch *time.Timer) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return err
	}
	r.Header.Set("User-Agent", "ntconv")
	answer, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusNotFound:
		return errNotOnServer
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %s", r.URL.Redacted(), answer.Status)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	out, err := fileio.Create(name, fileio.OutputOptions{Force: true, Cleaner: s.host.Cleaner})
	if err != nil {
		return err
	}
	defer out.Abort() // after Commit it does nothing
	body := &body{Reader: answer.Body, watch: watch}
	if s.host.Progress != nil {
		defer s.host.Progress(filepath.Base(name)+" "+filepath.Base(filepath.Dir(name)), answer.ContentLength, body.read.Load)()
	}
	n, err := io.Copy(out, io.LimitReader(body, maxDownload+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", r.URL.Redacted(), err)
	case n > maxDownload:
		return fmt.Errorf("%s: limit %d bytes", r.URL.Redacted(), int64(maxDownload))
	}
	return out.Commit()
}

// A body counts the bytes of an answer and resets a timer when they arrive.
type body struct {
	io.Reader
	watch *time.Timer
	read  atomic.Int64
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.read.Add(int64(n)); n > 0 {
		b.watch.Reset(stallTimeout)
	}
	return n, err
}
