// Package active determines which span was active when an event of a trace was recorded, and links samples to spans.
//
// An Index is built from all events of a trace in a separate pass, because most traces record a span only when it ends,
// after its samples. In a later pass, each event is linked by the first of three kinds of evidence that yields a span:
//
//   - Label: the event has a label SpanId.
//   - Activity: the event has the activity ID of a span that was open at that time. An activity ID that is a path, as
//     from .NET event sources, also matches the spans whose paths are its prefixes.
//   - Thread: a span was active on the thread of the event at that time.
//
// A span of another process never matches, even if threads, activities or IDs are equal.
//
// # Which span was active on a thread
//
// A span that starts and ends on one thread is active there in between. If several spans are active, spans whose IDs
// the trace contains take precedence over spans with synthetic IDs (span.Span.MadeID). Among these, the span that
// started last, the innermost, is used.
//
// No trace records when an asynchronous operation leaves a thread and when it continues on another one. Three rules
// prevent a span from receiving the samples of others:
//
//   - A span that ends on another thread than it started on is active on both threads only while its own events or
//     those of its descendants show it there: from its start to the last start or end of a descendant on the first
//     thread, and from the first start or end of a descendant to its end on the second thread. Without descendants it
//     is active on neither.
//   - If only the end of Activities is recorded, the thread of the start is unknown and assumed to be the thread of the
//     end. If an unrelated span, neither an ancestor nor a descendant, ended on that thread in between, the thread
//     worked for that span; the span is then active only after that end.
//   - A span whose end is not recorded is active on the thread of its start while descendants show it there.
//
// A span that starts and ends on one thread but leaves it while it waits is active all the time, because the trace does
// not show that it left. Samples of other work on the thread are assigned to it, unless that work has its own spans.
//
// # Times
//
// A span begins and ends for its samples when it does in every output: at the times of its payload if it is an
// Activity, because the recorder may write the event late, the first ones of a process by 10 ms. These times are on the
// wall clock, which the header of a trace states only to the millisecond and which may drift. The Index measures the
// difference between the two clocks at the ends of neighboring Activities and uses the first quartile. Starts and ends
// are therefore accurate to the usual delay between the end of an Activity and its event, a few microseconds.
package active
