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
// # Lenient and strict
//
// By default everything that can be read is read: what is not understood is skipped and counted in Options.Report, an
// id without a definition becomes a placeholder, and all events before an error are delivered. Options.Strict accepts
// and refuses as Microsoft's reader does, except where that one is wrong.
package reader
