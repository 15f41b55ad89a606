package corpus

import (
	"path/filepath"
	"strings"
	"testing"
)

// Hostile returns an adversarial input of testdata/hostile, such as "locbomb.nettrace". It would make a careless reader
// fail, or use excessive time, memory or disk space. Only the compression of testdata is removed; some inputs are
// themselves compressed.
func Hostile(tb testing.TB, name string) File {
	tb.Helper()
	path := Path(filepath.Join("hostile", name+".zst"))
	return File{Name: name, Path: path, Data: Read(tb, path)}
}

// HostileNames returns the names of all inputs of Hostile.
func HostileNames(tb testing.TB) []string {
	tb.Helper()
	paths, err := filepath.Glob(Path(filepath.Join("hostile", "*.zst")))
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no inputs in testdata/hostile: %v", err)
	}
	for i, p := range paths {
		paths[i] = strings.TrimSuffix(filepath.Base(p), ".zst")
	}
	return paths
}
