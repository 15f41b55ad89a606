// Package formats is the one table of trace formats: how each is recognized, opened, created and documented. The
// command's help, its completions, the README's table and the test that sends every trace through every format come
// from it.
package formats

import (
	"io"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/iox"
	"github.com/ntconv/ntconv/reader"
	"github.com/spf13/pflag"
)

// A Format is a row of the table. Its name, extensions and Doc are what users see. A half that does not exist is nil.
type Format struct {
	Name string
	Exts []string // lower case, with the dot; the first is the usual one
	Doc  string   // a phrase that follows "NAME: ": what its files hold
	In   *In
	Out  *Out
}

// An In is the reading half of a format.
type In struct {
	// Sniff reports whether an input that begins with head is of this format. Nil if the format has no magic number.
	Sniff func(head []byte) bool
	// Hint is Sniff for formats without a magic number. Detect calls it with HeadSize bytes, or all that there are,
	// when no Sniff matches and the input is nothing else that is known.
	Hint func(head []byte) bool
	// SniffDir reports whether a directory with these members is of this format. Nil if no directory is.
	SniffDir func(members []string) bool
	// Ordered means that events of the format come in time order regardless of the order that is asked for.
	Ordered bool
	// Profile reports whether an input with this Info is a profile: its samples may be added up and in any order, because
	// their times are synthetic or labels. Nil if no input is.
	Profile func(*ntconv.Info) bool
	// Bind defines the flags of the format's inputs and returns what opens them once the flags are parsed.
	Bind func(flags *pflag.FlagSet) Opener
	// Needed means that some inputs can be read only with flags of the format, so every command that reads a trace has
	// them.
	Needed bool
	// NoBytes describes an empty file that has an extension of the format: what it is and what to do. Empty if that is
	// nothing special.
	NoBytes Advice
	// NoEvents describes an input without events. Its next step also applies to an input that holds nothing for an
	// output, unless the input is Recorded.
	NoEvents Advice
	// Recorded means that tools of .NET record this format, so Out.Advice, which says how to use them, applies.
	Recorded bool
}

// allProfiles is In.Profile of formats whose inputs are all profiles.
func allProfiles(*ntconv.Info) bool { return true }

// Advice is a finding and what users can do about it.
type Advice struct{ Text, Next string }

// An Opener opens inputs of a format with the values of the flags that its In defined.
type Opener interface {
	// Open returns a source over an input. The input stays the caller's to close, after the last use of the source.
	Open(in Input, o *ReadOptions) (ntconv.Source, error)
	// Notes returns what users should know about flags once all inputs have been read, such as flags without effect. It
	// is called only if an input of this format was opened.
	Notes() []string
}

// An Input is what a format can ask of an input.
type Input interface {
	// Name returns the name as the user wrote it.
	Name() string
	// Stream returns the decompressed content from its beginning. The Input closes it.
	Stream() (io.Reader, error)
	// Again reports whether Stream can be called more than once.
	Again() bool
	// At returns random access to the stored bytes and their number. The error wraps errors.ErrUnsupported where there
	// is none, as for a pipe or compressed data, and says what to do.
	At() (io.ReaderAt, int64, error)
	// Members returns the slash-separated names of the files of a directory, or of a file that has parts, in lexical
	// order.
	Members() ([]string, error)
	// Member returns one of them. Its parent closes it.
	Member(name string) (Input, error)
}

// Names says when a format needs symbols.
type Names uint8

const (
	NoNames    Names = iota // never
	NamesLast               // when the sink is closed: one pass over the input is enough
	NamesFirst              // with the first event: the input must be read twice
)

// An Out is the writing half of a format.
type Out struct {
	Doc    string // a phrase that follows "NAME: ": what becomes of an input
	Help   string // sentences for the help of "ntconv to NAME", in lines; "" for none
	Binary bool   // not for terminals
	Names  Names
	// Weights means that the format holds samples and not their weights: a selection is written with events that state
	// them (profile.Weights).
	Weights bool
	// Subset means that the format stores the addresses of stacks, and the events that symbolize them: a selection is
	// written with the symbols that it needs (package subset).
	Subset bool
	// Dataset means that an output, a directory, can be one of many in a dataset.
	Dataset bool
	// Merges means that several inputs can go into one output.
	Merges bool
	// Order is the order in which the events are written unless the user chooses one.
	Order reader.Order
	// AnyOrder means that events may come in file order because that is faster: the sink is an ntconv.OrderSensitive.
	AnyOrder bool
	// Live means that the sinks deliver what they make while the input is read: an input that can be read only once,
	// such as a pipe, is read in file order, because time order waits for the end of a window.
	Live bool
	// Compressions are the extensions ".gz" and ".zst" after that of the format for which sinks compress an output that
	// is one file.
	Compressions []string
	// InFlags means that flags of all reading halves make sense for the format, because it keeps what their inputs
	// hold.
	InFlags bool
	// Advice says how to record a trace that holds something for the format. It is for inputs of formats that are
	// Recorded. The command also shows what the trace holds instead, if package inventory knows it.
	Advice string
	// Examples are command lines for the help of "ntconv to NAME".
	Examples []Example
	// Bind defines the flags of the format and returns what creates its sinks once the flags are parsed.
	Bind func(flags *pflag.FlagSet) Creator
}

// An Example is a command line for the help of a command.
type Example struct{ Remark, Line string }

// A Destination is what an output consists of.
type Destination uint8

const (
	ToFile    Destination = iota // one file or standard output
	ToDir                        // a directory
	ToNothing                    // no file at all: the sink sends what it makes elsewhere, as an upload does
)

