package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/zstd"
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

// A flag without effect is reported, and an impossible value is invalid usage.
func TestProfileFlagsWithoutEffect(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.pb.gz", testProfile(t, "shop"))
	write(t, dir, "b.pb.gz", []byte("heap profile: 1: 2 [ 3: 4 ] @ heap/1\n1: 2 [3: 4] @ 0x1000\n"))
	nettrace := []string{"to", "nettrace", "-f", "-o", "x.nettrace"}
	for _, c := range []struct {
		command, args []string
		code          int
		want          string
	}{
		{nettrace, []string{"--label-frames", "endpoint,color", "a.pb.gz"}, exitOK, "--label-frames: no sample has the label color; available: bytes, endpoint"},
		{nettrace, []string{"--label-frames", "color", "a.pb.gz", "b.pb.gz"}, exitOK, "no sample has the label color; available: bytes, endpoint"},
		{nettrace, []string{"--sample-type", "cpu", "--label-frames", "x", trace(t, "cpu-env")}, exitOK,
			"--sample-type has no effect: no input is of format pprof; --label-frames has no effect"},
		{nettrace, []string{"--addresses", "mixed", trace(t, "cpu-env")}, exitOK, "--addresses has no effect: no stack"},
		{nettrace, []string{"--sample-type", "wall", "a.pb.gz"}, exitUsage, "ntconv: a.pb.gz: --sample-type wall: the profile has no such sample type; available: samples, cpu\n"},
		{nettrace, []string{"--sample-type", "cpu", "a.pb.gz", "b.pb.gz"}, exitUsage, "ntconv: b.pb.gz: --sample-type cpu: "},
		{[]string{"top"}, []string{"--sample-type", "wall", "a.pb.gz"}, exitUsage, "--sample-type wall: the profile has no such sample type; available: samples, cpu\n"},
	} {
		r := invoke(t, dir, nil, append(c.command, c.args...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%q: code %d, want %d and %q: %s", c.args, r.code, c.code, c.want, r.stderr)
		}
	}
	if r := invoke(t, dir, nil, append(nettrace, "--label-frames", "endpoint", "--addresses", "real", "--sample-type", "cpu", "a.pb.gz")...); strings.Contains(r.stderr, "--") {
		t.Errorf("flags that have an effect: %s", r.stderr)
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

// Messages about several inputs name all of them, or the one that they are about.
func TestMessagesOfSeveralInputs(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "cpu.pb.gz", testProfile(t, "shop"))
	heap, err := profile.ParseData(testProfile(t, "till"))
	if err != nil {
		t.Fatal(err)
	}
	heap.SampleType = []*profile.ValueType{{Type: "objects", Unit: "count"}, {Type: "space", Unit: "bytes"}}
	var b bytes.Buffer
	if err := heap.Write(&b); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "heap.pb.gz", b.Bytes())
	whole, err := os.ReadFile(trace(t, "cpu-env"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	head := make([]byte, 100_000)
	if _, err := io.ReadFull(z, head); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "cut.nettrace", head)
	again, err := os.ReadFile(filepath.Join(dir, "cpu.pb.gz"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "again.pb.gz", again)
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{"cpu.pb.gz", "heap.pb.gz"}, exitOK, []string{
			"4 events of cpu.pb.gz and 1 more", "weights are milliseconds in cpu.pb.gz, bytes in heap.pb.gz", "milliseconds and bytes, which PerfView calls ms",
		}},
		{[]string{"heap.pb.gz", "cpu.pb.gz", "again.pb.gz"}, exitOK, []string{
			"heap.pb.gz and 2 more", "milliseconds in cpu.pb.gz and again.pb.gz", "cpu.pb.gz and again.pb.gz hold the same events",
		}},
		{[]string{"heap.pb.gz", "./heap.pb.gz"}, exitUsage, []string{"ntconv: ./heap.pb.gz: same file as heap.pb.gz; name each input once\n"}},
		{[]string{"--report", "json", "cpu.pb.gz", "heap.pb.gz"}, exitOK, []string{`"inputs":["cpu.pb.gz","heap.pb.gz"]`}},
		{[]string{"cpu.pb.gz", "cut.nettrace"}, exitIncomplete, []string{"ntconv: cut.nettrace: "}},
		{[]string{"cut.nettrace", "cpu.pb.gz"}, exitIncomplete, []string{"ntconv: cut.nettrace: "}},
	} {
		r := invoke(t, dir, nil, append([]string{"to", "nettrace", "-f", "-o", "x.nettrace"}, c.args...)...)
		for _, w := range c.want {
			if r.code != c.code || !strings.Contains(r.stderr, w) {
				t.Errorf("%q: code %d, no %q: %s", c.args, r.code, w, r.stderr)
			}
		}
	}
}

// An unreadable input gives an error with a reason, and no file.
func TestBadProfiles(t *testing.T) {
	dir := t.TempDir()
	good := testProfile(t, "shop")
	pack := func(b []byte) []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, _ = z.Write(b)
		_ = z.Close()
		return out.Bytes()
	}
	head := "\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x01\x10\x02" // two types
	for _, c := range []struct {
		name string
		data []byte
		code int
		want string
	}{
		{"truncated gzip", good[:len(good)-20], exitInput, "compressed data is truncated"},
		{"dangling location", pack([]byte(head + "\x12\x07\x0a\x01\x09\x12\x02\x01\x02\x32\x00\x32\x01a\x32\x01b")), exitInput, "sample 0: input is corrupt: unknown location 9"},
		{"string table", pack(append([]byte(head), bytes.Repeat([]byte("\x32\x00"), 10_000_000)...)), exitLimit, "string table: too many strings: limit 4000000, got 4000001\n"},
		{"text", []byte("just a text\n"), exitInput, "got text"},
		{"legacy text that is cut", []byte("heap profile: 1: 2 [ 3: 4 ] @ heap/1\n1: x\n"), exitInput, "older formats"},
	} {
		write(t, dir, "bad.pb.gz", c.data)
		r := invoke(t, dir, nil, "to", "nettrace", "bad.pb.gz", "-o", "bad.nettrace")
		if r.code != c.code || !strings.Contains(r.stderr, c.want) || !strings.Contains(r.stderr, "bad.pb.gz") {
			t.Errorf("%s: code %d, want %d and %q: %s", c.name, r.code, c.code, c.want, r.stderr)
		}
	}
	if left := files(t, dir); len(left) != 1 {
		t.Errorf("files left: %q", left)
	}
}
