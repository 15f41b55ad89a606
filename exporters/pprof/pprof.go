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
	"github.com/ntconv/ntconv/sample"
)

// Options configure a Sink. The zero value selects the defaults.
type Options struct {
	// Options are those of all exporters of profiles. Losses are comments, too. An imported profile keeps its own
	// comments and gets only the remarks.
	sample.Options
	// Level is the gzip level from 1, the fastest, to 9; 0 means 1. Close returns an error for other values.
	Level int
	// Uncompressed omits the compression.
	Uncompressed bool
}

// A Sink aggregates events to one profile, or to one per kind, and writes them in Close. It implements [ntconv.Watcher]
// and [ntconv.OrderSensitive]; Summary and Summaries describe the profiles after Close. A Sink that is not closed has
// written nothing. It is not safe for concurrent use.
type Sink struct {
	sink
	info  *ntconv.Info
	namer ntconv.Namer
	o     Options

	labelKeys []string
}

type sink = profile.Sink

// New returns a Sink that writes one profile to w in Close; it does not close w. info describes the trace. namer
// resolves the stacks; if it is nil, only stacks with frames of their own have names. opts may be nil.
func New(w io.Writer, info *ntconv.Info, namer ntconv.Namer, opts *Options) *Sink {
	s := &Sink{info: info, namer: namer}
	if opts != nil {
		s.o = *opts
	}
	s.sink = profile.NewSink(w, info, namer, &s.o.Options, true, s.compress)
	return s
}

// LabelKeys returns the sorted keys of the labels of the profile's samples, so that callers can list the available
// keys. It returns nil before Close and if Options.DropLabels is empty.
func (s *Sink) LabelKeys() []string { return s.labelKeys }

// addKeys adds the keys of a profile's labels; nil if they are not recorded.
func (s *Sink) addKeys(keys map[string]bool) {
	for key := range keys {
		if !slices.Contains(s.labelKeys, key) {
			s.labelKeys = append(s.labelKeys, key)
		}
	}
	slices.Sort(s.labelKeys)
}

// compress writes a profile in the compression of the options.
func (s *Sink) compress(w io.Writer, p *profile.Profile) (samples int, err error) {
	if s.o.Uncompressed {
		return s.write(w, p)
	}
	level := s.o.Level
	if level == 0 {
		level = gzip.BestSpeed
	}
	z, err := fileio.NewGzip(w, level)
	if err != nil {
		return 0, fmt.Errorf("pprof: level of compression: %w", err)
	}
	async := fileio.NewWriteBehind(fileio.Spending(w, z)) // compression takes a third of the time of the rest
	defer async.Stop()
	if samples, err = s.write(async, p); err != nil {
		return samples, err
	}
	if err = async.Close(); err == nil {
		err = z.Close()
	}
	if err != nil {
		return samples, fmt.Errorf("pprof: write: %w", err)
	}
	return samples, nil
}

// write writes samples before the tables that they refer to. The fields of a message may be in any order, so only the
// tables must be kept in memory.
func (s *Sink) write(w io.Writer, p *profile.Profile) (samples int, err error) {
	origin := imported.Merge(p.Adopted) // of a profile to restore, or nil
	t := newTables(origin != nil)
	e := newEncoder(w)
	if len(s.o.DropLabels) > 0 {
		e.keys = map[string]bool{}
	}
	for _, v := range p.Types {
		e.valueType(fieldSampleType, t.text(v.Type), t.text(v.Unit))
	}
	main := mainModule{}
	for x := range p.Samples() {
		e.sample(x, t)
		main.count(x, p.Main)
		if e.err != nil {
			break
		}
	}
	s.addKeys(e.keys)
	var comments []string
	if origin != nil {
		t.orderMappings(t.importedMappings(main.process(), main.order, s.namer))
		e.tables(t)
		e.importedHeader(origin, t)
		comments = slices.Concat(origin.Comments, p.Remarks())
	} else {
		t.orderMappings(main.choose(s.namer, t))
		e.tables(t)
		e.header(p, s.info, t)
		comments = p.Comments()
	}
	for _, c := range comments {
		e.number(fieldComment, t.text(c))
	}
	e.strings(t) // last, because everything else adds strings
	e.flush()
	if e.err != nil {
		return e.samples, fmt.Errorf("pprof: write: %w", e.err)
	}
	return e.samples, nil
}
