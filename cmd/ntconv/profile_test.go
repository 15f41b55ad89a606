package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// testProfile returns a profile as a file: two samples of a program, with labels.
func testProfile(t *testing.T, program string) []byte {
	t.Helper()
	m := &profile.Mapping{ID: 1, Start: 0x400000, Limit: 0x500000, File: "/srv/" + program, HasFunctions: true}
	main := &profile.Function{ID: 1, Name: "main.main", SystemName: "main.main", Filename: "main.go", StartLine: 3}
	work := &profile.Function{ID: 2, Name: program + ".work", SystemName: program + ".work", Filename: "work.go"}
	leaf := &profile.Location{ID: 1, Mapping: m, Address: 0x401234, Line: []profile.Line{{Function: work, Line: 9}}}
	root := &profile.Location{ID: 2, Mapping: m, Address: 0x402345, Line: []profile.Line{{Function: main, Line: 5}}}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e7, TimeNanos: 1772366400_000000000, DurationNanos: 1e9,
		Comments: []string{"a comment of " + program},
		Mapping:  []*profile.Mapping{m}, Function: []*profile.Function{main, work}, Location: []*profile.Location{leaf, root},
		Sample: []*profile.Sample{
			{Location: []*profile.Location{leaf, root}, Value: []int64{3, 3e7}, Label: map[string][]string{"endpoint": {"/cart"}}},
			{Location: []*profile.Location{root}, Value: []int64{1, 1e7}, NumLabel: map[string][]int64{"bytes": {4096}}, NumUnit: map[string][]string{"bytes": {"bytes"}}},
		},
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A profile becomes a trace and the same profile again, regardless of its name and compression.
func TestProfileThereAndBack(t *testing.T) {
	dir := t.TempDir()
	data := testProfile(t, "shop")
	raw := func() []byte {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}()
	want := profileAt(t, write(t, dir, "a.pb.gz", data)).Compact().String()
	for name, content := range map[string][]byte{"a.pb.gz": data, "b.pb": raw, "c.nettrace": data, "d.pprof": raw} {
		write(t, dir, name, content)
		if r := invoke(t, dir, nil, "to", "nettrace", "-f", name, "-o", "x.nettrace"); r.code != exitOK || !strings.Contains(r.stderr, "2 events of "+name+" (pprof)") {
			t.Fatalf("%s: code %d: %s", name, r.code, r.stderr)
		}
		if r := invoke(t, dir, nil, "convert", "--force", "x.nettrace", "y.pb.gz"); r.code != exitOK {
			t.Fatalf("%s: code %d: %s", name, r.code, r.stderr)
		}
		if got := profileAt(t, filepath.Join(dir, "y.pb.gz")).Compact().String(); got != want {
			t.Errorf("%s comes back as\n%s\nwant\n%s", name, got, want)
		}
	}
	// Through pipes.
	r := invoke(t, dir, data, "to", "nettrace", "-", "-o", "-")
	if r.code != exitOK || invoke(t, dir, []byte(r.stdout), "top", "-").code != exitOK {
		t.Errorf("pipe: code %d: %s", r.code, r.stderr)
	}
}

func TestProfileVerbs(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.pb.gz", testProfile(t, "shop"))
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"info"}, []string{"pprof", "shop", "Universal.Events", "ntconv top --kind imported", "2026-03-01 12:00:00"}},
		{[]string{"print", "--frames"}, []string{"Value=30 samples=3 cpu=30000000", "shop.work", "main.main", `endpoint="/cart"`}},
		{[]string{"top"}, []string{"Type: cpu", "30ms", "shop.work"}},
		{[]string{"top", "--sample-type", "samples"}, []string{"Type: samples", "shop.work"}},
		{[]string{"top", "--where", "samples == 1"}, []string{"10ms", "main.main"}},
	} {
		r := invoke(t, dir, nil, append(c.args, "a.pb.gz")...)
		for _, w := range c.want {
			if r.code != exitOK || !strings.Contains(r.stdout, w) {
				t.Errorf("%q: code %d, no %q:\n%s%s", c.args, r.code, w, r.stdout, r.stderr)
			}
		}
	}
}

func TestProfileFlags(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.pb.gz", testProfile(t, "shop"))
	for _, c := range []struct {
		flags []string
		want  string // in what print shows of the trace
	}{
		{[]string{"--sample-type", "samples"}, "Value=3 "},
		{[]string{"--label-frames", "nothing,endpoint"}, "endpoint=/cart"},
		{[]string{"--addresses", "mixed"}, "StartAddress=4198964 EndAddress=4198965"},
		{[]string{"--addresses", "synthetic"}, "StartAddress=35184372088832 EndAddress=35184372088847"},
	} {
		args := append([]string{"to", "nettrace", "-f", "a.pb.gz", "-o", "x.nettrace"}, c.flags...)
		if r := invoke(t, dir, nil, args...); r.code != exitOK {
			t.Fatalf("%q: code %d: %s", args, r.code, r.stderr)
		}
		if r := invoke(t, dir, nil, "print", "x.nettrace"); !strings.Contains(r.stdout, c.want) {
			t.Errorf("%q: no %q in\n%s", c.flags, c.want, r.stdout)
		}
		if r := invoke(t, dir, nil, "to", "pprof", "-f", "x.nettrace", "-o", "y.pb.gz"); r.code != exitOK {
			t.Errorf("%q: back: code %d: %s", c.flags, r.code, r.stderr)
		}
		if got := profileAt(t, filepath.Join(dir, "y.pb.gz")).String(); strings.Contains(got, "endpoint=") {
			t.Errorf("%q: a label is still a frame:\n%s", c.flags, got)
		}
	}
}

