//go:build !windows

package diagnostics

import (
	"context"
	"errors"
	"io/fs"
	"os/user"
	"strconv"
	"syscall"
	"time"
)

// userName returns the name of a user, else the number.
func userName(uid int) string {
	id := strconv.Itoa(uid)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

// probeTime limits a connection whose only purpose is to see whether a process listens.
const probeTime = 200 * time.Millisecond

// probe connects to a socket and closes the connection.
func probe(socket string) State {
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	c, err := dial(ctx, socket)
	switch {
	case err == nil:
		_ = c.Close()
		return Listening
	case errors.Is(err, fs.ErrPermission):
		return Denied
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		return Stale
	}
	return Listening // its queue of connections is full
}
