// Package symbol resolves addresses to frames, and synthesizes addresses for frames that have none.
//
// A [Table] observes the events of a trace and learns from those that describe code: method and module events of the
// .NET runtime, and processes, mappings and symbols of machine-wide traces (provider Universal.System). It implements
// [ntconv.Namer]. Symbols usually follow the samples that need them.
//
// # Time
//
// Addresses are reused: dynamic methods are compiled and freed at one address, and files are mapped where other files
// were. Each answer therefore applies to a time. An address belongs to its last owner at that time, or else to the
// first owner after it. Code that no load event announced and that only a rundown describes is taken to exist since its
// predecessor was unloaded, or always if it has none. [Table.Epoch] numbers the changes of owner, so that samples can
// be aggregated before symbols are known.
//
// # Addresses without symbols
//
// An unresolved address gets a placeholder name and the flag ntconv.FrameUnresolved. The placeholder is
// libfoo.so+0x1234 inside a mapped file, where the number is an offset in the file, and the address otherwise.
//
// # Sources without addresses
//
// [Synthesize] gives addresses to frames that have only names, such as those of pprof profiles, and adds events that
// describe these addresses. Formats that store only addresses need it. A Table that reads the events returns equal
// frames.
package symbol
