package assembly_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/symbols/assembly"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
)

// A library is a directory of assemblies.
type library struct {
	dir    string
	images map[string]*assembly.NativeImage
}

// runtimeLibrary returns the assemblies of the runtime that recorded the traces of our own.
func runtimeLibrary(tb testing.TB) *library {
	tb.Helper()
	out, err := exec.Command(corpus.Shared(tb, "oracle", "traceevent"), "unpack").Output()
	if err != nil {
		tb.Skipf("reference data is absent: %v", err)
	}
	found, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "bundle/shared/Microsoft.NETCore.App/*"))
	if err != nil || len(found) != 1 {
		tb.Fatalf("directories of the runtime: %q, %v", found, err)
	}
	return &library{dir: found[0], images: make(map[string]*assembly.NativeImage)}
}

func (l *library) parse(name string) *assembly.Image {
	data, err := os.ReadFile(filepath.Join(l.dir, name+".dll"))
	if err != nil {
		return nil
	}
	img, err := assembly.ParseImage(data)
	if err != nil {
		return nil
	}
	return img
}

func (l *library) metadata(name string, _ [16]byte) *assembly.Metadata {
	if img := l.parse(name); img != nil {
		m, _ := img.Metadata()
		return m
	}
	return nil
}

// image returns the precompiled code of an assembly, or nil.
func (l *library) image(tb testing.TB, name string) *assembly.NativeImage {
	if img, ok := l.images[name]; ok {
		return img
	}
	var img *assembly.NativeImage
	if pe := l.parse(name); pe != nil {
		var err error
		if img, err = assembly.OpenNative(pe, l.metadata); err != nil && !errors.Is(err, assembly.ErrNotPrecompiled) {
			tb.Errorf("%s: %v", name, err)
		}
	}
	l.images[name] = img
	return img
}

// A recorded method is precompiled code that a method event describes.
type recorded struct {
	start         uint64
	module, token uint64
	names         assembly.Method
}

// precompiled returns the precompiled methods that the events of a trace describe, and the assemblies by module ID.
func precompiled(tb testing.TB, f corpus.File) (methods []recorded, modules map[uint64]string) {
	src, err := reader.New(bytes.NewReader(f.Data), nil)
	if err != nil {
		tb.Fatal(err)
	}
	modules = make(map[uint64]string)
	for e, err := src.Next(); err == nil; e, err = src.Next() {
		var mod clr.Module
		var m clr.Method
		if e.Kind != ntconv.KindEvent {
			continue
		}
		switch {
		case clr.ClassOf(e.Type) == clr.ClassModule && clr.ParseModule(e, &mod):
			path := bin.UTF16String(mod.ILPath)
			modules[mod.ModuleID] = strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".dll")
		case clr.ClassOf(e.Type) == clr.ClassMethod && clr.ParseMethod(e, &m) && m.Verbose:
			if m.Flags&(clr.MethodJitted|clr.MethodDynamic) == 0 && m.Token != 0 {
				methods = append(methods, recorded{m.Start, m.ModuleID, uint64(m.Token), assembly.Method{
					Type: bin.UTF16String(m.Namespace), Name: bin.UTF16String(m.Name), Signature: bin.UTF16String(m.Signature),
				}})
			}
		}
	}
	return methods, modules
}

// TestNames compares the names of precompiled methods with those that the runtime recorded for the same addresses. The
// image of an instantiation may be another one than that of its method.
func TestNames(t *testing.T) {
	lib := runtimeLibrary(t)
	total, equal, outside := 0, 0, 0
	for _, f := range corpus.SharedTraces(t) {
		if !strings.Contains(f.Path, string(filepath.Separator)+"own"+string(filepath.Separator)) {
			continue
		}
		methods, modules := precompiled(t, f)
		bases := baseAddresses(t, lib, methods, modules)
		for _, m := range methods {
			total++
			name, ok := imageOf(bases, lib, t, m.start)
			if !ok {
				outside++
				continue
			}
			got, ok := lib.image(t, name).Lookup(uint32(m.start - bases[name]))
			if !ok || got.Method != m.names || uint64(got.RVA) != m.start-bases[name] {
				t.Errorf("%s: %#x: got %+v %v, want %+v", f.Name, m.start, got.Method, ok, m.names)
				continue
			}
			equal++
		}
	}
	t.Logf("%d of %d names are equal, %d in other assemblies", equal, total, outside)
	if total < 500 || corpus.Nightly() && total < 9000 || outside > 1+total/1000 {
		t.Errorf("%d methods, %d outside of known assemblies", total, outside)
	}
}

