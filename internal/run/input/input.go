// Package input opens the inputs of a command, recognizes their formats, and makes several inputs readable as one. On
// request, it copies the data of a pipe to a temporary file, so that it can be read more than once.
package input

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"syscall"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/tables/dataset"
)

// Options configure how inputs are opened. The zero value recognizes all readable formats.
type Options struct {
	// Table lists the formats to recognize; nil means all that can be read.
	Table []*formats.Format
	// From is the format of the inputs, or nil to recognize it.
	From *formats.Format
	// Again requests inputs that can be read more than once.
	Again bool
	// Remote allows inputs that are read over HTTP: http://HOST/PATH and https://HOST/PATH. A service that passes names of others
	// must not set it.
	Remote bool
	// Follow, if not nil, makes regular files streams that are read on at their end while another program writes them, until
	// the context ends; then every stream ends.
	Follow context.Context
	// Limits bound compressed inputs; nil selects the defaults of fileio.
	Limits *fileio.Limits
	// Openers open inputs with the values of the formats' own flags.
	Openers *formats.Openers
	// Temp creates the temporary file for the copy of a pipe. The caller removes the file.
	Temp func() (*os.File, error)
	// TempDir creates a temporary directory for the tables of a trace of a dataset; nil means one of the system's. Close removes
	// it.
	TempDir func() (string, error)
	// MaxTemp is the maximum size of the copy of a pipe in bytes; 0 means no limit.
	MaxTemp int64
	// Copying, if not nil, is called when the copying of a pipe begins. copied returns the number of bytes copied so
	// far and is safe for concurrent use. The function that Copying returns is called when the copying ends.
	Copying func(copied func() int64) (stop func())
	// Guard, if not nil, wraps the source of every pass.
	Guard func(ntconv.Source) ntconv.Source
	// Rewrite, if not nil, wraps the source of every pass after Guard: everything else sees only its events.
	Rewrite func(ntconv.Source) ntconv.Source
	// Check, if not nil, is called before each read of an input. Its error ends the reading.
	Check func() error
	// Taken, if not nil, is called with the number of decompressed bytes that are read for the first time. It is called
	// from any goroutine.
	Taken func(bytes int64)
	// Merge, if not nil, is called instead of merge.ByTime for the sources of the inputs, in their order; also for one
	// input. It is called once per pass.
	Merge func([]ntconv.Source) (ntconv.Source, error)
}

// An Input is one trace, or several traces that are read as one. Each pass over it is a separate source. Except for
// Read, it is not safe for concurrent use.
//
// Reading it changes its state:
//
//	field           set by                      read by
//	head            recognize                   the first pass, which takes it over: later ones open a new stream
//	Last, Ended     a reading of package pass   the passes after it
//	first, changed  Finish                      Finish: all readings must agree
//	part, unit      the latest pass, if merged  MergeNotes, UnitNotes
//	dated           the latest pass             StartNotes
//	taken           meter.add, which only grows it; Options.Taken receives the increase
type Input struct {
	Format *formats.Format // of the first input
	// Last is the time of the last event. It is valid if Ended is true: then a reading has reached the end.
	Last  ntconv.Ticks
	Ended bool

	first   *Reading // the first reading that reached the end, or nil
	changed string   // how a later one differs, or ""

	opts   *Options
	raw    *fileio.Input
	file   *os.File     // the input's file or its copy, closed by Close; may be nil
	head   *head        // what recognition has read of the first stream; nil once a pass has taken it over
	others []*Input     // read together with this input
	unit   string       // of the weights, for one of several profiles
	part   contribution // of the latest pass, for one of several inputs
	dated  bool         // the latest pass ignored ReadOptions.Start, because the input has a date
	taken  atomic.Int64 // decompressed bytes read by the longest pass

	body io.ReadCloser // of an answer over HTTP, or nil

	extracted string            // directory with a copy of the input's files, removed by Close; "" for other inputs
	manifest  *dataset.Manifest // of such a trace
}

// A head is a stream of which the first bytes have been examined.
type head struct {
	stream io.ReadCloser
	peeked *bufio.Reader
}

// Merged reports whether several inputs are read as one.
func (in *Input) Merged() bool { return len(in.others) > 0 }

// Open opens inputs and recognizes their formats. The name "-" is standard input. Errors are of type *Error; if two
// names denote one file, the error wraps ErrSameFile. names must not be empty. The caller closes the Input; o must not
// be modified until then.
func Open(names []string, o *Options) (*Input, error) {
	if err := checkDistinct(names); err != nil {
		return nil, err
	}
	first, err := open(names[0], o)
	if err != nil {
		return nil, err
	}
	for _, name := range names[1:] {
		next, err := open(name, o)
		if err != nil {
			first.Close()
			return nil, err
		}
		first.others = append(first.others, next)
	}
	return first, nil
}

