package web

import (
	"bytes"
	"slices"
	"strings"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"
)

// A Filter selects samples by their functions and labels, as the options of go tool pprof with the same names do. The
// zero value keeps all samples unchanged.
//
// TagFocus and TagIgnore match labels: KEY=REGEXP matches values of one key, REGEXP matches "key:value" of any label,
// and a range (KEY=MIN:MAX, KEY=MIN:, KEY=:MAX, or KEY=NUMBER), with units if the label has some, matches numbers.
type Filter struct {
	Focus     string // keep only samples with a function that matches this regular expression
	TagFocus  string // keep only samples with a matching label
	TagIgnore string // drop samples with a matching label
	TagRoot   string // keys, comma-separated, whose values become the outermost frames of each stack
	TagLeaf   string // keys, comma-separated, whose values become the innermost frames of each stack
}

// UsesLabels reports whether the result of the filter depends on labels of samples.
func (f *Filter) UsesLabels() bool {
	return f.TagFocus != "" || f.TagIgnore != "" || f.TagRoot != "" || f.TagLeaf != ""
}

// args returns the filter as arguments of pprof.
func (f *Filter) args() []string {
	return []string{
		"-focus=" + f.Focus, "-tagfocus=" + f.TagFocus, "-tagignore=" + f.TagIgnore, "-tagroot=" + f.TagRoot,
		"-tagleaf=" + f.TagLeaf,
	}
}

// A NoMatchError means that no sample matches Focus or TagFocus.
type NoMatchError struct {
	Option     string // of pprof: "focus" or "tagfocus"
	Expression string
}

// Error implements error.
func (e *NoMatchError) Error() string {
	return "--" + e.Option + " " + e.Expression + ": no sample matches"
}

// noMatch is the end of the driver's message about an option that no sample matches.
const noMatch = " expression matched no samples"

// unmatched returns the options of a filter that match no sample, in pprof's spelling. The error is a *NoMatchError if
// this leaves no sample.
func (f *Filter) unmatched(ui *driverUI) (options []string, err error) {
	for _, text := range ui.errs {
		option, ok := strings.CutSuffix(text, noMatch)
		if !ok {
			continue // remarks on units and ranges
		}
		switch option = strings.ToLower(option); option {
		case "focus":
			return nil, &NoMatchError{option, f.Focus}
		case "tagfocus":
			return nil, &NoMatchError{option, f.TagFocus}
		}
		options = append(options, option)
	}
	return options, nil
}

// Select returns a profile of the samples that f keeps; it is p if f is the zero value. unmatched lists the options of
// f, such as "tagignore", that had no effect because no sample matches them. The error is a *NoMatchError if no sample
// is left for this reason, or an error of the driver, for example for an invalid expression. Select takes ownership of
// p. It is not safe for concurrent use, because the driver has global settings.
func Select(p *profile.Profile, f *Filter) (selected *profile.Profile, unmatched []string, err error) {
	if *f == (Filter{}) {
		return p, nil, nil
	}
	types, defaultType := slices.Clone(p.SampleType), p.DefaultSampleType
	nameTypes(p)
	o := &TopOptions{Filter: *f}
	data, unmatched, err := o.run(p, "-proto")
	if err != nil {
		return nil, nil, err
	}
	if selected, err = profile.ParseData(data); err != nil {
		return nil, nil, err
	}
	selected.SampleType, selected.DefaultSampleType = types, defaultType
	return selected, unmatched, nil
}

// run returns the driver's report on a profile, whose sample types must have distinct names.
func (o *TopOptions) run(
	p *profile.Profile, command string, more ...string,
) (data []byte, unmatched []string, err error) {
	var report bytes.Buffer
	ui := &driverUI{}
	options := driverOptions(p, ui, append(append(o.args(), more...), command, "-output=report")...)
	options.Writer = driverWriter{&report}
	if err := driver.PProf(options); err != nil {
		return nil, nil, err
	}
	if unmatched, err = o.Filter.unmatched(ui); err != nil {
		return nil, nil, err
	}
	return report.Bytes(), unmatched, nil
}
