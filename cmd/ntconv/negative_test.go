package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// TestNegativeWeights: PerfView shows 0 for negative values, which the difference of two profiles has. A trace that
// is written for it says how many there are; the values themselves are kept, and other formats need no such word.
func TestNegativeWeights(t *testing.T) {
	dir := t.TempDir()
	p := parseProfile(t, testProfile(t, "shop"))
	p.Sample[0].Value = []int64{-3, -3e7} // main.main is in both
	p.Sample[1].Value = []int64{-1, 1e7}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	in := write(t, dir, "diff.pb.gz", b.Bytes())
	for _, c := range []struct {
		args []string
		want string // in the summary
	}{
		{[]string{"to", "nettrace"}, "negative-weight: 1 sample has a negative value"},
		{[]string{"to", "nettrace", "--sample-type", "samples"}, "negative-weight: 2 samples have a negative value"},
		{[]string{"to", "pprof"}, ""},
	} {
		out := filepath.Join(dir, "out")
		r := invoke(t, dir, nil, append(c.args, in, "-o", out, "--force")...)
		if r.code != exitOK || !strings.Contains(r.stderr, c.want) || strings.Contains(r.stderr, "negative") != (c.want != "") {
			t.Errorf("%q: code %d: %s", c.args, r.code, r.stderr)
		}
		if c.want == "" {
			continue
		}
		again := filepath.Join(dir, "again")
		if r := invoke(t, dir, nil, "to", "nettrace", out, "-o", again, "--force"); !strings.Contains(r.stderr, c.want) {
			t.Errorf("%q, rewritten: %s", c.args, r.stderr)
		}
		back := filepath.Join(dir, "back.pb.gz")
		if r := invoke(t, dir, nil, "to", "pprof", out, "-o", back, "--force"); strings.Contains(r.stderr, "negative") {
			t.Errorf("%q, back: %s", c.args, r.stderr)
		}
		if r := invoke(t, dir, nil, "verify", in, back); len(c.args) == 2 && r.code != exitOK {
			t.Errorf("%q: the profile is another one: %s", c.args, r.stderr)
		}
	}
}

func parseProfile(t *testing.T, data []byte) *profile.Profile {
	t.Helper()
	p, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
