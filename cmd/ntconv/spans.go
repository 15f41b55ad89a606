package main

import (
	"fmt"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/select/selection"
	"github.com/ntconv/ntconv/internal/span/active"
	"github.com/ntconv/ntconv/kind"
)

// spanUse is the use of spans by a command: to select events (--during), or to label samples.
//
//	during, evidence, name  set by selectDuring and linkSpans, before the first pass
//	index                   set by learn, after which link may use it, and selection.Learn, after which Keep may
//	linker, pass            set by link for the current pass, read by remark, links and describe after it
type spanUse struct {
	during   *selection.DuringFilter // --during; nil without the flag
	evidence active.Evidence         // evidence for both uses
	name     bool                    // add the name of the span
	index    *active.Index           // nil until the input has been read for it
	kind     kind.Kind               // of the samples that get labels
	linker   *active.Linker          // of the current pass, nil if no labels are added
	pass     *pass.Pass              // the current pass, nil if there is nothing to link
}

// selectDuring adds the selection of --during to a plan. It does nothing without the flag.
func (a *app) selectDuring(plan *pass.Plan) error {
	a.spans = spanUse{evidence: active.All}
	var conditions []*selection.DuringCondition
	for _, text := range a.pick.during {
		c, err := selection.ParseDuring(text)
		if err != nil {
			return fmt.Errorf("--%s: %w", selection.DuringFlag, err)
		}
		conditions = append(conditions, c)
	}
	if len(conditions) > 0 {
		a.spans.during = selection.NewDuringFilter(conditions)
		plan.Selection.During = &a.spans
		plan.Ahead = append(plan.Ahead, &pass.Ahead{Ahead: formats.Ahead{Learn: a.spans.learnDuring}})
	}
	return nil
}

// linkSpans sets the evidence that the user has chosen, and adds labels of spans to samples if labels is set.
func (a *app) linkSpans(plan *pass.Plan, o *formats.SpanLabels, labels bool) error {
	if o.Use == 0 {
		if o.Name {
			return fmt.Errorf(
				"--%s needs samples that are linked to spans; omit --%s off",
				formats.FlagSpanName,
				formats.FlagSpanLink,
			)
		}
		if a.spans.selects() {
			return fmt.Errorf(
				"--%s needs events that are linked to spans; omit --%s off",
				selection.DuringFlag,
				formats.FlagSpanLink,
			)
		}
		return nil
	}
	a.spans.evidence, a.spans.name, a.spans.kind = o.Use, o.Name, o.Kind
	if !labels {
		return nil
	}
	if !a.spans.selects() { // otherwise selectDuring has planned the index
		plan.Ahead = append(
			plan.Ahead,
			&pass.Ahead{
				Ahead: formats.Ahead{Learn: a.spans.learn, Shows: active.NewDetector().Shows, Again: o.Explicit},
			},
		)
	}
	plan.Before = append(plan.Before, a.spans.link)
	return nil
}

// selects reports whether spans select events.
func (u *spanUse) selects() bool { return u.during != nil && u.during.NeedsSpans() }

// learn builds the index of the spans of a trace.
func (u *spanUse) learn(info *ntconv.Info) (see func(*ntconv.Event), end func()) {
	u.index = active.New(info, nil)
	return u.index.Add, u.index.Finish
}

// learnDuring finds the intervals of a trace. If spans select events, it also builds the index.
func (u *spanUse) learnDuring(info *ntconv.Info) (see func(*ntconv.Event), end func()) {
	see, end = u.during.Learn(info)
	if u.selects() {
		u.index = u.during.Spans()
	}
	return see, end
}

// link is the stage of a pass that adds labels to samples. It returns src if the trace has no spans.
func (u *spanUse) link(p *pass.Pass, src ntconv.Source) ntconv.Source {
	u.pass, u.linker = p, nil
	if u.index == nil || u.index.Len() == 0 {
		return src
	}
	u.linker = active.NewLinker(
		src,
		u.index,
		active.LinkOptions{Use: u.evidence, Name: u.name, Sample: profile.SampleTypes(u.kind)},
	)
	return u.linker
}

// remark returns how many samples were linked to spans, after the pass; "" if the trace has no spans.
func (u *spanUse) remark(r formats.Result) string {
	switch {
	case u.linker == nil && u.pass != nil && u.pass.Unlearned:
		return fmt.Sprintf(
			"samples are not linked to spans, because the input can be read only once; --%s auto copies it to a temporary file",
			formats.FlagSpanLink,
		)
	case u.linker == nil:
		return ""
	}
	c := u.counts(r)
	if c.Samples == 0 && u.index.Evicted() == 0 {
		return ""
	}
	text := fmt.Sprintf("%s of %s linked to spans", message.Group(c.Linked()), message.Count(c.Samples, "sample"))
	var by []string
	for _, e := range []struct {
		evidence active.Evidence
		samples  int64
	}{{active.Label, c.Label}, {active.Activity, c.Activity}, {active.Thread, c.Thread}} {
		if e.samples > 0 {
			by = append(by, message.Group(e.samples)+" by "+e.evidence.String())
		}
	}
	if len(by) > 0 {
		text += " (" + strings.Join(by, ", ") + ")"
	}
	if n := u.index.Evicted(); n > 0 && !u.selects() { // otherwise Notes states it
		text += "; " + message.Count(n, "span") + " ended early because too many were open"
	}
	return text
}

// links returns the counts of remark, nil if no sample could be linked.
func (u *spanUse) links(r formats.Result) *pass.Links {
	if u.linker == nil {
		return nil
	}
	c := u.counts(r)
	return &pass.Links{
		Samples:  c.Samples,
		Label:    c.Label,
		Activity: c.Activity,
		Thread:   c.Thread,
		Evicted:  u.index.Evicted(),
	}
}

// counts returns how many samples of the kind of a result were linked.
func (u *spanUse) counts(r formats.Result) active.Counts {
	k, err := kind.Parse(formats.ProfileKind(r))
	if err != nil { // the output has samples of all kinds
		k = u.kind
	}
	return u.linker.Counts(profile.SampleTypes(k))
}

// describe adds the result of linking samples to a summary.
func (u *spanUse) describe(s *pass.Summary) {
	s.Result.Remark(u.remark(s.Result))
	s.Links = u.links(s.Result)
}

// Keep implements selection.During.
func (u *spanUse) Keep(e *ntconv.Event) bool { return u.during.Keep(e, u.evidence) }

// String implements selection.During.
func (u *spanUse) String() string { return u.during.String() }

// Notes implements selection.During.
func (u *spanUse) Notes() []string { return u.during.Notes() }
