// Package interval finds the intervals that pairs of events (schema.Pair) delimit, such as garbage collections, waits
// for locks and compilations, and determines which events were recorded during them.
//
// Open holds the intervals that have begun. Heaps divides the suspensions of the runtime among garbage collections. A
// Matcher matches the events of all other known operations, too: spans and timelines are built from its intervals, and
// profiles use Open and Heaps. A Finder keeps the events of intervals. Those that its user selects become Windows,
// which answer in a later pass whether an event was recorded during one of them.
//
// # Which events are during an interval
//
// An interval lasts from the time of the event that begins it to the time of the event that ends it, both inclusive.
// It covers its thread, or the whole process:
//
//   - A collection, a suspension of the runtime, and every other operation that the table in package operation states,
//     covers the process. So does the time in a queue, because no thread is occupied.
//   - Any other interval covers the thread on which it begins and ends. If it ends on another thread, it covers the
//     process, because the trace does not show which threads worked on it.
//
// # Incomplete intervals
//
// An interval without a begin or without an end in the trace is not used, because its extent is unknown. The same holds
// for intervals that are paired by thread or process if the recorder lost events of the thread in between, or the
// thread ended: the end may belong to another begin. Counts reports them.
package interval
