// Package ecma reads the parts of .NET assemblies and portable PDBs that name methods: the PE file, the CLI header, and
// the metadata with its heaps, tables and signatures (ECMA-335, 6th edition, II.22 to II.25).
//
// The input is untrusted. No offset, size or count of a file is used before it is compared with the bytes at hand, no
// memory is allocated by a count, and nesting and lengths of names are bounded. What lies outside the file reads as
// zero, as an empty string or as an empty blob, so one bad row costs the name of one method.
package ecma
