package repository_test

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// TestBuildIsStatic checks that the binary of make build needs no dynamic linker and no library, so that it runs on any
// Linux and in any container.
func TestBuildIsStatic(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what a static binary is differs on other systems")
	}
	if testing.Short() {
		t.Skip("short mode: links the command")
	}
	dir := t.TempDir()
	if out, err := exec.Command("make", "-s", "build", "BIN="+dir).CombinedOutput(); err != nil {
		t.Fatalf("make build: %v\n%s", err, out)
	}
	f, err := elf.Open(filepath.Join(dir, "ntconv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the binary has an interpreter")
		}
	}
	if libraries, _ := f.ImportedLibraries(); len(libraries) > 0 {
		t.Errorf("the binary needs %v", libraries)
	}
}
