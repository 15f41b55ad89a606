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
	// CodeOutOfOrder counts events after a later event of their thread, after a barrier that they belong before, or after
	// an event with FlagSorted that is later.
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
	// CodeNegativeWeight counts samples whose value is negative, as in the difference of two profiles. Their weight, which
	// is unsigned, is 0; their values are kept.
	CodeNegativeWeight
	numCodes
)

type codeSpec struct {
	name     string
	severity Severity
	text     string // for display, after a count
	one      string // the same, after a count of 1
}

// codes is the one table of what a Report can hold.
var codes = [numCodes]codeSpec{
	CodeTruncated: {"truncated", SeverityError, "inputs end before the trace does",
		"input ends before the trace does"},
	CodeCorrupt: {"corrupt", SeverityError, "corrupt parts of the input were skipped",
		"corrupt part of the input was skipped"},
	CodeEventsLost: {"events-lost", SeverityNotice, "events were lost by the recorder",
		"event was lost by the recorder"},
	CodeSequenceBack: {"sequence-back", SeverityNotice, "sequence numbers decreased without a restart",
		"sequence number decreased without a restart"},
	CodeThreadReused: {"thread-reused", SeverityInfo, "thread IDs were reused for another thread",
		"thread ID was reused for another thread"},
	CodeOutOfOrder: {
		"out-of-order",
		SeverityNotice,
		"events appear too late in the input for time order, or after a barrier or a flag that excludes them",
		"event appears too late in the input for time order, or after a barrier or a flag that excludes it",
	},
	CodeWindowCap: {"window-cap", SeverityNotice, "windows exceeded a limit and were sorted in parts",
		"window exceeded a limit and was sorted in parts"},
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
	CodeRedefined: {"redefined", SeverityNotice, "IDs were defined twice; the last definition is used",
		"ID was defined twice; the last definition is used"},
	CodeRowSkipped: {"row-skipped", SeverityLoss, "table rows or list elements could not be fully decoded",
		"table row or list element could not be fully decoded"},
	CodeEmptyBlock: {"empty-block", SeverityInfo, "event blocks without an event",
		"event block without an event"},
	CodeBadHeader: {"bad-header", SeverityNotice, "values in the trace's header are invalid and were replaced",
		"value in the trace's header is invalid and was replaced"},
	CodeBadTime: {"bad-time", SeverityNotice, "times are more than 100 years from the start of the trace",
		"time is more than 100 years from the start of the trace"},
	CodeStackCut: {"stack-cut", SeverityLoss, "stacks exceeded the depth limit and lost their outermost frames",
		"stack exceeded the depth limit and lost its outermost frames"},
	CodeTrailing: {"trailing", SeverityLoss, "bytes after the end of the trace were not read",
		"byte after the end of the trace was not read"},
	CodeUnresolved: {"unresolved", SeverityNotice, "stack frames are unresolved",
		"stack frame is unresolved"},
	CodePayload: {"payload", SeverityNotice, "payloads do not fit the layout of their event",
		"payload does not fit the layout of its event"},
	CodeNoStack: {"no-stack", SeverityNotice, "samples have no stack",
		"sample has no stack"},
	CodeNamesDropped: {"names-dropped", SeverityLoss, "stack frames lost their names: the output holds addresses only",
		"stack frame lost its name: the output holds addresses only"},
	CodeRepaired: {"repaired", SeverityNotice, "violations of the format were corrected",
		"violation of the format was corrected"},
	CodeNotCarried: {"not-carried", SeverityLoss, "parts of the input cannot be represented in the output",
		"part of the input cannot be represented in the output"},
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
	CodeUnknownDropped: {"unknown-dropped", SeverityNotice, "parts of an unknown kind were omitted",
		"part of an unknown kind was omitted"},
	CodeUnseen: {"unseen", SeverityInfo, "gaps between samples in which the sample profiler did not see the thread",
		"gap between samples in which the sample profiler did not see the thread"},
	CodeEvents: {"events", SeverityInfo, "events were read",
		"event was read"},
	CodeNegativeWeight: {
		"negative-weight",
		SeverityNotice,
		"samples have a negative value, for which PerfView shows 0",
		"sample has a negative value, for which PerfView shows 0",
	},
}

// spec returns the row of a code. A value that is not one of the constants, such as one that a later version defines,
// has the severity of an error, so that no program mistakes it for harmless.
func (c Code) spec() codeSpec {
	if c < numCodes {
		return codes[c]
	}
	name := fmt.Sprintf("unknown(%d)", uint8(c))
	return codeSpec{name, SeverityError, name, name}
}

// String returns the code's short name, which is stable. The name of a value that is not one of the constants is
// "unknown(N)".
func (c Code) String() string { return c.spec().name }

// Severity returns how bad an entry with this code is.
func (c Code) Severity() Severity { return c.spec().severity }

// Text returns a phrase for display that a count can precede.
func (c Code) Text() string { return c.spec().text }

// TextFor returns a phrase for display that the count n can precede.
func (c Code) TextFor(n uint64) string {
	if n == 1 {
		return c.spec().one
	}
	return c.spec().text
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
	s := fmt.Sprintf("%s: %d %s", e.Code, e.Count, e.Code.TextFor(e.Count))
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
