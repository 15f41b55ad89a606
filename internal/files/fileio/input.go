package fileio

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/ntconv/ntconv/internal/files/store"
)

// StdinName is the Name of the input that is opened as "-".
const StdinName = "standard input"

// InputOptions are options of an input. The zero value selects the default limits and rejects directories.
type InputOptions struct {
	// Limits bound compressed input; nil means DefaultLimits.
	Limits *Limits
	// Dir lets Open accept a directory. Otherwise a directory is an error that wraps EISDIR.
	Dir bool
	// Name is the name for messages; "" means that with which the input is opened.
	Name string
}

// An Input is one source of bytes. It is opened once; Stream and At read its content. A directory has members instead
// of content and a zip archive has members in addition; each member is an Input (see Members and Member).
//
// A regular file stays open until Close, and every stream reads through that descriptor at offsets of its own.
// Therefore streams of a file do not disturb each other, and all of them see the same file even if its name is given to
// another file meanwhile (converting a file onto itself).
//
// The methods of an Input are safe for concurrent use, except Close.
type Input struct {
	name   string
	limits Limits
	size   int64
	file   io.ReaderAt // nil for input that can be read only once
	once   io.Reader   // input that can be read only once
	wait   func()      // see OnWait
	opened fs.FileInfo // of a regular file, or nil
	stat   func() (fs.FileInfo, error)
	closer io.Closer // nil if the reader is the caller's
	used   atomic.Bool
	read   atomic.Pointer[atomic.Int64] // count of the stream opened last

	dir    *os.Root  // not nil for a directory
	entry  *zip.File // not nil if file holds its deflate data
	zip    atomic.Pointer[archive]
	below  *Layer  // Layer of once, or nil
	budget *budget // shared with the other members of a directory or archive, or nil
}

// Open opens a file, or standard input if name is "-". Standard input redirected from a regular file behaves as the
// file: it can be read repeatedly and at random, beginning at the current offset of the descriptor. Opening a FIFO
// waits for its writer. Open does not read, so it does not detect corrupt compressed data. It opens a directory only if
// opts.Dir is set. The error is an *Error.
func Open(name string, opts InputOptions) (*Input, error) {
	if name == "-" {
		return FromReader(StdinName, os.Stdin, opts)
	}
	if err := CheckAddress(name); err != nil {
		return nil, &Error{Name: name, Op: "open", Bytes: -1, Err: err}
	}
	if store.Is(name) {
		return openObject(name, opts)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, &Error{Name: name, Op: "open", Bytes: -1, Err: err}
	}
	if opts.Dir {
		st, err := f.Stat()
		if err != nil {
			f.Close() // read only
			return nil, &Error{Name: name, Op: "open", Bytes: -1, Err: err}
		}
		if st.IsDir() {
			f.Close() // read only
			in, err := openDir(name, opts)
			if err == nil && opts.Name != "" {
				in.name = opts.Name
			}
			return in, err
		}
	}
	in, err := FromReader(name, f, opts)
	if err != nil {
		f.Close()
		return nil, err
	}
	in.closer = f
	return in, nil
}

// openObject opens an object of a store, which can be read repeatedly and at random.
func openObject(name string, opts InputOptions) (*Input, error) {
	f, err := store.Open(name)
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err // which does not repeat the name
		}
		return nil, &Error{Name: name, Op: "open", Bytes: -1, Err: err}
	}
	in, err := FromReader(name, io.NewSectionReader(f, 0, f.Size()), opts)
	if err == nil {
		in.closer = f
	}
	return in, err
}

// FromReader returns an input that reads r. Errors use name. If r is a regular file, or has the methods ReadAt and Size
// like bytes.Reader and io.SectionReader, it can be read repeatedly and at random; otherwise once, in order. The caller
// closes r after the last use of the input. If r is Layered, the input has the name and, unless opts has others, the
// limits of its Layer, and Limits.Ratio relates to the bytes that are stored there.
func FromReader(name string, r io.Reader, opts InputOptions) (*Input, error) {
	in := &Input{name: name, size: -1, once: r, limits: *DefaultLimits(), below: LayerOf(r)}
	if in.below != nil {
		in.name, in.limits = in.below.name, in.below.limits
	}
	if opts.Limits != nil {
		in.limits = *opts.Limits
	}
	switch r := r.(type) {
	case *os.File:
		if err := in.useFile(r); err != nil {
			return nil, &Error{Name: name, Op: "open", Bytes: -1, Err: err}
		}
	case interface {
		io.ReaderAt
		Size() int64
	}:
		in.file, in.size = r, r.Size()
	}
	return in, nil
}

// useFile enables random access to a regular file, beginning at the current offset of its descriptor: a shell may have
// read a part of standard input already.
func (in *Input) useFile(f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if st.IsDir() {
		return syscall.EISDIR
	}
	if !st.Mode().IsRegular() {
		return nil
	}
	pos, err := f.Seek(0, io.SeekCurrent)
	if errors.Is(err, syscall.ESPIPE) {
		return nil // not seekable, regardless of its mode: read it as a pipe
	}
	if err != nil {
		return err
	}
	in.file, in.size, in.opened, in.stat = f, max(0, st.Size()-pos), st, f.Stat
	if pos > 0 {
		in.file = io.NewSectionReader(f, pos, math.MaxInt64-pos)
	}
	return nil
}

// Name returns the name given to Open or FromReader, or StdinName.
func (in *Input) Name() string { return in.name }

// Size returns the number of stored bytes, compressed or not, when the input was opened; -1 if unknown or for a
// directory.
func (in *Input) Size() int64 { return in.size }

