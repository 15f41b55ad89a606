package ntconv

import (
	"errors"
	"io"
	"iter"
)

// Info is what a source knows before its first event. It does not change afterwards; what is learned later comes as
// events or stands in the Report.
type Info struct {
	Format      string // short name and version for people: "nettrace 4"
	Clock       Clock
	PointerSize int   // of the machine: 4 or 8
	Attrs       Attrs // HardwareThreadCount, ProcessId, ExpectedCPUSamplingRate (ns) ... as nettrace v6 names them
	Aggregate   bool  // the source has no timeline: its events are sums
}

// A Source yields the events of a trace.
//
// The Event and its Payload are borrowed until the next call of the source's Next; everything else it points to is
// shared, immutable and may be kept.
type Source interface {
	// Info returns the same value for the life of the source.
	Info() *Info
	// Next returns the next event, and io.EOF after the last one. Any other error is final too: a source returns it
	// again on every later call. All events that could be read before the error have been returned by then.
	Next() (*Event, error)
}

// A Sink takes the events of a trace. Write must not keep the event or its payload. Close finishes the format, but
// makes nothing visible that the caller has not committed; no Write may follow it.
type Sink interface {
	Write(*Event) error
	Close() error
}

// A Flusher is a sink that buffers: Flush writes everything so far to the underlying writer. A program that reads a
// live source calls it when no event is waiting; Copy does not.
type Flusher interface{ Flush() error }

// SourceError marks an error of Copy that came from the source: what was written before it is sound, and the caller may
// close and keep it. An error of Copy that is no SourceError came from the sink.
type SourceError struct{ Err error }

func (e *SourceError) Error() string { return e.Err.Error() }

// Unwrap returns the source's error.
func (e *SourceError) Unwrap() error { return e.Err }

// Copy writes everything that src yields to dst and returns how many events dst has accepted. Events are what has the
// kind KindEvent: marks, losses, definitions and opaque blocks are written, too, but not counted. Copy closes nothing.
// An error of the source is returned as a *SourceError.
func Copy(dst Sink, src Source) (n int64, err error) {
	for {
		e, err := src.Next()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, &SourceError{err}
		}
		if err := dst.Write(e); err != nil {
			return n, err
		}
		if e.Kind == KindEvent {
			n++
		}
	}
}

// Events returns an iterator over the rest of a source. An error other than io.EOF comes last, with a nil event.
// The event is borrowed as it is from Next.
func Events(src Source) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		for {
			e, err := src.Next()
			if err != nil {
				if err != io.EOF {
					yield(nil, err)
				}
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Filter returns a source with the events for which keep returns true. keep borrows the event.
func Filter(src Source, keep func(*Event) bool) Source { return &filter{src, keep} }

type filter struct {
	Source
	keep func(*Event) bool
}

func (f *filter) Next() (*Event, error) {
	for {
		e, err := f.Source.Next()
		if err != nil || f.keep(e) {
			return e, err
		}
	}
}

// Tee returns a sink that gives every event to all sinks in order. Write stops at the first error; Close closes all
// sinks and joins their errors.
func Tee(sinks ...Sink) Sink { return tee(sinks) }

type tee []Sink

func (t tee) Write(e *Event) error {
	for _, s := range t {
		if err := s.Write(e); err != nil {
			return err
		}
	}
	return nil
}

func (t tee) Flush() error {
	var errs []error
	for _, s := range t {
		if f, ok := s.(Flusher); ok {
			errs = append(errs, f.Flush())
		}
	}
	return errors.Join(errs...)
}

func (t tee) Close() error {
	var errs []error
	for _, s := range t {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// Observe returns a source that shows every event to see before it is returned. see borrows the event.
func Observe(src Source, see func(*Event)) Source { return &observer{src, see} }

type observer struct {
	Source
	see func(*Event)
}

func (o *observer) Next() (*Event, error) {
	e, err := o.Source.Next()
	if err == nil {
		o.see(e)
	}
	return e, err
}
