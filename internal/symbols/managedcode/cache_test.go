package managedcode

import (
	"testing"

	"github.com/ntconv/ntconv"
)

// TestFullCache checks that an assembly and its PDB are used although the files of other modules must be released for
// each of them.
func TestFullCache(t *testing.T) {
	r := New(func() Options { return Options{Paths: []string{"../../../testdata/managed"}, Lines: true} })
	r.prepare()
	full := func() { r.size = maxFiles }
	m := r.module("/src/fixture/Lines.dll (deleted)", "")
	full()
	if m.code(&ntconv.Mapping{}); m.image == nil || m.codeErr == nil {
		t.Fatalf("image %v, error %v, want an assembly without precompiled code", m.imageErr, m.codeErr)
	}
	full()
	if m.findPDB() == nil || m.image != nil {
		t.Fatalf("PDB %v; the image is kept: %t", m.pdbErr, m.image != nil)
	}
	located := 0
	for row := range uint32(20) {
		if line := m.line(methodDef<<24|row, 0); line.Line > 0 {
			located++
		}
	}
	if located < 5 {
		t.Errorf("%d methods have a line", located)
	}
}
