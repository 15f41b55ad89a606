package job

import (
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/select/selection"
	"github.com/ntconv/ntconv/internal/span/active"
	"github.com/ntconv/ntconv/sample"
)

// Spans are the use of spans by a conversion: to select events (selection.DuringFilter), or to label samples. It
// implements selection.During. The zero value uses none.
//
//	during, evidence, name  set by NewPlan and Link, before the first pass
//	index                   set by learn, after which link may use it, and learnDuring, after which Keep may
//	linker, pass            set by link for the current pass, read by Describe after it
type Spans struct {
	during   *selection.DuringFilter // nil if the selection has no such condition
	evidence active.Evidence         // evidence for both uses
	name     bool                    // add the name of the span
	index    *active.Index           // nil until the input has been read for it
	kind     sample.Kind             // of the samples that get labels
	linker   *active.Linker          // of the current pass, nil if no labels are added
	pass     *pass.Pass              // the current pass, nil if there is nothing to link
}

// selectDuring adds conditions on what was open to a plan. It does nothing if there are none.
func (s *Spans) selectDuring(plan *pass.Plan, conditions []*selection.DuringCondition) {
	*s = Spans{evidence: active.All}
	if len(conditions) > 0 {
		s.during = selection.NewDuringFilter(conditions)
		plan.Selection.During = s
		plan.Lookaheads = append(plan.Lookaheads, &pass.Lookahead{Lookahead: formats.Lookahead{Learn: s.learnDuring}})
	}
}

// Link sets the evidence that the user has chosen, and adds labels of spans to samples if labels is set. The error is a
// *formats.FlagError for options that need spans without evidence.
func (s *Spans) Link(plan *pass.Plan, o *formats.SpanLabels, labels bool) error {
	if o.Use == 0 {
		if o.Name {
			return &formats.FlagError{Text: fmt.Sprintf("--%s needs samples that are linked to spans; omit --%s off",
				formats.FlagSpanName, formats.FlagSpanLink)}
		}
		if s.selects() {
			return &formats.FlagError{Text: fmt.Sprintf("--%s needs events that are linked to spans; omit --%s off",
				selection.DuringFlag, formats.FlagSpanLink)}
		}
		return nil
	}
	s.evidence, s.name, s.kind = o.Use, o.Name, o.Kind
	if !labels {
		return nil
	}
	if !s.selects() { // otherwise selectDuring has planned the index
		plan.Lookaheads = append(plan.Lookaheads, &pass.Lookahead{
			Lookahead: formats.Lookahead{Learn: s.learn, Shows: active.NewDetector().Shows, Again: o.Explicit},
		})
	}
	plan.Before = append(plan.Before, s.link)
	return nil
}

// selects reports whether spans select events.
func (s *Spans) selects() bool { return s.during != nil && s.during.NeedsSpans() }

// learn builds the index of the spans of a trace.
func (s *Spans) learn(info *ntconv.Info) (see func(*ntconv.Event), end func()) {
	s.index = active.New(info, nil)
	return s.index.Add, s.index.Finish
}

// learnDuring finds the intervals of a trace. If spans select events, it also builds the index.
func (s *Spans) learnDuring(info *ntconv.Info) (see func(*ntconv.Event), end func()) {
	see, end = s.during.Learn(info)
	if s.selects() {
		s.index = s.during.Spans()
	}
	return see, end
}

// link is the stage of a pass that adds labels to samples. It returns src if the trace has no spans.
func (s *Spans) link(p *pass.Pass, src ntconv.Source) ntconv.Source {
	s.pass, s.linker = p, nil
	if s.index == nil || s.index.Len() == 0 {
		return src
	}
	s.linker = active.NewLinker(src, s.index, active.LinkOptions{Use: s.evidence, Name: s.name, Sample: meters.SampleTypes(s.kind)})
	return s.linker
}

// remark returns how many samples were linked to spans, after the pass; "" if the trace has no spans.
func (s *Spans) remark(r formats.Result) string {
	switch {
	case s.linker == nil && s.pass != nil && s.pass.Unlearned:
		return fmt.Sprintf(
			"samples are not linked to spans, because the input can be read only once; --%s auto copies it to a temporary file",
			formats.FlagSpanLink,
		)
	case s.linker == nil:
		return ""
	}
	c := s.counts(r)
	if c.Samples == 0 && s.index.Evicted() == 0 {
		return ""
	}
	text := c.Describe()
	if n := s.index.Evicted(); n > 0 && !s.selects() { // otherwise Notes states it
		text += "; " + message.Count(n, "span") + " ended early because too many were open"
	}
	return text
}

// counts returns how many samples of the kind of a result were linked.
func (s *Spans) counts(r formats.Result) active.Counts {
	k, err := sample.Parse(formats.ProfileKind(r))
	if err != nil { // the output has samples of all kinds
		k = s.kind
	}
	return s.linker.Counts(meters.SampleTypes(k))
}

// Describe adds the result of linking samples to a summary.
func (s *Spans) Describe(sum *pass.Summary) {
	sum.Result.Remark(s.remark(sum.Result))
	if s.linker == nil {
		return
	}
	c := s.counts(sum.Result)
	sum.Links = &pass.Links{Samples: c.Samples, Label: c.Label, Activity: c.Activity, Thread: c.Thread, Evicted: s.index.Evicted()}
}

// Keep implements selection.During.
func (s *Spans) Keep(e *ntconv.Event) bool { return s.during.Keep(e, s.evidence) }

// String implements selection.During.
func (s *Spans) String() string { return s.during.String() }

// Notes implements selection.During.
func (s *Spans) Notes() []string { return s.during.Notes() }
