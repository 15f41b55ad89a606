package ntconv

import (
	"errors"
	"io"
	"iter"
)

// Info describes a trace, as far as a source knows it before the first event. It does not change afterwards: a source
// reports later information as events or in a Report.
type Info struct {
	Format      string // short name and version for display: "nettrace 4"
	Clock       Clock
	PointerSize int   // of the machine, in bytes: 4 or 8
	Attrs       Attrs // with the names of nettrace v6: HardwareThreadCount, ProcessId, ExpectedCPUSamplingRate (ns) ...
	Aggregate   bool  // event times are synthetic, because the events are aggregated samples
}

// A Source yields the events of a trace. Unless its documentation states otherwise, it is not safe for concurrent use.
//
// The Event and its Payload are borrowed until the next call of Next. Everything else that the event points to is
// shared, immutable and may be kept.
type Source interface {
	// Info returns the same pointer on each call. It is never nil; the result is shared and read-only.
	Info() *Info
	// Next returns the next event, or nil and an error: io.EOF after the last event. Every error is final: later calls
	// return it again. Next returns all events that can be read before it returns an error.
	Next() (*Event, error)
}

// A SourceCloser is a Source with temporary files or goroutines. Close releases them, at any time and as often as it is
// called; it does not close what the source reads. After Close, Next returns an error: the one that it has returned
// before, or else one that wraps fs.ErrClosed.
type SourceCloser interface {
	Source
	Close() error
}

// A Sink consumes the events of a trace. Write must not retain the event or its payload. Close writes buffered data and
// completes the format; it does not close or commit the underlying io.Writer. Do not call Write after Close.
type Sink interface {
	Write(*Event) error
	Close() error
}

// A Flusher is a sink with a buffer. Flush writes all buffered data to the underlying writer. A program that reads a
// live source calls Flush when no event is available; Copy does not call it.
type Flusher interface{ Flush() error }

// SourceError wraps an error of Copy that the source returned: the output so far is valid, and the caller may close and
// keep it. Every other error of Copy is an error of the sink.
type SourceError struct{ Err error }

func (e *SourceError) Error() string { return e.Err.Error() }

// Unwrap returns the source's error.
func (e *SourceError) Unwrap() error { return e.Err }

// Copy writes all events of src to dst and returns the number of KindEvent events that dst has accepted. It also writes
// marks, losses, definitions and opaque blocks, but does not count them. It closes neither. It returns an error of the
// source as a *SourceError and an error of the sink unchanged; the end of the source is not an error. If src is a
// Selecting source and dst a Watcher, it shows dst all events.
func Copy(dst Sink, src Source) (n int64, err error) {
	if w, ok := dst.(Watcher); ok {
		if s, ok := src.(Selecting); ok {
			s.Watch(w.Watch)
			defer s.Watch(nil)
		}
	}
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

// Events returns an iterator over the remaining events of a source. The event is borrowed until the next iteration. An
// error other than io.EOF is the last element, with a nil event.
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

// Filter returns a Selecting source with the events for which keep returns true. keep borrows the event until it returns.
// Filter also passes marks, losses and definitions to keep.
func Filter(src Source, keep func(*Event) bool) Source { return &filter{Source: src, keep: keep} }

type filter struct {
	Source
	keep func(*Event) bool
	see  func(*Event) // nil if Source shows its events, or there is no watcher
}

// Watch implements Selecting.
func (f *filter) Watch(see func(*Event)) {
	if s, ok := f.Source.(Selecting); ok {
		s.Watch(see) // also the events that it omits
		return
	}
	f.see = see
}

func (f *filter) Next() (*Event, error) {
	for {
		e, err := f.Source.Next()
		if err != nil {
			return nil, err
		}
		if f.see != nil {
			f.see(e)
		}
		if f.keep(e) {
			return e, nil
		}
	}
}

// Tee returns a sink that writes every event to all sinks in order. Write stops at the first error. Flush calls the
// sinks that are Flushers, Close calls all sinks; both join the errors.
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

// Observe returns a source that passes every event to see before it returns the event. see borrows the event until it
// returns.
func Observe(src Source, see func(*Event)) Source { return &observer{src, see} }

type observer struct {
	Source
	see func(*Event)
}

// Watch implements Selecting, for a source that is.
func (o *observer) Watch(see func(*Event)) {
	if s, ok := o.Source.(Selecting); ok {
		s.Watch(see)
	}
}

func (o *observer) Next() (*Event, error) {
	e, err := o.Source.Next()
	if err == nil {
		o.see(e)
	}
	return e, err
}
