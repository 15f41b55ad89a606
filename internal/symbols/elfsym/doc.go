// Package elfsym resolves addresses of one ELF file to functions, with everything that the file has: its symbol tables,
// the compressed one of MiniDebugInfo, the function table of Go programs, and DWARF.
//
// Files are untrusted. No file makes the package panic or hang, and it allocates at most a small multiple of what the
// file holds, within fixed limits. The bytes that describe sections and symbols bound their numbers; maxSection and a
// ratio bound the sizes of compressed sections.
//
// Addresses are those of the file (st_value, p_vaddr). [File.Address] converts an offset in the file, which is what a
// mapping of a process states, to an address.
package elfsym
