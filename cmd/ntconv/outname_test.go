package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/job"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/spf13/pflag"
)

func TestOutputName(t *testing.T) {
	const split = "--split-by=process"
	for _, c := range []struct{ to, flag, in, out, want string }{
		{"pprof", "", "dir/trace.nettrace", "", "trace.pb.gz"},
		{"pprof", "", "-", "", "-"},
		{"pprof", "", "-", "x", "x"},
		{"pprof", "", "trace.nettrace", "-", "-"},
		{"nettrace", "", "dir/cpu.pb.gz", "", "cpu.nettrace"},
		{"nettrace", split, "dir/cpu.nettrace.gz", "", "cpu/"},
		{"nettrace", split, "-", "x", "x"},
		{"nettrace", split, "-", "", ""},
		{"nettrace", split, "cpu.nettrace", "-", ""},
		{"parquet", "", "dir/trace.nettrace.zst", "", "trace.parquet/"},
		{"parquet", "--single", "dir/trace.nettrace", "", "trace.parquet"},
		{"parquet", "", "-", "", "-"},
		{"parquet", "", "trace.nettrace", "x.parquet", "x.parquet"},
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		to := conversion{Job: job.Job{To: formats.ByName(formats.Writable(), c.to)}, in: c.in, out: c.out}
		to.bind(flags)
		if err := flags.Parse(strings.Fields(c.flag)); err != nil {
			t.Fatal(err)
		}
		if got, err := to.output(); got != filepath.FromSlash(c.want) || (err != nil) != (c.want == "") {
			t.Errorf("to %s %s %s -o %q: %s, %v, want %s", c.to, c.flag, c.in, c.out, got, err, c.want)
		}
	}
}

// TestParquetFileOrDirectory: the name of the output decides whether it is a directory of tables or one file of events.
func TestParquetFileOrDirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "app.nettrace", unpacked(t, "cpu-env"))
	if err := os.Mkdir(dir+"/there.parquet", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string // the output, "" for standard output
		dir  bool
	}{
		{[]string{"to", "parquet", "app.nettrace"}, "app.parquet", true},
		{[]string{"to", "parquet", "app.nettrace", "-o", "one.parquet"}, "one.parquet", false},
		{[]string{"to", "parquet", "app.nettrace", "-o", "many.parquet/"}, "many.parquet", true},
		{[]string{"to", "parquet", "app.nettrace", "-o", "tables"}, "tables", true},
		{[]string{"to", "parquet", "app.nettrace", "-o", "there.parquet"}, "there.parquet", true},
		{[]string{"to", "parquet", "--single", "app.nettrace", "-o", "single"}, "single", false},
		{[]string{"convert", "app.nettrace", "two.parquet"}, "two.parquet", false},
		{[]string{"convert", "app.nettrace", "three.parquet/"}, "three.parquet", true},
		{[]string{"to", "parquet", "app.nettrace", "-o", "-"}, "", false},
	} {
		r := invoke(t, dir, nil, c.args...)
		if r.code != exitOK {
			t.Errorf("%q: code %d: %s", c.args, r.code, r.stderr)
			continue
		}
		if c.want == "" {
			if !strings.HasPrefix(string(r.stdout), "PAR1") {
				t.Errorf("%q: no Parquet file on standard output", c.args)
			}
			continue
		}
		info, err := os.Stat(filepath.Join(dir, c.want))
		if err != nil || info.IsDir() != c.dir {
			t.Errorf("%q: %v; directory: %t, want %t", c.args, err, err == nil && info.IsDir(), c.dir)
		}
		again := invoke(t, dir, nil, c.args...)
		if again.code != exitOutput || !strings.Contains(again.stderr, "-f overwrites it") {
			t.Errorf("%q again: code %d: %s", c.args, again.code, again.stderr)
		}
		if forced := invoke(t, dir, nil, append(c.args, "-f")...); forced.code != exitOK {
			t.Errorf("%q -f: code %d: %s", c.args, forced.code, forced.stderr)
		}
	}
}

