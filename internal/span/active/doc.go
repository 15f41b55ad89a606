// Package active finds the span that was active when an event of a trace was recorded, and links samples to spans.
//
// An Index is built from all events of a trace in a reading of its own, because most traces record a span only when it
// ends, after its samples. Each event of another reading is then linked by the first of three kinds of evidence that
// yields a span:
//
//   - Label: the event itself has a label SpanId.
//   - Activity: the event has the activity ID of the events of a span that had begun and not ended. An activity ID that is a path, as
//     event sources of .NET make them, also leads to the spans of the paths that it starts with.
//   - Thread: a span was active on the thread of the event at that time.
//
// A span of another process never matches, even if threads, activities or IDs are equal.
//
// # Which span was active on a thread
//
// A span that starts and ends on one thread is active there in between. If several spans are active, spans whose IDs
// the trace holds take precedence over spans with synthesized IDs (span.Span.MadeID), then the one that started last,
// the innermost, wins.
//
// No trace records when an asynchronous operation leaves a thread and when it continues on another one, so three rules
// keep a span from receiving the samples of others:
//
//   - A span that ends on another thread than it started on is active on each of the two only as long as its own events or those of its
//     descendants show it there: from its start to the last start or end of a descendant on the thread of its start, and from the first
//     one to its end on the thread of its end. Without descendants it is active on neither.
//   - If only the end of Activities is recorded, the thread of the start is unknown. It is taken to be the thread of the end, unless an
//     unrelated span, one that is neither an ancestor nor a descendant, ended there in between: the thread worked for that span, so the
//     span is active from then on.
//   - A span whose end is not recorded is active on the thread of its start as long as descendants show it there.
//
// A span that waits, starts and ends on one thread, and leaves the thread in between is active all the time: the trace
// does not show that it left, and samples of other work on the thread count for it unless that work has spans of its
// own.
//
// # Times
//
// The times of an Activity are from its payload, because the recorder may write the event late. They are on the wall
// clock, which the header of a trace states to the millisecond only and which may drift. The index measures the
// difference between the two clocks at the ends of the neighboring Activities and takes the first quartile, so that a
// start is exact to the usual delay between the end of an Activity and its event: microseconds.
package active
