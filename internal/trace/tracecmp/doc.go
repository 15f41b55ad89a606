// Package tracecmp compares event streams. It finds the first difference between two sources and describes it. It
// defines "rewritten without loss" for ntconv verify and the tests.
//
// # Equality
//
// Types, threads and processes are compared by content and by identity: a pointer in one stream must correspond to one
// pointer in the other, so two threads with equal rows remain two. KindDefine events may appear elsewhere, or be
// missing if an event uses the type or thread, because each format has its own place for definitions. A type or thread
// that one stream only declares must be declared or used in the other.
//
// The comparison ignores
//
//   - Event.Offset and Info.Format,
//   - attributes of the trace with the prefix "ntconv.", which describe how a trace was written,
//   - whether an empty stack or label list is nil,
//   - sequence numbers that one of the streams lacks: a zero without FlagNumbered, and any zero in a mark,
//   - in time order (Options.Sorted), the numbers of a capture thread from the first one that reveals other losses
//     than the stream reports with KindLost events, because the thread numbered its events in another order. The losses
//     are compared,
//   - the time of marks that end threads, which formats do not record,
//   - FlagPlaceholder, FlagLate and FlagNumbered, which describe the reading, not the trace.
//
// The position of marks and of blocks of unknown kind among the events is compared. In time order package reader
// delivers those without a time of their own after the latest of the events that precede them in the input.
//
// With Options.Profiles, samples with equal threads, stacks and labels are added up, and the totals of both sources are
// compared. Importers of profiles synthesize times, order, sequence numbers and weights, so these are not compared. The
// mappings of a process are compared as a set. A sample that only one source has equals a sample whose values are 0.
//
// The comparison needs time and memory in proportion to the streams: definitions that no event uses are matched by
// content, and long stacks and label lists that many events share are compared once.
package tracecmp
