package otlpclient

import (
	"bytes"
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

// A Client sends batches of spans to one receiver. It implements otlp.Uploader and is safe for concurrent use, except
// for Close.
type Client struct {
	target    *target
	config    Config
	header    http.Header // of each request
	transport *http.Transport
	answered  atomic.Bool // the receiver has answered a request; from then on RetryFor applies in full
	accepted  atomic.Bool // the receiver has accepted a request; from then on refused batches are skipped

	retries, doubled atomic.Int64
	compressors      sync.Pool // of *gzip.Writer
}

var _ otlp.StatsReporter = (*Client)(nil)

// New returns a Client for the endpoint of c, which it copies. It connects when the first batch is sent. Errors are
// invalid endpoints and certificates. Close the Client after use.
func New(c *Config) (*Client, error) {
	t, err := c.target()
	if err != nil {
		return nil, err
	}
	client := &Client{target: t, config: *c, header: c.header(t)}
	if client.config.Timeout == 0 {
		client.config.Timeout = DefaultTimeout
	}
	client.transport = http.DefaultTransport.(*http.Transport).Clone()
	if !t.plain {
		if client.transport.TLSClientConfig, err = c.tls(); err != nil {
			return nil, err
		}
	}
	if t.protocol == GRPC {
		forGRPC(client.transport, t.plain)
	}
	return client, nil
}

// header returns the header of each request. Headers overrides the user in the URL.
func (c *Config) header(t *target) http.Header {
	h := http.Header{"User-Agent": {"ntconv"}}
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
		h.Set("Content-Type", "application/x-protobuf")
	}
	if c.Gzip {
		h.Set("Content-Encoding", "gzip")
	}
	return h
}

// Endpoint returns the endpoint as a URL without secrets.
func (c *Client) Endpoint() string { return c.target.String() }

// Plain reports whether connections are unencrypted.
func (c *Client) Plain() bool { return c.target.plain }

// Protocol returns the protocol of requests.
func (c *Client) Protocol() Protocol { return c.target.protocol }

// Close closes the connections. No upload may be running.
func (c *Client) Close() error {
	c.transport.CloseIdleConnections()
	return nil
}

// Stats returns how many requests were repeated and how many spans may have been received twice.
func (c *Client) Stats() otlp.UploadStats {
	return otlp.UploadStats{Retries: c.retries.Load(), Doubled: c.doubled.Load()}
}

// body returns the body of the HTTP request for a batch.
func (c *Client) body(signal otlp.Signal, request []byte) []byte {
	if c.target.protocol == HTTPJSON {
		request = otlp.AppendJSON(nil, signal, request)
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

// Upload sends a batch. It repeats the request if necessary, until the response of the receiver is final,
// Config.RetryFor has passed, or ctx is done. Errors are as specified by otlp.Uploader.
func (c *Client) Upload(ctx context.Context, signal otlp.Signal, request []byte, items int) error {
	s := &sending{client: c, body: c.body(signal, request), size: len(request), items: int64(items), begin: time.Now()}
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

// A sending is the state of one call of Upload. attempt changes attempts, open and doubled; once set, the latter
// two stay set.
type sending struct {
	client   *Client
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
	c := s.client
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
		s.client.accepted.Store(true)
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
		if s.client.accepted.Load() {
			return &otlp.PartialSuccessError{Rejected: s.items, Message: o.err.Error()}, true
		}
		return s.failure(o.err, o.advice), true
	case denied:
		return s.failure(o.err, o.advice), true
	}
	return nil, false
}

// pause returns the delay before the next attempt, or the error if there is none. It sets the advice.
func (s *sending) pause(o *outcome) (time.Duration, error) {
	limit := s.client.config.RetryFor
	answered := s.client.answered.Load()
	if !answered && !s.client.config.Patient {
		limit = min(limit, firstContact)
	}
	left := limit - time.Since(s.begin)
	switch {
	case !answered && o.advice == "":
		o.advice = fmt.Sprintf("check that a receiver listens there and accepts %s (the usual port is 4317 for gRPC, 4318 for HTTP)",
			s.client.Protocol())
	case o.advice == "":
		o.advice = "raise --retry-for to retry for longer"
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
func (s *sending) failure(err error, advice string) error {
	if err = fmt.Errorf("%s (%s): %w", s.client.Endpoint(), s.client.Protocol(), err); s.attempts > 1 {
		err = fmt.Errorf("%w (%d attempts in %s)", err, s.attempts, message.Duration(time.Since(s.begin)))
	}
	if !s.open {
		err = &notReceived{err}
	}
	if advice != "" {
		err = &ntconv.AdviceError{Err: err, Advice: advice}
	}
	return err
}

// A notReceived is an error that wraps otlp.ErrNotReceived.
type notReceived struct{ error }

func (e *notReceived) Unwrap() []error { return []error{e.error, otlp.ErrNotReceived} }
