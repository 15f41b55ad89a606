// Package pprof writes profiles in the format of profile.proto, compressed with gzip, as go tool pprof, Perfetto,
// speedscope, Pyroscope and Parca read it.
//
// Samples of a trace are summed up by stack, thread and labels while events pass, and written when the sink is closed,
// because the names of a .NET trace usually come last. Memory follows the number of distinct stacks, never that of
// events. The output is the same byte for byte whenever the events are.
//
// # Names
//
// The name of a function is the one for people. A system name is written only where it differs: pprof takes functions
// whose two names are the same for mangled C++ and cuts off what looks like parameters and template arguments, so that
// overloads and generic instantiations of .NET would become one.
package pprof

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/klauspost/compress/gzip"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/iox"
	"github.com/ntconv/ntconv/internal/origin"
	"github.com/ntconv/ntconv/internal/profile"
)

// Options changes what is written. The zero value is a good choice.
type Options struct {
	Kind   Kind
	Report *ntconv.Report // what happened to the trace so far; its entries become comments, but not of an imported profile
	// DropLabels lists keys of labels to leave out. Samples are not told apart by them, which makes profiles smaller:
	// host, process, pid, thread, "thread id" (and with it thread), state, activity_id, trace_id, span_id, or an
	// event's own key.
	DropLabels []string
	// Level of gzip from 1, the fastest, to 9; 0 means 1.
	Level int
	// Uncompressed leaves out gzip.
	Uncompressed bool
	// Span, if not nil, tells on Close from when to when the trace was recorded, of which the events may be a part: the
	// duration of the profile. Otherwise the events tell it.
	Span func() (first, last ntconv.Ticks, ok bool)
	// Comments come first among the profile's comments: what made it, from what.
	Comments []string
}

// Sink is a profile to be. It is not safe for use by several goroutines.
type Sink struct {
	w     io.Writer
	info  *ntconv.Info
	namer ntconv.Namer
	o     Options
	build *profile.Builder
	done  Summary

	labelKeys []string
}

var (
	_ ntconv.OrderSensitive = (*Sink)(nil)
	_ ntconv.Watcher        = (*Sink)(nil)
)

// New returns a sink that writes one profile to w when it is closed. It does not close w. A nil namer knows only the
// names that stacks carry themselves.
func New(w io.Writer, info *ntconv.Info, namer ntconv.Namer, opts *Options) *Sink {
	s := &Sink{w: w, info: info, namer: namer}
	if opts != nil {
		s.o = *opts
	}
	s.build = profile.New(
		info,
		namer,
		&profile.Options{Kind: s.o.Kind.internal(), Report: s.o.Report, Drop: s.o.DropLabels, Span: s.o.Span},
	)
	return s
}

// Write counts an event. It never fails.
func (s *Sink) Write(e *ntconv.Event) error {
	s.build.Add(e)
	return nil
}

// Watch notes an event that a selection may omit: a sample of kind Wall lasts until the next one of its thread, whether
// or not that one is written. Call it for every event of the trace, and Write with the same event next if the event is
// selected. Where all events are written it changes nothing and need not be called. It borrows the event until it
// returns.
func (s *Sink) Watch(e *ntconv.Event) { s.build.Watch(e) }

// OrderMatters reports whether the events in another order might have given another profile: sums do not depend on it,
// but the meaning of addresses that are used again does, and so does the time that a sample stands for if samples of
// its thread came out of the order of time. It is for between the last event and Close.
func (s *Sink) OrderMatters() bool { return s.build.OrderMatters() }

// Close writes the profile.
func (s *Sink) Close() error {
	if s.o.Uncompressed {
		return s.write(s.w)
	}
	level := s.o.Level
	if level == 0 {
		level = gzip.BestSpeed
	}
	z, err := iox.NewGzip(s.w, level)
	if err != nil {
		return fmt.Errorf("pprof: level of compression: %w", err)
	}
	behind := iox.NewWriteBehind(iox.Spending(s.w, z)) // compressing takes as long as a third of the rest
	defer behind.Stop()
	if err := s.write(behind); err != nil {
		return err
	}
	if err := behind.Close(); err != nil {
		return fmt.Errorf("pprof: write: %w", err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("pprof: write: %w", err)
	}
	return nil
}

// write puts out samples first and what they refer to behind them: the order of a message's fields is free, and so
// nothing but the tables has to be kept.
func (s *Sink) write(w io.Writer) error {
	p := s.build.Finish()
	t := newTables()
	imported := origin.Merge(p.Adopted)
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
	s.done, s.labelKeys = summarize(p, t, e.samples), slices.Sorted(maps.Keys(e.keys))
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
	for _, c := range s.comments(p, imported) {
		e.number(fieldComment, t.text(c))
	}
	e.strings(t) // last: everything else adds to them
	e.flush()
	if e.err != nil {
		return fmt.Errorf("pprof: write: %w", e.err)
	}
	return nil
}

// comments returns what made the profile, what was lost on the way, and how much has no name. One that was imported has
// its own.
func (s *Sink) comments(p *profile.Profile, imported *origin.Origin) []string {
	if imported != nil {
		return imported.Comments
	}
	list := append([]string(nil), s.o.Comments...)
	for _, e := range s.o.Report.Entries() {
		if e.Code == ntconv.CodeUnseen || e.Code != ntconv.CodeUnresolved && e.Code.Severity() > ntconv.SeverityInfo {
			e.Offset = -1 // the same trace in another file gives the same profile
			list = append(list, e.String())
		}
	}
	if u := p.Unresolved.String(); u != "" {
		list = append(list, u)
	}
	return list
}
