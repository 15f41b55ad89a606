package elfsym_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/symbols/elfsym"
)

// TestNames compares the names of functions with those of nm, at the first, a middle and the last address of each.
func TestNames(t *testing.T) {
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			program := build(t, l)
			checkNames(t, object(t, program, ""), nm(t, program))
		})
	}
}

// checkNames checks that an Object names each address of some functions as one of the functions that contain it.
func checkNames(t *testing.T, o *elfsym.Object, list []symbol) {
	t.Helper()
	slices.SortFunc(list, func(a, b symbol) int { return int(a.start>>1) - int(b.start>>1) })
	wrong := 0
	for i, s := range list {
		for _, addr := range []uint64{s.start, s.start + s.size/2, s.start + s.size - 1} {
			frames := o.Append(nil, addr, false)
			if len(frames) != 1 {
				t.Fatalf("%#x in %s: %d frames", addr, s.name, len(frames))
			}
			name := elfsym.Demangle(frames[0].Name, elfsym.SpellLinker)
			found := false
			for _, n := range list[max(0, i-50):min(len(list), i+50)] {
				found = found || n.name == name && n.start <= addr && addr < n.start+n.size
			}
			if !found {
				wrong++
				t.Errorf("%#x: got %s, nm has %s", addr, name, s.name)
			}
		}
		if wrong > 10 {
			t.FailNow()
		}
	}
	t.Logf("%d functions", len(list))
}

// TestStripped checks what remains of a program without its symbol table.
func TestStripped(t *testing.T) {
	need(t, "strip", "objcopy", "xz")
	l := languages[0]
	program := build(t, l, "-rdynamic")
	all := nm(t, program)
	dir := filepath.Dir(program)
	stripped := filepath.Join(dir, "stripped")
	run(t, "strip", "-o", stripped, program)

	t.Run("dynsym", func(t *testing.T) {
		o := object(t, stripped, "")
		exported := nm(t, stripped, "-D")
		checkNames(t, o, exported)
		for _, s := range all { // addresses of functions that are not exported must not get the name of another one
			inside := slices.ContainsFunc(exported, func(e symbol) bool { return s.start >= e.start && s.start < e.start+e.size })
			if got := o.Append(nil, s.start, false); !inside && len(got) > 0 {
				t.Errorf("%s is named %s", s.name, got[0].Name)
			}
		}
	})
	t.Run("minidebuginfo", func(t *testing.T) {
		mini, packed := filepath.Join(dir, "mini"), filepath.Join(dir, "with-mini")
		run(t, "objcopy", "-S", "--remove-section", ".comment", "--keep-symbols", keepFile(t, all), program, mini)
		for _, preset := range []string{"-0", "-6", "-9e"} {
			run(t, "xz", "-k", "-f", preset, mini)
			run(t, "objcopy", "--add-section", ".gnu_debugdata="+mini+".xz", stripped, packed)
			checkNames(t, object(t, packed, ""), all)
		}
	})
	t.Run("separate", func(t *testing.T) {
		debug := filepath.Join(dir, "shapes.debug")
		run(t, "objcopy", "--only-keep-debug", program, debug)
		checkNames(t, object(t, stripped, debug), all)
		linked := filepath.Join(dir, "linked")
		run(t, "objcopy", "--add-gnu-debuglink="+debug, stripped, linked)
		name, crc := open(t, linked).DebugLink()
		if got, err := open(t, debug).CRC(); name != "shapes.debug" || got != crc || err != nil {
			t.Errorf("debug link %q with CRC %#x, file has %#x, %v", name, crc, got, err)
		}
		if a, b := open(t, linked).BuildID(), open(t, debug).BuildID(); a != b || len(a) != 40 {
			t.Errorf("build IDs %q and %q", a, b)
		}
	})
}

// keepFile returns a file with the names of functions, for objcopy.
func keepFile(t *testing.T, list []symbol) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "names")
	var b []byte
	for _, s := range list {
		b = append(b, s.name+"\n"...)
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestLines compares frames with those of addr2line, which uses another reader of debug information.
func TestLines(t *testing.T) {
	for _, l := range languages {
		if !l.lines {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			program := build(t, l)
			checkLines(t, object(t, program, ""), program)
		})
	}
}

// TestCompressed checks that compressed debug information gives the same lines.
func TestCompressed(t *testing.T) {
	need(t, "objcopy")
	program := build(t, languages[0])
	for _, method := range []string{"zlib", "zstd"} {
		packed := program + "-" + method
		run(t, "objcopy", "--compress-debug-sections="+method, program, packed)
		checkLines(t, object(t, packed, ""), program)
	}
}

