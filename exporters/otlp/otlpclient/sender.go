package otlpclient

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/internal/data/message"
)

// A sender sends batches of one signal to one receiver. It is safe for concurrent use.
type sender struct {
	signal    otlp.Signal
	target    *target
	config    Config
	header    http.Header // of each request
	transport *http.Transport
	other     atomic.Pointer[error] // what recognizePeer has found since the latest attempt began
	answered  atomic.Bool           // the receiver has answered a request; from then on RetryFor applies in full
	accepted  atomic.Bool           // the receiver has accepted a request; from then on refused batches are skipped

	retries, doubled atomic.Int64
	compressors      sync.Pool // of *gzip.Writer
}

// newSender returns a sender with the configuration c, which it copies.
func newSender(c *Config, signal otlp.Signal) (*sender, error) {
	t, err := c.target(signal)
	if err != nil {
		return nil, err
	}
	s := &sender{signal: signal, target: t, config: *c, header: c.header(t)}
	if s.config.Timeout == 0 {
		s.config.Timeout = DefaultTimeout
	}
	s.transport = http.DefaultTransport.(*http.Transport).Clone()
	if !t.plain {
		if s.transport.TLSClientConfig, err = c.tls(); err != nil {
			return nil, err
		}
	}
	if t.protocol == GRPC {
		forGRPC(s.transport, t.plain)
	}
	if t.plain {
		recognizePeer(s.transport, t.protocol == GRPC, func(err error) { s.other.Store(&err) })
	}
	return s, nil
}

// header returns the header of each request. Headers overrides the user in the URL.
func (c *Config) header(t *target) http.Header {
	h := http.Header{"User-Agent": {cmp.Or(c.UserAgent, "ntconv/"+message.ModuleVersion())}}
	if t.basic != "" {
		h.Set("Authorization", t.basic)
	}
	for key, value := range c.Headers {
		h.Set(key, value)
	}
	switch t.protocol {
	case GRPC:
		h.Set("Content-Type", "application/grpc")
		h.Set("TE", "trailers")
		if c.Gzip {
			h.Set("Grpc-Encoding", "gzip")
			h.Set("Grpc-Accept-Encoding", "gzip")
		}
		return h
	case HTTPJSON:
		h.Set("Content-Type", "application/json")
	default:
		h.Set("Content-Type", cmp.Or(t.method.ContentType, "application/x-protobuf"))
	}
	if c.Gzip {
		h.Set("Content-Encoding", "gzip")
	}
	return h
}

// body returns the body of the HTTP request for a batch.
func (c *sender) body(request []byte) []byte {
	if c.target.protocol == HTTPJSON {
		request = otlp.AppendJSON(nil, c.signal, request)
	}
	if c.config.Gzip {
		var b bytes.Buffer
		z, _ := c.compressors.Get().(*gzip.Writer)
		if z == nil {
			z = gzip.NewWriter(&b)
		}
		z.Reset(&b)
		_, _ = z.Write(request) // a Buffer has no errors
		_ = z.Close()
		c.compressors.Put(z)
		request = b.Bytes()
	}
	if c.target.protocol == GRPC { // a message: whether it is compressed, its length, its bytes
		b := make([]byte, 1, messageHead+len(request))
		if c.config.Gzip {
			b[0] = 1
		}
		b = binary.BigEndian.AppendUint32(b, uint32(len(request)))
		return append(b, request...)
	}
	return request
}

// Delays between attempts. They double with each attempt; a random part of up to one half is subtracted.
const (
	firstDelay = 200 * time.Millisecond
	maxDelay   = 5 * time.Second
)

// upload is Client.Upload.
func (c *sender) upload(ctx context.Context, request []byte, items int) error {
	s := &sending{sender: c, body: c.body(request), size: len(request), items: int64(items), begin: time.Now()}
	for {
		o := s.attempt(ctx)
		if err, final := s.result(&o); final {
			return err
		}
		wait, err := s.pause(&o)
		if err != nil {
			return s.failure(err, o.advice)
		}
		select {
		case <-time.After(wait):
			c.retries.Add(1)
		case <-ctx.Done():
			return s.failure(ctx.Err(), o.advice)
		}
	}
}

