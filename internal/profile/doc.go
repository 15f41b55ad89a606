// Package profile converts the events of a trace to weighted samples of stacks.
//
// A [Builder] reads events in one pass and aggregates them by process, thread, stack and labels, so its memory grows
// with the number of distinct stacks and label lists and not with the number of events. [Builder.Finish] returns a
// [Profile]. Its stacks are resolved only then, because symbols usually follow the samples. A [Stream] instead returns
// each sample with its weight.
//
// # Weights
//
// A table defines each kind of profile (see [Kind]). A sample of kind Wall is weighted by the time until the next
// sample of the same thread, because the sampling interval varies: while the CPUs are busy, the sample profiler pauses
// for tens of milliseconds, and counting samples would miss exactly this time.
//
// The profiler works in rounds, and a round sees every thread that has a managed frame. If a round does not see a
// thread, the thread's latest sample ends when that round begins, and the time until the thread's next sample belongs
// to no sample ([Profile].Unseen). The last sample of a thread gets the thread's median interval, but ends at the
// latest with the recording of its process. A thread therefore never has more time than the recording. Intervals are
// added up in ticks, which is exact, and converted once at the end.
//
// A selection does not change weights: [Builder.Watch] also sees the samples that the selection omits. A file of a
// selection lacks these samples, so [Weights] adds events that state the weights that depend on them.
//
// # Equal stacks
//
// Stacks are equal by content, not by pointer. The owner of an address changes when code is unloaded and its memory
// reused. As events are read, Namer.Epoch separates stacks with equal addresses and different owners. Samples whose
// frames turn out to be equal are merged when the stacks are resolved.
package profile
