package formats

import (
	"errors"
	"strings"

	"github.com/ntconv/ntconv/internal/span/active"
	"github.com/spf13/pflag"
)

// SpanLabels says which samples get labels of the span that was active when they were taken.
type SpanLabels struct {
	Use      active.Evidence // what may link a sample to a span; 0 means that no labels are added
	Name     bool            // add the name of the span, too
	Explicit bool            // the user has asked for labels
}

// A SpanLabeler is a Creator whose sinks have a place for labels of samples.
type SpanLabeler interface {
	Creator
	// SpanLabels returns what the flags of the format say. Call it after they were parsed.
	SpanLabels() *SpanLabels
}

// Names of the flags that link samples to spans.
const (
	FlagSpanLink = "span-link"
	FlagSpanName = "span-name"
)

// bindSpanLabels defines the flags that link samples to spans.
func bindSpanLabels(flags *pflag.FlagSet) func() *SpanLabels {
	o := &SpanLabels{Use: active.All}
	bindSpanLink(flags, &o.Use)
	flags.BoolVar(&o.Name, FlagSpanName, false, "label samples with the name of their span, too")
	return func() *SpanLabels {
		set := *o
		set.Explicit = flags.Changed(FlagSpanLink) && set.Use != 0 || set.Name
		return &set
	}
}

// bindSpanLink defines the flag that says what may link a sample to a span.
func bindSpanLink(flags *pflag.FlagSet, use *active.Evidence) {
	*use = active.All
	flags.Var(
		(*evidenceValue)(use),
		FlagSpanLink,
		"how samples are linked to the span that was active: by their own labels, by activity ID, by what was active on the thread (auto: the first of these that finds one); comma-separated",
	)
}

// An evidenceValue is a flag that takes auto, off or a list of kinds of evidence.
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

// Type returns the names, which the help shows in place of a type.
func (v *evidenceValue) Type() string { return "auto|off|label|activity|thread" }
