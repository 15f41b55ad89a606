package otlpclient

import (
	"context"
	"maps"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/ntconv/ntconv/exporters/otlp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// A Client sends batches of spans to one receiver. It implements otlp.Uploader and is safe for concurrent use, except
// for Close.
type Client struct {
	target   *target
	config   Config
	client   otlptrace.Client
	idle     func()      // closes idle connections
	answered atomic.Bool // the receiver has answered a request; from then on RetryFor applies in full
	accepted atomic.Bool // the receiver has accepted a request; from then on refused batches are skipped

	retries, doubled atomic.Int64
}

var _ otlp.StatsReporter = (*Client)(nil)

// New returns a Client for the endpoint of c, which it copies. It connects when the first batch is sent. Errors are
// invalid endpoints and certificates. Close the Client after use.
func New(c *Config) (*Client, error) {
	t, err := c.target()
	if err != nil {
		return nil, err
	}
	// The clients of OpenTelemetry log invalid environment variables. FromEnvironment has already reported the relevant
	// ones.
	otel.SetLogger(logr.Discard())
	client := &Client{target: t, config: *c, idle: func() {}}
	if client.config.Timeout == 0 {
		client.config.Timeout = DefaultTimeout
	}
	if t.protocol == GRPC {
		client.client, err = newGRPC(&client.config, t)
	} else {
		client.client, client.idle, err = newHTTP(&client.config, t)
	}
	if err != nil {
		return nil, err
	}
	return client, client.client.Start(context.Background())
}

// Endpoint returns the endpoint as a URL without secrets.
func (c *Client) Endpoint() string { return c.target.String() }

// Plain reports whether connections are unencrypted.
func (c *Client) Plain() bool { return c.target.plain }

// Protocol returns the protocol of requests.
func (c *Client) Protocol() Protocol { return c.target.protocol }

// Close closes the connections. No upload may be running.
func (c *Client) Close() error {
	err := c.client.Stop(context.Background())
	c.idle()
	return err
}

// Stats returns how many requests were repeated and how many spans may have been received twice.
func (c *Client) Stats() otlp.UploadStats {
	return otlp.UploadStats{Retries: c.retries.Load(), Doubled: c.doubled.Load()}
}

// UploadTraces sends a batch. It repeats the request if necessary, until the response of the receiver is final,
// Config.RetryFor has passed, or ctx is done. Errors are as specified by otlp.Uploader.
func (c *Client) UploadTraces(ctx context.Context, batch []*tracepb.ResourceSpans) error {
	s := &sending{client: c, batch: batch, begin: time.Now()}
	for {
		o := s.attempt(ctx)
		if err, final := s.result(&o); final {
			return err
		}
		wait, err := s.pause(&o)
		if err == nil {
			err = sleep(ctx, wait)
		}
		if err != nil {
			return s.failure(err, o.advice)
		}
		c.retries.Add(1)
	}
}

// headers returns the headers of each request; Headers overrides the user in the URL.
func (c *Config) headers(t *target) map[string]string {
	headers := make(map[string]string, len(c.Headers)+1)
	if t.basic != "" {
		headers["authorization"] = t.basic
	}
	maps.Copy(headers, c.Headers)
	return headers
}

// spansOf returns the number of spans in a batch.
func spansOf(batch []*tracepb.ResourceSpans) (n int64) {
	for _, r := range batch {
		for _, s := range r.GetScopeSpans() {
			n += int64(len(s.GetSpans()))
		}
	}
	return n
}
