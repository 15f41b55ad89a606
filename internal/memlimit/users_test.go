package memlimit

import (
	"go/build"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// withoutUse lists the packages whose memory has no use of its own, with the reason.
var withoutUse = map[string]string{
	"":                      "the model: its allocations are those of a caller",
	"/cmd/ntconv":           "what is large is held by what it calls",
	"/convert":              "what is large is held by what it calls",
	"/internal/bin":         "allocates for its callers",
	"/internal/clr":         "tables of a fixed size",
	"/internal/clocks":      "a clock for each input",
	"/internal/dataset":     "a few values for each trace of a dataset",
	"/internal/dotnet":      "allocates for its callers",
	"/internal/ecma":        "allocates for its callers",
	"/internal/filelock":    "no table",
	"/internal/formats":     "flags and tables of constants",
	"/internal/glob":        "patterns of the command line",
	"/internal/ilmap":       "allocates for its callers",
	"/internal/input":       "names of inputs",
	"/internal/intern":      "allocates for its callers",
	"/internal/iox":         "buffers of bounded size, and windows of decompression, which have a limit",
	"/internal/jsonscan":    "allocates for its callers",
	"/internal/memlimit":    "this package",
	"/internal/message":     "lines of messages",
	"/kind":                 "a list of names",
	"/internal/operation":   "tables of constants",
	"/internal/origin":      "allocates for its callers",
	"/internal/pass":        "no table",
	"/internal/recording":   "a few values for each trace",
	"/internal/selection":   "what the command line selects",
	"/internal/span":        "allocates for its callers",
	"/internal/span/match":  "what the command line selects",
	"/internal/sqlviews":    "statements for a few tables",
	"/internal/summary":     "one summary",
	"/internal/tables":      "allocates for its callers",
	"/internal/tempfile":    "no buffer",
	"/internal/viewer":      "serves a file",
	"/internal/where":       "expressions of the command line",
	"/internal/wire":        "allocates for its callers",
	"/internal/wire/legacy": "allocates for its callers",
}

// Every package of the command either has a use, or is listed with the reason why it needs none.
func TestUsesAreComplete(t *testing.T) {
	root := filepath.Join("..", "..")
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(path), "../..")
		if base := d.Name(); path != root && strings.HasPrefix(base, ".") || slices.Contains([]string{"testdata", "e2e", "examples", "testing", "ntconvtest"}, base) {
			return filepath.SkipDir
		}
		if p, err := build.ImportDir(path, 0); err == nil && len(p.GoFiles) > 0 {
			found = append(found, name)
		}
		return nil
	})
	if err != nil || len(found) < 50 {
		t.Fatalf("%d packages, %v", len(found), err)
	}
	users := memoryUsers()
	for _, name := range found {
		_, without := withoutUse[name]
		with := slices.ContainsFunc(users, func(u memoryUser) bool { return u.pkg == name+"." })
		if with == without {
			t.Errorf("package %q has a use: %t, is listed as one without: %t", name, with, without)
		}
	}
	for name := range withoutUse {
		if !slices.Contains(found, name) {
			t.Errorf("package %q is listed, but does not exist", name)
		}
	}
	for _, u := range users[:len(users)-1] {
		if !slices.Contains(found, strings.TrimSuffix(u.pkg, ".")) {
			t.Errorf("package %q has a use, but does not exist", u.pkg)
		}
	}
}
