// Package writer writes traces as nettrace 6: an [ntconv.Sink].
//
// # Definitions follow use
//
// The writer assigns an ID to a type or thread, and writes its row, when the first event, mark or KindDefine event
// refers to its pointer. It does the same for a stack or label list when its content first appears in a window. Callers
// need not announce anything, so definitions that only filtered events use are not written.
//
// # Blocks and windows
//
// The writer gathers events and their rows into one block per kind. When a block is full it writes all blocks,
// definitions first. Stacks and label lists keep their IDs until the next sequence point. Types and threads keep them
// to the end, so that a reader recognizes a row that reappears after a flush.
//
// Where events of different capture threads alternate and are not flagged as sorted, each change of the thread starts
// an event block: Microsoft's TraceEvent library notices the change only there. This also applies to events whose
// sorted flag the writer removes, because a later event in the same blocks is earlier. The decision when to write
// depends on neither, so that rewriting a trace yields the same blocks.
//
// Marks of the source become sequence points and RemoveThread blocks. Between them the writer ends a window only with
// Options.Ordered, because a sequence point states that no earlier event follows.
//
// # Members that the format lacks
//
// The writer stores them in key/values of the trace and in attributes of threads, under names that start with "ntconv."
// (and "host.name"):
//
//	trace   ntconv.labels=zigzag       numbers of labels have the zigzag encoding of the specification; units as below
//	trace   ntconv.aggregate=true      Info.Aggregate
//	trace   ntconv.start=MILLISECONDS  start since 1970 if its year is not 1601 to 9999, which TraceEvent cannot open
//	label   KEY#unit                   a string label after the number label KEY: its unit
//	thread  host.name                  Process.Host
//	thread  ntconv.process-name        Process.Name
//	thread  ntconv.pointer-size        Process.PointerSize, if it differs from that of the trace
//	thread  ntconv.process.KEY         Process.Attrs
//
// Package reader restores them. The writer does not write KindLost events, because gaps in the sequence numbers
// represent them. It assigns sequence numbers to events without one. It writes only the addresses of stacks and counts
// the frame names that it drops in Options.Report.
//
// The writer copies types that the source's reader could not fully parse, and counts them, because TraceEvent rejects
// the trace. With Options.DropUnknown it omits these parts.
//
// # Limits
//
// TraceEvent corrupts payloads above 65,535 bytes and stacks above 8,190 addresses. The writer rejects them with an
// ntconv.LimitError unless Options.AllowLarge is set. Rows with a 16-bit size (types, fields, threads) and blocks of 16
// MiB have fixed limits. A rejected event leaves the writer unchanged, so the caller may continue with the next event.
package writer
