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
	"sync"
	"time"

	"github.com/ntconv/ntconv/internal/files/fileio"
)

// Reading over HTTP: the file is read in blocks, several of them at a time if it is read in order.
const (
	remoteBlock  = 1 << 20
	remoteBlocks = 8 // of one request, and that are kept
	remoteTries  = 4 // of a request
	remoteWait   = 200 * time.Millisecond
	remoteTime   = time.Minute // until the headers of an answer, and between two reads of it
)

// ErrRemoteChanged means that a file behind an address was replaced while it was read.
var ErrRemoteChanged = errors.New("the file was replaced while it was read")

// openRemote opens an address. A server that answers requests for ranges makes the input a file, another one a pipe.
func (in *Input) openRemote(name string) error {
	shown := fileio.Shown(name)
	located := func(err error) error { return &fileio.Error{Name: shown, Op: "open", Bytes: -1, Err: err} }
	r := &remote{url: name, blocks: make(map[int64][]byte), client: &http.Client{Transport: remoteTransport()}}
	if in.opts.Follow != nil {
		r.ctx = in.opts.Follow
	}
	answer, err := r.get(0, remoteBlock)
	if err != nil {
		return located(err)
	}
	if answer.StatusCode == http.StatusPartialContent {
		first, err := r.take(answer, 0)
		if err != nil {
			return located(err)
		}
		r.put(0, first)
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

// A remote is a file behind an address, which is read by ranges. It is safe for concurrent use.
type remote struct {
	url    string
	client *http.Client
	ctx    context.Context // nil means no end
	size   int64
	tag    string // ETag or time of the first answer

	mu     sync.Mutex
	blocks map[int64][]byte // by number
	order  []int64          // of blocks, the oldest first
	last   int64            // number of the block that was read last
}

// Size returns the size of the file.
func (r *remote) Size() int64 { return r.size }

// Read is never called: fileio reads a file at offsets.
func (r *remote) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }

// ReadAt implements io.ReaderAt.
func (r *remote) ReadAt(p []byte, at int64) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n < len(p) {
		if at >= r.size {
			return n, io.EOF
		}
		block, err := r.block(at / remoteBlock)
		if err != nil {
			return n, err
		}
		k := copy(p[n:], block[at%remoteBlock:])
		n, at = n+k, at+int64(k)
	}
	return n, nil
}

// block returns a block, and gets it with those after it if the file is read in order.
func (r *remote) block(i int64) ([]byte, error) {
	before := r.last
	r.last = i
	if b := r.blocks[i]; b != nil {
		return b, nil
	}
	count := int64(1)
	if i == before+1 {
		count = remoteBlocks
	}
	from := i * remoteBlock
	answer, err := r.get(from, min(count*remoteBlock, r.size-from))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusPartialContent {
		answer.Body.Close()
		return nil, fmt.Errorf("%w: the server answers ranges no longer", ErrRemoteChanged)
	}
	data, err := r.take(answer, from)
	if err != nil {
		return nil, err
	}
	r.put(i, data)
	if b := r.blocks[i]; b != nil {
		return b, nil
	}
	return nil, io.ErrUnexpectedEOF
}

// put keeps the blocks of data, of which the first one has a number.
func (r *remote) put(i int64, data []byte) {
	for ; len(data) > 0; i++ {
		n := min(len(data), remoteBlock)
		if n < remoteBlock && i*remoteBlock+int64(n) < r.size {
			return // an incomplete block is not the end of the file
		}
		if r.blocks[i] == nil {
			r.order = append(r.order, i)
		}
		r.blocks[i], data = data[:n:n], data[n:]
	}
	for len(r.order) > 2*remoteBlocks {
		delete(r.blocks, r.order[0])
		r.order = r.order[1:]
	}
}

// get requests a range, and again after errors of the network and of a server that has too much to do.
func (r *remote) get(from, n int64) (*http.Response, error) {
	var err error
	for try := range remoteTries {
		if try > 0 {
			time.Sleep(remoteWait << try)
		}
		var answer *http.Response
		var again bool
		if answer, again, err = r.once(from, n); err == nil || !again {
			return answer, err
		}
	}
	return nil, err
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
		return nil, ErrRemoteChanged
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, min(remoteBlocks*remoteBlock, size-from)))
	if err != nil {
		return nil, err
	}
	return data, nil
}
