package ntconv

import (
	"fmt"
	"sync"
)

// Severity grades an entry of a Report.
type Severity uint8

const (
	SeverityInfo   Severity = iota // no data is missing
	SeverityNotice                 // the trace itself has a flaw, such as events that its recorder lost
	SeverityLoss                   // a part of the input is missing in the output
	SeverityError                  // the input is corrupt or truncated
)

// String returns the severity in lower case.
func (s Severity) String() string {
	return nameOf([]string{"info", "notice", "loss", "error"}, int(s))
}

// Code identifies a condition that a Report counts. Severity and Text return its severity and description.
type Code uint8

const (
	// CodeTruncated counts inputs that end before the trace does. All complete events were delivered.
	CodeTruncated Code = iota
	// CodeCorrupt counts corrupt parts of the input that were skipped, usually a block or the rest of a block.
	CodeCorrupt
	// CodeEventsLost counts events that the recorder lost, from gaps in the sequence numbers of threads.
	CodeEventsLost
	// CodeSequenceBack counts sequence numbers that decreased without a restart. They do not count as losses.
	CodeSequenceBack
	// CodeThreadReused counts thread IDs that were reused for another thread.
	CodeThreadReused
	// CodeOutOfOrder counts events after a later event of their thread, after a barrier that they belong before, or
	// after an event with FlagSorted that is later.
	CodeOutOfOrder
	// CodeWindowCap counts windows that exceeded a reader limit; they were delivered in parts. Each part is in time
	// order; in file order, events of a part lack types that later parts define.
	CodeWindowCap
	// CodeUnknownBlock counts blocks of unknown kind, delivered as KindOpaque.
	CodeUnknownBlock
	// CodeUnknownThread counts references to undefined threads, which a placeholder represents.
	CodeUnknownThread
	// CodeUnknownType counts events of undefined types, which a placeholder represents.
	CodeUnknownType
	// CodeUnknownLabels counts references to undefined label lists. The events have no labels.
	CodeUnknownLabels
	// CodeUnknownStack counts references to undefined stacks. The events have no stack.
	CodeUnknownStack
	// CodeRedefined counts IDs that were defined again while in use. The last definition wins.
	CodeRedefined
	// CodeRowSkipped counts rows of metadata, thread or label list tables that could not be fully decoded.
	CodeRowSkipped
	// CodeEmptyBlock counts event blocks without an event.
	CodeEmptyBlock
	// CodeBadHeader counts invalid values in the trace's header, which were replaced or ignored.
	CodeBadHeader
	// CodeBadTime counts times more than 100 years from the start of the trace.
	CodeBadTime
	// CodeStackCut counts stacks that exceeded the depth limit and lost their outermost frames.
	CodeStackCut
	// CodeTrailing counts bytes after the end of the trace that were not read, from the first one that is not zero.
	CodeTrailing
	// CodeUnresolved counts stack frames without a symbol, once per sample (Table.ReportUnresolved: once per address).
	CodeUnresolved
	// CodePayload counts payloads that do not fit the layout of their event.
	CodePayload
	// CodeNoStack counts samples without a stack.
	CodeNoStack
	// CodeNamesDropped counts stack frames whose names a format with addresses only cannot represent.
	CodeNamesDropped
	// CodeRepaired counts format violations whose intent was clear and which were corrected.
	CodeRepaired
	// CodeNotCarried counts parts of the input that the output format cannot represent.
	CodeNotCarried
	// CodeRejected counts items, such as spans, that the receiver of an upload did not accept.
	CodeRejected
	// CodeDoubled counts items that the receiver of an upload may have twice: they were sent again because an answer
	// was missing.
	CodeDoubled
	// CodeUnconfirmed counts items that the receiver of an upload may have rejected: it answered, but its answer cannot be
	// decoded.
	CodeUnconfirmed
	// CodeChanged counts readings of the input that differ from the first one: the input changed while it was read, or
	// could not be read as far each time.
	CodeChanged
	// CodeUnknownKept counts event types with metadata of an unknown kind that were copied. TraceEvent rejects such a
	// trace.
	CodeUnknownKept
	// CodeUnknownDropped counts parts of the input of an unknown kind that were omitted on request: optional metadata,
	// fields, blocks.
	CodeUnknownDropped
	// CodeUnseen counts gaps in the samples of threads: rounds of the sample profiler saw other threads but not this
	// one, so no sample accounts for the time.
	CodeUnseen
	// CodeLongSample counts samples of the sample profiler that last for more than 100 sampling intervals, if they have at
	// least 1% of the time: their thread was not sampled meanwhile, and the time counts for the last stack.
	CodeLongSample
	// CodeEvents counts events that were read.
	CodeEvents
	// CodeNegativeWeight counts samples whose value is negative, as in the difference of two profiles. Their weight,
	// which is unsigned, is 0; their values are kept.
	CodeNegativeWeight
	// CodeUnpaired counts events that begin or end something, such as a wait, without the event that ends or began it.
	CodeUnpaired
	// CodeNoValue counts events without the numeric field whose values a profile adds up. They count as events.
	CodeNoValue
	// CodeFileSymbols counts distinct addresses that files outside the trace resolved.
	CodeFileSymbols
	// CodeFileRefused counts files with symbols that were not used because they are of another build than the mapped
	// ones, and servers that failed to send them.
	CodeFileRefused
	// CodeRounded counts events with times that were rounded to nanoseconds.
	CodeRounded
	numCodes
)

