// Package formats is the table of trace formats: how each format is recognized, opened, created and documented. The
// help of the command, its completions, the table in README.md and the test that sends every trace through every format
// are derived from it.
package formats

import (
	"io"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/reader"
	"github.com/spf13/pflag"
)

// A Format is a row of the table. In is nil if the format cannot be read, Out if it cannot be written.
type Format struct {
	Name string
	Exts []string // lower case, with the dot; the first is the default
	Doc  string   // a phrase that follows "NAME: ": the contents of its files
	In   *In
	Out  *Out
}

// An In is the reading half of a format.
type In struct {
	// Sniff reports whether an input that begins with head is of this format. Nil if the format has no magic number.
	Sniff func(head []byte) bool
	// Hint is Sniff for formats without a magic number. Detect calls it with HeadSize bytes, or the whole input if that
	// is shorter, if no Sniff matches and the input is not a known unsupported file.
	Hint func(head []byte) bool
	// SniffDir reports whether a directory with these members is of this format. Nil if no directory is.
	SniffDir func(members []string) bool
	// Archive means that SniffDir also decides whether a zip archive with these members is of this format.
	Archive bool
	// Random means that inputs are read at any offset. Pipes and compressed files are copied to a temporary file.
	Random bool
	// Ordered means that events of the format come in time order regardless of ReadOptions.Order.
	Ordered bool
	// Profile reports whether an input with this Info is a profile: its samples may be added up in any order, because
	// their times are synthetic or labels. Nil if no input is a profile.
	Profile func(*ntconv.Info) bool
	// Bind defines the flags of the format's inputs and returns what opens them once the flags are parsed.
	Bind func(flags *pflag.FlagSet) Opener
	// Needed means that some inputs can be read only with flags of the format, so every command that reads traces
	// defines them.
	Needed bool
	// NoBytes describes an empty file with an extension of the format. The zero value selects a general description.
	NoBytes Advice
	// NoEvents describes an input without events. Its next step also applies if an output finds nothing in the input,
	// unless the input is Recorded.
	NoEvents Advice
	// Recorded means that tools of .NET record this format, so Out.Advice applies.
	Recorded bool
}

// allProfiles is In.Profile of formats whose inputs are all profiles.
func allProfiles(*ntconv.Info) bool { return true }

// Advice is a finding and the next step for the user.
type Advice struct{ Text, Next string }

// An Opener opens the inputs of one run with the values of the flags that In.Bind defined.
type Opener interface {
	// Open returns a source that reads in. The caller closes in after the last use of the source.
	Open(in Input, o *ReadOptions) (ntconv.Source, error)
	// Notes returns remarks on flags, such as flags without effect, after all inputs have been read. It is called only
	// if an input of this format was opened.
	Notes() []string
	// ForRun returns an Opener with the same flags for another run, which has its own Notes.
	ForRun() Opener
}

// An Input is the view of an input that an Opener gets.
type Input interface {
	// Name returns the name of the input for messages, as the user wrote it.
	Name() string
	// Stream returns the decompressed content from its beginning. Closing the input closes the stream.
	Stream() (io.Reader, error)
	// Rereadable reports whether Stream can be called more than once.
	Rereadable() bool
	// At returns random access to the stored bytes, and their number. For pipes and compressed data, the error wraps
	// errors.ErrUnsupported and says what to do.
	At() (io.ReaderAt, int64, error)
	// Members returns the slash-separated names of the files of a directory, or of a file that has parts, in lexical
	// order. For other inputs the error wraps errors.ErrUnsupported.
	Members() ([]string, error)
	// Member opens the member with that name. Closing the parent closes it.
	Member(name string) (Input, error)
}

// Names is the time when a format needs symbols.
type Names uint8

const (
	NoNames    Names = iota // never
	NamesLast               // when the sink is closed: one pass over the input is enough
	NamesFirst              // with the first event: the input is read twice
)

