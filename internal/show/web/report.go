package web

import (
	"strconv"
	"strings"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/sample"
)

// TopOptions selects the contents of a report. The zero value lists all functions, sorted by their own values of the
// default sample type.
type TopOptions struct {
	Filter            // percentages refer to all samples regardless
	Count      int    // maximum number of functions; 0 means no limit
	Cum        bool   // sort by cumulative values
	SampleType string // NAME, or NAME#2 for the second one with that name; "" means the default of the profile
}

// args returns the options as arguments of pprof. It states all of them, because the driver keeps the settings of its
// last run.
func (o *TopOptions) args() []string {
	order, smallest, thinnest := "-flat", "0.005", "0.001" // fractions of the total; pprof's defaults
	if o.Cum {
		order = "-cum"
	}
	if o.Count == 0 {
		smallest, thinnest = "0", "0"
	}
	return append(
		o.Filter.args(),
		"-nodecount="+strconv.Itoa(o.Count), "-nodefraction="+smallest, "-edgefraction="+thinnest, order,
		"-sample_index="+o.SampleType, "-unit=minimum",
	)
}

// A SampleTypeError means that the profile lacks a sample type.
type SampleTypeError struct {
	Name string   // of the missing sample type
	Has  []string // names of the sample types of the profile, printable
}

// Error implements error.
func (e *SampleTypeError) Error() string {
	return "no sample type " + strconv.Quote(e.Name) + " in the profile; want one of " + strings.Join(e.Has, ", ")
}

// Top returns the report of go tool pprof -top, except that units of 1024 bytes have their own name, KiB. All
// characters in it are printable, and each name stays on its line, because Top escapes the names in p. unmatched is
// that of Select. The error is a *SampleTypeError, a *NoMatchError, or an error of the driver, for example for an
// invalid expression. Top takes ownership of p. It is not safe for concurrent use, because the driver has global
// settings.
func Top(p *profile.Profile, o *TopOptions) (report string, unmatched []string, err error) {
	escapeNames(p)
	nameTypes(p)
	if _, err := sampleIndex(p, o.SampleType); err != nil {
		return "", nil, err
	}
	data, unmatched, err := o.run(p, "-top")
	return message.Visible(string(restateColumns(data, renamed))), unmatched, err
}

// sampleIndex returns the index of a sample type by its name. The error is a *SampleTypeError with printable names.
func sampleIndex(p *profile.Profile, name string) (int, error) {
	index, err := p.SampleIndexByName(name)
	if err == nil {
		return index, nil
	}
	missing := &SampleTypeError{Name: name}
	for _, t := range p.SampleType {
		missing.Has = append(missing.Has, message.Line(t.Type))
	}
	return 0, missing
}

// nameTypes makes the names of the sample types distinct, because the driver rejects profiles with equal names.
func nameTypes(p *profile.Profile) {
	types := make([]sample.Type, len(p.SampleType))
	for i, t := range p.SampleType {
		types[i] = sample.Type{Type: t.Type, Unit: t.Unit}
	}
	for i, name := range imported.TypeNames(types) {
		p.SampleType[i] = &profile.ValueType{Type: name, Unit: types[i].Unit}
	}
}

// escapeNames escapes line feeds and other unprintable characters in all strings that a report shows.
func escapeNames(p *profile.Profile) {
	for _, f := range p.Function {
		f.Name = message.Line(f.Name)
	}
	for _, m := range p.Mapping {
		m.File = message.Line(m.File)
	}
	for _, t := range p.SampleType {
		t.Type, t.Unit = message.Line(t.Type), message.Line(t.Unit)
	}
	p.DefaultSampleType = message.Line(p.DefaultSampleType)
	for i, c := range p.Comments {
		p.Comments[i] = message.Line(c)
	}
}
