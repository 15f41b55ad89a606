package command

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// attacksOnVerify are on rewriting, comparing and printing. Each of those named again and ve was called
// different before.
var attacksOnVerify = []attack{
	{file: "again-104286.nettrace", args: "to nettrace IN -o OUT.nettrace", out: 4 << 10, mib: 60},
	{file: "ve-areoneinthesecond.nettrace", args: "to nettrace IN -o OUT.nettrace", out: 4 << 10, mib: 60},
	{file: "ve-isdeclaredinthefirst.nettrace", args: "to nettrace IN -o OUT.nettrace", out: 4 << 10, mib: 60},
	{file: "ve-mark-590.nettrace", args: "to nettrace --order time IN -o OUT.nettrace", out: 4 << 10, mib: 60},
	{file: "ve-opaque-319.nettrace", args: "to nettrace --order time IN -o OUT.nettrace", out: 4 << 10, mib: 60},
	{file: "start-time.nettrace", args: "to nettrace IN -o OUT.nettrace", code: 3, out: 32 << 10, mib: 60, says: "corrupt"},
	{file: "unused-types-a.nettrace", args: "verify IN @unused-types-b.nettrace", out: 1 << 10, mib: 120},
	{file: "unused-types-b.nettrace", args: "verify --max-types 10 IN @unused-types-a.nettrace", code: 5, out: 1 << 10, mib: 120, says: "types"},
	{file: "c1-stderr.in", args: "top IN", out: 4 << 10, mib: 80, says: `most in \x9b31m`},
	{file: "c1-info.nettrace", args: "info IN", out: 16 << 10, mib: 60},
	{file: "info-tab.nettrace", args: "info IN", code: 3, out: 16 << 10, mib: 60},
	{file: "pprof-not-utf8.pb", args: "to nettrace IN -o OUT.nettrace", out: 128 << 10, mib: 60},
}

// Inputs that were reported as different although they were rewritten without loss are equal, in both orders, also when
// written again.
func TestRewrittenIsEqual(t *testing.T) {
	for _, name := range []string{"again-104286", "ve-areoneinthesecond", "ve-isdeclaredinthefirst", "ve-mark-590", "ve-opaque-319", "start-time"} {
		for _, order := range []string{"file", "time"} {
			dir := t.TempDir()
			in := write(t, dir, "in.nettrace", corpus.Hostile(t, name+".nettrace").Data)
			once, twice := filepath.Join(dir, "1.nettrace"), filepath.Join(dir, "2.nettrace")
			invoke(t, dir, nil, "to", "nettrace", "--order", order, in, "-o", once)
			for _, f := range []string{in, once} {
				r := invoke(t, dir, nil, "verify", "--ignore", "damage", f, once)
				if r.code != exitOK || !strings.HasPrefix(r.stdout, "equal: ") {
					t.Errorf("%s, %s order: code %d: %s", name, order, r.code, r.stderr)
				}
			}
			invoke(t, dir, nil, "to", "nettrace", "--order", order, once, "-o", twice)
			if !bytes.Equal(contentAt(t, once), contentAt(t, twice)) {
				t.Errorf("%s, %s order: written again it has other bytes", name, order)
			}
		}
	}
}
