// Package tracker makes spans of the events of a trace.
//
// # Which spans there are
//
// Labels: the events of one process with the same SpanId and TraceId labels are a span, regardless of their type. It
// lasts from the first to the last of them; if one of them has the opcode Start, from there to the Stop of the same
// provider and task. Its name and scope are the task and the provider of the Start event, or else provider/event and
// the provider of its most frequent event. A SpanId without a TraceId belongs to one made trace per process. A TraceId
// without a SpanId makes no span. The bytes of a SpanId label are those of the W3C text form in order, or from last to
// first with Options.SpanIDReversed. Events that follow the Stop of their span are counted (Counts.Late).
//
// Activities: package diagsource decodes them. Events with the IDs of an Activity as labels become events of its span.
//
// Pairs: a Start event and the Stop event of the same provider and task are a span. Its name is the task, its scope the
// provider. Its attributes are the payload fields of Start, then those of Stop; a field that differs between the two
// gets the prefix "stop." for the Stop. A Stop with an activity ID ends the latest open Start with that activity ID. A
// Stop without one ends the first of these:
//
//  1. the latest open Start without an activity ID on its thread that agrees with it: fields with the same name have the same value,
//     and there is one,
//  2. the only open Start in the process that agrees with it. If they share no field, the only open Start of the task,
//  3. the latest open Start without an activity ID on its thread.
//
// The names of some events do not reveal the task (Shipping and Shipped). Such a Stop ends such a Start of the same
// provider if no Start of its own task is open. A Stop without a Start is counted (Counts.Unmatched) and is an event of
// the span that it lies in. Pairs of the runtime's own providers, of the Task library (TPL, PLINQ), of
// FrameworkEventSource and of the metrics source are not spans: they describe the work of the runtime and not that of
// the program.
//
// Imported spans are passed on as they are.
//
// Chrome: slices of Chrome's trace event format are spans. Complete slices (X) and those of a thread (B and E) have as
// their parent the innermost slice that is open on their thread and does not end before them; of complete slices that
// begin at one time, the longer one is outside. Asynchronous slices (b and e, S and F) and the lifetimes of objects (N
// and D) have as their parent the innermost open slice with their ID; they have the attribute chrome.id. Package
// chromeevent says which events belong together. The scope is the category. The members of args are attributes; a
// member of the args of the end that differs from that of the begin gets the prefix "stop.". Steps of asynchronous
// slices (n, T, p and O), and instants of a thread (i, I), are events of the open slice that they lie in. Arrows (s, t
// and f, or bind_id) are links: a slice in which an arrow ends links to the one in which it began. A complete slice is
// passed on with the first event of its thread after its end. An end without a begin is counted (Counts.Unmatched).
//
// Intervals of the runtime are spans on request: garbage collections and the pauses for them (GC), compilations (JIT),
// waits for locks (Contention) and wait handles (Waits), exceptions and their handlers (Exceptions), time in the queue
// of the thread pool (Requests). The HTTP requests that event sources report are Pairs; Requests selects them alone.
//
// # Events of a span
//
// Other events with the labels or the activity ID of an open span become its events, with their payload fields as
// attributes; of several open spans with that activity ID the latest one gets them. Events without an activity ID
// belong to the innermost pair without an activity ID that is open on their thread. The name is provider/event, and
// only the event if the span is a pair of the same provider. Samples are not events of a span. Events of the runtime,
// of the Task library and of counters are events of a span only if they have its labels; a thrown exception always is
// one, as the semantic conventions describe it (name exception). Beyond Options.MaxEvents they are counted in
// DroppedEvents.
//
// # Parents
//
// A pair's parent is the first of these spans:
//
//  1. the open span with the related activity ID of the Start event, or with the longest prefix of it,
//  2. the open span with the activity ID of the Start event, or with the longest prefix of it. An activity ID is a path (//1/2/3)
//     whose prefixes are its ancestors, see span.ActivityPath. If it is a path, step 3 is omitted: no ancestor was recorded,
//  3. the innermost span without an activity ID that is open on the thread. Without activity IDs (TPL keyword 0x80), async operations
//     that take turns on a thread are nested as they lie.
//
// The parent of a label span is the open span of the same trace with the related activity ID of its first event.
// Without one it is the span of the same trace that was open on the thread of its first event: the one of the latest
// labeled event of that thread, or else the innermost. A span that has only a first and a last event is not the parent
// of one that begins after its last event.
//
// An interval of the runtime is a child of the span that was active on its thread (Options.Active), which may be one
// that is not passed on (Options.Context). On that thread, a compilation, a background compilation and a run of
// finalizers enclose the intervals that begin in them, and an exception encloses its handlers: these are children of
// the enclosing interval. Without a parent it is the root of a trace of its own. A garbage collection stops all
// threads, so it always is the root of a trace of its own, with a link to the span that was active on its thread; the
// pause that it causes is its child, although it begins a little earlier, and its attribute dotnet.gc.pause_ns holds
// the duration of the pause. Time in a queue is a child of the span that was active where the work was queued.
//
// # The active span
//
// Live knowledge of the span that is active on the thread of an event is, in this order: the span of its labels; the
// open span with its activity ID or the longest prefix of it, and none if no such span is open; the innermost span
// without an activity ID on its thread. The tracker discards threads that the trace reports as removed.
//
// # IDs
//
// Spans without recorded IDs (MadeID) have IDs that are hashes of process, provider, task, time and thread of the Start
// event, its activity ID, and a number that distinguishes spans for which all of this is equal. They get the attribute
// ntconv.synthetic. Children share the trace ID of their root.
//
// # Ends
//
// A span is passed on when the event that ends it is read. Finish passes on the others in the order of their start
// times, then of their IDs: first Activities, then all others. Options.Unfinished decides what becomes of spans whose
// end the trace does not show; spans of labels without a Start event are not among them. A span that ends before it
// begins gets a duration of 0 and keeps its end in the attribute ntconv.end_time_unix_nano. If more than
// Options.MaxOpen spans are open, the one without an event for the longest time ends early.
package tracker
