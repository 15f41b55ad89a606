// Package interval finds the intervals that pairs of events (schema.Pair) delimit, such as garbage collections, waits
// for locks and compilations, and determines which events were recorded during them.
//
// A Matcher pairs the events of a trace. The intervals that its user selects become Windows, which answer in a later
// pass whether an event was recorded during one of them.
//
// # Which events are during an interval
//
// An interval lasts from the time of the event that begins it to the time of the event that ends it, both inclusive.
// It covers its thread, or the whole process:
//
//   - A collection, a suspension of the runtime, and every other interval of which a process has at most one, covers
//     the process. So does the time in a queue, because no thread is occupied.
//   - Any other interval covers the thread on which it begins and ends. If it ends on another thread, it covers the
//     process, because the trace does not show which threads worked on it.
//
// # Incomplete intervals
//
// An interval without a begin or without an end in the trace is not used, because its extent is unknown. The same holds
// for intervals that are paired by thread or process if the recorder lost events of the thread in between: the end may
// belong to another begin. Counts reports them.
package interval
