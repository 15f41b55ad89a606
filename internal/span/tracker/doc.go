// Package tracker derives spans from the events of a trace.
//
// # Which spans there are
//
// Source Labels: the events of one process with the same SpanId and TraceId labels are a span, regardless of their
// type. It lasts from the first to the last of these events. If one of them has the opcode Start, it lasts from that
// event to the Stop of the same provider and task. Its name and scope are the task and the provider of the Start event,
// or else provider/event and the provider of its most frequent event. All spans of a process with a SpanId and no
// TraceId belong to one synthetic trace. A TraceId without a SpanId yields no span. The bytes of a SpanId label are
// those of the W3C text form, in reverse order with Options.SpanIDReversed. Events that follow the Stop of their span
// are counted (Counts.Late).
//
// Source Activities: package diagsource decodes them. Events with the IDs of an Activity as labels become events of its
// span.
//
// Source Pairs: a Start event and the Stop event of the same provider and task are a span. Its name is the task, its
// scope the provider. Its attributes are the payload fields of Start, then those of Stop; a field with a different
// value in Stop gets the prefix "stop.". A Stop with an activity ID ends the latest open Start with that activity ID. A
// Stop without an activity ID ends the first of these:
//
//  1. the latest open Start without an activity ID on its thread that agrees with it: the two share fields, and shared
//     fields have equal values,
//  2. the only open Start in the process that agrees with it, or, if they share no field, the only open Start of the
//     task,
//  3. the latest open Start without an activity ID on its thread.
//
// The names of some events do not reveal the task (Shipping and Shipped). Such a Stop ends such a Start of the same
// provider if no Start of its own task is open. A Stop without a Start is counted (Counts.Unmatched) and becomes an
// event of the span in which it occurs. Pairs of the runtime's own providers, of the Task libraries (TPL, PLINQ), of
// FrameworkEventSource and of the metrics source are not spans, because they describe the work of the runtime and not
// that of the program.
//
// Source Imported: spans that were imported from OTLP are emitted unchanged.
//
// Source Chrome: slices of Chrome's trace event format are spans. The parent of a complete slice (X) or of a slice of a
// thread (B and E) is the innermost open slice on its thread that does not end before it. If complete slices begin at
// the same time, the longer one is the outer one. The parent of an asynchronous slice (b and e, S and F) or of the
// lifetime of an object (N and D) is the innermost open slice with its ID; these spans have the attribute chrome.id.
// Package chromeevent matches the events. The scope is the category. The members of args are attributes; a member with
// a different value at the end gets the prefix "stop.". Steps of asynchronous slices (n, T, p and O) and instants of a
// thread (i, I) are events of the open slice in which they occur. Arrows (s, t and f, or bind_id) are links: the slice
// in which an arrow ends links to the slice in which it began. A complete slice is emitted with the first event of its
// thread after its end. An end without a begin is counted (Counts.Unmatched).
//
// Intervals of the runtime are optional: garbage collections and the pauses for them (GC), compilations (JIT), waits
// for locks (Contention) and wait handles (Waits), exceptions and their handlers (Exceptions), time in the queue of the
// thread pool (Requests), and suspensions for other reasons than a collection (Suspensions). Package operation lists
// them, and package interval matches their events. HTTP requests that event sources report are part of Pairs; Requests
// selects only these.
//
// # Events of a span
//
// Other events with the labels or the activity ID of an open span become its events, with their payload fields as
// attributes. If several open spans have that activity ID, the latest one gets the event. Events without an activity ID
// belong to the innermost open pair without an activity ID on their thread. The name is provider/event, or only the
// event if the span is a pair of the same provider. Samples are not events of a span. Events of the runtime, of the
// Task libraries and of counters are events of a span only if they have its labels. A thrown exception always is one,
// in the form of the semantic conventions (name exception). Events beyond Options.MaxEvents are counted in
// DroppedEvents.
//
// # Parents
//
// The parent of a pair is the first of these spans:
//
//  1. the open span with the related activity ID of the Start event, or with the longest prefix of it,
//  2. the open span with the activity ID of the Start event, or with the longest prefix of it. An activity ID may be a
//     path (//1/2/3) whose prefixes are its ancestors, see span.ActivityPath. If it is a path, step 3 is omitted,
//     because no ancestor was recorded,
//  3. the innermost open span without an activity ID on the thread. Without activity IDs (TPL keyword 0x80),
//     alternating async operations on a thread are therefore nested in the order in which they begin.
//
// The parent of a label span is the open span of the same trace with the related activity ID of its first event.
// Without a related activity ID it is the span of the same trace that was open on the thread of its first event: that
// of the thread's latest labeled event, or else the innermost one. A span with only a first and a last event is not the
// parent of a span that begins after its last event.
//
// An interval of the runtime is a child of the span that was active on its thread (Options.Active), even if that span
// is not emitted (Options.Context). On that thread, a compilation, a background compilation and a run of finalizers
// enclose the intervals that begin in them, and an exception encloses its handlers; the enclosed intervals are children
// of the enclosing one. Without a parent, an interval is the root of its own trace. A garbage collection stops all
// threads, so it always is the root of its own trace, with a link to the span that was active on its thread. The pause
// for a collection is its child, although it begins slightly earlier; the attribute dotnet.gc.pause_ns of the
// collection is the time of all pauses that belonged to it. A pause that several collections share is a child of the one
// to which it belonged at its end. Time in a queue is a child of the span that was active where the work was
// queued.
//
// # The active span
//
// While events are read, the active span on the thread of an event is: the span of its labels; or else the open span
// with its activity ID or the longest prefix of it, and none if no such span is open; or else the innermost span
// without an activity ID on its thread. The tracker discards threads that the trace reports as removed.
//
// # IDs
//
// Spans without recorded IDs (MadeID) have synthetic IDs: hashes of process, provider, task, time and thread of the
// Start event, its activity ID, and a number that distinguishes spans for which all these are equal. They have the
// attribute ntconv.synthetic. Children share the trace ID of their root.
//
// # Ends
//
// A span is emitted when the event that ends it is read. Finish emits the remaining spans in the order of their start
// times, then of their IDs: first Activities, then all others. Options.Unfinished determines how spans are treated
// whose end is not in the trace; label spans without a Start event are not among these. A span that ends before it
// begins gets a duration of 0 and keeps its end in the attribute ntconv.end_time_unix_nano. If more than
// Options.MaxOpen spans are open, the span without an event for the longest time ends early.
package tracker
