package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net"
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

// Messages state the finding in the words of the user, and the next step.
func TestMessages(t *testing.T) {
	cpu := unpacked(t, "cpu-env")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	for _, c := range []struct {
		name  string
		stdin []byte
		args  []string
		code  int
		want  string
		not   string
	}{
		{"summary of standard input", cpu, []string{"to", "pprof", "-", "-o", "x"}, exitOK, "events in standard input (nettrace 4)", " - "},
		{"all events of standard input", cpu, []string{"to", "nettrace", "-", "-o", "x"}, exitOK, "events of standard input (nettrace 4)", " - "},
		{"no directory", nil, []string{"to", "pprof", trace(t, "cpu-env"), "-o", "no/dir/x.pb.gz"}, exitOutput, "no/dir/x.pb.gz: directory no/dir does not exist\n", ""},
		{"empty profile", nil, []string{"top", "empty.pb.gz"}, exitInput, "programs write a profile when the recording ends", "--duration"},
		{"label of no sample", nil, []string{"to", "pprof", "--drop-label", "trace,tid", "--drop-label", "activity_id,nosuch", trace(t, "cpu-env"), "-o", "x"}, exitOK,
			"; --drop-label: no sample has the label trace or nosuch; available: pid, process, state\n", ""},
		{"labels of a profile without threads' names", nil, []string{"to", "pprof", "--drop-label", "nosuch", trace(t, "cpu-env"), "-o", "x"}, exitOK,
			"no sample has the label nosuch; available: pid, process, state, tid\n", "host"},
		{"label of every sample", nil, []string{"top", "--drop-label", "tid,pid", trace(t, "cpu-env")}, exitOK, "samples", "--drop-label"},
		{"label of a profile", nil, []string{"top", "--drop-label", "endpoint", "a.pb.gz"}, exitOK, "samples", "--drop-label"},
		{"label of no profile", nil, []string{"top", "--drop-label", "endpoint,region,pid", "a.pb.gz"}, exitOK,
			"; --drop-label: no sample has the label region or pid; available: bytes\n", ""},
		{"no label at all", nil, []string{"top", "--drop-label", "pid", "cpu.pb.gz"}, exitOK, "no sample has the label pid; the profile has no labels", ""},
		{"no samples in a profile", nil, []string{"top", "nothing.pb.gz"}, exitEmpty, "nothing.pb.gz: the profile holds no samples; record again, for longer", "providers"},
		{"nor for a trace", nil, []string{"to", "nettrace", "nothing.pb.gz", "-o", "x"}, exitEmpty, "the profile holds no samples", "trace holds"},
		{"gone with the pipe", cpu, []string{"print", "--pid", "1", "-"}, exitEmpty, "; save the input to a file, or send it again; ntconv info IN lists processes and events\n", "info -"},
		{"limit once", cpu, []string{"print", "--max-decompressed", "100KiB", trace(t, "cpu-env")}, exitLimit, "cpu-env.nettrace.zst: decompress zstd after 19060 bytes: decompressed data too large: limit 100 KiB, got 128 KiB; raise --max-decompressed\n", "nettrace 4"},
		{"no negation", nil, []string{"print", "--event", "!GC*", trace(t, "cpu-env")}, exitEmpty, `; ! in !GC* is part of the name; --where '!($event =~ "^GC")' selects`, ""},
		{"case of a field", nil, []string{"print", "--where", "methodflags > 0", trace(t, "cpu-env")}, exitEmpty, "no event has a field methodflags, but there is MethodFlags", ""},
		{"no samples of a kind", nil, []string{"top", "--kind", "wall", trace(t, "cpu-v6")}, exitEmpty, "no samples of threads among 1,125 events; the trace has 693 samples of CPUs (--kind cpu)", "to pprof"},
		{"no samples of a kind to view", nil, []string{"view", "--kind", "cpu", trace(t, "cpu-env")}, exitEmpty, "no samples of CPUs among 1,786 events; the trace has 194 samples of threads (--kind wall)", "to pprof"},
		{"no event is selected", nil, []string{"info", "--tid", "99", trace(t, "cpu-env")}, exitEmpty, "no events match --tid 99 (1,786 events read); ntconv info ", "similar"},
		{"similar event", nil, []string{"info", "--event", "ThreadSampl", trace(t, "cpu-env")}, exitEmpty, "; no event matches --event ThreadSampl; similar: ThreadSample; ", ""},
		{"similar provider", nil, []string{"print", "--provider", "microsoft-dotnetcore-sampleprofilr", trace(t, "cpu-env")}, exitEmpty, "similar: Microsoft-DotNETCore-SampleProfiler; ", ""},
		{"one of two events", nil, []string{"print", "-o", "x", "--event", "ThreadSample,nosuch", trace(t, "cpu-env")}, exitOK, "; no event matches --event nosuch\n", "--event ThreadSample"},
		{"one of two threads", nil, []string{"print", "-o", "x", "--tid", "15673,99", trace(t, "cpu-env")}, exitOK, "; no event matches --tid 99\n", "--tid 15673"},
		{"other sample types", nil, []string{"top", "--diff-base", "cpu.pb.gz", trace(t, "cpu-env")}, exitEmpty, "the sample types differ: samples/count, wall/nanoseconds, and cpu/nanoseconds in the base; they have none in common\n", "--kind"},
		{"a sample type of both", nil, []string{"top", "--diff-base", "a.pb.gz", trace(t, "cpu-env")}, exitEmpty, "; use --sample-type samples\n", "--kind"},
		{"the sample type of both", nil, []string{"top", "--sample-type", "samples", "--diff-base", "a.pb.gz", trace(t, "cpu-env")}, exitOK, "", "--kind"},
		{"empty file", nil, []string{"top", "empty.nettrace"}, exitInput, "empty.nettrace: the file is empty; ", "want"},
		{"bytes of no format", nil, []string{"top", "bytes"}, exitInput, " got the bytes 03 04 ", "--from"},
		{"compression with the file and command", nil, []string{"to", "pprof", "it's.xz", "-o", "x"}, exitInput, `; decompress it: xz -dc 'it'\''s.xz' | ntconv to pprof -`, "FILE"},
		{"compression of one of two inputs", nil, []string{"verify", "a.pb.gz", "it's.xz"}, exitInput, ` | ntconv info -`, "FILE"},
		{"compression of the output", nil, []string{"to", "chrome", trace(t, "cpu-env"), "-o", "x.json.xz"}, exitUsage, "x.json.xz: ntconv compresses outputs with gzip and zstd only; name the output x.json\n", ""},
		{"verify of one input", nil, []string{"verify", "a.pb.gz"}, exitUsage, "verify reads two inputs, got 1\n", ""},
		{"port in use", nil, []string{"view", "--port", fmt.Sprint(ln.Addr().(*net.TCPAddr).Port), "a.pb.gz"}, exitOutput, "another --port", ""},
		{"bytes are not a time", nil, []string{"top", "heap.pb.gz"}, exitOK, "on the stack for 100.0% of inuse_space", "time"},
		{"time is time", nil, []string{"top", "cpu.pb.gz"}, exitOK, "on the stack for 100.0% of cpu time", ""},
	} {
		dir := t.TempDir()
		write(t, dir, "empty.pb.gz", nil)
		write(t, dir, "empty.nettrace", nil)
		write(t, dir, "bytes", []byte{3, 4, 9, 2})
		write(t, dir, "it's.xz", []byte("\xfd7zXZ\x00\x00\x04"))
		write(t, dir, "a.pb.gz", testProfile(t, "shop"))
		write(t, dir, "nothing.pb.gz", sampleless(t))
		write(t, dir, "heap.pb.gz", nameless(t, "inuse_space", "bytes"))
		write(t, dir, "cpu.pb.gz", nameless(t, "cpu", "nanoseconds"))
		r := invoke(t, dir, c.stdin, c.args...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) || c.not != "" && strings.Contains(r.stderr, c.not) {
			t.Errorf("%s: code %d: %s", c.name, r.code, r.stderr)
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
