package symbolfiles

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A stalledBody is a body of which a number of bytes arrive, one per second, and then none.
type stalledBody struct {
	request *http.Request
	left    int
	closed  chan struct{}
}

func (b *stalledBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		select {
		case <-b.request.Context().Done():
			return 0, b.request.Context().Err()
		case <-b.closed:
			return 0, errors.New("closed")
		}
	}
	time.Sleep(time.Second)
	b.left--
	p[0] = 'x'
	return 1, nil
}

func (b *stalledBody) Close() error { close(b.closed); return nil }

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestStalledDownload checks that a server that sends nothing more ends a download with an error that says so, long
// before the limit of a whole download, and that a slow one does not. Time is that of the test, not of a clock.
func TestStalledDownload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := t.TempDir()
		s := newServer([]string{"https://stalls.example"}, cache, new(Host))
		s.client.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: &stalledBody{request: r, left: 100, closed: make(chan struct{})}}, nil
		})
		begin := time.Now()
		_, err := s.fetch("abcd", "debuginfo")
		if err == nil || !strings.Contains(err.Error(), "no bytes for 30s") {
			t.Errorf("error %v, want one about the stalled server", err)
		}
		if took := time.Since(begin); took != 130*time.Second {
			t.Errorf("took %v, want 100 s of bytes and 30 s without", took)
		}
		_ = filepath.WalkDir(cache, func(name string, d os.DirEntry, err error) error {
			if !d.IsDir() {
				t.Errorf("%s is left in the cache", name)
			}
			return err
		})
	})
}
