// Package meters defines how the samples of each kind of profile are computed from events.
//
// [Specs] is a table with a row per kind: its columns and labels, and either a function that measures an event that is a
// sample, or a meter. A meter is the state of one kind in one trace: it pairs the start of a wait with its stop, splits
// a pause by collection, or estimates allocations. A [Collector] connects a meter with its owner, which adds up the
// samples or passes them on, and decides which samples are selected.
package meters
