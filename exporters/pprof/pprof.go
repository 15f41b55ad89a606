// Package pprof writes profiles in the format of profile.proto, compressed with gzip, for go tool pprof, Perfetto,
// speedscope, Pyroscope and Parca.
//
// A Sink aggregates samples by stack, thread and labels as events are written, and writes the profile in Close, because
// the symbols of a .NET trace usually come last. Its memory grows with the number of distinct stacks, not with the
// number of events. Equal events produce equal bytes.
//
// # Names
//
// The name of a function is for display. The system name is written only if it differs: pprof treats a function whose
// two names are equal as mangled C++ and removes what looks like parameters and template arguments, which would merge
// overloads and generic instantiations of .NET.
package pprof

import (
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/gzip"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/kind"
)

// Options configure a Sink. The zero value selects the defaults.
type Options struct {
	Kind   Kind
	Kinds  kind.Options   // of kinds that are computed from events
	Report *ntconv.Report // becomes comments (not of an imported profile) and receives notes; may be nil
	// DropLabels lists label keys to omit; samples that differ only in these labels are merged, which makes profiles
	// smaller. Keys are host, process, pid, thread, tid (which also drops thread), state, activity_id,
	// trace_id, span_id, or keys of event labels.
	DropLabels []string
	// Level is the gzip level from 1, the fastest, to 9; 0 means 1. Close returns an error for other values.
	Level int
	// Uncompressed omits the compression.
	Uncompressed bool
	// Span, if not nil, returns the time range of the recording, from which Close computes the duration of the profile.
	// Set it if the sink receives only a selection of the events. Otherwise the events determine the range.
	Span func() (first, last ntconv.Ticks, ok bool)
	// Window, if not nil, reports whether a time is selected. An interval, such as a wait, that is not completely in the
	// selected time is in no sample.
	Window func(ntconv.Ticks) bool
	// Comments are the first comments of the profile, such as its origin.
	Comments []string
	// Remarks, if not nil, returns the last comments of the profile, also of an imported one. It is called once, after
	// the last stack has been resolved.
	Remarks func() []string
}

// A Sink aggregates events to one profile, or to one per kind. It is not safe for concurrent use.
type Sink struct {
	w      io.Writer                          // nil if create is not
	create func(Kind) (io.WriteCloser, error) // opens the output of a kind; nil for a single profile
	info   *ntconv.Info
	namer  ntconv.Namer
	o      Options
	build  *profile.Builder
	done   []Summary

	labelKeys []string
}

var (
	_ ntconv.OrderSensitive = (*Sink)(nil)
	_ ntconv.Watcher        = (*Sink)(nil)
)

// New returns a Sink that writes one profile to w in Close; it does not close w. info describes the trace. namer
// resolves the stacks; if it is nil, only stacks with frames of their own have names. opts may be nil.
func New(w io.Writer, info *ntconv.Info, namer ntconv.Namer, opts *Options) *Sink {
	return newSink(w, nil, nil, info, namer, opts)
}

// NewPerKind returns a Sink that writes one profile per kind of which the trace has samples, from the same events. kinds
// are the kinds to write, in place of Options.Kind; if it is empty, all are, but kind.Events only if the trace has no
// other. Close calls create for each profile in the order of kind.Preferred, and closes the result. The other parameters
// are those of New.
func NewPerKind(
	create func(Kind) (io.WriteCloser, error), kinds []Kind, info *ntconv.Info, namer ntconv.Namer, opts *Options,
) *Sink {
	return newSink(nil, create, append([]Kind{}, kinds...), info, namer, opts)
}

func newSink(
	w io.Writer, create func(Kind) (io.WriteCloser, error), each []Kind, info *ntconv.Info, namer ntconv.Namer, opts *Options,
) *Sink {
	s := &Sink{w: w, create: create, info: info, namer: namer}
	if opts != nil {
		s.o = *opts
	}
	s.build = profile.New(info, namer, &profile.Options{
		Kind: s.o.Kind, Each: each, Kinds: s.o.Kinds, Report: s.o.Report, Drop: s.o.DropLabels, Span: s.o.Span,
		Window: s.o.Window,
	})
	return s
}

// Write adds an event, which it borrows. It always returns nil.
func (s *Sink) Write(e *ntconv.Event) error {
	s.build.Add(e)
	return nil
}

