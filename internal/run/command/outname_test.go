package command

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/job"
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
		must(t, flags.Parse(strings.Fields(c.flag)))
		if got, err := to.output(); got != filepath.FromSlash(c.want) || (err != nil) != (c.want == "") {
			t.Errorf("to %s %s %s -o %q: %s, %v, want %s", c.to, c.flag, c.in, c.out, got, err, c.want)
		}
	}
}

// Nor does one that the user did name, by whatever name.
func TestOutputNamedAsInput(t *testing.T) {
	dir := t.TempDir()
	recording := unpacked(t, "cpu-env")
	path := write(t, dir, "v.nettrace", recording)
	write(t, dir, "w.nettrace", recording)
	must(t, errors.Join(os.Symlink("v.nettrace", dir+"/soft"), os.Link(path, dir+"/hard")))
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
	must(t, err)
	defer in.Close()
	cmd := command(t, dir, "to", "nettrace", "-f", "-", "-o", "v.nettrace")
	cmd.Stdin = in
	if out, err := cmd.CombinedOutput(); exitCode(t, err) != exitUsage || !strings.Contains(string(out), "the same file (standard input)") {
		t.Errorf("from standard input: %v: %s", err, out)
	}
}
