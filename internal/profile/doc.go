// Package profile converts the events of a trace to weighted samples of stacks.
//
// A [Builder] reads events in one pass and aggregates them by process, thread, stack and labels, so its memory grows
// with the number of distinct stacks and label lists and not with the number of events. [Builder.Finish] returns a
// [Profile]. Its stacks are resolved only then, because symbols usually follow the samples. A [Stream] instead returns
// each sample with its weight. Exporters of profiles are a [Sink] and an encoder.
//
// # Equal stacks
//
// Stacks are equal by content, not by pointer. The owner of an address changes when code is unloaded and its memory
// reused. As events are read, Namer.Epoch separates stacks with equal addresses and different owners. Samples whose
// frames turn out to be equal are merged when the stacks are resolved.
package profile
