package convert

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/job"
	"github.com/ntconv/ntconv/internal/run/pass"
)

// A Source yields the selected events of an input. It implements ntconv.Source and is not safe for concurrent use. Call
// Close after the last use.
type Source struct {
	config *config
	in     *input.Input
	pass   *pass.Pass
	spans  job.Spans
	err    error // error of the last Next; sticky
	closed bool
}

// Open opens a file, or a directory with the tables of a trace. It detects the format from the content, decompresses
// gzip and zstd, and reads the header. o may be nil. The caller closes the Source.
//
// After ctx is canceled, Next returns context.Cause(ctx) within 64 events. A read of OpenReader that waits for data, as
// from a connection, ends too; its goroutine ends when the caller closes the reader. Opening a FIFO by its name, and
// reading it, is not interrupted.
//
// The error wraps ntconv.ErrFormat if the format is unknown, ntconv.ErrLimit if the header exceeds a limit, and
// fs.ErrNotExist if the file does not exist.
func Open(ctx context.Context, name string, o *Options) (*Source, error) {
	name = local([]string{name})[0]
	return open(ctx, name, o, files([]string{name}))
}

// OpenReader is Open for a reader, which the caller closes after the Source. Errors use name. If r is a regular file,
// or has the methods ReadAt and Size of a bytes.Reader, it can be read repeatedly and at random, which Parquet
// requires.
func OpenReader(ctx context.Context, name string, r io.Reader, o *Options) (*Source, error) {
	return open(ctx, name, o, stream(ctx, name, r))
}

// An opener opens an input.
type opener func(*input.Options) (*input.Input, error)

// files returns the opener of files. The name "-" is that of a file; for standard input, use stream.
func files(names []string) opener {
	return func(o *input.Options) (*input.Input, error) { return input.Open(local(names), o) }
}

// stream returns the opener of a reader, whose reads end with the context.
func stream(ctx context.Context, name string, r io.Reader) opener {
	return func(o *input.Options) (*input.Input, error) {
		return input.FromReader(name, fileio.Interruptible(ctx, r), o)
	}
}

// local returns the names of files, of which "-" is one.
func local(names []string) []string {
	names = slices.Clone(names)
	for i, name := range names {
		if name == "-" {
			names[i] = "./-"
		}
	}
	return names
}

func open(
	ctx context.Context,
	name string,
	o *Options,
	openInput opener,
) (*Source, error) {
	c, err := newConfig(ctx, o, nil)
	if err != nil {
		return nil, err
	}
	chosen, err := c.Select.options()
	if err != nil {
		return nil, plain(name, err)
	}
	s := &Source{config: c}
	plan := job.NewPlan(c.read(), chosen, &s.spans)
	plan.Names = c.Symbols
	opts, err := c.input(plan.NeedsAgain())
	if err != nil {
		return nil, err
	}
	if s.in, err = openInput(opts); err == nil {
		s.pass, err = plan.Open(s.in)
	}
	if err != nil {
		if s.in != nil {
			s.in.Close()
		}
		c.remove()
		return nil, plain(name, err)
	}
	return s, nil
}

// Info implements ntconv.Source. The result is valid after Close.
func (s *Source) Info() *ntconv.Info { return s.pass.Info }

// Format returns the name of the format of the input, one of the readable Formats.
func (s *Source) Format() string { return s.in.Format.Name }

// Next implements ntconv.Source. The event is borrowed until the next call of Next or Close. At the end of the trace,
// Next also verifies the checksum of compressed data.
func (s *Source) Next() (*ntconv.Event, error) {
	if s.err != nil {
		return nil, s.err
	}
	e, err := s.pass.Source.Next()
	s.err = err
	return e, err
}

// Namer returns a Namer that has observed all events read so far, selected or not. .NET traces usually write symbols
// last, so a sink that aggregates calls it in Close. If Options.Symbols is nil, Namer returns new(ntconv.NoNames).
func (s *Source) Namer() ntconv.Namer {
	if s.pass.Namer == nil {
		return new(ntconv.NoNames)
	}
	return s.pass.Namer
}

// Watch implements ntconv.Selecting: ntconv.Copy shows a sink that is an ntconv.Watcher all events, so that a selection
// does not change the weights of samples.
func (s *Source) Watch(see func(*ntconv.Event)) { s.pass.Watch(see) }

// Close closes the files that Open has opened and removes temporary files. Next then returns an error that wraps
// os.ErrClosed. Later calls do nothing and return nil.
func (s *Source) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.pass.Close()
	s.in.Close()
	s.config.remove()
	s.err = fmt.Errorf("read a closed source: %w", os.ErrClosed)
	return err
}