// Rereadable reports whether Stream, or Member of a directory, can be called more than once.
func (in *Input) Rereadable() bool { return in.file != nil || in.dir != nil }

// Changed reports whether the size or modification time of a regular file has changed since it was opened, so that
// streams opened at different times may deliver different bytes.
func (in *Input) Changed() bool {
	if in.stat == nil {
		return false
	}
	now, err := in.stat()
	return err == nil && (now.Size() != in.opened.Size() || !now.ModTime().Equal(in.opened.ModTime()))
}

// Read returns the number of stored bytes that the stream opened last has consumed, including read-ahead; at most Size
// if the input did not grow. It is safe for concurrent use. It does not count bytes read through At.
func (in *Input) Read() int64 {
	if n := in.read.Load(); n != nil {
		return n.Load()
	}
	return 0
}

// OnWait sets a function that streams call before they wait for bytes of an input that can be read only once, for outputs
// whose readers wait as well. It is called in the goroutine of Read, and also in cases that do not wait where the system
// does not tell. nil means none. OnWait is not safe for concurrent use with Read.
func (in *Input) OnWait(f func()) { in.wait = f }

// A live reads an input that can be read only once.
type live struct{ in *Input }

// Read implements io.Reader.
func (l live) Read(p []byte) (int, error) {
	if l.in.wait != nil && !isReady(l.in.once) {
		l.in.wait()
	}
	return l.in.once.Read(p)
}

// Close closes what Open or Member opened. Close all streams and members before. It may be called more than once.
func (in *Input) Close() error {
	if in.closer == nil {
		return nil
	}
	c := in.closer
	in.closer = nil
	if err := c.Close(); err != nil {
		return &Error{Name: in.name, Op: "close", Bytes: -1, Err: err}
	}
	return nil
}

// A Finisher is a stream that may be closed before its end. Finish reads the rest of compressed data to verify its
// checksum, and returns the first error. It does nothing if the data is not compressed. Streams of an Input are
// Finishers.
type Finisher interface{ Finish() error }

// Stream returns the decompressed content from its beginning. It does not read, so it does not block. A second call for
// an input that is not Rereadable returns an error that wraps errors.ErrUnsupported.
//
// A Read returns as soon as it has any bytes, and waits only for input that the decompressor needs for its next byte.
// Compressed regular files are decompressed ahead of the reader in a goroutine that ends with Close, which the caller
// must call. Errors follow all bytes that precede them, and every later Read returns the same error: see [Error],
// [ErrCorrupt], and io.ErrUnexpectedEOF for truncated compressed data; an error of the underlying reader is an [*Error]
// that wraps it. The stream is not safe for concurrent use.
func (in *Input) Stream() (io.ReadCloser, error) {
	if in.dir != nil {
		return nil, &Error{Name: in.name, Op: "read", Bytes: -1, Err: syscall.EISDIR}
	}
	count := new(atomic.Int64)
	src := &source{name: in.name, r: live{in}, n: count}
	if in.file != nil {
		src.r = io.NewSectionReader(in.file, 0, math.MaxInt64)
	} else if in.used.Swap(true) {
		err := fmt.Errorf("not a regular file, so it cannot be read a second time: %w", errors.ErrUnsupported)
		return nil, &Error{Name: in.name, Op: "read again", Bytes: -1, Err: err}
	}
	in.read.Store(count)
	ahead := in.entry != nil || in.file != nil && sniffAt(in.file) != plain
	if in.entry != nil {
		src = in.inflate(src)
	}
	if in.below != nil {
		src.stored = in.below.stored
	}
	s := newStream(src, in.limits)
	s.meter = in.budget.meter(in.name)
	if ahead {
		return newReadAhead(s), nil
	}
	return s, nil
}

// At returns random access to the content, and its size when the input was opened. Both are valid until Close. The
// error wraps errors.ErrUnsupported if the input is compressed, a pipe, or a directory.
func (in *Input) At() (io.ReaderAt, int64, error) {
	why, next := "", "decompress it first"
	switch c := in.compression(); {
	case in.dir != nil:
		why, next = "a directory", "pass a file in it"
	case in.file == nil:
		why, next = "a pipe or device", "copy it to a file first"
	case c != plain:
		why = c.String() + " data"
	}
	if why != "" {
		err := &noRandomAccess{why, next}
		return nil, 0, &Error{Name: in.name, Op: "open", Bytes: -1, Err: err}
	}
	return in.file, in.size, nil
}

// compression returns how the content of a file is compressed.
func (in *Input) compression() compression {
	switch {
	case in.entry != nil:
		return deflated
	case in.file != nil:
		return sniffAt(in.file)
	}
	return plain
}

// A noRandomAccess says why an input can only be read in order, and the next step for the user.
type noRandomAccess struct{ why, next string }

func (e *noRandomAccess) Error() string {
	return fmt.Sprintf("%s cannot be read at random; %s", e.why, e.next)
}

// Unwrap returns errors.ErrUnsupported.
func (e *noRandomAccess) Unwrap() error { return errors.ErrUnsupported }

// A source is the stored input of one stream. It counts bytes and records how the input ended, because decompressors
// replace errors of their reader (zstd returns some as the end of the data).
type source struct {
	name    string
	r       io.Reader
	n       *atomic.Int64
	err     error        // sticky: io.EOF, or a located error
	located bool         // errors of r are *Error already
	stored  func() int64 // stored bytes of the level below if that is compressed, else nil (see Layer)
}

func (s *source) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.r.Read(p)
	at := s.n.Add(int64(n))
	if err != nil && err != io.EOF && !s.located {
		err = &Error{Name: s.name, Op: "read", Bytes: at, Err: err}
	}
	s.err = err
	return n, err
}