// Stacks have the maximum depth of the readers of the output, or that of the user.
func TestDeepStacks(t *testing.T) {
	dir := t.TempDir()
	p, err := profile.ParseData(testProfile(t, "shop"))
	if err != nil {
		t.Fatal(err)
	}
	p.Sample[0].Location = slices.Repeat(p.Sample[1].Location, 9_500)
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "a.pb.gz", b.Bytes())
	for _, c := range []struct {
		args []string
		code int
		want string // at the end of the summary
		deep int
	}{
		{[]string{"to", "nettrace", "a.pb.gz", "-o", "x.nettrace"}, exitIncomplete, "stack-cut: 1 stack exceeded the depth limit and lost its outermost frames (first at byte 13)\n", 8190},
		{[]string{"convert", "a.pb.gz", "x.nettrace"}, exitIncomplete, "--allow-large keeps more", 8190},
		{[]string{"to", "nettrace", "--max-stack", "9000", "a.pb.gz", "-o", "x.nettrace"}, exitIncomplete, "--allow-large keeps more", 8190},
		{[]string{"to", "nettrace", "--max-stack", "10", "a.pb.gz", "-o", "x.nettrace"}, exitIncomplete, "; raise --max-stack to keep more", 10},
		{[]string{"to", "nettrace", "--allow-large", "a.pb.gz", "-o", "x.nettrace"}, exitOK, "", 9500},
		{[]string{"to", "nettrace", "--allow-large", "--max-stack", "9000", "a.pb.gz", "-o", "x.nettrace"}, exitIncomplete, "; raise --max-stack to keep more", 9000},
		{[]string{"to", "pprof", "a.pb.gz", "-o", "y.pb.gz"}, exitOK, "", 9500},
		{[]string{"to", "pprof", "--max-stack", "9000", "a.pb.gz", "-o", "y.pb.gz"}, exitIncomplete, "; raise --max-stack to keep more", 9000},
	} {
		r := invoke(t, dir, nil, append(c.args, "-f")...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Fatalf("%q: code %d, want %d and %q: %s", c.args, r.code, c.code, c.want, r.stderr)
		}
		if c.args[0] == "convert" || c.args[1] == "nettrace" {
			if r := invoke(t, dir, nil, "to", "pprof", "x.nettrace", "-f", "-o", "y.pb.gz"); r.code != exitOK {
				t.Fatalf("%q: back: code %d: %s", c.args, r.code, r.stderr)
			}
		}
		deep := 0
		for _, s := range profileAt(t, filepath.Join(dir, "y.pb.gz")).Sample {
			deep = max(deep, len(s.Location))
		}
		if deep != c.deep {
			t.Errorf("%q: %d frames, want %d", c.args, deep, c.deep)
		}
	}
}

// Several profiles are one trace with a process each, and each is restored from it.
func TestSeveralProfiles(t *testing.T) {
	dir := t.TempDir()
	programs := []string{"shop", "till", "shop2"}
	for _, p := range programs {
		write(t, dir, p+".pb.gz", testProfile(t, p))
	}
	if r := invoke(t, dir, nil, "to", "nettrace", "shop.pb.gz", "till.pb.gz", "shop2.pb.gz", "-o", "all.nettrace"); r.code != exitOK || !strings.Contains(r.stderr, "6 events") {
		t.Fatalf("code %d: %s", r.code, r.stderr)
	}
	for i, p := range programs {
		if r := invoke(t, dir, nil, "to", "pprof", "-f", "--pid", fmt.Sprint(i+1), "all.nettrace", "-o", "one.pb.gz"); r.code != exitOK {
			t.Fatalf("%s: code %d: %s", p, r.code, r.stderr)
		}
		want := profileAt(t, filepath.Join(dir, p+".pb.gz")).Compact().String()
		if got := profileAt(t, filepath.Join(dir, "one.pb.gz")).Compact().String(); got != want {
			t.Errorf("%s comes back as\n%s\nwant\n%s", p, got, want)
		}
	}
	for _, bad := range [][]string{
		{"-", "shop.pb.gz", "-", "-o", "x.nettrace"}, {"shop.pb.gz", "till.pb.gz"}, {"shop.pb.gz", "till.pb.gz", "-o", "x.nettrace", "--order", "file"},
	} {
		if r := invoke(t, dir, nil, append([]string{"to", "nettrace"}, bad...)...); r.code != exitUsage {
			t.Errorf("%q: code %d: %s", bad, r.code, r.stderr)
		}
	}
	if r := invoke(t, dir, nil, "to", "nettrace", "shop.pb.gz", "missing.pb.gz", "-o", "x.nettrace"); r.code != exitInput || !strings.Contains(r.stderr, "missing.pb.gz") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
	if left := files(t, dir); len(left) != 5 {
		t.Errorf("files left: %q", left)
	}
}

// The number of strings of a profile is limited.
func TestManyStrings(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "bad.pb.gz", gzipped(t, append([]byte("\x0a\x04\x08\x01\x10\x02"), bytes.Repeat([]byte("\x32\x00"), 10_000_000)...)))
	r := invoke(t, dir, nil, "to", "nettrace", "bad.pb.gz", "-o", "bad.nettrace")
	if r.code != exitLimit || !strings.Contains(r.stderr, "bad.pb.gz: ") || !strings.Contains(r.stderr, "string table: too many strings: limit 4000000, got 4000001\n") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}
