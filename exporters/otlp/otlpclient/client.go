package otlpclient

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/ntconv/ntconv/exporters/otlp"
)

// A Client sends batches of all signals to receivers, usually to one. It implements otlp.Uploader and is safe for
// concurrent use, except for Close.
type Client struct{ senders [otlp.NumSignals]*sender }

var _ otlp.StatsReporter = (*Client)(nil)

// New returns a Client for the endpoints of c, which it copies. nil means the configuration in the environment, see
// FromEnvironment. It connects when the first batch is sent. Errors are invalid endpoints and certificates, and
// variables of the environment with invalid values. Close the Client after use.
func New(c *Config) (*Client, error) {
	if c == nil {
		var err error
		if c, err = FromEnvironment(os.Getenv); err != nil {
			return nil, err
		}
	}
	client := new(Client)
	for i := range client.senders {
		own, signal := cmp.Or(c.Signals[i], c), otlp.Signal(i)
		var err error
		if client.senders[i], err = newSender(own, signal); err != nil && own == c {
			return nil, err
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", signal, err)
		}
	}
	return client, nil
}

// Endpoint returns the endpoint of a signal as a URL without secrets.
func (c *Client) Endpoint(signal otlp.Signal) string { return c.senders[signal].target.String() }

// Plain reports whether connections for a signal are unencrypted.
func (c *Client) Plain(signal otlp.Signal) bool { return c.senders[signal].target.plain }

// Protocol returns the protocol of the requests of a signal.
func (c *Client) Protocol(signal otlp.Signal) Protocol { return c.senders[signal].target.protocol }

// Upload sends a batch. It repeats the request if necessary, until the response of the receiver is final,
// Config.RetryFor has passed, or ctx is done. Errors are as specified by otlp.Uploader; those with a next step are an
// *ntconv.AdviceError.
func (c *Client) Upload(ctx context.Context, signal otlp.Signal, request []byte, items int) error {
	return c.senders[signal].upload(ctx, request, items)
}

// Stats returns how many requests were repeated and how many items may have been received twice.
func (c *Client) Stats() (sum otlp.UploadStats) {
	for _, s := range c.senders {
		sum.Retries += s.retries.Load()
		sum.Doubled += s.doubled.Load()
	}
	return sum
}

// Close closes the connections. No upload may be running.
func (c *Client) Close() error {
	for _, s := range c.senders {
		s.transport.CloseIdleConnections()
	}
	return nil
}
