package formats

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"pgregory.net/rapid"
)

// Names of processes and hosts are not trusted: whatever they are, each member has a name of its own on every file
// system.
func TestMemberNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newProcessSplit()
		p.namer = new(ntconv.NoNames)
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "..", "../../etc/passwd", `C:\\shop.exe`, "shop", "SHOP", "a\x00b", "\xff", strings.Repeat("\u00e9", 300)}))
		seen := map[string]bool{}
		for range rapid.IntRange(1, 8).Draw(t, "processes") {
			process := &ntconv.Process{PID: rapid.Uint64Range(0, 2).Draw(t, "pid"), Name: text.Draw(t, "name"), Host: text.Draw(t, "host")}
			if rapid.IntRange(0, 9).Draw(t, "unknown") == 0 {
				process = nil
			}
			name := p.member(process)
			if key := strings.ToLower(name); seen[key] {
				t.Fatalf("%s: a second time", name)
			} else {
				seen[key] = true
			}
			if len(name) > 255 || strings.ContainsFunc(name, func(r rune) bool { return r < '+' || r > 'z' || strings.ContainsRune(`/\:<>?|*"`, r) }) ||
				strings.HasPrefix(name, ".") || filepath.Base(name) != name {
				t.Fatalf("%q is not portable", name)
			}
		}
	})
}
