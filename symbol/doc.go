// Package symbol gives addresses names.
//
// A [Table] watches the events of a trace and learns from those that name code: method and module events of the .NET
// runtime, and the processes, mappings and symbols of machine-wide traces (Universal.System). It answers as an
// [ntconv.Namer]. Names may come after the samples that need them, and they usually do.
//
// # Time
//
// Addresses are used again: dynamic methods come and go at one address, and files are mapped where others were. Every
// answer is for a time. An address belongs to what came to it last before that time, else to what came first after it;
// what no event announced, but a rundown found at the end, was there since its predecessor went, or always.
// [Table.Epoch] numbers the changes, so that samples can be summed up before their names are known.
//
// # Addresses without names
//
// get a stand-in, libfoo.so+0x1234 in a mapped file (an offset in the file), else the plain address, and the flag
// ntconv.FrameUnresolved.
//
// # Sources without addresses
//
// [Synthesize] turns frames that have only names, as those of pprof profiles, into addresses and events that name them,
// for formats that hold nothing else. A Table that reads them back gives the same frames.
package symbol
