// Package managedcode names precompiled .NET code and finds source lines of managed code in files: assemblies and
// portable PDBs. It implements symbol.Native and symbol.Lines.
//
// A file is used if it is the build that ran. The trace states the identity of each module's PDB (ModuleLoad events,
// metadata of mappings), which the debug directory of the assembly and the PDB itself contain too. A file with another
// identity is refused. If the trace has no identity, only files in directories that the user named are used, and an
// assembly must be as large as its mapping.
//
// Files are untrusted and may be anything: only regular files are opened, their size is limited, and so is the memory
// for those in use.
package managedcode
