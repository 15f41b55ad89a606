package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// An IncompatibleError means that a base lacks the sample type that is shown of a profile.
type IncompatibleError struct {
	Has, Base []string // names and units of the sample types
	Common    []string // names of the sample types that both have
	Default   bool     // both have the sample type, but it is the default of only one of them, and the units differ
}

// Error implements error.
func (e *IncompatibleError) Error() string {
	has, base := strings.Join(e.Has, ", "), strings.Join(e.Base, ", ")
	return fmt.Sprintf("the sample types differ: %s, and %s in the base", has, base)
}

// Difference returns the samples of p minus those of base, as go tool pprof -base does, for the sample types that both
// have. The shown sample type must be among them: the one with the given name, or the default of p if the name is "".
// Equal samples with equal values disappear. The time and the duration are those of p.
//
// Percentages of reports refer to the total of the absolute values. This is nearly the total of both profiles if labels
// or addresses differ, as those of two processes do. If relative is set, percentages refer to the total of base, as
// with go tool pprof -diff_base: the samples of base then have the label "pprof::base", and no samples disappear.
//
// The error is an *IncompatibleError, or one of merging invalid profiles. Difference takes ownership of both profiles.
func Difference(p, base *profile.Profile, sampleType string, relative bool) (*profile.Profile, error) {
	if _, _, err := SharedType(p, base, sampleType); err != nil {
		return nil, err
	}
	incompatible := newIncompatible(p, base)
	if err := profile.CompatibilizeSampleTypes([]*profile.Profile{p, base}); err != nil {
		return nil, err
	}
	if !slices.Equal(typeNames(p), typeNames(base)) { // equal names with different units
		return nil, incompatible
	}
	if p.PeriodType == nil {
		p.PeriodType = &profile.ValueType{}
	}
	base.PeriodType, base.Period = p.PeriodType, p.Period // Merge requires equal period types
	base.DefaultSampleType = p.DefaultSampleType
	if relative {
		base.SetLabel("pprof::base", []string{"true"})
	}
	for _, s := range base.Sample {
		for i := range s.Value {
			s.Value[i] = -s.Value[i]
		}
	}
	d, err := profile.Merge([]*profile.Profile{p, base})
	if err != nil {
		return nil, err
	}
	d.TimeNanos, d.DurationNanos = p.TimeNanos, p.DurationNanos
	return d, nil
}

// SharedType returns the index of a sample type in two profiles: the one with the given name, or the default of p if
// the name is "". It makes the names of the sample types distinct. The error is an *IncompatibleError if base or p
// lacks it, or if the name is "" and their defaults have different units: the values may then have nothing in common.
func SharedType(p, base *profile.Profile, name string) (of, ofBase int, err error) {
	nameTypes(p)
	nameTypes(base)
	incompatible := newIncompatible(p, base)
	of, err = p.SampleIndexByName(name) // profiles of other kinds may also count samples
	if err != nil {
		return 0, 0, incompatible
	}
	if name == "" && len(p.SampleType) > 0 && len(base.SampleType) > 0 {
		if d, err := base.SampleIndexByName(""); err == nil && base.SampleType[d].Unit != p.SampleType[of].Unit {
			incompatible.Default = true
			return 0, 0, incompatible
		}
	}
	if ofBase = slices.Index(incompatible.Base, incompatible.Has[of]); ofBase < 0 {
		return 0, 0, incompatible
	}
	return of, ofBase, nil
}

// newIncompatible returns the error for profiles whose sample types do not fit.
func newIncompatible(p, base *profile.Profile) *IncompatibleError {
	e := &IncompatibleError{Has: typeNames(p), Base: typeNames(base)}
	for i, name := range e.Has {
		if slices.Contains(e.Base, name) {
			e.Common = append(e.Common, p.SampleType[i].Type)
		}
	}
	return e
}

// typeNames returns the sample types as name and unit.
func typeNames(p *profile.Profile) (names []string) {
	for _, t := range p.SampleType {
		names = append(names, t.Type+"/"+t.Unit)
	}
	return names
}
