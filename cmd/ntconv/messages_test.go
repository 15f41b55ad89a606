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

// The help says what a verb does, and nothing of what it does not take.
func TestHelpIsTrue(t *testing.T) {
	for _, c := range []struct {
		verb, has, hasNot string
	}{
		{"", "ntconv view trace.nettrace", "go tool pprof -http"},
		{"top", "--drop-label", "--gzip-level"},
		{"view", "--drop-label", "--gzip-level"},
		{"to pprof", "--gzip-level", "Convert a trace to pprof"},
		{"to nettrace", "pprof profiles", "traces of .NET Core 3.0 and later"},
		{"convert", "ntconv to FORMAT takes them", "are those of"},
		{"verify", "ntconv to pprof", "\t"},
	} {
		r := invoke(t, t.TempDir(), nil, append(strings.Fields(c.verb), "--help")...)
		if r.code != exitOK || !strings.Contains(r.stdout, c.has) || strings.Contains(r.stdout, c.hasNot) {
			t.Errorf("%s: code %d, no %q or %q in:\n%s", c.verb, r.code, c.has, c.hasNot, r.stdout)
		}
	}
}

// A profile and the trace that was made of it are compared as the help of verify says.
func TestVerifyProfileAndTrace(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.pb.gz", testProfile(t, "shop"))
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"to", "nettrace", "a.pb.gz"}, exitOK},
		{[]string{"verify", "a.pb.gz", "a.nettrace"}, exitDifferent},
		{[]string{"to", "pprof", "a.nettrace", "-o", "b.pb.gz"}, exitOK},
		{[]string{"verify", "a.pb.gz", "b.pb.gz"}, exitOK},
	} {
		if r := invoke(t, dir, nil, c.args...); r.code != c.code {
			t.Errorf("%q: code %d: %s", c.args, r.code, r.stderr)
		}
	}
}