// A sending is the state of one call of upload. attempt changes attempts, open and doubled; once set, the latter
// two stay set.
type sending struct {
	sender   *sender
	body     []byte
	size     int // of the uncompressed request in bytes
	items    int64
	begin    time.Time
	attempts int
	open     bool // the receiver may have the batch from an attempt without a response
	doubled  bool // open, and the batch was sent again
}

// attempt sends the batch once and returns the outcome.
func (s *sending) attempt(ctx context.Context) outcome {
	c := s.sender
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	o := c.exchange(ctx, s.body, s.size)
	s.attempts++
	if s.open && o.sent && !s.doubled {
		s.doubled = true
		c.doubled.Add(s.items)
	}
	s.open = s.open || o.mayHaveArrived()
	switch {
	case o.verdict != unknown:
		c.answered.Store(true)
	case expired(ctx):
		o.err = fmt.Errorf("no response within %s", message.Duration(c.config.Timeout))
	case ctx.Err() != nil:
		o.err = ctx.Err()
	}
	return o
}

// expired reports whether the deadline of ctx has passed. ctx itself may notice it slightly later.
func expired(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && !deadline.After(time.Now())
}

// result returns the result of Upload if the outcome is final.
func (s *sending) result(o *outcome) (err error, final bool) {
	switch o.verdict {
	case accepted:
		s.sender.accepted.Store(true)
		if o.partial != nil {
			return o.partial, true
		}
		return nil, true
	case unclear:
		return fmt.Errorf("%w: %w", otlp.ErrUnconfirmed, o.err), true
	case tooLarge:
		return fmt.Errorf("%w: %w", otlp.ErrTooLarge, o.err), true
	case refused:
		// A receiver that has accepted other batches refuses this one because of its content, and may accept the next.
		if s.sender.accepted.Load() {
			return &otlp.PartialSuccessError{Rejected: s.items, Message: o.err.Error()}, true
		}
		return s.failure(o.err, o.advice), true
	case denied:
		return s.failure(o.err, o.advice), true
	case unsupported:
		return marked{s.failure(o.err, o.advice), otlp.ErrUnsupportedSignal}, true
	}
	return nil, false
}

// pause returns the delay before the next attempt, or the error if there is none. It sets the advice.
func (s *sending) pause(o *outcome) (time.Duration, error) {
	limit := s.sender.config.RetryFor
	answered := s.sender.answered.Load()
	if !answered && !s.sender.config.Patient {
		limit = min(limit, firstContact)
	}
	left := limit - time.Since(s.begin)
	switch {
	case !answered && o.advice.text == "":
		o.advice.text = s.sender.target.listens()
	case o.advice.text == "":
		o.advice = advice{"raise %s to retry for longer", OptionRetryFor}
	}
	if left <= 0 {
		return 0, o.err
	}
	if o.wait > left {
		return 0, fmt.Errorf("%w (retry after %s requested)", o.err, message.Duration(o.wait))
	}
	return min(max(o.wait, delay(s.attempts)), left), nil
}

// delay returns the random delay after a number of attempts.
func delay(attempts int) time.Duration {
	d := firstDelay << min(attempts-1, 10)
	d = min(d, maxDelay)
	return d - rand.N(d/2)
}

// failure returns the error of a batch that was given up, with the advice if there is one. It wraps otlp.ErrNotReceived
// unless the receiver may have the batch.
func (s *sending) failure(err error, next advice) error {
	if err = fmt.Errorf("%s (%s): %w", s.sender.target, s.sender.target.protocol, err); s.attempts > 1 {
		err = fmt.Errorf("%w (%d attempts in %s)", err, s.attempts, message.Duration(time.Since(s.begin)))
	}
	if !s.open {
		err = marked{err, otlp.ErrNotReceived}
	}
	if next.text != "" {
		err = &ntconv.AdviceError{Err: err, Advice: s.sender.config.advice(next)}
	}
	return err
}

// A marked error also wraps mark, without its text.
type marked struct {
	error
	mark error
}

func (e marked) Unwrap() []error { return []error{e.error, e.mark} }