// checkLines compares the frames of an Object with those of addr2line for many addresses of the program's functions.
func checkLines(t *testing.T, o *elfsym.Object, program string) {
	t.Helper()
	var addrs []uint64
	list := nm(t, program)
	step := max(1, len(list)/400)
	for i := 0; i < len(list); i += step {
		s := list[i]
		for off := uint64(0); off < s.size; off += max(1, s.size/40) {
			addrs = append(addrs, s.start+off)
		}
	}
	slices.Sort(addrs)
	addrs = slices.Compact(addrs)
	wrong, deep := 0, 0
	for addr, want := range addr2line(t, program, addrs) {
		var got []place
		for _, f := range o.Append(nil, addr, true) {
			file := filepath.Base(f.File)
			if f.File == "" || f.Line == 0 {
				file = "??"
			}
			got = append(got, place{elfsym.Demangle(f.Name, elfsym.SpellLinker), file, int(f.Line)})
		}
		if len(got) > 1 {
			deep++
		}
		for i := range want {
			if want[i].line == 0 {
				want[i].file = "??" // addr2line prints the name of the unit
			}
		}
		for i := range min(len(got), len(want)) {
			if (i == len(want)-1 || got[i].name == "operator()") && sameFunction(list, addr, got[i].name, want[i].name) {
				got[i].name = want[i].name
			}
		}
		if !slices.Equal(got, want) {
			if wrong++; wrong < 8 {
				t.Errorf("%#x:\ngot  %v\nwant %v", addr, got, want)
			}
		}
	}
	t.Logf("%d of %d addresses differ; %d in inlined functions", wrong, len(addrs), deep)
}

// sameFunction reports whether one of the names is that of a symbol around addr, and the other one is that of the same
// code in debug information: an alias, or a symbol with the suffix of a part or clone.
func sameFunction(list []symbol, addr uint64, got, want string) bool {
	base, clone := strings.CutPrefix(got, want+".") // .isra.0, .cold, .llvm.995
	if clone && base != "" {
		return true
	}
	if got == "operator()" { // a lambda expression; addr2line prints the function around it
		return true
	}
	for _, s := range list {
		if s.start <= addr && addr < s.start+s.size && s.name == want {
			return true
		}
	}
	return false
}

// TestGoTable compares the function table of stripped Go programs with the debug information of the same program.
func TestGoTable(t *testing.T) {
	for _, mode := range []string{"exe", "pie"} {
		t.Run(mode, func(t *testing.T) {
			l := language{name: "go", tool: "go", slow: mode == "pie", args: []string{"build", "-buildmode=" + mode, "-o"}, source: []string{"./shapes_go"}}
			program, stripped := build(t, l), build(t, l, "-ldflags=-s -w")
			list := nm(t, program)
			full, left := object(t, program, ""), object(t, stripped, "")
			checkNames(t, left, compiled(list))
			same, inlined, differ := 0, 0, 0
			for _, s := range list {
				for addr := s.start; addr < s.start+s.size; addr += 1 + s.size/20 {
					want, got := full.Append(nil, addr, true), left.Append(nil, addr, true)
					if len(want) == 0 || want[0].Line == 0 || len(got) == 0 {
						continue
					}
					if inlined += len(got) - 1; slices.EqualFunc(want, got, sameGoFrame) {
						same++
					} else if differ++; differ < 5 {
						t.Logf("%#x: table %v, DWARF %v", addr, got, want)
					}
				}
			}
			// Both come from the compiler, but not every instruction has the same line in both.
			if same < 10000 || inlined < 1000 || differ*50 > same {
				t.Errorf("%d addresses are equal, %d differ, %d inlined functions", same, differ, inlined)
			}
			t.Logf("%d addresses are equal, %d differ, %d inlined functions", same, differ, inlined)
		})
	}
}

func sameGoFrame(a, b elfsym.Frame) bool {
	return strings.TrimSuffix(a.Name, ".abi0") == strings.TrimSuffix(b.Name, ".abi0") && a.File == b.File && a.Line == b.Line
}

// compiled returns the functions that the table of a Go program describes, as it names them.
func compiled(list []symbol) (out []symbol) {
	for _, s := range list {
		if strings.Contains(s.name, ".") && !strings.HasPrefix(s.name, "go:") && !strings.HasPrefix(s.name, "type:") {
			s.name = strings.TrimSuffix(s.name, ".abi0") // the linker's mark of functions in assembly
			out = append(out, s)
		}
	}
	return out
}
