package assembly

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// A PDBID identifies the debugging information of one build of an assembly: the GUID in the order of the file, and for
// portable PDBs the timestamp of its debug directory entry (Portable PDB format, PE-COFF.md of dotnet/runtime).
type PDBID struct {
	GUID  [16]byte
	Stamp uint32
}

// String returns the GUID as it is usually written, with the stamp.
func (id PDBID) String() string { return fmt.Sprintf("%s-%08x", GUIDString(id.GUID), id.Stamp) }

// GUIDString returns the usual spelling of a GUID without hyphens, in lower case.
func GUIDString(g [16]byte) string {
	var b [16]byte
	binary.BigEndian.PutUint32(b[0:], binary.LittleEndian.Uint32(g[0:]))
	binary.BigEndian.PutUint16(b[4:], binary.LittleEndian.Uint16(g[4:]))
	binary.BigEndian.PutUint16(b[6:], binary.LittleEndian.Uint16(g[6:]))
	copy(b[8:], g[8:])
	return hex.EncodeToString(b[:])
}

// CodeView is the entry of the debug directory that names the PDB of an assembly.
type CodeView struct {
	ID       PDBID
	Age      uint32
	Path     string // as written by the compiler; it may be any text
	Portable bool   // a portable PDB, not a Windows PDB
}

// Types of entries of the debug directory, and the minor version of a CodeView entry of a portable PDB.
const (
	debugCodeView    = 2
	debugEmbeddedPDB = 17
	debugEntrySize   = 28
	maxDebugEntries  = 64 // compilers write at most some
	maxPath          = 1 << 12
	portableMinor    = 0x504d
)

// debugEntries calls visit for the entries of the debug directory, until it returns false.
func (img *Image) debugEntries(visit func(entry, data []byte) bool) {
	list := img.At(img.debug.RVA, min(img.debug.Size, maxDebugEntries*debugEntrySize))
	for ; len(list) >= debugEntrySize; list = list[debugEntrySize:] {
		if !visit(list[:debugEntrySize], at(img.data, u32(list, 24), u32(list, 16))) {
			return
		}
	}
}

// CodeView returns the entry that names the PDB. It returns false if there is none.
func (img *Image) CodeView() (cv CodeView, ok bool) {
	img.debugEntries(func(entry, data []byte) bool {
		if u32(entry, 12) != debugCodeView || len(data) < 24 || string(data[:4]) != "RSDS" {
			return true
		}
		cv.ID.Stamp, cv.Portable = u32(entry, 4), u16(entry, 10) == portableMinor
		copy(cv.ID.GUID[:], data[4:])
		cv.Age = u32(data, 20)
		path, _, _ := bytes.Cut(data[24:min(len(data), 24+maxPath)], []byte{0})
		cv.Path, ok = string(path), true
		return !cv.Portable // an image compiled to native code also names the PDB of that code
	})
	return cv, ok
}

// EmbeddedPDB returns the compressed portable PDB in the image with its size before compression, or nil. The bytes are
// a deflate stream.
func (img *Image) EmbeddedPDB() (compressed []byte, size uint32) {
	img.debugEntries(func(entry, data []byte) bool {
		if u32(entry, 12) != debugEmbeddedPDB || len(data) < 8 || string(data[:4]) != "MPDB" {
			return true
		}
		compressed, size = data[8:], u32(data, 4)
		return false
	})
	return compressed, size
}