// An Out is the writing half of a format.
type Out struct {
	Doc    string // a phrase that follows "NAME: ": the contents of the output
	Help   string // sentences for the help of "ntconv to NAME", wrapped; may be ""
	Binary bool   // the output must not go to a terminal
	// Needs is what an output needs of the pass that writes it, unless its settings or its name determine it.
	Needs Needs
	// Dataset means that an output directory can be one trace of a dataset.
	Dataset bool
	// Merges means that several inputs can be merged into one output.
	Merges bool
	// Compares means that an output of two inputs compares them: see Target.Compared.
	Compares bool
	// Compressions are the extensions, ".gz" and ".zst", that an output file may have after that of the format and for
	// which the sinks compress it.
	Compressions []string
	// InFlags means that the command defines the flags of all readable formats, because the output keeps the contents
	// of their inputs.
	InFlags bool
	// Advice says how to record a trace with contents for the format. It applies to inputs that are Recorded. The
	// command adds what the trace contains instead, if package inventory knows it.
	Advice string
	// Examples are command lines for the help of "ntconv to NAME", each preceded by a remark.
	Examples []string
	// Bind defines the flags of the format. Call the result after the flags are parsed.
	Bind func(flags *pflag.FlagSet) Settings
}

// Needs is what an output needs of the pass that writes it.
type Needs struct {
	Names Names
	// Order is the order in which the events are written unless the user chooses one.
	Order reader.Order
	// AnyOrder means that events may come in file order, which is faster. The sink is an ntconv.OrderSensitive.
	AnyOrder bool
	// Live means that the sinks deliver output while the input is read. An input that can be read only once, such as a
	// pipe, is then read in file order, because time order waits for the end of a window.
	Live bool
	// Weights means that the format stores samples without their weights: a selection is written with events that state
	// the weights (rounds.Weights).
	Weights bool
	// Subset means that the format stores stacks as addresses, with events that symbolize them: a selection is written
	// with the symbols that it needs (split.Filter).
	Subset bool
	// StackDepth is the maximum number of frames per stack that the usual readers of the format accept, 0 for no limit.
	// DepthAdvice names the flag that lifts this limit.
	StackDepth  int
	DepthAdvice string
	// Spans, if not nil, determines which samples get labels of spans.
	Spans *SpanLabels
	// Lookaheads lists the readings of the whole trace that must precede Create.
	Lookaheads []Lookahead
	// Stage, if not nil, transforms selected events before they reach the sink.
	Stage func(ntconv.Source) ntconv.Source
}

// Settings complete an Output according to the values of flags, which they do not change: outputs that are written at
// the same time have the same Settings, and what is learned about an input belongs to its Output.
type Settings func(o *Output)

// An Output is the output of one conversion.
type Output struct {
	// Name is the name that the user gave, "" if there is none, "-" for standard output. IsDir means that it is an
	// existing directory.
	Name  string
	IsDir bool

	Needs Needs
	// Destination is the kind of the output, Flag the flag that selected it, "" if none has.
	Destination Destination
	Flag        string
	// ByName means that the name determines whether the output is a directory. A directory without a name gets that of
	// the input, with the extension of the format.
	ByName bool
	Binary bool   // Out.Binary, unless a flag determines it
	Advice string // Out.Advice, unless flags determine how to record a trace with contents for the output

	// Create returns a sink that writes members of out. The caller commits or aborts out after closing the sink.
	Create func(out *fileio.Outputs, info *ntconv.Info, t *Target) (Sink, error)
}

// Output returns the output of a conversion to the format.
func (f *Format) Output(s Settings, name string, isDir bool) *Output {
	o := &Output{Name: name, IsDir: isDir, Needs: f.Out.Needs, Binary: f.Out.Binary, Advice: f.Out.Advice}
	s(o)
	return o
}

// A Destination is the kind of an output.
type Destination uint8

const (
	ToFile    Destination = iota // one file or standard output
	ToDir                        // a directory
	ToNothing                    // no file: the sink sends its output over the network
)

// A Lookahead is a pass over the whole trace before its first event is written. All passes share one reading of the
// trace.
type Lookahead struct {
	// Learn begins the pass. see observes each event, borrowed until it returns; end ends the pass.
	Learn func(*ntconv.Info) (see func(*ntconv.Event), end func())
	// AnyOrder means that the events may come in file order, which is faster. Otherwise they come in time order.
	AnyOrder bool
	// Enough, if not nil, reports whether the events that see has observed suffice. The reading then ends early, unless
	// it has another purpose or several inputs are read as one.
	Enough func() bool
	// Optional means that the pass is skipped for an input that can be read only once.
	Optional bool
	// Symbols means that Target.Namer has observed the whole trace before the first event.
	Symbols bool
	// Shows, if not nil, reports whether an event proves that there is something to learn; without such an event the
	// pass is skipped. The conversion stops at the first such event and restarts after the pass, if the input can be
	// read again. Shows borrows the event until it returns.
	Shows func(*ntconv.Event) bool
	// Again means that the input must be readable more than once although Shows is not nil.
	Again bool
}

