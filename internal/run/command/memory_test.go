package command

import (
	"strings"
	"testing"
)

// If the live heap exceeds --max-memory, every command ends with 5 and writes nothing. The error names the flag.
func TestMaxMemory(t *testing.T) {
	dir := t.TempDir()
	in := trace(t, "gcdump")
	for _, args := range [][]string{
		{"to", "nettrace", "-o", "a.nettrace"}, {"filter", "-o", "b.nettrace"}, {"convert", "-o", "c.nettrace"}, {"info"}, {"print"}, {"verify", in},
	} {
		args = append(args, in, "--max-memory")
		got := invoke(t, dir, nil, append(args, "64KiB")...)
		if got.code != exitLimit || !strings.Contains(got.stderr, ": memory in use too large: limit 64 KiB, got ") || !strings.HasSuffix(got.stderr, "; raise --max-memory\n") {
			t.Errorf("%v: exit code %d, %s", args, got.code, got.stderr)
		}
		if left := files(t, dir); len(left) > 0 {
			t.Errorf("%v left %v", args, left)
		}
		if got := invoke(t, t.TempDir(), nil, append(args, "0")...); got.code != exitOK {
			t.Errorf("%v without limit: exit code %d, %s", args, got.code, got.stderr)
		}
	}
}
