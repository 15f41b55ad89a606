package input

import (
	"context"
	"io"
	"os"

	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/store"
)

// options returns the options of the raw input.
func (in *Input) options() fileio.InputOptions {
	return fileio.InputOptions{Limits: in.opts.Limits, Dir: true}
}

func isDir(name string) bool {
	info, err := store.Stat(name)
	return name != "-" && err == nil && info.IsDir()
}

// openFollowed opens an input that can be read once.
func (in *Input) openFollowed(name string) error {
	r, shown, err := in.openFile(name)
	if err == nil {
		in.raw, err = fileio.FromReader(shown, r, in.options())
	}
	return err
}

// openFile opens the file, pipe or standard input with a name, which Close closes, and returns how it is read: with
// Options.Follow, a regular file is a stream that grows until the context ends, and the end of the context is the end of
// every stream.
func (in *Input) openFile(name string) (r io.Reader, shown string, err error) {
	f, shown := os.Stdin, fileio.StdinName
	if name != "-" {
		if err := fileio.CheckAddress(name); err != nil {
			return nil, "", &fileio.Error{Name: name, Op: "open", Bytes: -1, Err: err}
		}
		if f, err = os.Open(name); err != nil {
			return nil, name, &fileio.Error{Name: name, Op: "open", Bytes: -1, Err: err}
		}
		in.file, shown = f, name
	}
	ctx := in.opts.Follow
	if ctx == nil {
		return f, shown, nil
	}
	if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
		return &followed{ctx, fileio.Following(ctx, f)}, shown, nil
	}
	return &followed{ctx, fileio.Interruptible(ctx, f)}, shown, nil
}

// A followed is a stream that ends with a context.
type followed struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (f *followed) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && f.ctx.Err() != nil {
		err = io.EOF
	}
	return n, err
}
