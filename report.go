package ntconv

import (
	"fmt"
	"sync"
)

// Severity grades an entry of a Report.
type Severity uint8

const (
	SeverityInfo   Severity = iota // nothing is missing
	SeverityNotice                 // the trace itself has a flaw, such as events that its recorder lost
	SeverityLoss                   // something in the input could not be carried over
	SeverityError                  // the input is damaged or cut off
)

// String returns the severity in lower case.
func (s Severity) String() string {
	return nameOf([]string{"info", "notice", "loss", "error"}, int(s))
}

// Code names something that can happen to a trace on its way. What an entry of it counts stands beside each;
// severities, and the words for people, are in the table of codes.
type Code uint8

const (
	// CodeTruncated: the input ends before the trace does. What came before was delivered.
	CodeTruncated Code = iota
	// CodeCorrupt: damaged parts of the input, usually a block or the rest of one, were skipped.
	CodeCorrupt
	// CodeEventsLost: events that the recorder lost, by the gaps in the sequence numbers of its threads.
	CodeEventsLost
	// CodeSequenceBack: sequence numbers that went back without a restart, which are not taken for losses.
	CodeSequenceBack
	// CodeThreadReused: thread ids that came back for another thread.
	CodeThreadReused
	// CodeOutOfOrder: events behind a later event of their thread or behind a barrier that they belong before.
	CodeOutOfOrder
	// CodeWindowCap: windows beyond a limit of the reader, delivered in parts that are in order each.
	CodeWindowCap
	// CodeUnknownBlock: blocks of a kind that is not known, delivered as KindOpaque.
	CodeUnknownBlock
	// CodeUnknownThread: references to threads without a definition: a placeholder stands for them.
	CodeUnknownThread
	// CodeUnknownType: events of types without a definition: a placeholder stands for the type.
	CodeUnknownType
	// CodeUnknownLabels: references to label lists without a definition: the events have no labels.
	CodeUnknownLabels
	// CodeUnknownStack: references to stacks without a definition: the events have no stack.
	CodeUnknownStack
	// CodeRedefined: ids that were defined again while in use. The last definition counts.
	CodeRedefined
	// CodeRowSkipped: rows of tables of which only a part, or nothing, was understood.
	CodeRowSkipped
	// CodeEmptyBlock: event blocks without an event.
	CodeEmptyBlock
	// CodeBadHeader: values of the trace's header that make no sense and were replaced or passed over.
	CodeBadHeader
	// CodeBadTime: times more than 100 years from the start of the trace.
	CodeBadTime
	// CodeStackCut: stacks that lost their outermost frames to a limit on depth.
	CodeStackCut
	// CodeTrailing counts bytes after the end of the trace that were not read, from the first one that is not zero.
	CodeTrailing
	// CodeUnresolved: addresses of stack frames that have no name.
	CodeUnresolved
	// CodePayload: payloads that do not fit the layout of their event.
	CodePayload
	// CodeNoStack: samples without a stack.
	CodeNoStack
	// CodeNamesDropped: stack frames with names only, written to a format that has addresses only.
	CodeNamesDropped
	// CodeRepaired: parts that break a rule of the format and whose meaning is clear.
	CodeRepaired
	// CodeNotCarried: parts of the input that the output has no place for.
	CodeNotCarried
	// CodeRejected counts items, such as spans, that the receiver of an upload did not accept.
	CodeRejected
	// CodeDoubled counts items that the receiver of an upload may have twice: they were sent again because an answer
	// was missing.
	CodeDoubled
	// CodeChanged counts readings of the input that differ from the first one: the input changed while it was read, or
	// could not be read as far each time.
	CodeChanged
	// CodeUnknownKept counts event types with metadata of an unknown kind that were written as they are: TraceEvent
	// refuses such a trace.
	CodeUnknownKept
	// CodeUnknownDropped counts parts of the input of an unknown kind that were left out on request: optional metadata,
	// fields, blocks.
	CodeUnknownDropped
	// CodeUnseen counts gaps in the samples of threads: rounds of the sample profiler saw other threads and not this one,
	// so that the time belongs to no sample.
	CodeUnseen
	// CodeEvents: events that were read.
	CodeEvents
	numCodes
)

type codeSpec struct {
	name     string
	severity Severity
	text     string // for people; counts precede it
	one      string // the same behind a count of 1
}

