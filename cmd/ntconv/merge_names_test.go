package main

import (
	"strings"
	"testing"
)

// Parts of a split keep their copies of events unless they are merged.
func TestCopiesRemain(t *testing.T) {
	dir := t.TempDir()
	first := parts(t, dir, "100ms", trace(t, "cpu-env"))[:2]
	if r := invoke(t, dir, nil, "to", "nettrace", first[0], first[1], "-o", "copies.nettrace"); r.code != exitOK || !strings.Contains(r.stderr, "ntconv merge drops them") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}
