// Package ntconvtest holds what tests of sources and sinks have in common: sources and sinks in memory, equality of
// event streams, and fixtures of what other formats put into the model.
//
// The laws that a source or a sink must keep are stated with these pieces:
//
//	EqualStreams(src, reread, nil)        a format that loses nothing gives the same stream back
//	Copy(sink, Poison(src))               a sink keeps nothing of a borrowed event
//	open(Chop(r, 1))                      a reader does not depend on how its input is cut
//
// Tests outside this module may use it, too.
package ntconvtest
