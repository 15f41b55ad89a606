// Package convert reads inputs of any format that the command ntconv reads, selects events as the flags of the command
// do, and writes any file format that the command writes.
//
//	src, err := convert.Open(ctx, "trace.nettrace.zst", nil)        // a Source of the events of any input
//	res, err := convert.File(ctx, "cpu.pb.gz", nil, "trace.nettrace") // the format follows from the name
//
// Open detects the format of an input from its content and decompresses it within limits. Options.Select selects
// events. Symbols are learned from all events, so that the stacks of selected events can be resolved.
//
// A program that imports this package links all formats with their dependencies. To keep a program for one or two
// formats small, import their packages instead, such as reader and exporters/pprof.
//
// Open, OpenReader and File are safe for concurrent use, also with the same Options if Options.Report is nil.
package convert
