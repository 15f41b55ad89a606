package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/store"
)

// Reading over HTTP.
const (
	remoteWait = 200 * time.Millisecond // before another attempt
	remoteTime = time.Minute            // until the headers of an answer, and between two reads of it
)

// openRemote opens an address. A server that answers requests for ranges makes the input a file, another one a pipe.
func (in *Input) openRemote(name string) error {
	shown := fileio.Shown(name)
	located := func(err error) error { return &fileio.Error{Name: shown, Op: "open", Bytes: -1, Err: err} }
	r := &remote{url: name, client: &http.Client{Transport: remoteTransport()}}
	if in.opts.Follow != nil {
		r.ctx = in.opts.Follow
	}
	answer, err := r.get(0, store.BlockSize)
	if err != nil {
		return located(err)
	}
	if answer.StatusCode == http.StatusPartialContent {
		first, err := r.take(answer, 0)
		if err != nil {
			return located(err)
		}
		r.Blocks = store.NewBlocks(r.size, r.fetch)
		r.Put(0, first)
		in.raw, err = fileio.FromReader(shown, r, in.options())
		return err
	}
	in.body = answer.Body
	if !in.opts.Again {
		in.raw, err = fileio.FromReader(shown, in.body, in.options())
		return err
	}
	in.raw, err = in.copyPipe(shown, in.body, in.options())
	return err
}

// remoteTransport returns a transport with time limits, and the proxies of the environment.
func remoteTransport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = remoteTime
	t.DisableCompression = true // ranges are those of the stored bytes
	return t
}

// A remote is a file behind an address, which is read by ranges.
type remote struct {
	*store.Blocks // nil until the first answer
	url           string
	client        *http.Client
	ctx           context.Context // nil means no end
	size          int64
	tag           string // ETag or time of the first answer
}

// Read is never called: fileio reads a file at offsets.
func (r *remote) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }

// fetch gets a range.
func (r *remote) fetch(from, n int64) ([]byte, error) {
	answer, err := r.get(from, n)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusPartialContent {
		answer.Body.Close()
		return nil, fmt.Errorf("%w: the server answers ranges no longer", store.ErrChanged)
	}
	return r.take(answer, from)
}

// get requests a range, and again after errors of the network and of a server that has too much to do.
func (r *remote) get(from, n int64) (*http.Response, error) {
	var answer *http.Response
	err := store.Retry(remoteWait, func() (again bool, err error) {
		answer, again, err = r.once(from, n)
		return again, err
	})
	return answer, err
}

// once makes one request. again means that another one may succeed.
func (r *remote) once(from, n int64) (answer *http.Response, again bool, err error) {
	request, err := http.NewRequest(http.MethodGet, r.url, nil)
	if err != nil {
		return nil, false, errors.New("not an address")
	}
	if r.ctx != nil {
		request = request.WithContext(r.ctx)
	}
	request.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, from+n-1))
	if r.tag != "" {
		request.Header.Set("If-Range", r.tag)
	}
	answer, err = r.client.Do(request)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // which does not repeat the address
		}
		return nil, r.ctx == nil || r.ctx.Err() == nil, err
	}
	switch code := answer.StatusCode; {
	case code == http.StatusOK || code == http.StatusPartialContent:
		return answer, false, nil
	case code == http.StatusRequestedRangeNotSatisfiable && from == 0: // an empty file
		answer.Body.Close()
		answer.Body, answer.StatusCode = http.NoBody, http.StatusOK
		return answer, false, nil
	default:
		answer.Body.Close()
		again := code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout
		return nil, again, &StatusError{code}
	}
}

// A StatusError is the answer of a server that does not give the file.
type StatusError struct{ Code int }

func (e *StatusError) Error() string {
	text := fmt.Sprintf("the server answers %d %s", e.Code, http.StatusText(e.Code))
	switch e.Code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return text + "; use an address that is signed for you, or download the file with the program of the store"
	}
	return text
}

// take reads an answer to a request for the range that begins at from. It sets the size, and checks that all answers are those of
// one file.
func (r *remote) take(answer *http.Response, from int64) ([]byte, error) {
	defer answer.Body.Close()
	span, total, ok := strings.Cut(strings.TrimPrefix(answer.Header.Get("Content-Range"), "bytes "), "/")
	start, _, _ := strings.Cut(span, "-")
	at, err := strconv.ParseInt(start, 10, 64)
	size, serr := strconv.ParseInt(total, 10, 64)
	if !ok || err != nil || serr != nil || at != from || size < from {
		return nil, fmt.Errorf("the server answers with the range %q, want one from %d", answer.Header.Get("Content-Range"), from)
	}
	tag := answer.Header.Get("ETag")
	if tag == "" || strings.HasPrefix(tag, "W/") {
		tag = answer.Header.Get("Last-Modified")
	}
	if r.size == 0 {
		r.size, r.tag = size, tag
	}
	if size != r.size || tag != r.tag {
		return nil, store.ErrChanged
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, min(store.MaxBlocks*store.BlockSize, size-from)))
	if err != nil {
		return nil, err
	}
	return data, nil
}
