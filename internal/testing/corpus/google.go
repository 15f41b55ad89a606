package corpus

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// GoogleFiles returns the paths of the files in the testdata directories of the module google/pprof. They are profiles
// in all of its formats, and reports. It skips the test if the go command is missing.
func GoogleFiles(tb testing.TB) []string {
	tb.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/pprof").Output()
	if err != nil {
		tb.Skipf("go list: %v", err)
	}
	root := strings.TrimSpace(string(out))
	var list []string
	for _, dir := range []string{"profile", "fuzz", "internal/*"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "testdata", "*"))
		if err != nil {
			tb.Fatal(err)
		}
		for _, f := range files {
			if info, err := os.Stat(f); err == nil && info.Mode().IsRegular() {
				list = append(list, f)
			}
		}
	}
	if len(list) < 20 {
		tb.Fatalf("only %d files in %s", len(list), root)
	}
	return list
}
