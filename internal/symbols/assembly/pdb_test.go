package assembly_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ntconv/ntconv/internal/symbols/assembly"
)

const pdbFixtures = "../../../testdata/managed"

func readPDB(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(pdbFixtures, name))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// open returns the PDB next to the assembly of the fixtures, and the one that the other assembly contains.
func open(t *testing.T) map[string]*assembly.PDB {
	separate, err := assembly.ParsePDB(readPDB(t, "Lines.pdb"))
	if err != nil {
		t.Fatal(err)
	}
	img, err := assembly.ParseImage(readPDB(t, "embedded/Lines.dll"))
	if err != nil {
		t.Fatal(err)
	}
	embedded, err := assembly.EmbeddedPDB(img, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if cv, ok := img.CodeView(); !ok || !cv.Portable || cv.ID.GUID != embedded.ID().GUID {
		t.Errorf("the assembly states %v, its PDB %v", cv.ID, embedded.ID())
	}
	if _, err := assembly.EmbeddedPDB(img, 100); !errors.Is(err, assembly.ErrSize) {
		t.Errorf("limit of 100 bytes: %v, want ErrSize", err)
	}
	return map[string]*assembly.PDB{"next to the assembly": separate, "embedded": embedded}
}

// TestLocate compares the locations of all IL offsets of all methods with the sequence points that the compiler wrote
// to its own symbol file.
func TestLocate(t *testing.T) {
	type point struct{ il, line, column uint32 }
	methods := make(map[uint32][]point)
	lines := bufio.NewScanner(bytes.NewReader(readPDB(t, "points.txt")))
	for lines.Scan() {
		var token uint32
		var p point
		if _, err := fmt.Sscanf(lines.Text(), "0x%08x IL_%x %d:%d", &token, &p.il, &p.line, &p.column); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		methods[token&0xffffff] = append(methods[token&0xffffff], p)
	}
	for where, pdb := range open(t) {
		if d := pdb.Documents(); len(d) != 1 || d[0] != "/src/fixture/Lines.cs" {
			t.Errorf("%s: documents %q", where, d)
		}
		n := 0
		for row, points := range methods {
			at := 0
			for il := range points[len(points)-1].il + 10 {
				for at+1 < len(points) && points[at+1].il <= il {
					at++
				}
				got, ok := pdb.Locate(row, il)
				p := points[at]
				want := assembly.SourceLocation{File: "/src/fixture/Lines.cs", Line: int32(p.line), Column: int32(p.column)}
				if !ok || got != want {
					t.Errorf("%s: method %d, offset %d: got %v %v, want %v", where, row, il, got, ok, want)
				}
				n++
			}
		}
		if n < 500 {
			t.Errorf("%s: only %d offsets were compared", where, n)
		}
		if l, ok := pdb.Locate(1, 0); ok {
			t.Errorf("%s: a method without code is at %v", where, l)
		}
	}
}

func TestNotPortable(t *testing.T) {
	for text, want := range map[string]error{
		"Microsoft C/C++ MSF 7.00\r\n": assembly.ErrWindowsPDB,
		"":                             assembly.ErrFormat,
		"BSJB":                         assembly.ErrFormat,
	} {
		if _, err := assembly.ParsePDB([]byte(text)); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	img, err := assembly.ParseImage(readPDB(t, "Lines.dll"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := assembly.EmbeddedPDB(img, 1<<20); !errors.Is(err, assembly.ErrNone) {
		t.Errorf("assembly without an embedded PDB: %v", err)
	}
}

// FuzzPDB checks that locations of malformed PDBs are bounded: lines are not negative, and a location has a file.
func FuzzPDB(f *testing.F) {
	f.Add(readPDB(f, "Lines.pdb"), uint32(2), uint32(20))
	f.Fuzz(func(t *testing.T, data []byte, row, il uint32) {
		pdb, err := assembly.ParsePDB(data)
		if err != nil {
			return
		}
		for _, row := range []uint32{row, row % 16} {
			at, ok := pdb.Locate(row, il)
			if ok && (at.File == "" || at.Line <= 0 || at.Column < 0) {
				t.Errorf("location %+v", at)
			}
			if again, same := pdb.Locate(row, il); again != at || same != ok {
				t.Errorf("got %+v and %+v for the same offset", at, again)
			}
		}
	})
}
