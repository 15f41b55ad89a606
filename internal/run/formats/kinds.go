package formats

import (
	"fmt"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/sample"
	"github.com/spf13/pflag"
)

// Names of the flags that select a kind of profile and its contents.
const (
	FlagKind   = "kind"
	flagTypeAs = "type-as"
	flagLabel  = "label"
	flagWeight = "weight"
)

// kindFlags are the flags that select kinds of profiles and their contents.
type kindFlags struct {
	kindList
	options sample.KindOptions
}

// bind defines the flags. several means that --kind accepts several kinds.
func (f *kindFlags) bind(flags *pflag.FlagSet, several bool) {
	f.kindList.bind(flags, several)
	f.bindOptions(flags)
}

// bindProfiles defines the flags for an output of profiles in one file, which has all kinds by default.
func (f *kindFlags) bindProfiles(flags *pflag.FlagSet) {
	f.kindList.bindProfiles(flags)
	f.bindOptions(flags)
}

// bindSamples defines the flags for an output of single samples, which can have several kinds.
func (f *kindFlags) bindSamples(flags *pflag.FlagSet) {
	f.kindList.bindSamples(flags)
	f.bindOptions(flags)
}

// bindOptions defines the flags for the contents of kinds that are computed from events.
func (f *kindFlags) bindOptions(flags *pflag.FlagSet) {
	flags.Var(&choice[sample.Subject]{&f.options.SubjectAs, []choiceValue[sample.Subject]{
		{"default", sample.SubjectDefault}, {"leaf", sample.SubjectLeaf}, {"label", sample.SubjectLabel},
	}}, flagTypeAs, "where allocated types, exception types, compiled methods, loaded types and events appear: as the "+
		"innermost frame and a label (leaf), or only as a label")
	flags.StringArrayVar(&f.options.Labels, flagLabel, nil,
		"add a label with the value of this `field` of the events, such as ExceptionMessage, or KEY=FIELD; repeatable")
	flags.StringVar(&f.options.Weight, flagWeight, "",
		"with --kind events: add up the values of this `field`, such as Size:bytes")
}

// check returns a *FlagError for values that do not fit the kind.
func (f *kindFlags) check() error {
	if f.options.Weight == "" {
		return nil
	}
	if _, _, err := sample.WeightOf(f.options.Weight); err != nil {
		return &FlagError{fmt.Sprintf("--%s: %v", flagWeight, err)}
	}
	if !f.selects(sample.Events) {
		return &FlagError{fmt.Sprintf("--%s needs --%s %s", flagWeight, FlagKind, sample.Events)}
	}
	return nil
}

// otherKinds returns a note on the kinds of profiles of the trace that a profile does not contain.
func otherKinds(others []sample.Other) []string {
	var list []string
	for _, o := range others {
		if o.Kind != sample.Events { // every trace has events
			list = append(list, CountOfKind(o.Kind, int64(o.N)))
		}
	}
	if len(list) == 0 {
		return nil
	}
	return []string{"the trace also has " + message.List(list)}
}

// CountOfKind returns the number of samples of a kind of profile with the flag that selects the kind.
func CountOfKind(k sample.Kind, n int64) string {
	return fmt.Sprintf("%s %s (--%s %s)", message.Group(n), k.Noun(n), FlagKind, k)
}

// An otherKind is a kind of profile that the trace has in addition, in the summary as JSON.
type otherKind struct {
	Kind   string `json:"kind"`
	Events int64  `json:"events"` // that are samples or begin one
}

// othersJSON returns the members of the summary for other kinds.
func othersJSON(others []sample.Other) (list []otherKind) {
	for _, o := range others {
		if o.Kind == sample.Events { // every trace has events
			continue
		}
		list = append(list, otherKind{o.Kind.String(), int64(o.N)})
	}
	return list
}
