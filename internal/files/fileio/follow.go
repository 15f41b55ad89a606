package fileio

import (
	"context"
	"io"
	"time"
)

// followInterval is the time between two reads at the end of a file that grows. It bounds the delay of its bytes.
const followInterval = 100 * time.Millisecond

// Following returns a reader of r that waits at its end for more bytes. Read returns context.Cause(ctx) once ctx ends,
// also while r waits for data; see Interruptible for what becomes of r.
func Following(ctx context.Context, r io.Reader) io.Reader {
	return &follower{ctx, Interruptible(ctx, r)}
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
