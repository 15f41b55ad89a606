package assembly_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/symbols/assembly"
)

const fixtures = "../../../testdata/managed/"

func read(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(fixtures + name)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// methods returns the names of all methods of an assembly.
func methods(m *assembly.Metadata) (list []string) {
	for row := range m.Rows(assembly.MethodDef) {
		if d, ok := m.MethodDefName(row + 1); ok {
			list = append(list, d.Type+"."+d.Name+" "+d.Signature)
		}
	}
	return list
}

// TestMethods compares the methods of an assembly with its source, testdata/managed/Lines.cs.
func TestMethods(t *testing.T) {
	img, err := assembly.ParseImage(read(t, "Lines.dll"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := img.Metadata()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(methods(m), "\n")
	for _, want := range []string{
		"Fixture.Work.Spin float64  (int32)",
		"Fixture.Work.Recurse int32  (int32)",
		"Fixture.Work.Generic generic !!0  (!!0,class System.Func`2<!!0,!!0>)",
		"Fixture.Work.Numbers class System.Collections.Generic.IEnumerable`1<int32>  (int32)",
		"Fixture.Work.Main int32  (class System.String[])",
		"Fixture.Work..ctor instance void  ()",
		"Fixture.Work+<Numbers>c__Iterator0.MoveNext instance bool  ()",
	} {
		if !strings.Contains(got+"\n", want+"\n") {
			t.Errorf("%s is missing in:\n%s", want, got)
		}
	}
	if name := m.String(m.Cell(assembly.Assembly, 1, assembly.AssemblyName)); name != "Lines" {
		t.Errorf("assembly %q, want Lines", name)
	}
	if cv, ok := img.CodeView(); !ok || cv.Path != "/src/fixture/Lines.pdb" || cv.Age != 1 || !cv.Portable {
		t.Errorf("debug directory: %+v %v", cv, ok)
	}
}

// TestInvalid checks that files that are not assemblies are distinguished from invalid ones, and that no prefix of an
// assembly panics.
func TestInvalid(t *testing.T) {
	data := read(t, "Lines.dll")
	for n := range len(data) {
		img, err := assembly.ParseImage(data[:n])
		if err != nil {
			if !errors.Is(err, assembly.ErrFormat) && !errors.Is(err, assembly.ErrNative) {
				t.Fatalf("%d bytes: %v", n, err)
			}
			continue
		}
		if m, err := img.Metadata(); err == nil {
			methods(m)
		} else if !errors.Is(err, assembly.ErrFormat) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
}

// TestSignatures checks signatures that no fixture has, as II.23.2 defines them.
func TestSignatures(t *testing.T) {
	m := new(assembly.Metadata)
	for blob, want := range map[string]string{
		"\x00\x00\x01":                                "void  ()",
		"\x20\x02\x02\x10\x08\x1d\x05":                "instance bool  (int32&,unsigned int8[])",
		"\x30\x01\x01\x1e\x00\x13\x01":                "instance generic !!0  (!1)",
		"\x00\x01\x01\x0f\x01":                        "void  (void*)",
		"\x00\x01\x01\x14\x08\x02\x00\x00":            "void  (int32[,])",
		"\x00\x01\x01\x1b\x00\x01\x08\x0e":            "void  (fnptr int32(class System.String))",
		"\x00\x01\x01":                                "", // truncated
		"\x00\x01\x01\x7f":                            "", // unknown element type
		"\x00\x01\x01" + strings.Repeat("\x0f", 1000): "", // nested too deeply
		"\x05\x00\x18":                                "vararg int  ()",
	} {
		if got := m.MethodSignature([]byte(blob)); got != want {
			t.Errorf("%q: got %q, want %q", blob, got, want)
		}
	}
}

// TestNestedInstantiations checks that the time for a small signature is bounded although its text would be long.
func TestNestedInstantiations(t *testing.T) {
	m := new(assembly.Metadata)
	blob := []byte("\x00\x01\x01")
	for range 40 {
		blob = append(blob, 0x15, 0x1c, 0xdf, 0xff, 0xff, 0xff) // 2^29-1 type arguments
	}
	if got := m.MethodSignature(blob); got != "" {
		t.Errorf("got %d bytes", len(got))
	}
}

// TestWithoutMetadata checks that a type of an assembly that is not at hand is an error.
func TestWithoutMetadata(t *testing.T) {
	for _, token := range []byte{0x04, 0x05, 0x06} {
		s := assembly.Signature{Rest: []byte{0x12, token}}
		if name := s.FullName(); name != "" || !s.Failed {
			t.Errorf("token %#x: got %q", token, name)
		}
	}
}

// FuzzImage checks that names of malformed assemblies are bounded.
func FuzzImage(f *testing.F) {
	f.Add(read(f, "Lines.dll"))
	f.Add(read(f, "embedded/Lines.dll"))
	f.Fuzz(func(t *testing.T, data []byte) {
		img, err := assembly.ParseImage(data)
		if err != nil {
			return
		}
		img.CodeView()
		img.EmbeddedPDB()
		img.Export("RTR_HEADER")
		m, err := img.Metadata()
		if err != nil {
			return
		}
		m.MVID()
		for row := range min(m.Rows(assembly.MethodDef), 64) {
			d, _ := m.MethodDefName(row + 1)
			if len(d.Type) > 1<<20 || len(d.Signature) > 1<<16 {
				t.Errorf("method %d has a name of %d and a signature of %d bytes", row, len(d.Type), len(d.Signature))
			}
		}
		for row := range min(m.Rows(assembly.MemberRef), 64) {
			m.MemberRefName(row + 1)
		}
	})
}
