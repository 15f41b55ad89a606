package iox

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
)

// StdinName is the Name of the input that is opened as "-".
const StdinName = "standard input"

// InputOptions change how an input is read. The zero value is ready for use.
type InputOptions struct {
	// Limits bound compressed input; nil means DefaultLimits.
	Limits *Limits
	// Dir lets Open return a directory. Without it a directory is an error that wraps EISDIR.
	Dir bool
}

// An Input is one source of bytes. It is opened once; its content is read by Stream or At. A directory and a zip
// archive have members instead or in addition, each of which is an Input of its own: see Members and Member.
//
// A regular file stays open until Close, and every stream reads through that one descriptor at offsets of its
// own. So two streams of a file never disturb each other, and all of them see the same file even if its name is
// given to another one meanwhile (converting a file onto itself).
type Input struct {
	name   string
	limits Limits
	size   int64
	file   io.ReaderAt // nil for input that can be read only once
	once   io.Reader   // that input
	opened fs.FileInfo // of a regular file, or nil
	stat   func() (fs.FileInfo, error)
	closer io.Closer // nil if the reader is the caller's
	used   atomic.Bool
	read   atomic.Pointer[atomic.Int64]

	dir    *os.Root  // not nil for a directory
	entry  *zip.File // not nil if file holds its deflate data
	zip    atomic.Pointer[archive]
	below  *Layer  // of once, or nil
	budget *budget // shared with the other members of a directory or archive, or nil
}

// Open opens a file, or standard input if name is "-". Standard input redirected from a regular file is as good
// as the file: it can be read again and at random, from where the descriptor stands. Opening a FIFO waits for
// its writer. Whether the content can be decompressed is not known before the first read. A directory is opened
// only if the options say so.
func Open(name string, opts InputOptions) (*Input, error) {
	if name == "-" {
		return FromReader(StdinName, os.Stdin, opts)
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
			return openDir(name, opts)
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

// FromReader makes an input of r. The name is used in errors. If r is a regular file, or has the methods ReadAt and
// Size as bytes.Reader and io.SectionReader do, it can be read again and at random; otherwise once, in order. The
// reader stays the caller's to close, after the input's last use. If r is Layered, the input has the name and, unless
// opts has others, the limits of its Layer, and the ratio relates to the bytes that are stored there.
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

// useFile sets the random access to a regular file, beginning where its descriptor stands: a shell may have
// handed us standard input after reading a part of it.
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
		return nil // not seekable, whatever its mode says: read it as a pipe
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

// Size returns the bytes of the input as stored, compressed or not, when it was opened; -1 if unknown and for a
// directory.
func (in *Input) Size() int64 { return in.size }

// Again reports whether Stream can be called more than once or, for a directory, Member.
func (in *Input) Again() bool { return in.file != nil || in.dir != nil }

// Changed reports whether a regular file has another size or time of modification than when it was opened: streams
// opened at different times may deliver different bytes.
func (in *Input) Changed() bool {
	if in.stat == nil {
		return false
	}
	now, err := in.stat()
	return err == nil && (now.Size() != in.opened.Size() || !now.ModTime().Equal(in.opened.ModTime()))
}

// Read returns the raw bytes, at most Size if the input did not grow, that the stream opened last has consumed,
// read-ahead included. It may be called from any goroutine. Bytes read through At are not counted.
func (in *Input) Read() int64 {
	if n := in.read.Load(); n != nil {
		return n.Load()
	}
	return 0
}

// Close closes what Open or Member opened. Streams and members must have been closed before.
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

// A Finisher is a stream that may be left before its end. Finish reads the rest of compressed data, so that its
// checksum is compared, and returns the error of the first Read that fails. It does nothing if the data is not
// compressed. Streams of an Input are Finishers.
type Finisher interface{ Finish() error }

// Stream returns the content from its beginning, decompressed. It does not read yet, so it does not block; a
// second call for an input that is not Again is an error that wraps errors.ErrUnsupported.
//
// A Read of the stream returns as soon as it has anything, and otherwise waits for no more input than the
// decompressor needs for its next byte. Compressed regular files are decompressed ahead of the reader in a
// goroutine that ends with Close, which must be called. Errors come after all the bytes before them and stay:
// see [Error], [ErrCorrupt], io.ErrUnexpectedEOF (compressed data that ends early); a failure of the reader
// below is an [*Error] that wraps it. The stream is for one goroutine at a time.
func (in *Input) Stream() (io.ReadCloser, error) {
	if in.dir != nil {
		return nil, &Error{Name: in.name, Op: "read", Bytes: -1, Err: syscall.EISDIR}
	}
	count := new(atomic.Int64)
	src := &source{name: in.name, r: in.once, n: count}
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

// At returns random access to the content and its size when the input was opened. It lives as long as the input.
// The error wraps errors.ErrUnsupported if the content is compressed, comes through a pipe, or is a directory.
func (in *Input) At() (io.ReaderAt, int64, error) {
	why, next := "", "decompress it first"
	switch c := in.compression(); {
	case in.dir != nil:
		why, next = "a directory", "name a file in it"
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

// A noRandomAccess says why an input has only streams, and what the user can do.
type noRandomAccess struct{ why, next string }

func (e *noRandomAccess) Error() string {
	return fmt.Sprintf("%s cannot be read at random; %s", e.why, e.next)
}

// Unwrap returns errors.ErrUnsupported.
func (e *noRandomAccess) Unwrap() error { return errors.ErrUnsupported }

// A source is the raw input of one stream: it counts, and it remembers how it ended, because decompressors
// disguise the errors of their reader (zstd reports some as the end of the data).
type source struct {
	name    string
	r       io.Reader
	n       *atomic.Int64
	err     error        // sticky: io.EOF, or a located error
	located bool         // the errors of r are located already
	stored  func() int64 // of the level below if it is compressed, else nil: see Layer
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
