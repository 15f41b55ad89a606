package formats

import (
	"errors"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span/active"
	"github.com/ntconv/ntconv/sample"
	"github.com/spf13/pflag"
)

// SpanLabels determines which samples get labels of the span that was active when the sample was taken.
type SpanLabels struct {
	Use      active.Evidence // evidence that may link a sample to a span; 0 means that no labels are added
	Name     bool            // also add the name of the span
	Kind     sample.Kind     // of the samples that get labels
	Explicit bool            // a flag asks for labels, so their absence is worth a note
}

// Names of the flags that link samples to spans.
const (
	FlagSpanLink = "span-link"
	FlagSpanName = "span-name"
)

// bindSpanLabels defines the flags that link samples to spans. Call the result after the flags are parsed.
func bindSpanLabels(flags *pflag.FlagSet) func() *SpanLabels {
	o := &SpanLabels{Use: active.All}
	bindSpanLink(flags, &o.Use)
	flags.BoolVar(&o.Name, FlagSpanName, false, "also label samples with the name of their span")
	return func() *SpanLabels {
		set := *o
		set.Explicit = flags.Changed(FlagSpanLink) && set.Use != 0 || set.Name
		return &set
	}
}

// bindSpanLink defines --span-link, which selects the evidence that may link a sample to a span.
func bindSpanLink(flags *pflag.FlagSet, use *active.Evidence) {
	*use = active.All
	flags.Var((*evidenceValue)(use), FlagSpanLink, "evidence that links a sample to the active span: label (its own labels), "+
		"activity (its activity ID), thread (the span that was active on its thread); comma-separated; auto tries them in this order")
}

// spanLookahead returns the pass that records when each span was active. Most recordings show an Activity only when it
// ends, but samples and intervals within it need its IDs earlier. found receives what returns the span of an
// event. again means that the user asks for links, so the input must be readable twice.
func spanLookahead(use active.Evidence, again bool, found func(*activeSpans)) Lookahead {
	learn := func(info *ntconv.Info) (see func(*ntconv.Event), end func()) {
		index := active.New(info, nil)
		return index.Add, func() {
			index.Finish()
			found(&activeSpans{index: index, use: use})
		}
	}
	return Lookahead{Learn: learn, Shows: active.NewDetector().Shows, Again: again}
}

// activeSpans find the spans that were active when events were recorded.
type activeSpans struct {
	index *active.Index
	use   active.Evidence
	last  active.Found
}

// find returns the IDs of the span that was active when an event was recorded.
func (s *activeSpans) find(e *ntconv.Event) (traceID [16]byte, spanID [8]byte, ok bool) {
	s.last, ok = s.index.Find(e, s.use)
	return s.last.TraceID, s.last.ID, ok
}

// evidence names the evidence for the span that find returned last.
func (s *activeSpans) evidence() string { return s.last.Evidence.String() }

// An evidenceValue is a flag for auto, off or a list of kinds of evidence.
type evidenceValue active.Evidence

var errEvidence = errors.New("want auto, off, or a list of label, activity, thread")

func (v *evidenceValue) Set(s string) error {
	switch s {
	case "auto":
		*v = evidenceValue(active.All)
		return nil
	case "off":
		*v = 0
		return nil
	}
	*v = 0
	for _, name := range strings.Split(s, ",") {
		one, ok := active.ParseEvidence(name)
		if !ok {
			return errEvidence
		}
		*v |= evidenceValue(one)
	}
	return nil
}

func (v *evidenceValue) String() string {
	switch active.Evidence(*v) {
	case active.All:
		return "auto"
	case 0:
		return "off"
	}
	return active.Evidence(*v).String()
}

// Type returns the names separated by "|", which the help shows in place of a type.
func (v *evidenceValue) Type() string { return "auto|off|label|activity|thread" }
