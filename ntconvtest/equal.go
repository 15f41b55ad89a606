package ntconvtest

import (
	"errors"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/trace/tracecmp"
)

// Options select what EqualStreams ignores. The zero value compares everything except:
//
//   - Event.Offset and Info.Format,
//   - the placement of KindDefine events (see EqualStreams),
//   - the difference between a missing and an empty stack or label list,
//   - sequence numbers that are unknown in one of the streams,
//   - the time of marks that end threads, which formats do not record,
//   - in time order (Sorted), the sequence numbers of a thread whose events are rearranged by it,
//   - FlagPlaceholder, FlagLate and FlagNumbered, which describe how the trace was read.
type Options struct {
	EmptyMarks  bool // ignore sequence points without threads and flags: a writer may insert them
	Marks       bool // ignore all marks
	Sorted      bool // ignore FlagSorted, which describes the order of events in a file
	Sequence    bool // ignore the sequence numbers of events and of the threads of marks
	Lost        bool // ignore KindLost events
	Definitions bool // ignore types and threads that are declared but not used
	Frames      bool // compare only the addresses of stacks
	Info        bool // ignore the Info of the sources
	Errors      bool // treat an error of a source as the end of its stream
	// Profiles compares the totals of samples with equal threads, stacks and labels, not the events: importers of
	// formats such as pprof synthesize the times, the order and the sequence numbers of events. The values are those of
	// the sample types; the weight is not compared, because it is rounded.
	Profiles bool
}

// A Difference is the error of Equal and EqualStreams if two events or streams differ.
type Difference struct {
	What string   // the differing element, from the outermost to the innermost: "type: field \"x\": name"
	A, B string   // the two values; both empty if What is the whole difference
	At   [2]Place // the position in each stream
	// Unused means that the difference is a declared type or thread that no event uses; Options.Definitions ignores it.
	Unused bool
}

// A Place is a position in a stream.
type Place struct {
	// Event is the number of KindEvent events up to and including the position.
	Event int64
	// Offset is the byte offset of the item in the decompressed input, or -1 if the item has none.
	Offset int64
	// Item describes the item in one line: "event, time 17, seq 3, Provider/1 \"Name\", thread 5". It is empty for a
	// difference that is not about one item.
	Item string
}

// Error returns the difference on up to three lines.
func (d *Difference) Error() string {
	e := tracecmp.Difference{What: d.What, A: d.A, B: d.B, Unused: d.Unused}
	for i, p := range d.At {
		e.At[i] = tracecmp.Place(p)
	}
	return e.Error()
}

// String returns the position on one line.
func (p Place) String() string { return tracecmp.Place(p).String() }

// publicError converts a difference of package tracecmp to one of this package.
func publicError(err error) error {
	e, ok := errors.AsType[*tracecmp.Difference](err)
	if !ok {
		return err
	}
	d := &Difference{What: e.What, A: e.A, B: e.B, Unused: e.Unused}
	for i, p := range e.At {
		d.At[i] = Place(p)
	}
	return d
}

// Equal returns nil if two events have equal contents, and otherwise a *Difference. It compares what pointers refer to,
// not the pointers. It borrows both events.
func Equal(a, b *ntconv.Event) error { return publicError(tracecmp.Events(a, b)) }

// EqualStreams returns nil if two sources yield the same trace. Otherwise it returns a *Difference that describes the
// first difference, or the error of a source. opts may be nil. EqualStreams reads both sources to their ends or to the
// difference.
//
// Types, threads and processes are compared by content and by identity: if two events share a pointer in one stream,
// they must share one in the other, so two threads with equal contents stay distinct. KindDefine events may be
// elsewhere or missing if the type or thread is used, because writers put definitions where their format needs them. A
// type or thread that is only declared in one stream must be declared or used in the other. Attributes of the trace
// with the prefix "ntconv." are ignored.
func EqualStreams(a, b ntconv.Source, opts *Options) error {
	_, err := tracecmp.Streams(a, b, (*tracecmp.Options)(opts))
	return publicError(err)
}