// A codeSpec describes a code.
type codeSpec struct {
	name     string
	severity Severity
	text     string // for display, after a count
	one      string // the same, after a count of 1
}

// codes has the name, severity and description of each code.
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
		"out-of-order", SeverityNotice,
		"events appear too late in the input for time order, or after a barrier or a flag that excludes them",
		"event appears too late in the input for time order, or after a barrier or a flag that excludes it",
	},
	CodeWindowCap: {"window-cap", SeverityNotice, "windows exceeded a limit and were delivered in parts",
		"window exceeded a limit and was delivered in parts"},
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
	CodeRejected: {"rejected", SeverityLoss, "items were rejected by the receiver",
		"item was rejected by the receiver"},
	CodeDoubled: {"doubled", SeverityNotice, "items may have been received twice because an answer was missing",
		"item may have been received twice because an answer was missing"},
	CodeUnconfirmed: {"unconfirmed", SeverityLoss, "items may not have been received, because an answer was unclear",
		"item may not have been received, because an answer was unclear"},
	CodeChanged: {
		"changed", SeverityLoss,
		"readings of the input differ from the first one, so symbols, times or events may be missing",
		"reading of the input differs from the first one, so symbols, times or events may be missing",
	},
	CodeUnknownKept: {
		"unknown-kept", SeverityNotice,
		"event types have metadata of an unknown kind, for which TraceEvent refuses the trace",
		"event type has metadata of an unknown kind, for which TraceEvent refuses the trace",
	},
	CodeUnknownDropped: {"unknown-dropped", SeverityNotice, "parts of an unknown kind were omitted",
		"part of an unknown kind was omitted"},
	CodeUnseen: {"unseen", SeverityInfo, "gaps between samples in which the sample profiler did not see the thread",
		"gap between samples in which the sample profiler did not see the thread"},
	CodeLongSample: {
		"long-sample", SeverityNotice,
		"samples last for more than 100 sampling intervals, because their thread was not sampled meanwhile",
		"sample lasts for more than 100 sampling intervals, because its thread was not sampled meanwhile",
	},
	CodeEvents: {"events", SeverityInfo, "events were read",
		"event was read"},
	CodeNegativeWeight: {
		"negative-weight", SeverityNotice,
		"samples have a negative value, for which PerfView shows 0",
		"sample has a negative value, for which PerfView shows 0",
	},
	CodeUnpaired: {"unpaired", SeverityNotice, "intervals are not counted, because their begin or end is missing",
		"interval is not counted, because its begin or end is missing"},
	CodeFileSymbols: {"file-symbols", SeverityInfo, "addresses were resolved with files outside the trace",
		"address was resolved with files outside the trace"},
	CodeFileRefused: {"file-refused", SeverityNotice, "files with symbols were not used: they are of another build, or their server failed",
		"file with symbols was not used: it is of another build, or its server failed"},
	CodeRounded: {"rounded", SeverityInfo, "events have times that were rounded to nanoseconds",
		"event has times that were rounded to nanoseconds"},
	CodeNoValue: {"no-value", SeverityNotice, "events have no number in the field whose values are added up",
		"event has no number in the field whose values are added up"},
}

// spec returns the row of a code. A value without a constant, such as a code of a later version, has the severity of an
// error, so that no program mistakes it for harmless.
func (c Code) spec() codeSpec {
	if c < numCodes {
		return codes[c]
	}
	name := fmt.Sprintf("unknown(%d)", uint8(c))
	return codeSpec{name, SeverityError, name, name}
}

// String returns the short name of the code, which is stable. The name of a value without a constant is "unknown(N)".
func (c Code) String() string { return c.spec().name }

// Severity returns the severity of entries with this code.
func (c Code) Severity() Severity { return c.spec().severity }

// Text returns a phrase for display after a count, such as "events were read".
func (c Code) Text() string { return c.spec().text }

// TextFor returns Text in the singular or plural for the count n.
func (c Code) TextFor(n uint64) string {
	if n == 1 {
		return c.spec().one
	}
	return c.spec().text
}

// Entry is one code of a Report, with its count and its first position.
type Entry struct {
	Code   Code
	Count  uint64
	Offset int64 // byte offset of the first occurrence in the decompressed input, or -1
	Detail string
}

// String returns the entry as one human-readable line.
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

// A Report counts losses, flaws and repairs of a trace. A nil *Report is valid and discards everything. A Report is
// safe for concurrent use.
type Report struct {
	mu      sync.Mutex
	entries [numCodes]Entry
}

// Add adds n to the count of c. offset is the byte offset in the decompressed input, or -1. Only the first offset per
// code is kept.
func (r *Report) Add(c Code, n uint64, offset int64) { r.Note(c, n, offset, "") }

// Note is Add with a human-readable detail. Only the first non-empty detail per code is kept.
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

// Count returns the count of c.
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

// Worst returns the highest severity of all entries, or SeverityInfo without entries.
func (r *Report) Worst() Severity {
	worst := SeverityInfo
	for _, e := range r.Entries() {
		worst = max(worst, e.Code.Severity())
	}
	return worst
}
