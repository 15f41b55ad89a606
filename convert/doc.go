// Package convert reads inputs of any format that the command ntconv reads, selects events by the rules of the
// command's flags, and writes any file format that the command writes.
//
//	src, err := convert.Open(ctx, "trace.nettrace.zst", nil)        // a Source of the events of any input
//	res, err := convert.File(ctx, "cpu.pb.gz", nil, "trace.nettrace") // the format follows from the name
//
// Open recognizes the format of an input by its content and decompresses it within limits. An Options.Select chooses
// events; symbols are learned from all events, so that the frames of the selected ones can be resolved.
//
// The package knows every format, so a program that uses it compiles them all, with the libraries that they need. A
// program that needs one or two formats uses their packages, such as reader and exporters/pprof, and stays smaller.
package convert
