package formats

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/ntconv/ntconv"
	"github.com/spf13/pflag"
)

// Openers has the Opener of each format that a command reads, with the values of the formats' own flags. Open is safe
// for concurrent use; call Notes after the last Open.
type Openers struct {
	mu   sync.Mutex // guards list and boundOpener.used
	list []*boundOpener
}

// A boundOpener is an Opener with the flags that it defined.
type boundOpener struct {
	format *Format
	flags  *pflag.FlagSet
	opener Opener
	used   bool
}

// BindOpeners defines the flags of the reading halves of the formats. A flag that exists already, defined by the
// output, is not defined again.
func BindOpeners(flags *pflag.FlagSet, table ...*Format) *Openers {
	o := new(Openers)
	for _, f := range table {
		own := pflag.NewFlagSet(f.Name, pflag.ContinueOnError)
		own.SortFlags = false
		o.list = append(o.list, &boundOpener{format: f, flags: own, opener: f.In.Bind(own)})
		own.VisitAll(func(f *pflag.Flag) {
			if flags.Lookup(f.Name) == nil {
				flags.AddFlag(f)
			}
		})
	}
	return o
}

// Open opens an input of a format. A format that is not among those of BindOpeners gets the default values of its
// flags.
func (o *Openers) Open(f *Format, in Input, opts *ReadOptions) (ntconv.Source, error) {
	return o.opener(f).Open(in, opts)
}

// opener returns the Opener of a format and marks it as used.
func (o *Openers) opener(f *Format) Opener {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.IndexFunc(o.list, func(b *boundOpener) bool { return b.format.Name == f.Name })
	if i < 0 {
		i = len(o.list)
		flags := pflag.NewFlagSet(f.Name, pflag.ContinueOnError)
		o.list = append(o.list, &boundOpener{format: f, flags: flags, opener: f.In.Bind(flags)})
	}
	o.list[i].used = true
	return o.list[i].opener
}

// Notes returns one sentence per flag without effect, and other notes on flags. Call it after all inputs have been
// read.
func (o *Openers) Notes() (notes []string) {
	for _, b := range o.list {
		if b.used {
			notes = append(notes, b.opener.Notes()...)
			continue
		}
		b.flags.VisitAll(func(f *pflag.Flag) {
			if f.Changed {
				notes = append(notes, fmt.Sprintf("--%s has no effect: no input is of format %s", f.Name, b.format.Name))
			}
		})
	}
	return notes
}

// ForRun returns Openers with the same flags for another run, which has its own Notes.
func (o *Openers) ForRun() *Openers {
	o.mu.Lock()
	defer o.mu.Unlock()
	own := new(Openers)
	for _, b := range o.list {
		own.list = append(own.list, &boundOpener{format: b.format, flags: b.flags, opener: b.opener.ForRun()})
	}
	return own
}

// A streamOpener opens a format without flags of its own.
type streamOpener func(r io.Reader, o *ReadOptions) (ntconv.Source, error)

// withoutFlags returns the function In.Bind of a format without flags of its own.
func withoutFlags(open streamOpener) func(*pflag.FlagSet) Opener {
	return func(*pflag.FlagSet) Opener { return open }
}

// Open implements Opener.
func (open streamOpener) Open(in Input, o *ReadOptions) (ntconv.Source, error) {
	r, err := in.Stream()
	if err != nil {
		return nil, err
	}
	src, err := open(r, o)
	if err != nil {
		return nil, err // a nil pointer to a reader would not be a nil Source
	}
	return src, nil
}

// Notes implements Opener.
func (open streamOpener) Notes() []string { return nil }

// ForRun implements Opener.
func (open streamOpener) ForRun() Opener { return open }

// stackDepth returns the maximum number of frames per stack for an importer whose default is def.
func (o *ReadOptions) stackDepth(def int) int {
	if o.Limits.StackDepth > 0 {
		def = o.Limits.StackDepth
	}
	if o.OutputDepth > 0 {
		return min(def, o.OutputDepth)
	}
	return def
}

// DepthNotes returns the flag that keeps more frames, if stacks lost frames to a limit on depth; else nil.
func (o *ReadOptions) DepthNotes(r *ntconv.Report) []string {
	switch {
	case r.Count(ntconv.CodeStackCut) == 0:
		return nil
	case o.OutputDepth > 0 && (o.Limits.StackDepth == 0 || o.OutputDepth <= o.Limits.StackDepth):
		return []string{o.DepthAdvice}
	}
	return []string{"raise --max-stack to keep more frames of a stack"}
}
