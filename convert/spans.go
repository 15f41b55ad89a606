package convert

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/span/active"
)

// spans adds labels of spans to samples if the trace has spans.
type spans struct {
	index *active.Index // nil until learn is called
	opts  active.LinkOptions
}

// plan adds to a plan the pass and the stage that the labels need.
func (s *spans) plan(p *pass.Plan, o *formats.SpanLabels) {
	if o.Use == 0 {
		return
	}
	s.opts = active.LinkOptions{Use: o.Use, Name: o.Name, Sample: profile.SampleTypes(o.Kind)}
	p.Ahead = append(p.Ahead, &pass.Ahead{
		Ahead: formats.Ahead{Learn: s.learn, Shows: active.NewDetector().Shows, Again: o.Explicit},
	})
	p.Before = append(p.Before, s.link)
}

// learn builds the index of the spans of a trace.
func (s *spans) learn(info *ntconv.Info) (see func(*ntconv.Event), end func()) {
	s.index = active.New(info, new(active.Options))
	return s.index.Add, s.index.Finish
}

// link is the stage that adds the labels.
func (s *spans) link(_ *pass.Pass, src ntconv.Source) ntconv.Source {
	if s.index == nil || s.index.Len() == 0 {
		return src
	}
	return active.NewLinker(src, s.index, s.opts)
}
