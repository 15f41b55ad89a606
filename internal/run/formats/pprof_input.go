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

// A pprofOpener has the flags that determine how a profile becomes a trace.
type pprofOpener struct {
	sampleType  string
	labelFrames []string
	mu          sync.Mutex      // guards labels: profiles may be read concurrently
	labels      map[string]bool // label keys of all profiles read; empty without labelFrames
}

func bindPprofInput(flags *pflag.FlagSet) Opener {
	o := &pprofOpener{labels: map[string]bool{}}
	flags.StringVar(&o.sampleType, flagSampleType, "", "for a profile: `name` of the sample type that viewers show (default: as the profile states)")
	flags.StringSliceVar(&o.labelFrames, flagLabelFrames, nil,
		"for a profile: labels with these `keys` become the outermost frames of stacks, such as thread,endpoint")
	return o
}

// A FlagError means that the value of a flag does not fit the input or another flag. Its text begins with the flag.
type FlagError struct{ Text string }

func (e *FlagError) Error() string { return e.Text }

// Setting returns the text without hyphens, for library users who set the values by name.
func (e *FlagError) Setting() string {
	return "setting " + strings.ReplaceAll(strings.TrimPrefix(e.Text, "--"), " --", " ")
}

// MissingSampleType returns the error of a value of --sample-type that is not among the sample types that the profile
// has.
func MissingSampleType(name string, has []string) error {
	return &FlagError{fmt.Sprintf("--%s %s: the profile has no such sample type; available: %s", flagSampleType, name, strings.Join(has, ", "))}
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

// ForRun implements Opener.
func (p *pprofOpener) ForRun() Opener {
	return &pprofOpener{sampleType: p.sampleType, labelFrames: p.labelFrames, labels: map[string]bool{}}
}

// Notes returns one note per key of --label-frames that no sample has.
func (p *pprofOpener) Notes() (notes []string) {
	has := "the profile has no labels"
	if keys := slices.Sorted(maps.Keys(p.labels)); len(keys) > 0 {
		has = "available: " + firstKeys(keys)
	}
	for _, key := range p.labelFrames {
		if !p.labels[key] {
			notes = append(notes, fmt.Sprintf("--%s: no sample has the label %s; %s", flagLabelFrames, key, has))
		}
	}
	return notes
}
