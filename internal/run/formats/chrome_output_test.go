package formats

import (
	"github.com/ntconv/ntconv/ntconvtest"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/symbol"
)

// TestChromeFlags: combinations without a meaning are errors of the flags, found before anything is read.
func TestChromeFlags(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--array --stacks", "--stacks: the array form"},
		{"--array --samples stackframes", "--samples stackframes: the array form"},
		{"--split 1MB --samples stackframes", "cannot be split"},
		{"--split 1KiB", "--split 1KiB: want at least 64KiB"},
		{"--min-duration -1s", "--min-duration -1s: want"},
		{"--tracks gc,foo", `"foo": want a list of spans, gc`},
		{"--tracks gc,spans --samples slices --array --no-args --rundown --span-id-order le", ""},
	} {
		_, _, err := written(t, chromeFormat(), ntconvtest.NewSource(&ntconv.Info{}), "out.json", &Target{Namer: symbol.New(nil)}, strings.Fields(c.args)...)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %s", c.args, err, c.want)
		}
	}
}
