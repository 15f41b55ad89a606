// Package writer writes traces as nettrace 6: an [ntconv.Sink].
//
// # Definitions follow use
//
// A type or thread is numbered and described the first time an event, a mark or a KindDefine event refers to its
// pointer, a stack or label list the first time its content is met in a window. Nothing has to be announced, so
// whatever is left out upstream leaves no trace here.
//
// # Blocks and windows
//
// Events and the rows that they need are gathered into one block a kind. When one of them is large enough all are
// written, definitions first. Stacks and label lists keep their numbers until the next sequence point; types and
// threads keep them to the end, so that a reader recognizes a row that comes back after a flush. Where capture threads
// take turns with events that are not flagged as sorted, each turn is an event block: Microsoft's reader would not
// notice it elsewhere. That holds too for flags that the writer takes back because a later event of the same blocks is
// earlier. When to write does not depend on either, so that what is written again is cut in the same places.
//
// Marks of the source become sequence points and RemoveThread blocks as they are. Between them the writer ends a window
// of its own accord only if it is told that events come in the order of time: a sequence point promises that.
//
// # What the format has no place for
//
// Key/values of the trace and attributes of threads hold it, under names that begin with "ntconv." (and "host.name"):
//
//	trace   ntconv.labels=zigzag       numbers of labels are written as the specification says, and units as follows
//	trace   ntconv.aggregate=true      Info.Aggregate
//	trace   ntconv.start=MILLISECONDS  start of the trace since 1970, where its year is not 1601 to 9999: Microsoft's reader opens no such trace
//	label   KEY#unit                   a string label behind the number label KEY: its unit
//	thread  host.name                  Process.Host
//	thread  ntconv.process-name        Process.Name
//	thread  ntconv.pointer-size        Process.PointerSize, where it is not that of the trace
//	thread  ntconv.process.KEY         Process.Attrs
//
// Package reader puts them back. KindLost events are not written: gaps in the sequence numbers say the same. Events
// without a sequence number get one. Names of stack frames are not written, only addresses; they are counted in
// Options.Report.
//
// Types that the source's reader could not understand are written as they were found and counted, because Microsoft's
// reader refuses the trace, unless Options.DropUnknown leaves out what it refuses.
//
// # Limits
//
// Microsoft's reader corrupts payloads above 65,535 bytes and stacks above 8,190 addresses. They are refused with an
// ntconv.LimitError unless Options.AllowLarge is set. Rows with a 16-bit size (types, fields, threads) and blocks of 16
// MiB cannot be exceeded at all. An event that is refused leaves the writer as it was: the caller may go on with the
// next.
package writer