// A directory is replaced by force only if all that it holds is of the format of the output, and no input is in it.
func TestReplacedDirectory(t *testing.T) {
	dir := t.TempDir()
	data := corpus.Trace(t, "empty").Data
	for _, sub := range []string{"mine/below", "there"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "app.nettrace", data)
	write(t, filepath.Join(dir, "there"), "app.nettrace", data)
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"app.nettrace -f -o mine/", exitOutput, "holds below, which is not of format parquet"},
		{"app.nettrace -f -o there", exitOutput, "holds app.nettrace, which is not of format parquet"},
		{"there/app.nettrace -f -o there/", exitUsage, "directory of the input"},
		{"app.nettrace -f -o new/", exitOK, ""},
		{"app.nettrace -f -o new/", exitOK, ""},
		{"new/events.parquet -f -o new/", exitUsage, "directory of the input"},
	} {
		if r := invoke(t, dir, nil, append([]string{"to", "parquet"}, strings.Fields(c.args)...)...); r.code != c.code || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%s: code %d: %s, want %q", c.args, r.code, r.stderr, c.says)
		}
	}
	for _, name := range []string{"mine/below", "there/app.nettrace", "new/events.parquet"} {
		if !exists(filepath.Join(dir, name)) {
			t.Errorf("%s was deleted", name)
		}
	}
	if r := invoke(t, dir, nil, "to", "parquet", "--typed", "all", "app.nettrace", "-o", "typed.parquet"); r.code != exitUsage || !strings.Contains(r.stderr, "omit --typed") {
		t.Errorf("exit code %d, message %q", r.code, r.stderr)
	}
	if r := invoke(t, dir, nil, "to", "parquet", "--typed", "No/Event", "app.nettrace", "-o", "typed/"); r.code != exitOK || !strings.Contains(r.stderr, "--typed No/Event") {
		t.Errorf("exit code %d, message %q", r.code, r.stderr)
	}
}

// An output that the user did not name never replaces the input, whatever the flags.
func TestOutputIsNotInput(t *testing.T) {
	dir := t.TempDir()
	packed := testProfile(t, "shop")
	path := write(t, dir, "cpu.pb.gz", packed)
	if err := os.Symlink("cpu.pb.gz", dir+"/link.pb.gz"); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"to", "pprof", "cpu.pb.gz"}, {"to", "pprof", "-f", "./cpu.pb.gz"}, {"to", "pprof", "-f", path}, {"to", "pprof", "-f", "link.pb.gz"},
		{"convert", "--to", "pprof", "-f", "cpu.pb.gz"},
	} {
		r := invoke(t, dir, nil, args...)
		if r.code != exitUsage || !strings.Contains(r.stderr, "is the input itself") {
			t.Errorf("%q: code %d: %s", args, r.code, r.stderr)
		}
		if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, packed) {
			t.Fatalf("%q: the input has changed: %v", args, err)
		}
	}
	if got := files(t, dir); len(got) != 2 {
		t.Errorf("files %q", got)
	}
}

