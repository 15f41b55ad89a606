// Package ntconvtest provides building blocks for tests of sources and sinks: sources and sinks in memory, equality of
// event streams, and small traces that show how other formats use the model. Tests outside this module may use it too.
//
// These building blocks express the properties that every source and sink must have:
//
//	EqualStreams(src, reread, nil)        a lossless format reproduces the stream
//	Copy(sink, Poison(src))               a sink retains nothing of a borrowed event
//	open(Chop(r, 1))                      a reader does not depend on the sizes of reads
package ntconvtest
