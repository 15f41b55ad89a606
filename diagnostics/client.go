package diagnostics

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"
)

// DefaultTimeout is the time limit of requests of a Client.
const DefaultTimeout = 10 * time.Second

// A Client sends requests to one process. Each request has its own connection. A Client is safe for concurrent use; the
// process answers one request at a time.
type Client struct {
	// Timeout limits the time of each request, from connecting to the end of the answer, in addition to the context.
	// It does not limit the stream of a Session. 0 means DefaultTimeout. Do not change it while requests are running.
	Timeout time.Duration

	connector connector
}

// NewClient returns a Client for the process that listens at a Unix socket, see Process.Socket, or on Windows at a named
// pipe such as \\.\pipe\dotnet-diagnostic-4711. It does not connect.
func NewClient(socket string) *Client { return &Client{connector: address(socket)} }

// A connector makes connections to a process.
type connector interface {
	connect(ctx context.Context) (connection, error)
}

// A connection is a net.Conn, or a file on Windows.
type connection interface {
	io.ReadWriteCloser
	SetDeadline(t time.Time) error
}

// An address is the path of a socket or a named pipe.
type address string

func (a address) connect(ctx context.Context) (connection, error) { return dial(ctx, string(a)) }

// An exchange is a request that is being made.
type exchange struct {
	connection
	command command
	limit   context.Context // with the timeout
	cancel  context.CancelFunc
	watched func() bool // ends the effect of limit on the connection
}

// errOwnTimeout is the cause of a context that Client.Timeout has ended.
var errOwnTimeout = errors.New("time limit of the client")

// start connects and sends a request. The caller must call end or release of the result.
func (c *Client) start(ctx context.Context, r *request) (*exchange, error) {
	message, err := r.message()
	if err != nil {
		return nil, err
	}
	x, err := c.open(ctx, r.command)
	if err != nil {
		return nil, err
	}
	// The runtime reads the header with its only thread: in one write, the message cannot be interrupted after a part.
	if _, err := x.Write(message); err != nil {
		return nil, x.end(err)
	}
	return x, nil
}

// open connects for a command, whose time limit begins.
func (c *Client) open(ctx context.Context, command command) (x *exchange, err error) {
	x = &exchange{command: command}
	x.limit, x.cancel = context.WithTimeoutCause(ctx, c.timeout(), errOwnTimeout)
	if x.connection, err = c.connector.connect(x.limit); err != nil {
		err = x.failure(err)
		x.cancel()
		return nil, err
	}
	x.watched = context.AfterFunc(x.limit, func() { _ = x.SetDeadline(time.Unix(1, 0)) })
	return x, nil
}

func (c *Client) timeout() time.Duration { return cmp.Or(c.Timeout, DefaultTimeout) }

// end closes the connection and returns the error of the exchange for an error of the connection or of the answer.
func (x *exchange) end(err error) error {
	x.watched()
	err = x.failure(err)
	x.cancel()
	_ = x.Close()
	return err
}

// release ends the time limit and keeps the connection, unless the limit has been exceeded.
func (x *exchange) release() (connection, error) {
	if !x.watched() {
		return nil, x.end(os.ErrDeadlineExceeded)
	}
	x.cancel()
	return x.connection, nil
}

// failure adds the command to an error and converts errors of the operating system to those of this package.
func (x *exchange) failure(err error) error {
	var answered *Error
	switch limit := context.Cause(x.limit); {
	case err == nil, errors.As(err, &answered), errors.Is(err, ErrTooLarge):
		return err
	case limit != nil && (errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, x.limit.Err())):
		if errors.Is(x.limit.Err(), context.Canceled) {
			return fmt.Errorf("%s: %w", x.command.name, context.Cause(x.limit))
		}
		return fmt.Errorf("%s: %w; another client may keep the process from answering, which serves one at a time: %w",
			x.command.name, ErrTimeout, context.DeadlineExceeded)
	case errors.Is(err, ErrProtocol), errors.Is(err, ErrGone), errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: %w", x.command.name, err)
	case isGone(err):
		return fmt.Errorf("%s: %w: %w", x.command.name, ErrGone, err)
	}
	return fmt.Errorf("%s: %w", x.command.name, err)
}

// isGone reports whether an error of a connection means that no process is at its other end.
func isGone(err error) bool {
	for _, gone := range []error{
		io.EOF, fs.ErrNotExist, net.ErrClosed, os.ErrClosed, io.ErrClosedPipe, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE,
	} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return false
}

// ask makes a request and passes the payload of the answer, and the connection for what follows it, to parse.
func (c *Client) ask(ctx context.Context, r *request, parse func(payload []byte, more io.Reader) error) error {
	x, err := c.start(ctx, r)
	if err != nil {
		return err
	}
	payload, err := readAnswer(x, r.command)
	if err == nil && parse != nil {
		err = parse(payload, x)
	}
	return x.end(err)
}
