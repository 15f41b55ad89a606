package reader

import (
	"context"
	"io"

	"github.com/ntconv/ntconv/internal/files/fileio"
)

// Follow returns a reader of r for New that waits at the end of r for more bytes, so that a Reader delivers the events
// of a file while a recorder writes it, at most 100 ms after they can be read. The file must only grow.
//
// Read returns context.Cause(ctx) once ctx ends, also while r waits for data, as a pipe or a connection does; Next then
// returns that error after the events that are complete. After the end of the trace, too, Follow waits for more
// bytes until ctx ends: set Options.Live, so that the Reader does not read them. If a read of r was interrupted, its goroutine ends when r returns: close r and do not read it.
//
// For a stream that ends by itself use New and no Follow.
func Follow(ctx context.Context, r io.Reader) io.Reader { return fileio.Following(ctx, r) }