// Watch notes an event that a selection may omit: a sample of kind Wall lasts until the next sample of its thread,
// selected or not. If a selection omits events, call Watch for every event, followed by Write with the same event if it
// is selected. If nothing is omitted, Watch changes nothing and is not necessary. It borrows e.
func (s *Sink) Watch(e *ntconv.Event) { s.build.Watch(e) }

// OrderMatters reports whether the same events in time order could have produced a different profile. Totals do not
// depend on the order, but owners of reused addresses do, and the weights of samples of a thread that are out of order.
// Call it after the last Write and before Close.
func (s *Sink) OrderMatters() bool { return s.build.OrderMatters() }

// Close writes the profile, or all profiles. It returns errors of the underlying writer and of creating it, and an
// invalid Options.Level. The Sink must not be used afterwards, except for Summary, Summaries and LabelKeys.
func (s *Sink) Close() error {
	if s.create == nil {
		return s.compress(s.w, s.build.Finish())
	}
	for p := range s.build.FinishEach() {
		w, err := s.create(p.Kind)
		if err != nil {
			return err
		}
		err = s.compress(w, p)
		if cerr := w.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compress writes a profile in the compression of the options.
func (s *Sink) compress(w io.Writer, p *profile.Profile) error {
	if s.o.Uncompressed {
		return s.write(w, p)
	}
	level := s.o.Level
	if level == 0 {
		level = gzip.BestSpeed
	}
	z, err := fileio.NewGzip(w, level)
	if err != nil {
		return fmt.Errorf("pprof: level of compression: %w", err)
	}
	async := fileio.NewWriteBehind(fileio.Spending(w, z)) // compression takes a third of the time of the rest
	defer async.Stop()
	if err := s.write(async, p); err != nil {
		return err
	}
	if err := async.Close(); err != nil {
		return fmt.Errorf("pprof: write: %w", err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("pprof: write: %w", err)
	}
	return nil
}

// write writes samples before the tables that they refer to. The fields of a message may be in any order, so only the
// tables must be kept in memory.
func (s *Sink) write(w io.Writer, p *profile.Profile) error {
	t := newTables()
	imported := imported.Merge(p.Adopted)
	t.verbatim = imported != nil
	e := newEncoder(w)
	if len(s.o.DropLabels) > 0 {
		e.keys = map[string]bool{}
	}
	for _, v := range p.Types {
		e.valueType(fieldSampleType, t.text(v.Type), t.text(v.Unit))
	}
	main := mainModule{}
	for sample := range p.Samples() {
		e.sample(sample, t)
		main.count(sample, p.Main)
		if e.err != nil {
			break
		}
	}
	s.done = append(s.done, summarize(p, t, e.samples))
	s.addKeys(e.keys)
	if imported != nil {
		t.orderMappings(t.importedMappings(main.process(), main.order, s.namer))
	} else {
		t.orderMappings(main.choose(s.namer, t))
	}
	e.tables(t)
	if imported != nil {
		e.importedHeader(imported, t)
	} else {
		e.header(p, s.info, t)
	}
	comments := s.comments(p, imported)
	if s.o.Remarks != nil {
		comments = slices.Concat(comments, s.o.Remarks())
	}
	for _, c := range comments {
		e.number(fieldComment, t.text(c))
	}
	e.strings(t) // last, because everything else adds strings
	e.flush()
	if e.err != nil {
		return fmt.Errorf("pprof: write: %w", e.err)
	}
	return nil
}

// comments returns the comments of the profile before Options.Remarks: those of the options, losses, and the share of
// unresolved frames. An imported profile keeps its own comments.
func (s *Sink) comments(p *profile.Profile, imported *imported.Origin) []string {
	if imported != nil {
		return imported.Comments
	}
	list := append([]string(nil), s.o.Comments...)
	for _, e := range p.Notes() {
		if e.Code == ntconv.CodeUnseen || e.Code != ntconv.CodeUnresolved && e.Code.Severity() > ntconv.SeverityInfo {
			e.Offset = -1 // the same trace in another file gives the same profile
			list = append(list, e.String())
		}
	}
	for _, text := range []string{p.Estimate.String(), p.Unresolved.String()} {
		if text != "" {
			list = append(list, text)
		}
	}
	return list
}
