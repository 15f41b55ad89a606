// Package streameq compares event streams: it finds the first place where two sources do not yield the same trace, and
// says what differs there. It is the definition of "rewritten without loss" that ntconv verify and the tests share.
//
// # What is equal
//
// Types, threads and processes are compared by content and by identity: what is one pointer in one stream must be one
// in the other, so two threads with equal rows stay two. KindDefine events may stand elsewhere or be missing if the
// type or thread is used, since writers put definitions where their format wants them; but what is only declared in one
// stream must be declared or used in the other. Attributes of the trace with the prefix "ntconv." are about the writing
// and are not compared. Neither are
//
//   - Event.Offset and Info.Format,
//   - the difference between a stack or label list that is missing and one that is empty,
//   - sequence numbers that one of the streams does not know: a zero without FlagNumbered, and any zero of a mark,
//   - in time order (Options.Sorted), the numbers of a capture thread from the first one that shows other losses than the stream reports
//     with KindLost events: time order is then not the order in which the thread numbered its events. The losses are compared,
//   - the time of marks that end threads, which formats do not record,
//   - FlagPlaceholder, FlagLate and FlagNumbered, which tell about the reading, not about the trace.
//
// The place of marks and of blocks of unknown kind among the events is compared. In time order package reader puts
// those without a time of their own after the latest of the events that precede them in the input.
//
// With Options.Profiles, samples with equal threads, stacks and labels are added up, and the totals of both sources are
// compared. Importers of profiles make times, order, sequence numbers and weights, so these are not compared, and the
// mappings of a process are compared as a set. A sample that one source does not have equals one whose values are 0.
//
// Comparing takes time and memory in proportion to the streams: what no event uses is matched by its content, and long
// stacks and label lists that many events share are compared once.
package streameq