// Nor does one that the user did name, by whatever name.
func TestOutputNamedAsInput(t *testing.T) {
	dir := t.TempDir()
	recording := unpacked(t, "cpu-env")
	path := write(t, dir, "v.nettrace", recording)
	write(t, dir, "w.nettrace", recording)
	if err := errors.Join(os.Symlink("v.nettrace", dir+"/soft"), os.Link(path, dir+"/hard")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"to", "pprof", "-f", "v.nettrace", "-o", "v.nettrace"}, {"to", "pprof", "-f", "soft", "-o", "v.nettrace"},
		{"to", "pprof", "-f", "v.nettrace", "-o", "soft"}, {"to", "pprof", "-f", "v.nettrace", "-o", "hard"},
		{"to", "pprof", "v.nettrace", "-o", "./v.nettrace"}, {"to", "nettrace", "-f", "w.nettrace", "v.nettrace", "-o", path},
		{"convert", "-f", "--to", "pprof", "v.nettrace", "v.nettrace"}, {"convert", "-f", "v.nettrace", "hard", "--to", "nettrace"},
		{"filter", "-f", "--tid", "1", "v.nettrace", "v.nettrace"}, {"filter", "-f", "soft", "hard"},
		{"print", "-f", "v.nettrace", "-o", "v.nettrace"},
	} {
		r := invoke(t, dir, nil, args...)
		if r.code != exitUsage || !strings.Contains(r.stderr, "output and input are the same file") || !strings.Contains(r.stderr, "choose another output") {
			t.Errorf("%q: code %d: %s", args, r.code, r.stderr)
		}
		if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, recording) {
			t.Fatalf("%q: the input has changed: %v", args, err)
		}
	}
	if got := files(t, dir); len(got) != 4 {
		t.Errorf("files %q", got)
	}
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cmd := command(t, dir, "to", "nettrace", "-f", "-", "-o", "v.nettrace")
	cmd.Stdin = in
	if out, err := cmd.CombinedOutput(); exitCode(t, err) != exitUsage || !strings.Contains(string(out), "the same file (standard input)") {
		t.Errorf("from standard input: %v: %s", err, out)
	}
}

// The directory of an output is checked before any work, under the name that the system resolves.
func TestOutputFolder(t *testing.T) {
	for _, command := range [][]string{{"to", "pprof"}, {"filter"}, {"print"}, {"convert"}} {
		for _, dir := range []string{"z/..", "z"} {
			at := t.TempDir()
			r := invoke(t, at, nil, append(command, trace(t, "empty"), "-o", dir+"/x.pb.gz")...)
			if r.code != exitOutput || !strings.Contains(r.stderr, "directory "+dir+" does not exist") {
				t.Errorf("%s, %s: code %d: %s", command, dir, r.code, r.stderr)
			}
			if got := files(t, at); len(got) > 0 {
				t.Errorf("files %q", got)
			}
		}
	}
}

// IN OUT and IN -o OUT are equivalent.
func TestInAndOut(t *testing.T) {
	in := trace(t, "cpu-env")
	for _, command := range []string{"filter", "convert"} {
		dir := t.TempDir()
		for _, args := range [][]string{{in, "a.nettrace"}, {in, "-o", "b.nettrace"}, {"--output", "c.nettrace", in}} {
			if r := invoke(t, dir, nil, append([]string{command}, args...)...); r.code != exitOK {
				t.Errorf("%s %q: code %d: %s", command, args, r.code, r.stderr)
			}
		}
		a, errA := os.ReadFile(dir + "/a.nettrace")
		for _, name := range []string{"b", "c"} {
			if b, err := os.ReadFile(dir + "/" + name + ".nettrace"); errA != nil || err != nil || !bytes.Equal(a, b) {
				t.Errorf("%s: %s: %d and %d bytes, %v, %v", command, name, len(a), len(b), errA, err)
			}
		}
		if got := files(t, dir); len(got) != 3 {
			t.Errorf("%s: files %q", command, got)
		}
	}
}

func TestEmptyNames(t *testing.T) {
	dir := t.TempDir()
	in := trace(t, "cpu-env")
	for _, args := range [][]string{
		{"info", ""}, {"top", ""}, {"view", ""}, {"print", ""}, {"to", "pprof", ""}, {"verify", in, ""}, {"verify", "", in},
		{"to", "pprof", in, "-o", ""}, {"print", in, "-o", ""}, {"to", "nettrace", "-o", "x.nettrace", in, ""},
	} {
		if r := invoke(t, dir, nil, args...); r.code != exitUsage || !strings.Contains(r.stderr, "the name is empty") {
			t.Errorf("%q: code %d: %s", args, r.code, r.stderr)
		}
	}
	if got := files(t, dir); len(got) > 0 {
		t.Errorf("files %q", got)
	}
}
