package convert

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/internal/input"
	"github.com/ntconv/ntconv/internal/selection"
	"github.com/ntconv/ntconv/symbol"
)

// A Source yields the selected events of an input. It is an ntconv.Source and not safe for concurrent use. Close ends
// its use.
type Source struct {
	config *config
	in     *input.Input
	src    ntconv.Source // of the selected events
	end    input.Ending
	info   *ntconv.Info
	names  *symbol.Table       // nil if Options.Symbols is
	pick   *selection.Selector // the selection, bound to the trace
	watch  func(*ntconv.Event) // of the Watcher that CopyTo writes to
	err    error               // how the source ended
	closed bool
}

// Open opens a file or a directory with the tables of a trace. It recognizes the format by the content, decompresses
// gzip and zstd, and reads the header. The caller closes the Source.
//
// If ctx is canceled, Next returns context.Cause(ctx) within 64 events. A read that waits for data, as from a FIFO,
// ends first.
//
// An input of no known format is an error that wraps ntconv.ErrFormat; a file that does not exist wraps fs.ErrNotExist.
func Open(ctx context.Context, name string, o *Options) (*Source, error) {
	if name == "-" {
		name = "./-" // a file: standard input is OpenReader(ctx, "standard input", os.Stdin, o)
	}
	return open(ctx, name, o, func(in *input.Options) (*input.Input, error) { return input.Open([]string{name}, in) })
}

// OpenReader is Open for what the caller has opened, which the caller closes after the Source. name is what errors call
// it. An r that has the methods ReadAt and Size of a bytes.Reader, or is a regular file, can be read again and at
// random, which Parquet needs.
func OpenReader(ctx context.Context, name string, r io.Reader, o *Options) (*Source, error) {
	return open(ctx, name, o, func(in *input.Options) (*input.Input, error) { return input.FromReader(name, r, in) })
}

func open(
	ctx context.Context,
	name string,
	o *Options,
	openInput func(*input.Options) (*input.Input, error),
) (*Source, error) {
	c, err := newConfig(ctx, o, nil)
	if err != nil {
		return nil, err
	}
	chosen, err := c.Select.options()
	if err != nil {
		return nil, err
	}
	opts, err := c.input(chosen.NeedsEnd())
	if err != nil {
		return nil, err
	}
	in, err := openInput(opts)
	if err != nil {
		c.remove()
		return nil, plain(name, err)
	}
	s := &Source{config: c, in: in}
	if err := s.begin(c, chosen); err != nil {
		s.Close()
		return nil, plain(name, err)
	}
	return s, nil
}

// begin starts the reading.
func (s *Source) begin(c *config, chosen *selection.Options) error {
	read := c.read()
	var last ntconv.Ticks
	if chosen.NeedsEnd() {
		var err error
		if last, err = lastTime(s.in, read); err != nil {
			return err
		}
	}
	src, end, err := s.in.Source(&read)
	if err != nil {
		return err
	}
	s.end, s.info = end, src.Info()
	if s.pick, err = chosen.For(s.info.Clock, last); err != nil {
		return err
	}
	if c.Symbols != nil {
		s.names = symbol.New(c.Symbols)
		src = symbol.Watch(src, s.names)
	}
	s.src = ntconv.Filter(src, s.keep)
	return nil
}

// lastTime reads an input for the time of its last event. If the input ends early, the reading that follows says so.
func lastTime(in *input.Input, read formats.ReadOptions) (last ntconv.Ticks, err error) {
	read.Report = nil
	src, end, err := in.Source(&read)
	if err != nil {
		return 0, err
	}
	defer end.Close()
	none := true
	for e, err := range ntconv.Events(src) {
		if err != nil {
			break
		}
		if e.Kind == ntconv.KindEvent && (none || e.Time > last) {
			last, none = e.Time, false
		}
	}
	return last, nil
}

// keep shows an event to the Watcher of CopyTo, and reports whether the event is selected.
func (s *Source) keep(e *ntconv.Event) bool {
	if s.watch != nil {
		s.watch(e)
	}
	return s.pick.Keep(e)
}

// Info implements ntconv.Source.
func (s *Source) Info() *ntconv.Info { return s.info }

// Format returns the name of the input's format, as in Formats.
func (s *Source) Format() string { return s.in.Format.Name }

// Next implements ntconv.Source. At the end of the trace it also compares the checksum of compressed data.
func (s *Source) Next() (*ntconv.Event, error) {
	if s.err != nil {
		return nil, s.err
	}
	e, err := s.src.Next()
	if err == io.EOF {
		if bad := s.end.Finish(); bad != nil {
			err = bad
		}
	}
	if err != nil {
		s.err = err
	}
	return e, err
}

// Namer returns a Namer that has learned from all events read so far, selected or not. .NET traces usually write
// symbols last, so a sink asks it in Close. It returns ntconv.NoNames() if Options.Symbols is nil.
func (s *Source) Namer() ntconv.Namer {
	if s.names == nil {
		return ntconv.NoNames()
	}
	return s.names
}

// CopyTo writes the rest of the selected events to a sink and returns how many events there were, as ntconv.Copy does.
// A sink that is an ntconv.Watcher also sees the events that are not selected, so a selection does not change the
// weights of samples. CopyTo closes neither.
func (s *Source) CopyTo(sink ntconv.Sink) (int64, error) {
	if w, ok := sink.(ntconv.Watcher); ok {
		s.watch = w.Watch
		defer func() { s.watch = nil }()
	}
	return ntconv.Copy(sink, s)
}

// Close closes what Open has opened and removes temporary files. It may be called more than once; Next then returns
// an error that wraps os.ErrClosed.
func (s *Source) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	var err error
	if s.end != nil {
		err = s.end.Close()
	}
	s.in.Close()
	s.config.remove()
	s.err = fmt.Errorf("read a closed source: %w", os.ErrClosed)
	return err
}
