// Package imported describes profiles of other programs, and converts sampling profiles into a source of events.
//
// # Origin
//
// An [Origin] holds the properties of a profile that was converted to events. The attributes of the events'
// [ntconv.Type] store it, so it stays with the events when traces are filtered, merged and rewritten, and an exporter
// can restore the profile.
//
// Importers set the members of an [Origin] and put [Origin.Attrs] and [Columns.Fields] into the type of their samples.
// Consumers that only aggregate samples use [ColumnsOf]; exporters that write a profile use [Merge].
//
// # Source
//
// A [Source] yields the samples of a profile whose parts arrive in any order: samples before the names of their frames,
// one thread after another, sample types that are complete only at the end of the file.
//
// Samples become the same events as in importers/pprof and importers/folded: Universal.Events/cpu, with a type whose
// attributes describe the sample types. Memory depends on the number of threads, nodes of the stack tree and frames;
// samples and records are in the spool, in a temporary file.
package imported
