//go:build !windows

package diagnostics

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"
)

// dialRetry is the time between attempts to connect to a process whose queue of connections is full.
const dialRetry = 20 * time.Millisecond

// dial connects to a Unix socket. If the queue of the listener is full, it repeats until the context ends.
func dial(ctx context.Context, path string) (connection, error) {
	path, release, err := shortPath(path)
	if err != nil {
		return nil, err
	}
	defer release()
	for {
		c, err := new(net.Dialer).DialContext(ctx, "unix", path)
		if err == nil {
			return c, nil
		}
		if !errors.Is(err, syscall.EAGAIN) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(dialRetry):
		}
	}
}
