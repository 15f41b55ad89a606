// Package assembly reads .NET assemblies and portable PDBs: the names of methods, precompiled code, and source lines.
//
// # Metadata
//
// [Metadata] has the parts that name methods: the PE file, the CLI header, and
// the metadata with its heaps, tables and signatures (ECMA-335, 6th edition, II.22 to II.25).
//
// The input is untrusted. No offset, size or count of a file is used before it is compared with the bytes at hand, no
// memory is allocated by a count, and nesting and lengths of names are bounded. What lies outside the file reads as
// zero, as an empty string or as an empty blob, so one bad row costs the name of one method.
//
// # Source lines
//
// [PDB] reads the source files and lines of .NET methods from portable PDBs (Portable PDB format v1.0,
// PortablePdb-Metadata.md of dotnet/runtime), in files of their own or embedded in an assembly.
//
// Only documents and sequence points are read. Sources that are embedded or that a source link names are not.
//
// # Precompiled code
//
// [NativeImage] finds the methods that contain addresses of precompiled .NET code: ReadyToRun images, as
// crossgen2 writes them, including composite images (readytorun-format.md and readytorun.h of dotnet/runtime; tested
// with images of versions 2.2 and 16.0).
//
// A lookup returns the names that the runtime's method events have for the same method, so that both are spelled and
// aggregated alike.
package assembly
