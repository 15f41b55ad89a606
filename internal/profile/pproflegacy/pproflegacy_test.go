package pproflegacy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv/internal/profile/pproflegacy"
)

// TestGooglesProfiles checks Match and Convert with the test files of google/pprof's own parsers: Match accepts all
// profiles that are not in profile.proto, and Convert loses nothing.
func TestGooglesProfiles(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/pprof").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "profile", "testdata", "*"))
	if err != nil {
		t.Fatal(err)
	}
	legacy := 0
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		want, err := profile.ParseData(data)
		if err != nil || strings.HasPrefix(string(data), "\x1f\x8b") {
			continue
		}
		if _, err := profile.ParseUncompressed(data); err == nil {
			continue
		}
		legacy++
		if !pproflegacy.Match(data) {
			t.Errorf("%s: no match", filepath.Base(f))
		}
		// The library may add one mapping for addresses without one.
		if n := pproflegacy.Lookups(data); n < int64(len(want.Location)*(len(want.Mapping)-1)) {
			t.Errorf("%s: %d lookups of %d addresses in %d mappings", filepath.Base(f), n, len(want.Location), len(want.Mapping))
		}
		proto, err := pproflegacy.Convert(data)
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(f), err)
			continue
		}
		if got, err := profile.ParseUncompressed(proto); err != nil || got.String() != want.String() {
			t.Errorf("%s: %v: got %v, want %v", filepath.Base(f), err, got, want)
		}
	}
	if legacy < 10 {
		t.Errorf("only %d profiles in older formats in %s", legacy, dir)
	}
}

func TestNoMatch(t *testing.T) {
	for _, head := range []string{"", "\x0a\x04\x08\x01\x10\x02", "some text\n", "Nettrace", "\x00\x00\x00\x00\x03\x00\x00\x00\x02\x00\x00\x00", "--- heap"} {
		if pproflegacy.Match([]byte(head)) {
			t.Errorf("%q matches", head)
		}
	}
	if out, err := pproflegacy.Convert([]byte("heap profile: 1: 2 [ 3: 4 ] @ heap/1\n1: x\n")); err == nil {
		t.Errorf("a malformed profile was converted to %q", out)
	}
}