// imageOf returns the assembly that is loaded at an address.
func imageOf(bases map[string]uint64, lib *library, t *testing.T, address uint64) (string, bool) {
	for name, base := range bases {
		if address >= base && address-base < uint64(lib.image(t, name).Limit()) {
			return name, true
		}
	}
	return "", false
}

// baseAddresses returns the addresses at which the assemblies of a trace were loaded: most of the methods with only one
// piece of code agree on it.
func baseAddresses(t *testing.T, lib *library, methods []recorded, modules map[uint64]string) map[string]uint64 {
	votes := make(map[string]map[uint64]int)
	for _, m := range methods {
		name := modules[m.module]
		img := lib.image(t, name)
		if img == nil {
			continue
		}
		if code, ok := img.Find(uint32(m.token), m.names.Type); ok {
			if votes[name] == nil {
				votes[name] = make(map[uint64]int)
			}
			votes[name][m.start-uint64(code.RVA)]++
		}
	}
	bases := make(map[string]uint64)
	for name, list := range votes {
		most := 0
		for base, n := range list {
			if n > most {
				bases[name], most = base, n
			}
		}
	}
	return bases
}

// TestPoints checks the maps of all precompiled methods against the intermediate language in the same file: offsets lie
// within the method, and the first instruction is covered.
func TestPoints(t *testing.T) {
	lib := runtimeLibrary(t)
	for _, name := range []string{"System.Private.CoreLib", "System.Linq", "System.Text.Json"} {
		pe, img := lib.parse(name), lib.image(t, name)
		methods, points, outside := 0, 0, 0
		img.All(func(m assembly.NativeMethod) bool {
			size := codeSize(pe.From(img.Metadata().Cell(assembly.MethodDef, m.Token&0xffffff, 0)))
			if m.Token == 0 || m.Assembly != "" || size == 0 {
				return true
			}
			methods++
			for _, p := range img.Points(m) {
				if points++; p.IL < -3 || p.IL > size {
					outside++
				}
			}
			return true
		})
		t.Logf("%s: %d methods, %d points, %d outside", name, methods, points, outside)
		if points < 5*methods || outside > points/10000 {
			t.Errorf("%s: %d methods, %d points, %d outside of their method", name, methods, points, outside)
		}
	}
}

// codeSize returns the bytes of intermediate language of a method (ECMA-335, II.25.4), or 0.
func codeSize(body []byte) int32 {
	switch {
	case len(body) >= 1 && body[0]&3 == 2:
		return int32(body[0] >> 2)
	case len(body) >= 12 && body[0]&3 == 3:
		return int32(body[4]) | int32(body[5])<<8 | int32(body[6])<<16
	}
	return 0
}

// FuzzImage changes bytes of a real image. Lookups must end, and their methods must contain the address.
func FuzzNativeImage(f *testing.F) {
	lib := runtimeLibrary(f)
	original, err := os.ReadFile(filepath.Join(lib.dir, "System.Collections.Concurrent.dll"))
	if err != nil {
		f.Fatal(err)
	}
	header := bytes.Index(original, []byte("RTR\x00"))
	for i := 8; i < 200; i += 4 { // fields of the header, addresses and sizes of sections
		f.Add(uint32(header+i), []byte{0xff}, uint32(0x11000))
		f.Add(uint32(header+i), []byte{0, 0, 1}, uint32(0x11000))
	}
	f.Fuzz(func(t *testing.T, at uint32, patch []byte, rva uint32) {
		data := bytes.Clone(original)
		for i, b := range patch {
			data[(int(at)+i)%len(data)] = b
		}
		pe, err := assembly.ParseImage(data)
		if err != nil {
			return
		}
		img, err := assembly.OpenNative(pe, nil)
		if err != nil {
			return
		}
		n := 0
		img.All(func(m assembly.NativeMethod) bool {
			img.Points(m)
			n++
			return n < 2000
		})
		if m, ok := img.Lookup(rva); ok && m.Name == "" && m.Type == "" && len(patch) == 0 {
			t.Errorf("address %#x is in a method without names", rva)
		}
	})
}
