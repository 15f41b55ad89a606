package elfsym_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ntconv/ntconv/internal/symbols/elfsym"
)

// seeds returns small programs of several forms.
func seeds(f *testing.F) (list [][]byte) {
	dir := f.TempDir()
	for i, args := range [][]string{
		{"-O1", "-g", "-nostartfiles", "-shared"}, {"-O1", "-gdwarf-4", "-nostartfiles", "-shared"}, {"-O1", "-g", "-gz", "-nostartfiles", "-shared"},
	} {
		out := filepath.Join(dir, string(rune('a'+i)))
		if err := exec.Command("gcc", append(args, "-fPIC", "-o", out, "testdata/shapes.c")...).Run(); err != nil {
			continue
		}
		if b, err := os.ReadFile(out); err == nil {
			list = append(list, b)
		}
	}
	return list
}

// FuzzObject reads arbitrary bytes as a program and looks up addresses. Nothing may panic, and an address that has a
// name without lines has one with lines.
func FuzzObject(f *testing.F) {
	for _, b := range seeds(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := elfsym.New(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		file.BuildID()
		file.GoBuildID()
		file.DebugLink()
		o, _ := elfsym.NewObject(file, nil)
		if o.Size() > 64*int64(len(b))+1<<20 {
			t.Fatalf("%d bytes are kept of a file of %d", o.Size(), len(b))
		}
		for pc := uint64(0x1000); pc < 0x1800; pc += 0x41 {
			m := elfsym.Mapping{Start: 0x1000, Limit: 0x2000, Offset: 0x1000}
			addr, ok := file.Address(m, pc)
			if !ok {
				continue
			}
			plain := o.Append(nil, addr, false)
			lines := o.Append(nil, addr, true)
			if len(plain) > 1 || len(plain) > len(lines) {
				t.Fatalf("%#x: %v without lines, %v with lines", addr, plain, lines)
			}
			for _, n := range lines {
				elfsym.Demangle(n.Name, elfsym.SpellFull)
				elfsym.Demangle(n.Name, elfsym.SpellShort)
			}
		}
	})
}

// FuzzSections replaces the sections of debug information in a valid program, where random bytes in a whole file would
// hardly reach them.
func FuzzSections(f *testing.F) {
	list := seeds(f)
	for i := range list {
		f.Add(uint8(i), uint32(7), uint64(0x4141414141414141))
	}
	f.Fuzz(func(t *testing.T, which uint8, at uint32, value uint64) {
		if len(list) == 0 {
			t.Skip("gcc is not installed")
		}
		b := bytes.Clone(list[int(which)%len(list)])
		binary.LittleEndian.PutUint64(b[int(at)%(len(b)-8):], value)
		file, err := elfsym.New(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		o, _ := elfsym.NewObject(file, nil)
		for addr := uint64(0x1000); addr < 0x1200; addr += 9 {
			o.Append(nil, addr, true)
		}
	})
}