// A Creator creates sinks of a format with the values of the flags that its Out defined.
type Creator interface {
	// Create returns a sink that writes members of out. The caller commits or aborts out after the sink was closed.
	Create(out *iox.Outputs, info *ntconv.Info, t *Target) (Sink, error)
	// StackDepth returns the number of frames per stack that the usual readers of the format accept, 0 for any number,
	// and which flag lifts that limit.
	StackDepth() (frames int, advice string)
	// Destination returns what the sinks write to, and the flag that has chosen it if it is not a file.
	Destination() (d Destination, flag string)
	// Ahead returns what must be known about the whole trace before Create is called.
	Ahead() []Ahead
	// Stage returns what selected events pass before they reach the sink, nil if nothing changes them.
	Stage() func(ntconv.Source) ntconv.Source
}

// A FormChooser is a Creator whose flags decide whether its output is for terminals, instead of Out.Binary.
type FormChooser interface {
	Creator
	Binary() bool
}

// A NameChooser is a Creator whose output is one file or a directory depending on its name.
type NameChooser interface {
	Creator
	// ChooseByName is called before Destination with the name of the output, "" if the user gave none, - for standard
	// output, and whether it is an existing directory. It returns when the format needs symbols, instead of Out.Names.
	// A directory without a name is called as the input, with the extension of the format.
	ChooseByName(out string, isDir bool) Names
}

// A PerInput is a Creator that keeps what it has learned about an input. Inputs that are converted at the same time
// need one each.
type PerInput interface {
	Creator
	// ForInput returns a Creator with the same flags, which knows nothing about any input.
	ForInput() Creator
}

// An Ahead is something that must be known about the whole trace before its first event is written. It takes another
// reading of the trace, which all that must be known share.
type Ahead struct {
	// Learn begins the reading. It returns a function that sees every event, which it borrows, and one that ends the
	// reading.
	Learn func(*ntconv.Info) (see func(*ntconv.Event), end func())
	// AnyOrder means that the events may come in file order, which is faster. Otherwise they come in time order.
	AnyOrder bool
	// Optional means that an input that can be read only once is written without it.
	Optional bool
	// Symbols means that the Target has a Namer that knows all symbols before the first event.
	Symbols bool
	// Shows, if not nil, reports whether an event shows that there is something to learn. Without such an event it is
	// not learned. A pass ends at the first such event and is made again after the reading, if the input can be read
	// again. Shows borrows the event.
	Shows func(*ntconv.Event) bool
	// Again means that the input must be readable more than once although Shows is not nil.
	Again bool
}

// An Aborter is a Sink that must be told if its output is not kept and Close is not called.
type Aborter interface {
	Abort() error
}

// plain is the part of a Creator that writes one file of unchanged events with stacks of any depth.
type plain struct{}

func (plain) StackDepth() (int, string)                { return 0, "" }
func (plain) Destination() (Destination, string)       { return ToFile, "" }
func (plain) Ahead() []Ahead                           { return nil }
func (plain) Stage() func(ntconv.Source) ntconv.Source { return nil }

// A Target is what a sink may ask the command for.
type Target struct {
	// Namer is nil if Out.Names is NoNames, unless Creator.Ahead asks for symbols.
	Namer  ntconv.Namer
	Report *ntconv.Report
	// MaxTemp is the maximum size of a temporary file in bytes, 0 means no limit.
	MaxTemp int64
	// Input is the name of the input without directory, and Version that of the program.
	Input, Version string
	// Comments describe the program and the input for formats that have a place for them.
	Comments []string
	// Span returns the time range of the recording, cut to the selected time. Call it after the last event. It may be
	// nil.
	Span func() (first, last ntconv.Ticks, ok bool)
	// Ordered means that events come in time order. Filtered means that a selection may omit some.
	Ordered, Filtered bool
	// Kept reports whether a selection that Out.Subset asks for has events of the process of a thread. It is nil if
	// there is no such selection.
	Kept func(*ntconv.Thread) bool
	// Trace describes the trace if the output is part of a dataset, else it is nil.
	Trace *Trace
}

// A Trace identifies a trace among those of a dataset.
type Trace struct {
	UID     string // the beginning of a hash of its content
	Service string // name of the service that the user has given, "" to derive it from events
}

// A Sink is a sink that describes what it has written.
type Sink interface {
	ntconv.Sink
	// Result is valid after Close.
	Result() Result
}

// All returns the table.
func All() []*Format {
	return []*Format{
		Nettrace(), netperf(), pprofFormat(), foldedFormat(), otlpFormat(), parquetFormat(),
		chromeFormat(), perfettoFormat(), firefoxFormat(), speedscopeFormat(),
	}
}

// Readable returns the formats that can be read.
func Readable() []*Format {
	return slices.DeleteFunc(All(), func(f *Format) bool { return f.In == nil })
}

// Writable returns the formats that can be written.
func Writable() []*Format {
	return slices.DeleteFunc(All(), func(f *Format) bool { return f.Out == nil })
}

// Tables returns the format whose files are the tables of a trace.
func Tables() *Format {
	table := Writable()
	return table[slices.IndexFunc(table, func(f *Format) bool { return f.Out.Dataset })]
}

// ByName returns a format of the table by the name that a user wrote, or nil.
func ByName(table []*Format, name string) *Format {
	for _, f := range table {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// List returns the names and extensions of formats for messages: "nettrace (.nettrace), netperf (.netperf)".
func List(table []*Format) string {
	var parts []string
	for _, f := range table {
		parts = append(parts, f.Name+" ("+strings.Join(f.Exts, ", ")+")")
	}
	return strings.Join(parts, ", ")
}

// NamesOf returns the names of formats.
func NamesOf(table []*Format) []string {
	var names []string
	for _, f := range table {
		names = append(names, f.Name)
	}
	return names
}
