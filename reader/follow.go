package reader

import (
	"context"
	"io"
	"time"

	"github.com/ntconv/ntconv/internal/files/fileio"
)

// followInterval is the time between two reads at the end of a file that grows. It bounds the delay of its events.
const followInterval = 100 * time.Millisecond

// Follow returns a reader of r for New that waits at the end of r for more bytes, so that a Reader delivers the events
// of a file while a recorder writes it, at most 100 ms after they can be read. The file must only grow.
//
// Read returns context.Cause(ctx) once ctx ends, also while r waits for data, as a pipe or a connection does; Next then
// returns that error after the events that are complete. After the end of the trace, too, Follow waits for more
// bytes until ctx ends. If a read of r was interrupted, its goroutine ends when r returns: close r and do not read it.
//
// For a stream that ends by itself use New and no Follow.
func Follow(ctx context.Context, r io.Reader) io.Reader {
	return &follower{ctx, fileio.Interruptible(ctx, r)}
}

type follower struct {
	ctx context.Context
	r   io.Reader
}

func (f *follower) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		if f.ctx.Err() != nil {
			return 0, context.Cause(f.ctx)
		}
		n, err := f.r.Read(b)
		if err == io.EOF {
			err = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
		select {
		case <-f.ctx.Done():
		case <-time.After(followInterval):
		}
	}
}
