package diagnostics

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// errPipeBusy is ERROR_PIPE_BUSY: all instances of the named pipe are in use.
const errPipeBusy = syscall.Errno(231)

const dialRetry = 20 * time.Millisecond

// dial opens a named pipe, such as \\.\pipe\dotnet-diagnostic-4711. Deadlines need overlapped I/O.
func dial(ctx context.Context, path string) (connection, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|syscall.FILE_FLAG_OVERLAPPED, 0)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, errPipeBusy) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(dialRetry):
		}
	}
}
