// Package reader reads nettrace 4, 5 and 6 and netperf 3, plain or packed with gzip or zstd, as an [ntconv.Source].
//
// It goes forward only and never waits for bytes behind the current block, so a live stream shows each window as soon
// as it is complete. What is in memory already is not copied ([NewBytes]). Its steps:
//
//	input    bytes, one block at a time, growing as they arrive
//	framer   block headers of version 6, or objects of versions 3 to 5
//	tables   metadata, thread, stack and label list rows: wire ids to pointers
//	step     one event header to a row of numbers; sequence numbers; references resolved to slots
//	window   time order only: rows of a window, merged
//	deliver  a row to an ntconv.Event
//
// Threads, stacks and label lists are resolved where the event is read, types where it is delivered: in real files a
// metadata row may follow the events that use it.
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
// trace delays only io.EOF.
//
// # Lenient and strict
//
// By default everything that can be read is read: what is not understood is skipped and counted in Options.Report, an
// id without a definition becomes a placeholder, and all events before an error are delivered. Options.Strict accepts
// and refuses as Microsoft's reader does, except where that one is wrong.
package reader