func open(name string, o *Options) (*Input, error) {
	if name == "" {
		return nil, &Error{Name: "input", Err: ErrNoName}
	}
	in := &Input{opts: o}
	var err error
	switch dir, uid, of := dataset.SplitTrace(name); {
	case of:
		err = in.openExtracted(name, dir, uid)
	case o.Remote && fileio.IsRemote(name):
		err = in.openRemote(name)
	case store.Is(name) && isDir(name):
		err = in.openObjects(name)
	case store.Is(name):
		in.raw, err = fileio.Open(name, in.options())
	case !o.Again && o.Follow == nil || isDir(name):
		in.raw, err = fileio.Open(name, in.options())
	case o.Again:
		err = in.openAgain(name)
	default:
		err = in.openFollowed(name)
	}
	if err != nil {
		in.Close()
		if in.raw != nil {
			name = in.raw.Name()
		}
		return nil, &Error{fileio.Shown(name), err}
	}
	if in.Format == nil {
		err = in.recognize()
	}
	if err == nil && in.Format.In.Random {
		err = in.makeRandom()
	}
	if err != nil {
		in.Close()
		return nil, &Error{in.raw.Name(), err}
	}
	return in, nil
}

// recognize examines the beginning of the input. It waits for no more than it needs: eight bytes of a nettrace stream.
func (in *Input) recognize() error {
	table := in.opts.Table
	if table == nil {
		table = formats.Readable()
	}
	if in.raw.IsDir() {
		return in.recognizeDir(table)
	}
	s, err := in.raw.Stream()
	if err != nil {
		return err
	}
	in.head = &head{s, bufio.NewReaderSize(s, formats.HeadSize)}
	if in.opts.From != nil {
		in.Format = in.opts.From
		return nil
	}
	return in.recognizeStart(table)
}

// recognizeStart examines the first bytes of the stream.
func (in *Input) recognizeStart(table []*formats.Format) error {
	start, err := in.head.peeked.Peek(formats.SniffSize)
	if err == nil {
		if in.Format = formats.Sniff(table, start); in.Format != nil {
			return nil
		}
		start, err = in.head.peeked.Peek(formats.HeadSize)
	}
	truncated := IsTruncated(err)
	if err != nil && err != io.EOF && !truncated {
		return err
	}
	format, unknown := formats.Detect(table, in.raw.Name(), start)
	if unknown != nil && truncated {
		return err // the compressed data ends before the format is known
	}
	if unknown != nil && formats.IsArchive(start) {
		if members, err := in.raw.Members(); err == nil {
			format = formats.SniffArchive(table, members)
		}
		if format != nil {
			unknown = nil
		}
	}
	in.Format = format
	return unknown
}

// recognizeDir examines the names of the members of a directory.
func (in *Input) recognizeDir(table []*formats.Format) error {
	if err := checkDataset(in.raw.Name()); err != nil {
		return err
	}
	if in.Format = in.opts.From; in.Format != nil {
		return nil
	}
	members, err := in.raw.Members()
	if err != nil {
		return err
	}
	if in.Format = formats.SniffDir(table, members); in.Format == nil {
		return &fileio.Error{Name: in.raw.Name(), Op: "open", Bytes: -1, Err: syscall.EISDIR}
	}
	return nil
}

// Close closes the input. It ignores errors, because they do not affect what was read.
func (in *Input) Close() {
	for _, other := range in.others {
		other.Close()
	}
	if in.head != nil {
		in.head.stream.Close()
	}
	if in.raw != nil {
		in.raw.Close()
	}
	if in.file != nil {
		in.file.Close()
	}
	if in.body != nil {
		in.body.Close()
	}
	if in.extracted != "" {
		os.RemoveAll(in.extracted)
	}
}

// Name returns the name of the input for messages.
func (in *Input) Name() string { return NameOf(in.raw.Name(), len(in.others)) }

// NameOf returns the name of several inputs for messages.
func NameOf(first string, others int) string {
	if first = fileio.Shown(first); first == "-" {
		first = fileio.StdinName
	}
	if others == 0 {
		return first
	}
	return fmt.Sprintf("%s and %d more", first, others)
}

// FirstName returns the name of the first input.
func (in *Input) FirstName() string { return in.raw.Name() }

// Again reports whether the input can be read more than once.
func (in *Input) Rereadable() bool { return in.raw.Rereadable() }

// Size returns the stored size of the first input in bytes, or -1 if it is unknown.
func (in *Input) Size() int64 { return in.raw.Size() }

// OnWait sets a function that is called before the inputs that can be read only once wait for bytes; see
// [fileio.Input.OnWait].
func (in *Input) OnWait(f func()) {
	in.raw.OnWait(f)
	for _, other := range in.others {
		other.OnWait(f)
	}
}

// Read returns how many stored bytes of the first input the current pass has read. It is safe for concurrent use.
func (in *Input) Read() int64 { return in.raw.Read() }

// UnitNotes returns which weights have which unit, if several inputs have different units.
func (in *Input) UnitNotes() []string {
	var units, names []string
	for _, one := range append([]*Input{in}, in.others...) {
		if one.unit == "" {
			continue
		}
		i := slices.Index(units, one.unit)
		if i < 0 {
			i = len(units)
			units, names = append(units, one.unit), append(names, one.unit+" in ")
		} else {
			names[i] += " and "
		}
		names[i] += one.raw.Name()
	}
	if len(units) < 2 {
		return nil
	}
	text := "weights are "
	for i, name := range names {
		if i > 0 {
			text += ", "
		}
		text += name
	}
	return []string{text}
}
