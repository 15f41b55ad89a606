package command

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// The frames that are left of the framework are those that no code of the program called.
func TestJustMyCode(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"cpu-env", "cpu-default", "cpu-v6", "waits-v6"} {
		path := filepath.Join(dir, name+".folded")
		succeed(t, dir, "to", "folded", "--just-my-code", trace(t, name), "-o", path)
		text := contentAt(t, path)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		for _, line := range lines {
			stack := line[:strings.LastIndexByte(line, ' ')]
			for frame := range strings.SplitSeq(stack, ";") {
				mine := strings.HasPrefix(frame, "Shop.") || frame == "[no stack]" || strings.HasPrefix(frame, "0x")
				if !mine && (frame != "[framework]" || stack != frame) {
					t.Errorf("%s: %s in %s", name, frame, stack)
				}
			}
		}
		if len(lines) < 2 {
			t.Errorf("%s: %q", name, lines)
		}
	}
}

// pprof shows a location without lines as its module, as --native fold does: the rows of an imported profile do not
// depend on the flag.
func TestNativeAsPprof(t *testing.T) {
	dir, n := t.TempDir(), 0
	for _, file := range corpus.GoogleFiles(t) {
		if !strings.HasPrefix(filepath.Base(file), "cppbench.") || strings.Contains(file, ".string") || strings.Contains(file, "thread") {
			continue
		}
		n++
		folded, full := topJSON(t, dir, file), topJSON(t, dir, "--native=full", file)
		if !slices.Equal(folded.Rows, full.Rows) || folded.Total != full.Total {
			t.Errorf("%s: %+v, with addresses %+v", file, folded.Rows, full.Rows)
		}
	}
	if n < 3 {
		t.Errorf("only %d profiles", n)
	}
}
