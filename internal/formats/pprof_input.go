package formats

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/pprof"
	"github.com/spf13/pflag"
)

const (
	flagSampleType  = "sample-type"
	flagLabelFrames = "label-frames"
)

// A pprofOpener has the flags that say how profiles become traces.
type pprofOpener struct {
	sampleType  string
	labelFrames []string
	mu          sync.Mutex      // guards labels: profiles may be read at the same time
	labels      map[string]bool // keys of labels of the profiles that were read, noted if labelFrames is not empty
}

func bindPprofInput(flags *pflag.FlagSet) Opener {
	o := &pprofOpener{labels: map[string]bool{}}
	flags.StringVar(
		&o.sampleType,
		flagSampleType,
		"",
		"of a profile: `name` of the value that viewers show (default: the profile's own)",
	)
	flags.StringSliceVar(
		&o.labelFrames,
		flagLabelFrames,
		nil,
		"of a profile: labels with these `keys` become the outermost frames of stacks, as thread,endpoint",
	)
	return o
}

// A FlagError says that the value of a flag does not fit an input.
type FlagError struct{ text string }

func (e *FlagError) Error() string { return e.text }

// Setting returns the text for programs that set the values of flags by their names without hyphens.
func (e *FlagError) Setting() string {
	return "setting " + strings.ReplaceAll(strings.TrimPrefix(e.text, "--"), " --", " ")
}

// MissingSampleType returns the error of a flag --sample-type that names none of those that a profile has.
func MissingSampleType(name string, has []string) error {
	return &FlagError{
		fmt.Sprintf("--%s %s: the profile has no such type; it has %s", flagSampleType, name, strings.Join(has, ", ")),
	}
}

func (p *pprofOpener) Open(in Input, o *ReadOptions) (ntconv.Source, error) {
	r, err := in.Stream()
	if err != nil {
		return nil, err
	}
	opts := pprof.Options{SampleType: p.sampleType, LabelFrames: p.labelFrames, Report: o.Report}
	opts.Limits.Stack = o.stackDepth(opts.Limits.Defaults().Stack)
	if len(p.labelFrames) > 0 {
		opts.OnLabel = p.sawLabel
	}
	src, err := pprof.New(r, &opts)
	var missing *pprof.SampleTypeError
	if errors.As(err, &missing) {
		err = MissingSampleType(missing.Name, missing.Has)
	}
	return src, err
}

func (p *pprofOpener) sawLabel(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.labels[key] = true
}

func (p *pprofOpener) Notes() (notes []string) {
	has := "there are none"
	if keys := slices.Sorted(maps.Keys(p.labels)); len(keys) > 0 {
		has = "there are " + firstKeys(keys)
	}
	for _, key := range p.labelFrames {
		if !p.labels[key] {
			notes = append(notes, fmt.Sprintf("--%s: no sample has a label %s; %s", flagLabelFrames, key, has))
		}
	}
	return notes
}
