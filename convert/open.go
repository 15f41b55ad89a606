package convert

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/select/selection"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// A Source yields the selected events of an input. It implements ntconv.Source and is not safe for concurrent use. Call
// Close after the last use.
type Source struct {
	config *config
	in     *input.Input
	src    ntconv.Source // source of the selected events
	end    input.Ending
	info   *ntconv.Info
	names  *symbol.Table       // nil if Options.Symbols is nil
	pick   *selection.Selector // the selection, bound to the trace
	watch  func(*ntconv.Event) // Watch of the sink of CopyTo, or nil
	err    error               // error of the last Next; sticky
	closed bool
}

// Open opens a file, or a directory with the tables of a trace. It detects the format from the content, decompresses
// gzip and zstd, and reads the header. o may be nil. The caller closes the Source.
//
// After ctx is canceled, Next returns context.Cause(ctx) within 64 events. A read that waits for data, as from a FIFO,
// is not interrupted.
//
// The error wraps ntconv.ErrFormat if the format is unknown, ntconv.ErrLimit if the header exceeds a limit, and
// fs.ErrNotExist if the file does not exist.
func Open(ctx context.Context, name string, o *Options) (*Source, error) {
	if name == "-" {
		name = "./-" // a file called -; for standard input, use OpenReader(ctx, "standard input", os.Stdin, o)
	}
	return open(ctx, name, o, func(in *input.Options) (*input.Input, error) { return input.Open([]string{name}, in) })
}

// OpenReader is Open for a reader, which the caller closes after the Source. Errors use name. If r is a regular file,
// or has the methods ReadAt and Size of a bytes.Reader, it can be read repeatedly and at random, which Parquet
// requires.
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
	opts, err := c.input(needsAhead(chosen))
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

// begin opens the source of the input and binds the selection to its clock.
func (s *Source) begin(c *config, chosen *selection.Options) error {
	read := c.read()
	var last ntconv.Ticks
	if needsAhead(chosen) {
		var err error
		if last, err = lookAhead(s.in, read, chosen); err != nil {
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

// needsAhead reports whether a selection depends on the whole trace.
func needsAhead(o *selection.Options) bool { return o.NeedsEnd() || o.NeedsNames() || o.During != nil }

// lookAhead reads the input to learn what a selection needs, and returns the time of the last event. It ignores errors of
// the input, because the second reading reports them.
func lookAhead(in *input.Input, read formats.ReadOptions, o *selection.Options) (last ntconv.Ticks, err error) {
	names := new(recording.Names)
	o.Names = names
	see, done := func(*ntconv.Event) {}, func() {}
	d, ok := o.During.(*openDuring)
	if ok {
		read.Order = reader.ByTime
	}
	read.Report = nil
	src, end, err := in.Source(&read)
	if err != nil {
		return 0, err
	}
	defer end.Close()
	if ok {
		see, done = d.Learn(src.Info())
	}
	none := true
	for e, err := range ntconv.Events(src) {
		if err != nil {
			break
		}
		if e.Kind == ntconv.KindEvent && (none || e.Time > last) {
			last, none = e.Time, false
		}
		names.Observe(e)
		see(e)
	}
	done()
	return last, nil
}

// keep passes an event to the Watcher of CopyTo, and reports whether the event is selected.
func (s *Source) keep(e *ntconv.Event) bool {
	if s.watch != nil {
		s.watch(e)
	}
	return s.pick.Keep(e)
}

// Info implements ntconv.Source. The result is valid after Close.
func (s *Source) Info() *ntconv.Info { return s.info }

// Format returns the name of the format of the input, one of the readable Formats.
func (s *Source) Format() string { return s.in.Format.Name }

// Next implements ntconv.Source. The event is borrowed until the next call of Next or Close. At the end of the trace,
// Next also verifies the checksum of compressed data.
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

// Namer returns a Namer that has observed all events read so far, selected or not. .NET traces usually write symbols
// last, so a sink that aggregates calls it in Close. If Options.Symbols is nil, Namer returns ntconv.NoNames().
func (s *Source) Namer() ntconv.Namer {
	if s.names == nil {
		return ntconv.NoNames()
	}
	return s.names
}

// CopyTo writes the remaining selected events to a sink and returns their number, like ntconv.Copy. A sink that is an
// ntconv.Watcher also sees the other events, so that a selection does not change the weights of samples. CopyTo closes
// neither the sink nor s.
func (s *Source) CopyTo(sink ntconv.Sink) (int64, error) {
	if w, ok := sink.(ntconv.Watcher); ok {
		s.watch = w.Watch
		defer func() { s.watch = nil }()
	}
	return ntconv.Copy(sink, s)
}

// Close closes the files that Open has opened and removes temporary files. Next then returns an error that wraps
// os.ErrClosed. Later calls do nothing and return nil.
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
