package main

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

// gzipped returns b packed.
func gzipped(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A profile is packed already: packed once more it is told for what it is.
func TestPackedTwice(t *testing.T) {
	twice := gzipped(t, testProfile(t, "shop"))
	dir := t.TempDir()
	write(t, dir, "a.pb.gz.gz", twice)
	for _, r := range []result{invoke(t, dir, nil, "info", "a.pb.gz.gz"), invoke(t, dir, twice, "info", "-")} {
		if r.code != exitInput || !strings.Contains(r.stderr, "packed twice") || !strings.Contains(r.stderr, "gzip -dc") {
			t.Errorf("code %d: %s", r.code, r.stderr)
		}
	}
}
