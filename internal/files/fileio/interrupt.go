package fileio

import (
	"context"
	"io"
	"os"
)

// maxInterruptible is the maximum number of bytes of one Read of Interruptible.
const maxInterruptible = 64 << 10

// Interruptible returns a reader of r whose Read returns context.Cause(ctx) once ctx ends, even while r waits for data.
// An interrupted Read of r goes on in a goroutine until r returns, and what it reads is lost: after the end of ctx, do
// not read r, but close it, which ends the goroutine if r is a connection or a pipe of the operating system.
//
// It returns r itself if ctx cannot end, if r is Layered, a directory or a regular file, or if it has the method ReadAt:
// files do not wait, and FromReader treats each of these by its type.
func Interruptible(ctx context.Context, r io.Reader) io.Reader {
	if ctx.Done() == nil || LayerOf(r) != nil {
		return r
	}
	if f, ok := r.(*os.File); ok {
		if st, err := f.Stat(); err != nil || st.Mode().IsRegular() || st.IsDir() {
			return r // FromReader reports err and directories
		}
	} else if _, ok := r.(io.ReaderAt); ok {
		return r
	}
	return &interruptible{ctx: ctx, r: r, result: make(chan readResult, 1)}
}

type readResult struct {
	n   int
	err error
}

// An interruptible reads into a buffer of its own, because r may write to the buffer after Read has returned to the
// caller.
type interruptible struct {
	ctx    context.Context
	r      io.Reader
	buf    []byte
	result chan readResult // capacity 1, so that an abandoned goroutine ends
}

func (i *interruptible) Read(b []byte) (int, error) {
	if i.ctx.Err() != nil { // also after an interrupted Read, whose goroutine may still own buf
		return 0, context.Cause(i.ctx)
	}
	want := min(len(b), maxInterruptible)
	if len(i.buf) < want {
		i.buf = make([]byte, want)
	}
	buf := i.buf[:want]
	go func() {
		n, err := i.r.Read(buf)
		i.result <- readResult{n, err}
	}()
	select {
	case got := <-i.result:
		return copy(b, buf[:got.n]), got.err
	case <-i.ctx.Done():
		return 0, context.Cause(i.ctx)
	}
}
