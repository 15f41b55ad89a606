package elfsym_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ntconv/ntconv/internal/symbols/elfsym"
)

// TestLabels checks that an address in a function with a size has its name, although assembly code also defines a label
// there, and that code after it has the name of the label before it.
func TestLabels(t *testing.T) {
	need(t, "gcc")
	dir := t.TempDir()
	source, out := filepath.Join(dir, "labels.s"), filepath.Join(dir, "labels")
	text := ".text\n.globl sized\n.type sized, %function\nsized: .skip 32\ninside: .skip 32\n.size sized, 64\nafter: .skip 32\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "gcc", "-nostdlib", "-shared", "-o", out, source)
	f, err := elf.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	o := object(t, out, "")
	found := 0
	for _, s := range symbols {
		want, ok := map[string]string{"sized": "sized", "inside": "sized", "after": "after"}[s.Name]
		if !ok {
			continue
		}
		found++
		for _, off := range []uint64{0, 31} {
			if got := o.Append(nil, s.Value+off, false); len(got) != 1 || got[0].Name != want {
				t.Errorf("%s+%d: got %+v, want %s", s.Name, off, got, want)
			}
		}
	}
	if found != 3 {
		t.Fatalf("%d symbols, want 3", found)
	}
}

// TestOverlappingSections checks that the work for a file does not grow with the product of its size and its sections,
// all of which may refer to the same bytes.
func TestOverlappingSections(t *testing.T) {
	const sections, body, header = 60000, 4 << 20, 64
	for name, typ := range map[string]elf.SectionType{
		"symbols": elf.SHT_SYMTAB, "notes": elf.SHT_NOTE, "data": elf.SHT_PROGBITS, "strings": elf.SHT_STRTAB,
	} {
		t.Run(name, func(t *testing.T) {
			b := make([]byte, header+sections*header+body)
			copy(b, "\x7fELF\x02\x01\x01")
			le := binary.LittleEndian
			le.PutUint64(b[40:], header)
			le.PutUint16(b[58:], header)
			le.PutUint16(b[60:], sections)
			le.PutUint16(b[62:], 1)
			for i := range sections {
				s := b[header*(1+i):]
				le.PutUint32(s, 128) // offset of the name
				le.PutUint32(s[4:], uint32(typ))
				le.PutUint64(s[8:], uint64(elf.SHF_WRITE|elf.SHF_ALLOC))
				le.PutUint64(s[24:], header+sections*header)
				le.PutUint64(s[32:], body)
			}
			content := b[header+sections*header:]
			copy(content, "\xf1\xff\xff\xff\x00\x00\x01\x08") // an empty function table of Go
			copy(content[128:], ".gopclntab\x00")
			start := time.Now()
			f, err := elfsym.New(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			f.BuildID()
			o, _ := elfsym.NewObject(f, nil)
			if o.Size() > 64*int64(len(b)) {
				t.Errorf("%d bytes are kept of a file of %d", o.Size(), len(b))
			}
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("it took %v", d)
			}
		})
	}
}
