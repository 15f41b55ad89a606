// Package formats is the one table of trace formats: how each is recognized, opened, created and documented. The command's
// help, its completions, the README's table and the test that sends every trace through every format come from it.
package formats

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
	"github.com/spf13/pflag"
)

// Names says when a format needs the names of addresses.
type Names uint8

const (
	NoNames    Names = iota // never
	NamesLast               // when the sink is closed: one pass over the input is enough
	NamesFirst              // with the first event: the input must be read twice
)

// A Format is a row of the table. Its name, extensions and Doc are what users see.
type Format struct {
	Name string
	Exts []string // lower case, with the dot; the first is the usual one
	Doc  string   // a phrase that follows "NAME: ": what is read
	// Makes is a phrase that follows "NAME: " where the format is an output: what becomes of an input.
	Makes string
	// Binary formats are not written to a terminal.
	Binary bool

	// Sniff reports whether an input that begins with head is of this format. Nil: it cannot be read.
	Sniff func(head []byte) bool
	// Hint is Sniff for formats that begin with nothing of their own: it is asked when nothing else fits.
	Hint func(head []byte) bool
	// Open returns a source over decompressed input.
	Open func(r io.Reader, o *ReadOptions) (ntconv.Source, error)

	// Ordered says that events of the format come in the order of time whatever order is asked for.
	Ordered bool
	// Create defines the flags of the format's sink and returns its constructor, to be called after they are parsed.
	// Nil: it cannot be written.
	Create func(flags *pflag.FlagSet) CreateFunc
	Names  Names
	// Reading defines flags that say how inputs are read for this output. Nil: none.
	Reading func(flags *pflag.FlagSet, o *ReadOptions)
	// Weights says that the format holds samples and not their weights: a selection of events is written with events that state
	// them (profile.Weights).
	Weights bool
	// Merges says that several inputs can go into one output.
	Merges bool
	// Order is the order of the events that the format is made of where the user names none.
	Order reader.Order
	// AnyOrder says that events may come in another order where reading is quicker so: a sink of the format tells in the end
	// whether that may have changed the output, see ntconv.OrderSensitive.
	AnyOrder bool
	// StackDepth is how many frames of a stack the usual readers of the format take. 0: any number.
	StackDepth int
	// Advice tells users of traces that hold nothing for the format how to record one that does.
	Advice string
	// Examples are the arguments of "ntconv to NAME" for its help, each with a remark.
	Examples []Example
}

// An Example is a command line for the help of a verb.
type Example struct{ Remark, Line string }

// A CreateFunc makes a sink that writes to w.
type CreateFunc func(w io.Writer, info *ntconv.Info, t *Target) (Sink, error)

// A Target is what a sink may ask the command for.
type Target struct {
	Namer  ntconv.Namer
	Report *ntconv.Report
	// Comments say what made the output, from what, for formats that have a place for them.
	Comments []string
	// Span tells when all events have come from when to when was recorded what they were selected from. It may be nil.
	Span func() (first, last ntconv.Ticks, ok bool)
	// Ordered says that events come in the order of time, and Filtered that some may be missing because nobody wants them.
	Ordered, Filtered bool
	// Uncompressed asks for output without a compression that the format usually has.
	Uncompressed bool
}

// A Sink is a sink that can tell what came of the events.
type Sink interface {
	ntconv.Sink
	// Result is valid after Close.
	Result() Result
}

// Result is what a sink has made.
type Result struct {
	// Items counts what the output holds, in the format's own unit, and Unit names one: "sample". An output without
	// items is empty, which a user hardly wanted.
	Items  int64
	Unit   string
	Events int64    // events that went into them
	Kind   string   // which of the things that the format can hold it holds; "" if there is one only
	Detail string   // what else people should know; "" if there is nothing
	Notes  []string // on flags of Create that had no effect
}

// NamesFlag defines the flag that chooses how methods are spelled, for formats that need names.
func NamesFlag(flags *pflag.FlagSet) *symbol.Options {
	o := new(symbol.Options)
	flags.Var(&choice[symbol.Names]{
		value:   &o.Names,
		choices: []named[symbol.Names]{{"pretty", symbol.NamesPretty}, {"raw", symbol.NamesRaw}},
	}, "names", "spelling of methods: pretty as in C#, raw as the runtime records them")
	return o
}

// All returns the table.
func All() []*Format { return []*Format{nettrace(), netperf(), pprofFormat()} }

// Readable returns the formats that can be opened.
func Readable() []*Format {
	return slices.DeleteFunc(All(), func(f *Format) bool { return f.Open == nil })
}

// Writable returns the formats that can be created.
func Writable() []*Format {
	return slices.DeleteFunc(All(), func(f *Format) bool { return f.Create == nil })
}

// ByName returns a format of the table, or nil.
func ByName(table []*Format, name string) *Format {
	for _, f := range table {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// ByFile returns the format of the table whose extension a file has, the longest one if several fit, or nil.
func ByFile(table []*Format, file string) *Format {
	f, _ := byExt(table, file)
	return f
}

// CutExt returns a file's name without the extension that it has of the table, the longest one if several fit, and whether it
// has one.
func CutExt(table []*Format, file string) (string, bool) {
	f, n := byExt(table, file)
	return file[:len(file)-n], f != nil
}

// byExt returns the format of a file by its extension, and the length of that.
func byExt(table []*Format, file string) (best *Format, longest int) {
	base := strings.ToLower(filepath.Base(file))
	for _, f := range table {
		for _, ext := range f.Exts {
			if len(ext) > longest && len(base) > len(ext) && strings.HasSuffix(base, ext) {
				best, longest = f, len(ext)
			}
		}
	}
	return best, longest
}

// List returns the names and extensions of formats for messages: "nettrace (.nettrace), netperf (.netperf)".
func List(table []*Format) string {
	var parts []string
	for _, f := range table {
		parts = append(parts, f.Name+" ("+strings.Join(f.Exts, ", ")+")")
	}
	return strings.Join(parts, ", ")
}
