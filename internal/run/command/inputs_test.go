package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/job"
	"github.com/spf13/pflag"
)

// runs makes a directory with traces in it and below it, one that is truncated, one file that is not a trace although
// it is named as one, and one that is not named as one. It returns the directory above it.
func runs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "runs", "sub"), 0o700))
	cut := unpacked(t, "cpu-env")
	write(t, dir, "runs/a.nettrace", unpacked(t, "cpu-v6"))
	write(t, dir, "runs/cut.nettrace", cut[:len(cut)/2])
	write(t, dir, "runs/sub/a.nettrace", unpacked(t, "jit"))
	write(t, dir, "runs/noise.nettrace", []byte("this is not a trace"))
	write(t, dir, "runs/README.md", []byte("# runs"))
	return dir
}

// batchReport decodes the outcomes in a JSON report.
func batchReport(t *testing.T, r result) (outputs []outcome) {
	t.Helper()
	var report struct{ Outputs []outcome }
	decode(t, []byte(r.stderr), &report)
	return report.Outputs
}

// Each input of a directory gets the output that it gets alone, at the same place below the output directory. A failure
// does not stop the others, and the exit code is the worst. A second run converts nothing, -f all of them.
func TestConvertEach(t *testing.T) {
	dir := runs(t)
	r := invoke(t, dir, nil, "to", "folded", "runs", "-o", "out/", "--report", "json")
	got := map[string]string{}
	for _, o := range batchReport(t, r) {
		got[filepath.ToSlash(o.Output)] = o.Status
		if o.Status == statusFailed {
			if o.Exit != exitInput || !strings.Contains(o.Error, "noise.nettrace") || exists(filepath.Join(dir, o.Output)) {
				t.Errorf("%+v", o)
			}
			continue
		}
		alone := invoke(t, dir, nil, "to", "folded", o.Input, "-o", "-")
		written, err := os.ReadFile(filepath.Join(dir, o.Output))
		if err != nil || !bytes.Equal(written, []byte(alone.stdout)) || int64(len(written)) != o.Bytes || o.Exit != alone.code || o.Events == 0 {
			t.Errorf("%v, %d bytes, alone %d bytes and exit code %d: %+v", err, len(written), len(alone.stdout), alone.code, o)
		}
	}
	want := "map[out/a.folded:converted out/cut.folded:incomplete out/noise.folded:failed out/sub/a.folded:converted]"
	if r.code != exitInput || fmt.Sprint(got) != want {
		t.Errorf("code %d: %v", r.code, got)
	}
	for _, c := range []struct{ args, says string }{
		{"runs -o out", "0 of 4 inputs converted, 3 already there, 1 failed; 0 events; 1 other file skipped"},
		{"runs -o out -f", "3 of 4 inputs converted (1 incomplete), 1 failed; "},
		{"runs -o out/ -f -j 1", "3 of 4 inputs converted (1 incomplete), 1 failed; "},
	} {
		r := invoke(t, dir, nil, append([]string{"to", "folded"}, strings.Fields(c.args)...)...)
		if r.code != exitInput || !strings.Contains(r.stderr, c.says) || strings.Count(r.stderr, "noise.nettrace") != 2 ||
			!strings.Contains(r.stderr, "INPUT  ") || r.stdout != "" {
			t.Errorf("%s: code %d: %s", c.args, r.code, r.stderr)
		}
	}
}

// Outputs of inputs with equal names keep the directories that distinguish them, or the extensions.
func TestDistinctOutputs(t *testing.T) {
	for _, c := range []struct{ names, want []string }{
		{[]string{"d/a.nettrace", "d/b.nettrace"}, []string{"a.nettrace", "b.nettrace"}},
		{[]string{"d1/a.nettrace", "d2/a.nettrace", "b.nettrace"}, []string{"d1/a.nettrace", "d2/a.nettrace", "b.nettrace"}},
		{[]string{"/x/1/run/a.nettrace", "/x/2/run/a.nettrace"}, []string{"1/run/a.nettrace", "2/run/a.nettrace"}},
		{[]string{"../d/a.nettrace", "../../d/a.nettrace", "e/a.nettrace"}, []string{"a.nettrace", "a-nettrace", "e/a.nettrace"}},
		{[]string{"d/a.nettrace", "d/a.nettrace.zst"}, []string{"a.nettrace", "a-nettrace-zst"}},
	} {
		con := &conversion{Job: job.Job{To: formats.Nettrace()}}
		con.bind(pflag.NewFlagSet("", pflag.ContinueOnError))
		in := &inputs{Found: &input.Found{Names: c.names}}
		for _, name := range c.names {
			in.Below = append(in.Below, filepath.Base(name))
		}
		if got := con.distinct(in); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.names, got, c.want)
		}
	}
}
