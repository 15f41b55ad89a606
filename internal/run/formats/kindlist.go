package formats

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/sample"
	"github.com/spf13/pflag"
)

// A kindList is the value of --kind: one kind, several, or all. The zero value is sample.Auto.
type kindList struct {
	kind    sample.Kind   // Auto if there are several
	each    []sample.Kind // several kinds; empty and not nil for all
	several bool          // a list is accepted
	samples bool          // the output has single samples of several kinds; Auto means sample.Wall, sample.CPU and sample.Imported
	text    string        // as given
}

// allKinds is the value of --kind for all kinds.
const allKinds = "all"

// severalAdvice is the next step if a command shows only one kind.
const severalAdvice = "; ntconv view shows several, ntconv to pprof writes several"

// totalsAdvice is the reason why an output of single samples cannot have a kind, and the next step.
const totalsAdvice = " has only totals, no single samples; ntconv view shows them, ntconv to pprof writes them"

// bind defines the flag.
func (l *kindList) bind(flags *pflag.FlagSet, several bool) {
	l.several = several
	usage := "profile `kind`: " + describeKinds(append([]sample.Kind{sample.Auto}, l.kinds()...))
	if several {
		usage += "; a comma-separated list or all (every kind that the trace has) writes a directory with one file per kind"
	}
	flags.Var(l, FlagKind, usage)
}

// bindProfiles defines the flag for an output of profiles in one file, which has all kinds by default.
func (l *kindList) bindProfiles(flags *pflag.FlagSet) {
	l.several = true
	flags.Var(l, FlagKind, "kinds of profiles, comma-separated: "+describeKinds(l.kinds())+" (default: all that the trace has)")
	flags.Lookup(FlagKind).DefValue = ""
}

// profileKinds returns the kinds that the flag of bindProfiles selects, nil for all that the trace has.
func (l *kindList) profileKinds() []sample.Kind {
	if l.kind != sample.Auto {
		return []sample.Kind{l.kind}
	}
	return l.each
}

// bindSamples defines the flag for an output of single samples.
func (l *kindList) bindSamples(flags *pflag.FlagSet) {
	l.several, l.samples = true, true
	flags.Var(l, FlagKind, "kinds of samples, comma-separated: "+describeKinds(l.kinds())+
		", all (all but events), or auto: wall, cpu and imported")
}

// kinds returns the kinds that the output can have.
func (l *kindList) kinds() []sample.Kind {
	if l.samples {
		return slices.DeleteFunc(sample.All(), meters.OnlyTotals)
	}
	return sample.All()
}

// describe lists kinds with their meanings.
func describeKinds(kinds []sample.Kind) string {
	var docs []string
	for _, k := range kinds {
		docs = append(docs, k.String()+" ("+k.Doc()+")")
	}
	return strings.Join(docs, ", ")
}

// sampleKinds returns the kinds of samples of an output of single samples, nil for the default.
func (l *kindList) sampleKinds() []sample.Kind {
	switch {
	case l.each == nil && l.kind == sample.Auto:
		return nil
	case l.each == nil:
		return []sample.Kind{l.kind}
	case len(l.each) == 0:
		return slices.DeleteFunc(l.kinds(), func(k sample.Kind) bool { return k == sample.Events })
	}
	return l.each
}

// Set implements pflag.Value.
func (l *kindList) Set(s string) error {
	if s == allKinds && l.several {
		l.kind, l.each, l.text = sample.Auto, []sample.Kind{}, s
		return nil
	}
	var each []sample.Kind
	for word := range strings.SplitSeq(s, ",") {
		k, err := sample.Parse(strings.TrimSpace(word))
		switch {
		case err != nil && word == allKinds && l.several:
			return fmt.Errorf("%s is not part of a list", allKinds)
		case err != nil && s == allKinds:
			return errors.New("want one kind" + severalAdvice)
		case err != nil:
			return fmt.Errorf("want %s", l.Type())
		case l.samples && meters.OnlyTotals(k):
			return errors.New(k.String() + totalsAdvice)
		case !slices.Contains(each, k):
			each = append(each, k)
		}
	}
	switch {
	case len(each) == 1:
		l.kind, l.each, l.text = each[0], nil, s
		return nil
	case !l.several:
		return fmt.Errorf("want one kind, got %d%s", len(each), severalAdvice)
	case slices.Contains(each, sample.Auto):
		return fmt.Errorf("%s selects one kind and is not part of a list", sample.Auto)
	}
	l.kind, l.each, l.text = sample.Auto, each, s
	return nil
}

// String implements pflag.Value.
func (l *kindList) String() string {
	if l.text == "" {
		return sample.Auto.String()
	}
	return l.text
}

// Type returns the names separated by "|", as choice.Type does.
func (l *kindList) Type() string {
	names := []string{sample.Auto.String()}
	for _, k := range l.kinds() {
		names = append(names, k.String())
	}
	if l.several {
		names = append(names, allKinds)
	}
	return strings.Join(names, "|")
}

// isSeveral reports whether several kinds are selected, each of which has a file of its own.
func (l *kindList) isSeveral() bool { return l.each != nil }

// selects reports whether a profile of a kind is selected by name.
func (l *kindList) selects(k sample.Kind) bool { return l.kind == k || slices.Contains(l.each, k) }

// chosen returns the kinds that are selected by name: none for auto and all.
func (l *kindList) chosen() []sample.Kind {
	if l.kind != sample.Auto {
		return []sample.Kind{l.kind}
	}
	return l.each
}

// destination returns the kind of the output for these kinds.
func (l *kindList) destination() (Destination, string) {
	if l.isSeveral() {
		return ToDir, "--" + FlagKind + " " + l.text
	}
	return ToFile, ""
}
