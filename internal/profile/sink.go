package profile

import (
	"io"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/sample"
)

// A Sink is the part of an exporter that does not depend on its format: it aggregates the events of a trace and passes
// the finished profiles to the encoder. Exporters embed it. It has no resources to release: a Sink that is not closed has
// written nothing. It is not safe for concurrent use.
type Sink struct {
	build  *Builder
	w      io.Writer // unless create is set
	create func(sample.Kind) (io.WriteCloser, error)
	encode Encode
	done   []sample.Summary
}

// Encode writes a profile to w, and returns the number of items for Summary.Items. It must visit Profile.Samples
// completely unless it fails.
type Encode func(w io.Writer, p *Profile) (items int, err error)

var (
	_ ntconv.OrderSensitive = (*Sink)(nil)
	_ ntconv.Watcher        = (*Sink)(nil)
)

// NewSink returns a Sink that writes to w, or to what Options.Create opens. It does not close w. info must not be nil. A
// nil namer resolves only stacks with frames of their own. labeled is false for formats with neither labels nor the time
// of the recording. The options are not used after NewSink returns.
func NewSink(w io.Writer, info *ntconv.Info, namer ntconv.Namer, o *Options, labeled bool, encode Encode) Sink {
	own := *o
	if own.Each = nil; own.Create != nil {
		own.Each = append([]sample.Kind{}, o.Each...)
	}
	if !labeled {
		own.Span = func() (first, last ntconv.Ticks, ok bool) { return 0, 0, false }
	}
	return Sink{build: newBuilder(info, namer, &own, labeled), w: w, create: own.Create, encode: encode}
}

// Write adds an event, which it borrows. It always returns nil.
func (s *Sink) Write(e *ntconv.Event) error {
	if err := e.Check(); err != nil {
		return err
	}
	s.build.Add(e)
	return nil
}

// Watch implements [ntconv.Watcher]: a sample of kind Wall lasts until the next sample of its thread, selected or not.
// If nothing is omitted, it changes nothing.
func (s *Sink) Watch(e *ntconv.Event) { s.build.Watch(e) }

// OrderMatters implements [ntconv.OrderSensitive]. Totals do not depend on the order of events, but owners of reused
// addresses do, and the weights of samples of a thread that are out of order.
func (s *Sink) OrderMatters() bool { return s.build.OrderMatters() }

// Close writes the profile, or all profiles. It returns errors of the options, of the writer and of creating it. Only
// Summary, Summaries and PerKind may be called afterwards.
func (s *Sink) Close() error {
	if s.create == nil {
		return s.write(s.w, s.build.Finish())
	}
	for p := range s.build.FinishEach() {
		w, err := s.create(p.Kind)
		if err != nil {
			return err
		}
		err = s.write(w, p)
		if cerr := w.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Sink) write(w io.Writer, p *Profile) error {
	items, err := s.encode(w, p)
	done := *p.Summary()
	done.Items = items
	s.done = append(s.done, done)
	return err
}

// Summary returns the description of the profile, of the first one if there are several. Before Close it is zero.
func (s *Sink) Summary() sample.Summary {
	if len(s.done) == 0 {
		return sample.Summary{}
	}
	return s.done[0]
}

// Summaries returns the descriptions of all profiles in the order in which they were written. Before Close it is nil.
// The caller owns the slice.
func (s *Sink) Summaries() []sample.Summary { return slices.Clone(s.done) }

// PerKind reports whether the Sink writes one profile per kind.
func (s *Sink) PerKind() bool { return s.create != nil }
