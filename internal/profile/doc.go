// Package profile turns the events of a trace into weighted samples: which stack, on whose behalf, how much of what.
//
// A [Builder] takes events in one pass and sums them up by (process, thread, stack, labels), so its memory follows the
// number of distinct stacks and label lists and never the number of events. [Builder.Finish] returns a [Profile], whose
// samples get their names from the Namer only then: names usually come last in a trace.
//
// # Weights
//
// What a kind of profile counts is a row of one table (see [Kind]). A sample of kind Wall is weighted by the time until
// the next sample of the same thread, because the sampling interval varies: the sample profiler pauses for tens of
// milliseconds while the CPUs are busy, and counting samples would hide exactly that time.
//
// The profiler works in rounds, and a round sees every thread that has a managed frame. If a round does not see a thread,
// the thread's latest sample ends when that round begins, and the time until the thread's next sample belongs to no
// sample ([Profile].Unseen). The last sample of a thread gets the thread's median interval, but ends with the recording of
// its process. So no thread has more time than the recording. Intervals are added up as ticks, which is exact, and
// converted once at the end.
//
// A selection does not change weights: [Builder.Watch] sees the samples that it omits, too. A file of a selection no
// longer has these samples, so [Weights] adds events that state the weights that depend on them.
//
// # Equal stacks
//
// Stacks are equal by content, not by pointer. Addresses get another meaning when code is unloaded and its memory used
// again: Namer.Epoch tells such stacks apart while events pass, and samples whose frames turn out to be the same after
// all are merged when the names are known.
package profile
