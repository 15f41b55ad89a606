// Package profile turns the events of a trace into weighted samples: which stack, on whose behalf, how much of what.
//
// A [Builder] takes events in one pass and sums them up by (process, thread, stack, labels), so its memory follows the
// number of distinct stacks and label lists and never the number of events. [Builder.Finish] returns a [Profile], whose
// samples get their names from the Namer only then: names usually come last in a trace.
//
// # Weights
//
// What a kind of profile counts is a row of one table (see [Kind]). The wall clock kind weighs a sample by the time
// until the next sample of the same thread, because the sampler of .NET does not keep its period: it pauses for tens of
// milliseconds while the processors are busy, and counting samples would hide exactly that time. The last sample of a
// thread has no successor and gets the thread's median interval. Intervals are summed as ticks, which is exact, and
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