// An Aborter is a Sink that must be called if its output is discarded and Close is not called.
type Aborter interface {
	Abort() error
}

// A Target is the information that the command provides to a sink.
type Target struct {
	// Namer is nil if Needs.Names is NoNames, unless a Lookahead has set Symbols.
	Namer  ntconv.Namer
	Report *ntconv.Report
	// MaxTemp is the maximum size of a temporary file in bytes, 0 means no limit.
	MaxTemp int64
	// Input is the name of the input without directory, and Version the version of the program.
	Input, Version string
	// Comments describe the program and the input, for formats that can store comments.
	Comments []string
	// Span returns the time range of the recording, clipped to the selected range. Call it after the last event. It may
	// be nil.
	Span func() (first, last ntconv.Ticks, ok bool)
	// Window reports whether a time is selected. It is nil if all times are.
	Window func(ntconv.Ticks) bool
	// Ordered means that events come in time order. Filtered means that a selection may omit events.
	Ordered, Filtered bool
	// Finite means that the input ends: it is not a pipe.
	Finite bool
	// Kept reports whether a selection has events of the process of a thread. It is nil unless there is a selection and
	// Needs.Subset is set.
	Kept func(*ntconv.Thread) bool
	// Trace describes the trace if the output is part of a dataset, else it is nil.
	Trace *Trace
	// Uniform means that the tables of several traces have equal columns, as those of a dataset have.
	Uniform bool
	// Flagless means that the command does not have the flags of the format, so that the result proposes none.
	Flagless bool
	// Compared is not nil if the output compares two recordings.
	Compared *Compared
	// Uploader, if not nil, gets the output of a format that can be sent. It takes precedence over flags of the connection
	// and the environment.
	Uploader otlp.Uploader
}

// Compared describes an output that compares two recordings. Before is what the sink of the first wrote to Keep, in place of an
// output, and Found is what ntconv diff finds as JSON, nil if it cannot compare them. Only the sink of the first has Keep.
type Compared struct {
	Keep          io.Writer
	Before, Found []byte
}

// A Trace identifies a trace among those of a dataset.
type Trace struct {
	UID     string   // prefix of a hash of its content
	Service string   // name of the service given by the user, "" to derive it from events
	Source  string   // name of the input that another dataset has for it, "" for that of this one
	Typed   []string // events with typed tables in the dataset, as in parquet.Options
}

// A Sink also describes its output.
type Sink interface {
	ntconv.Sink
	// Result is valid after Close.
	Result() Result
}

// All returns a new copy of the table. Readable and Writable are the parts of it with In and Out.
func All() []*Format {
	return []*Format{
		Nettrace(), netperf(), pprofFormat(), foldedFormat(), callgrindFormat(), otlpFormat(), parquetFormat(), Page(),
		chromeFormat(), perfettoFormat(), firefoxFormat(), speedscopeFormat(), prometheusFormat(), perfFormat(),
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

// Tables returns the format that has Out.Dataset.
func Tables() *Format {
	table := Writable()
	return table[slices.IndexFunc(table, func(f *Format) bool { return f.Out.Dataset })]
}

// ByName returns the format of the table with that name, or nil.
func ByName(table []*Format, name string) *Format {
	for _, f := range table {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// List returns the names and extensions of formats for messages, such as "nettrace (.nettrace), netperf (.netperf)".
func List(table []*Format) string {
	var parts []string
	for _, f := range table {
		parts = append(parts, f.Name+" ("+strings.Join(f.Exts, ", ")+")")
	}
	return strings.Join(parts, ", ")
}

// NamesOf returns the names of the formats, in the order of the table.
func NamesOf(table []*Format) []string {
	var names []string
	for _, f := range table {
		names = append(names, f.Name)
	}
	return names
}
