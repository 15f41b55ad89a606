package repository_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
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

// Each name in RACETESTS of the Makefile selects a test of the command; else a renamed test silently leaves the race
// detector.
func TestRaceTests(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`(?m)^RACETESTS \?= (.+)$`).FindSubmatch(makefile)
	if names == nil {
		t.Fatal("the Makefile has no RACETESTS")
	}
	files, err := filepath.Glob("internal/run/command/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests of the command: %v", err)
	}
	var tests strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		tests.Write(text)
	}
	for name := range strings.SplitSeq(string(names[1]), "|") {
		if !regexp.MustCompile(`(?m)^func Test\w*` + name).MatchString(tests.String()) {
			t.Errorf("RACETESTS: no test of the command is named %q", name)
		}
	}
}
