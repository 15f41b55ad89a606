package managedcode_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/ntconv/ntconv/internal/symbols/assembly"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/symbol"
)

// linearPDB returns a portable PDB of an assembly in which the line of each instruction is its IL offset + 1.
func linearPDB(id [16]byte, methods uint32) []byte {
	const points = 4000
	blobs := []byte{0, 4, 'a', '.', 'c', 's', 2, 0, 1} // the name of the document is the part at 1, without a separator
	points0 := uint16(len(blobs))
	text := []byte{0, 0, 0, 1, 1, 1} // no local variables; offset 0 is in line 1
	for range points - 1 {
		text = append(text, 1, 0, 1, 2, 0)
	}
	blobs = binary.BigEndian.AppendUint32(blobs, 0xc0000000|uint32(len(text)))
	blobs = append(append(blobs, text...), make([]byte, 4-len(text)%4)...)

	tables := make([]byte, 24)
	tables[4], tables[8+6] = 2, 1<<0|1<<1 // version 2.0; tables 0x30 and 0x31
	tables = binary.LittleEndian.AppendUint32(tables, 1)
	tables = binary.LittleEndian.AppendUint32(tables, methods)
	for _, v := range []uint16{6, 0, 0, 0} {
		tables = binary.LittleEndian.AppendUint16(tables, v)
	}
	for range methods {
		tables = binary.LittleEndian.AppendUint16(tables, 1)
		tables = binary.LittleEndian.AppendUint16(tables, points0)
	}
	pdb := append(id[:], make([]byte, 16)...)

	out := []byte("BSJB\x01\x00\x01\x00\x00\x00\x00\x00\x04\x00\x00\x00v1\x00\x00\x00\x00\x03\x00")
	at := uint32(len(out) + 3*8 + 8 + 4 + 8)
	for _, s := range []struct {
		name string
		data []byte
	}{{"#Pdb\x00\x00\x00\x00", pdb}, {"#~\x00\x00", tables}, {"#Blob\x00\x00\x00", blobs}} {
		out = binary.LittleEndian.AppendUint32(out, at)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(s.data)))
		out = append(out, s.name...)
		at += uint32(len(s.data))
	}
	return bytes.Join([][]byte{out, pdb, tables, blobs}, nil)
}

// TestPrecompiledLines checks that precompiled frames get lines by the maps in their assembly. The trace states only the
// addresses of their methods.
func TestPrecompiledLines(t *testing.T) {
	trace := corpus.SharedTrace(t, "own/cpu-env").Data
	runtime := runtimeDir(t)
	found, err := filepath.Glob(filepath.Join(runtime, "*", "*", "System.Private.CoreLib.dll"))
	if err != nil || len(found) != 1 {
		t.Fatalf("found %q, %v", found, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	img, err := assembly.ParseImage(data)
	if err != nil {
		t.Fatal(err)
	}
	m, err := img.Metadata()
	if err != nil {
		t.Fatal(err)
	}
	cv, ok := img.CodeView()
	if !ok {
		t.Fatal("the assembly has no debug directory")
	}
	dir := t.TempDir()
	pdb := linearPDB(cv.ID.GUID, m.Rows(assembly.MethodDef))
	if err := os.WriteFile(filepath.Join(dir, "System.Private.CoreLib.pdb"), pdb, 0o600); err != nil {
		t.Fatal(err)
	}
	all, located, first := 0, 0, 0
	for _, f := range frames(t, trace, &symbol.Options{Lines: resolver(true, dir, runtime)}) {
		if f.Mapping == nil || filepath.Base(f.Mapping.File) != "System.Private.CoreLib.dll" {
			continue
		}
		all++
		if f.Func.File == "a.cs" && f.Func.StartLine == 1 {
			first++
		}
		if f.Line > 0 {
			located++
		}
	}
	if all < 500 || first != all || located != all {
		t.Errorf("%d of %d frames have a file, %d a line", first, all, located)
	}
}