// codes is the one table of what a Report can hold.
var codes = [numCodes]codeSpec{
	CodeTruncated: {"truncated", SeverityError, "the input ends before the trace does",
		"the input ends before the trace does"},
	CodeCorrupt: {"corrupt", SeverityError, "damaged parts of the input were skipped",
		"damaged part of the input was skipped"},
	CodeEventsLost: {"events-lost", SeverityNotice, "events were lost by the recorder before they reached the file",
		"event was lost by the recorder before it reached the file"},
	CodeSequenceBack: {"sequence-back", SeverityNotice, "sequence numbers went back without a restart",
		"sequence number went back without a restart"},
	CodeThreadReused: {"thread-reused", SeverityInfo, "thread ids came back for a new thread",
		"thread id came back for a new thread"},
	CodeOutOfOrder: {
		"out-of-order",
		SeverityNotice,
		"events came after a later event of their thread or after a barrier",
		"event came after a later event of its thread or after a barrier",
	},
	CodeWindowCap: {"window-cap", SeverityNotice, "windows were too large to order as a whole",
		"window was too large to order as a whole"},
	CodeUnknownBlock: {"unknown-block", SeverityInfo, "blocks of an unknown kind were passed on unread",
		"block of an unknown kind was passed on unread"},
	CodeUnknownThread: {"unknown-thread", SeverityLoss, "references to threads that the trace does not define",
		"reference to a thread that the trace does not define"},
	CodeUnknownType: {"unknown-metadata", SeverityLoss, "events of a type that the trace does not define",
		"event of a type that the trace does not define"},
	CodeUnknownLabels: {"unknown-labels", SeverityLoss, "references to label lists that the trace does not define",
		"reference to a label list that the trace does not define"},
	CodeUnknownStack: {"unknown-stack", SeverityNotice, "references to stacks that the trace does not define",
		"reference to a stack that the trace does not define"},
	CodeRedefined: {"redefined", SeverityNotice, "ids were defined twice; the last definition counts",
		"id was defined twice; the last definition counts"},
	CodeRowSkipped: {"row-skipped", SeverityLoss, "rows of tables were not understood in full",
		"row of a table was not understood in full"},
	CodeEmptyBlock: {"empty-block", SeverityInfo, "event blocks without an event",
		"event block without an event"},
	CodeBadHeader: {"bad-header", SeverityNotice, "values in the trace's header make no sense and were replaced",
		"value in the trace's header makes no sense and was replaced"},
	CodeBadTime: {"bad-time", SeverityNotice, "times lie more than 100 years from the start of the trace",
		"time lies more than 100 years from the start of the trace"},
	CodeStackCut: {"stack-cut", SeverityLoss, "stacks were deeper than the limit and lost their outermost frames",
		"stack was deeper than the limit and lost its outermost frames"},
	CodeTrailing: {"trailing", SeverityLoss, "bytes after the end of the trace were not read",
		"byte after the end of the trace was not read"},
	CodeUnresolved: {"unresolved", SeverityNotice, "stack frames have no name",
		"stack frame has no name"},
	CodePayload: {"payload", SeverityNotice, "payloads that do not fit the layout of their event",
		"payload that does not fit the layout of its event"},
	CodeNoStack: {"no-stack", SeverityNotice, "samples came without a stack",
		"sample came without a stack"},
	CodeNamesDropped: {
		"names-dropped",
		SeverityLoss,
		"stack frames lost their names: the output has room for addresses only",
		"stack frame lost its name: the output has room for addresses only",
	},
	CodeRepaired: {"repaired", SeverityNotice, "parts that break a rule of the format were read as they were meant",
		"part that breaks a rule of the format was read as it was meant"},
	CodeNotCarried: {"not-carried", SeverityLoss, "parts of the input have no place in the output",
		"part of the input has no place in the output"},
	CodeRejected: {"rejected", SeverityLoss, "spans were rejected by the receiver",
		"span was rejected by the receiver"},
	CodeDoubled: {"doubled", SeverityNotice, "spans may have been received twice because an answer was missing",
		"span may have been received twice because an answer was missing"},
	CodeChanged: {
		"changed",
		SeverityLoss,
		"readings of the input differ from the first one, so symbols, times or events may be missing",
		"reading of the input differs from the first one, so symbols, times or events may be missing",
	},
	CodeUnknownKept: {
		"unknown-kept",
		SeverityNotice,
		"event types have metadata of an unknown kind, for which TraceEvent refuses the trace",
		"event type has metadata of an unknown kind, for which TraceEvent refuses the trace",
	},
	CodeUnknownDropped: {"unknown-dropped", SeverityNotice, "parts of an unknown kind were left out",
		"part of an unknown kind was left out"},
	CodeUnseen: {"unseen", SeverityInfo, "gaps between samples in which the sample profiler did not see the thread",
		"gap between samples in which the sample profiler did not see the thread"},
	CodeEvents: {"events", SeverityInfo, "events were read",
		"event was read"},
}

// String returns the code's short name, which is stable.
func (c Code) String() string { return codes[c].name }

// Severity returns how bad an entry with this code is.
func (c Code) Severity() Severity { return codes[c].severity }

// Text returns a phrase for people that a count can precede.
func (c Code) Text() string { return codes[c].text }

// TextFor returns a phrase for people that the count n can precede.
func (c Code) TextFor(n uint64) string {
	if n == 1 {
		return codes[c].one
	}
	return codes[c].text
}

// Entry is one code of a Report with how often it happened and where it did first.
type Entry struct {
	Code   Code
	Count  uint64
	Offset int64 // byte position in the decompressed input of the first one, or -1
	Detail string
}

// String returns the entry as one line for people.
func (e Entry) String() string {
	s := fmt.Sprintf("%d x %s: %s", e.Count, e.Code, e.Code.Text())
	if e.Offset >= 0 {
		s += fmt.Sprintf(" (first at byte %d)", e.Offset)
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// A Report counts what happened to a trace on its way. A nil *Report is valid and forgets everything. It is safe for
// use by several goroutines.
type Report struct {
	mu      sync.Mutex
	entries [numCodes]Entry
}

// Add counts n more of a code. offset is where in the input it happened, or -1.
func (r *Report) Add(c Code, n uint64, offset int64) { r.Note(c, n, offset, "") }

// Note is Add with a detail for people; the first detail of a code is kept.
func (r *Report) Note(c Code, n uint64, offset int64, detail string) {
	if r == nil || n == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := &r.entries[c]
	if e.Count == 0 {
		e.Code, e.Offset = c, offset
	}
	if e.Detail == "" {
		e.Detail = detail
	}
	e.Count += n
}

// Count returns how often a code was added.
func (r *Report) Count(c Code) uint64 {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.entries[c].Count
}

// Entries returns a copy of all entries with a count, in the order of the codes.
func (r *Report) Entries() []Entry {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Entry
	for _, e := range r.entries {
		if e.Count > 0 {
			out = append(out, e)
		}
	}
	return out
}

// Worst returns the highest severity of all entries.
func (r *Report) Worst() Severity {
	worst := SeverityInfo
	for _, e := range r.Entries() {
		worst = max(worst, e.Code.Severity())
	}
	return worst
}
