package corpus

import (
	"path/filepath"
	"strings"
	"testing"
)

// Hostile returns an input of testdata/hostile, such as "locbomb.nettrace": made to make a reader fail, or use far more
// time, memory or space than it is worth. Only the packing of testdata is removed; some are packed inside.
func Hostile(tb testing.TB, name string) File {
	tb.Helper()
	path := Path(filepath.Join("hostile", name+".zst"))
	return File{Name: name, Path: path, Data: Read(tb, path)}
}

// HostileNames returns the names of all of them.
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
