package formats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/message"
	"github.com/ntconv/ntconv/kind"
	"github.com/spf13/pflag"
)

// Names of the flags that select a kind of profile and its contents.
const (
	FlagKind   = "kind"
	flagTypeAs = "type-as"
	flagLabel  = "label"
	flagWeight = "weight"
)

// kindFlags are the flags that select a kind of profile and its contents.
type kindFlags struct {
	kind    kind.Kind
	options kind.Options
}

// bind defines the flags.
func (f *kindFlags) bind(flags *pflag.FlagSet) {
	kinds := &choice[kind.Kind]{value: &f.kind}
	var docs []string
	for _, k := range append([]kind.Kind{kind.Auto}, kind.All()...) {
		kinds.choices = append(kinds.choices, choiceValue[kind.Kind]{k.String(), k})
		docs = append(docs, k.String()+" ("+k.Doc()+")")
	}
	flags.Var(kinds, FlagKind, "profile kind: "+strings.Join(docs, ", "))
	flags.Var(&choice[kind.Subject]{&f.options.SubjectAs, []choiceValue[kind.Subject]{
		{"default", kind.SubjectDefault}, {"leaf", kind.SubjectLeaf}, {"label", kind.SubjectLabel},
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
	if _, _, err := kind.WeightOf(f.options.Weight); err != nil {
		return &FlagError{fmt.Sprintf("--%s: %v", flagWeight, err)}
	}
	if f.kind != kind.Events {
		return &FlagError{fmt.Sprintf("--%s needs --%s %s", flagWeight, FlagKind, kind.Events)}
	}
	return nil
}

// otherKinds returns a note on the kinds of profiles of the trace that a profile does not contain.
func otherKinds(others []kind.Other) []string {
	var list []string
	for _, o := range others {
		if o.Kind != kind.Events { // every trace has events
			list = append(list, fmt.Sprintf("%s %s (--%s %s)",
				message.Group(int64(o.N)), o.Kind.Noun(int64(o.N)), FlagKind, o.Kind))
		}
	}
	if len(list) == 0 {
		return nil
	}
	if n := len(list) - 1; n > 0 {
		list = append(slices.Clone(list[:n-1]), list[n-1]+" and "+list[n])
	}
	return []string{"the trace also has " + strings.Join(list, ", ")}
}
