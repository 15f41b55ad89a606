// Package symbolfiles finds the files that name the code of a trace: the mapped programs and libraries, their separate
// debug files, perf maps and copies of the kernel's symbol list. A [Finder] is a symbol.Native.
//
// A file belongs to a mapping if both have the same build ID. A mapping without a build ID is served only from places
// that the user names, by a file with the path or the name of the mapped one, and only if the program headers agree
// with the mapping. A file of another build is refused: its names would be wrong.
//
// Nothing is read before the first address of a mapping is asked for. Directories, files and results are bounded.
// Paths come from the trace and are untrusted: they are opened only below directories that the user names, or if they
// are regular files of this machine whose build ID is that of the mapping.
package symbolfiles
