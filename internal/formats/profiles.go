package formats

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/pprof"
	"github.com/spf13/pflag"
)

const (
	flagSampleType  = "sample-type"
	flagLabelFrames = "label-frames"
)

// BindProfile defines the flags that say how profiles become traces.
func (o *ReadOptions) BindProfile(flags *pflag.FlagSet) {
	flags.StringVar(&o.SampleType, flagSampleType, "", "of a profile: `name` of the value that viewers show (default: the profile's own)")
	flags.StringSliceVar(&o.LabelFrames, flagLabelFrames, nil, "of a profile: labels with these `keys` become the outermost frames of stacks, as thread,endpoint")
	o.profiles = &profilesRead{labels: map[string]bool{}}
}

// profilesRead is what the profiles were that were read.
type profilesRead struct {
	any    bool
	labels map[string]bool // their keys, noted if LabelFrames asks for some
}

// A FlagError says that the value of a flag does not fit an input.
type FlagError struct{ text string }

func (e *FlagError) Error() string { return e.text }

// MissingSampleType returns the error of a flag --sample-type that names none of those that a profile has.
func MissingSampleType(name string, has []string) error {
	return &FlagError{fmt.Sprintf("--%s %s: the profile has no such type; it has %s", flagSampleType, name, strings.Join(has, ", "))}
}

func openPprof(r io.Reader, o *ReadOptions) (ntconv.Source, error) {
	opts := pprof.Options{SampleType: o.SampleType, LabelFrames: o.LabelFrames, Report: o.Report}
	opts.Limits.Stack = o.stackDepth()
	if p := o.profiles; p != nil {
		p.any = true
		if len(o.LabelFrames) > 0 {
			opts.OnLabel = func(key string) { p.labels[key] = true }
		}
	}
	src, err := pprof.New(r, &opts)
	var missing *pprof.SampleTypeError
	if errors.As(err, &missing) {
		err = MissingSampleType(missing.Name, missing.Has)
	}
	return src, err
}

// stackDepth returns how many frames of a stack are read; 0 is the reader's default.
func (o *ReadOptions) stackDepth() int {
	n := o.Limits.StackDepth
	if n == 0 {
		n = (pprof.Limits{}).Defaults().Stack
	}
	if o.OutputDepth > 0 {
		n = min(n, o.OutputDepth)
	}
	return n
}

// Notes tells, when all inputs were read, which flag would have kept frames that were cut off, and which flags of BindProfile had no
// effect.
func (o *ReadOptions) Notes() []string {
	notes, p := o.cutNotes(), o.profiles
	if p == nil {
		return notes
	}
	if !p.any {
		for _, f := range []struct {
			name  string
			given bool
		}{{flagSampleType, o.SampleType != ""}, {flagLabelFrames, len(o.LabelFrames) > 0}} {
			if f.given {
				notes = append(notes, "--"+f.name+" has no effect: no input is a profile")
			}
		}
		return notes
	}
	return append(notes, o.labelNotes()...)
}

// cutNotes tells what to do about stacks that were cut.
func (o *ReadOptions) cutNotes() []string {
	switch {
	case o.Report.Count(ntconv.CodeStackCut) == 0:
		return nil
	case o.OutputDepth > 0 && o.stackDepth() == o.OutputDepth:
		return []string{fmt.Sprintf("--allow-large keeps more than %d frames of a stack, up to --max-stack, for readers other than Microsoft's", o.OutputDepth)}
	}
	return []string{"--max-stack keeps more frames of a stack"}
}

// labelNotes tells which labels are on no sample.
func (o *ReadOptions) labelNotes() (notes []string) {
	p := o.profiles
	has := "there are none"
	if keys := slices.Sorted(maps.Keys(p.labels)); len(keys) > 0 {
		has = "there are " + firstKeys(keys)
	}
	for _, key := range o.LabelFrames {
		if !p.labels[key] {
			notes = append(notes, fmt.Sprintf("--%s: no sample has a label %s; %s", flagLabelFrames, key, has))
		}
	}
	return notes
}
