// Package reader reads nettrace 4, 5 and 6 and netperf 3, plain or compressed with gzip or zstd, as an [ntconv.Source].
//
// The reader only moves forward and never waits for bytes after the current block, so a live stream delivers each
// window as soon as it is complete. A trace in memory is not copied ([NewBytes]). The steps:
//
//	input    bytes, one block at a time, growing as they arrive
//	framer   block headers of version 6, or objects of versions 3 to 5
//	tables   metadata, thread, stack and label list rows: wire IDs to pointers
//	step     one event header to a row of numbers; sequence numbers; references resolved to slots
//	window   time order: rows of a window, merged; file order: rows that wait for their type
//	deliver  a row to an ntconv.Event
//
// The reader resolves threads, stacks and label lists when it reads an event, and types when it delivers the event: a
// metadata row may follow the events that use it in their window. In file order, too, such events wait for the row.
//
// The comment of type memo lists the caches between these steps, and the comment of type window its fields.
//
// # Lost events
//
// A recorder numbers the events of each thread from 1, also those that it fails to write, so a gap in the numbers is a
// loss. The reader reports it with ntconv.CodeEventsLost and delivers an event of KindLost before the event that
// reveals the gap, or before the mark that lists the thread's last number. A first number n reveals n-1 losses, in all
// versions. Before version 6 a number that restarts at 1 belongs to a new thread with a reused ID, and reveals nothing
// about the former thread. Any other step back is counted with ntconv.CodeSequenceBack. The count is a lower bound:
// nothing reveals the losses of a thread that has no event and no number in a mark, nor those after the last number.
// netperf files have no numbers.
//
// # After the end of the trace
//
// After the last event the reader reads the input to its end. Zeros are padding. Other bytes are counted with
// ntconv.CodeTrailing, and another trace is an error in addition. A live stream that stays open after the end of its
// trace delays only io.EOF, unless Options.Live is set.
//
// # Lenient and strict
//
// By default the reader reads everything that can be read. It skips data that it cannot parse and counts it in
// Options.Report, replaces an ID without a definition by a placeholder, and delivers all events before an error. With
// Options.Strict it accepts and rejects the same input as Microsoft's TraceEvent library, except where that library is
// wrong.
package reader
