package input

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/run/formats"
)

// openAgain opens an input that is no directory so that it can be read more than once. It opens the file only once, because the writer of a
// FIFO would fail if its first reader closed it. The caller closes the Input even after an error.
func (in *Input) openAgain(name string) error {
	opts := in.options()
	r, shown, err := in.openFile(name)
	if err != nil {
		return err
	}
	raw, err := fileio.FromReader(shown, r, opts)
	if err == nil && !raw.Rereadable() {
		raw, err = in.copyPipe(shown, r, opts)
	}
	if err != nil {
		return err
	}
	in.raw = raw
	return nil
}

// copyPipe returns an input for a copy of data that can be read only once. It recognizes the format before it copies
// the rest, so that a wrong input, which may be endless, is not copied.
func (in *Input) copyPipe(name string, pipe io.Reader, opts fileio.InputOptions) (*fileio.Input, error) {
	var start bytes.Buffer // what recognition has read
	raw, err := fileio.FromReader(name, io.TeeReader(pipe, &start), opts)
	if err != nil {
		return nil, err
	}
	in.raw = raw
	err = in.recognize()
	if err == nil {
		err = in.checkStart()
	}
	if in.head != nil {
		in.head.stream.Close()
		in.head = nil
	}
	if err != nil {
		return nil, err
	}
	temp, err := in.spool(name, io.MultiReader(&start, pipe))
	if err != nil {
		return nil, err
	}
	if in.file != nil {
		in.file.Close() // opened only for reading
	}
	in.file = temp
	return fileio.FromReader(name, temp, opts)
}

// makeRandom copies the content of an input whose format is read at any offset to a temporary file, if the input cannot be read so:
// a pipe, or compressed data.
func (in *Input) makeRandom() error {
	if in.raw.IsDir() || in.opts.Temp == nil {
		return nil
	}
	if _, _, err := in.raw.At(); err == nil || !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if in.head == nil {
		s, err := in.raw.Stream()
		if err != nil {
			return err
		}
		in.head = &head{s, bufio.NewReader(s)}
	}
	name := in.raw.Name()
	temp, err := in.spool(name, in.head.peeked)
	in.head.stream.Close()
	in.head = nil
	if err != nil {
		return err
	}
	in.raw.Close()
	if in.file != nil {
		in.file.Close()
	}
	in.file = temp
	in.raw, err = fileio.FromReader(name, temp, in.options())
	return err
}

// checkStart returns an error if the stream cannot be decompressed, even if its format need not be recognized.
func (in *Input) checkStart() error {
	if in.head == nil {
		return nil
	}
	if _, err := in.head.peeked.Peek(formats.HeadSize); err != nil && err != io.EOF && !IsTruncated(err) &&
		!errors.Is(err, fileio.ErrCorrupt) {
		return err
	}
	return nil
}

// copyBuffer is the size of the reads of a copy in bytes, which is the capacity of a pipe.
const copyBuffer = 64 << 10

// spool copies data that can be read only once to a temporary file. Errors of the file are of type *SpoolError.
func (in *Input) spool(name string, src io.Reader) (*os.File, error) {
	f, err := in.opts.Temp()
	if err != nil {
		return nil, &SpoolError{
			fmt.Errorf("copy input to a temporary file: %w; set TMPDIR to a directory with more space", err),
		}
	}
	to := &spoolWriter{f: f, max: in.opts.MaxTemp, check: in.opts.Check}
	if in.opts.Copying != nil {
		defer in.opts.Copying(to.n.Load)()
	}
	_, err = io.CopyBuffer(to, struct{ io.Reader }{src}, make([]byte, copyBuffer))
	if err == nil {
		if _, err = f.Seek(0, io.SeekStart); err == nil {
			return f, nil
		}
		err = &SpoolError{fmt.Errorf("copy input to a temporary file: %w", err)}
	}
	f.Close() // the error is more important
	var located *fileio.Error
	if spool := (*SpoolError)(nil); errors.As(err, &spool) || errors.As(err, &located) {
		return nil, err
	}
	return nil, &fileio.Error{Name: name, Op: "read", Bytes: to.n.Load(), Err: err}
}

// A spoolWriter writes to the temporary file of a copy and enforces the limit of its size.
type spoolWriter struct {
	f     *os.File
	max   int64
	n     atomic.Int64
	check func() error // Options.Check
}

// Write implements io.Writer. An error of the file is a *SpoolError.
func (w *spoolWriter) Write(p []byte) (int, error) {
	if w.check != nil {
		if err := w.check(); err != nil {
			return 0, err
		}
	}
	if err := spool.CheckSize(w.n.Load()+int64(len(p)), w.max); err != nil {
		return 0, &SpoolError{fmt.Errorf("copy input to a temporary file: %w", err)}
	}
	n, err := w.f.Write(p)
	w.n.Add(int64(n))
	if err != nil {
		err = &SpoolError{
			fmt.Errorf("copy input to a temporary file: %w; set TMPDIR to a directory with more space", err),
		}
	}
	return n, err
}
