package main

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/run/input"
)

// gzipped returns b compressed with gzip.
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

// A compressed profile that is compressed again is reported as compressed twice.
func TestPackedTwice(t *testing.T) {
	twice := gzipped(t, testProfile(t, "shop"))
	dir := t.TempDir()
	write(t, dir, "a.pb.gz.gz", twice)
	for _, r := range []result{invoke(t, dir, nil, "info", "a.pb.gz.gz"), invoke(t, dir, twice, "info", "-")} {
		if r.code != exitInput || !strings.Contains(r.stderr, "compressed twice") || !strings.Contains(r.stderr, "gzip -dc") {
			t.Errorf("code %d: %s", r.code, r.stderr)
		}
	}
}

// The help describes the flags of a command, and no others.
func TestHelpIsTrue(t *testing.T) {
	for _, c := range []struct {
		command, has, hasNot string
	}{
		{"", "ntconv view trace.nettrace", "go tool pprof -http"},
		{"top", "--drop-label", "--gzip-level"},
		{"view", "--drop-label", "--gzip-level"},
		{"to pprof", "--gzip-level", "Convert a trace to pprof"},
		{"to nettrace", "pprof profiles", "traces of .NET Core 3.0 and later"},
		{"convert", "ntconv to FORMAT takes them", "are those of"},
		{"verify", "ntconv to pprof", "\t"},
		{"info", "with these IDs, such as 15683,15684; repeatable", "RFC 3339"},
		{"info", "provider/name; * matches any text; comma-separated, repeatable", "[]"},
	} {
		r := invoke(t, t.TempDir(), nil, append(strings.Fields(c.command), "--help")...)
		text := strings.Join(strings.FieldsFunc(r.stdout, func(c rune) bool { return c == ' ' || c == '\n' }), " ") // unwrapped
		if r.code != exitOK || !strings.Contains(text, c.has) || strings.Contains(text, c.hasNot) {
			t.Errorf("%s: code %d, no %q or %q in:\n%s", c.command, r.code, c.has, c.hasNot, r.stdout)
		}
	}
}

// A profile and the trace that was converted from it are compared as the help of verify describes.
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

// nameless returns a profile of one sample, whose only frame has no name.
func nameless(t *testing.T, value, unit string) []byte {
	t.Helper()
	m := &profile.Mapping{ID: 1, Start: 0x400000, Limit: 0x500000, File: "/srv/shop"}
	at := &profile.Location{ID: 1, Mapping: m, Address: 0x401234}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: value, Unit: unit}},
		Mapping:    []*profile.Mapping{m}, Location: []*profile.Location{at},
		Sample: []*profile.Sample{{Location: []*profile.Location{at}, Value: []int64{5e6}}},
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sampleless returns a profile without samples.
func sampleless(t *testing.T) []byte {
	t.Helper()
	p, err := profile.ParseData(nameless(t, "cpu", "nanoseconds"))
	if err != nil {
		t.Fatal(err)
	}
	p.Sample = nil
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Names that come with a trace stay on their lines, and move no cursor.
func TestNamesStayOnTheirLine(t *testing.T) {
	const evil = "ev\x1b[2Jil\nNAME\u202e\tend"
	const shown = `ev\x1b[2Jil\nNAME\u202e\tend`
	p, err := profile.ParseData(testProfile(t, "shop"))
	if err != nil {
		t.Fatal(err)
	}
	p.Function[0].Name, p.Mapping[0].File = evil, "/srv/"+evil
	p.Comments = []string{"comment " + evil}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "a.pb.gz", b.Bytes())
	for command, flags := range map[string][]string{"top": nil, "info": nil, "print": {"--frames"}} {
		r := invoke(t, dir, nil, append([]string{command, "a.pb.gz"}, flags...)...)
		text := r.stdout + r.stderr
		if r.code != exitOK || !strings.Contains(text, shown) || strings.ContainsAny(text, "\x1b\t\u202e") || strings.Contains(text, "\nNAME") {
			t.Errorf("%s: code %d: %q", command, r.code, text)
		}
	}
}

// An input that cannot be sorted for lack of space is an error of the output, and says what to do.
func TestNoRoomForSorting(t *testing.T) {
	_, err := spool.Create(t.TempDir()+"/absent", "x", 0)
	err = inputFailure(&input.Error{Name: "calls.parquet", Err: err}, false)
	if codeOf(err) != exitOutput || !strings.Contains(err.Error(), "TMPDIR") || !strings.Contains(err.Error(), "calls.parquet") {
		t.Errorf("code %d: %v", codeOf(err), err)
	}
}
