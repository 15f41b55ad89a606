// Package callgrind writes profiles in the format of Valgrind's tool callgrind, which KCachegrind and callgrind_annotate
// read. docs/callgrind.md specifies the output.
//
// The format has no stacks, only functions: the costs of their own code by line, and of their calls by line and callee.
// The sink aggregates samples as events arrive and writes the file in Close, because .NET traces usually write symbols
// last. Its memory grows with the number of distinct stacks. Equal events give equal output.
package callgrind

import (
	"fmt"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/sample"
)

// Options configure a Sink. The format has no labels. The zero value selects the defaults.
type Options struct {
	sample.Options
}

// A Sink aggregates the samples of a trace, or of each kind, and writes them in Close. It implements [ntconv.Watcher] and
// [ntconv.OrderSensitive]; Summary and Summaries describe the output after Close, with functions as items. A Sink that is
// not closed has written nothing. It is not safe for concurrent use.
type Sink struct {
	sink
	o Options
}

type sink = profile.Sink

// New returns a sink that writes to w in Close. It does not close w. info must not be nil. A nil namer resolves only
// stacks that carry their frames. Nil opts select the defaults.
func New(w io.Writer, info *ntconv.Info, namer ntconv.Namer, opts *Options) *Sink {
	s := new(Sink)
	if opts != nil {
		s.o = *opts
	}
	if namer == nil {
		namer = new(ntconv.NoNames)
	}
	s.o.DropLabels = []string{meters.LabelThreadID}
	s.sink = profile.NewSink(w, info, namer, &s.o.Options, false, s.write)
	return s
}

// write writes a profile.
func (s *Sink) write(w io.Writer, p *profile.Profile) (functions int, err error) {
	g := newGraph(len(p.Types))
	for x := range p.Samples() {
		g.add(x.Frames, x.Values)
	}
	s.o.Report.Note(ntconv.CodeNotCarried, g.negative, -1, "negative values, which the format does not have")
	e := newEncoder(w, g, p)
	e.header(p.Comments())
	for i := range g.functions {
		e.function(&g.functions[i])
	}
	e.footer()
	if err := e.flush(); err != nil {
		return g.count(), fmt.Errorf("callgrind: write: %w", err)
	}
	return g.count(), nil
}
