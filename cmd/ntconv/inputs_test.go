package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
	if err := os.MkdirAll(filepath.Join(dir, "runs", "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
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
	if err := json.Unmarshal([]byte(r.stderr), &report); err != nil {
		t.Fatalf("code %d, %v: %s", r.code, err, r.stderr)
	}
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

// The output decides whether inputs are merged: a directory holds an output per input, a file all inputs.
func TestSeveralInputs(t *testing.T) {
	dir := runs(t)
	if err := os.Remove(filepath.Join(dir, "runs/noise.nettrace")); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if exists(filepath.Join(dir, "17")) || exists(filepath.Join(dir, "14")) {
			t.Error("an empty directory remains")
		}
	}()
	for _, c := range []struct {
		args string
		code int
		want string // outputs
		says string
	}{
		{"to nettrace runs/a.nettrace runs/sub/a.nettrace -o 1/all.nettrace", exitOK, "all.nettrace", "runs/a.nettrace and 1 more"},
		{"to nettrace runs -o 2/all.nettrace", exitIncomplete, "all.nettrace", "and 2 more"},
		{"to nettrace runs -o 3/x/", exitIncomplete, "x/a.nettrace x/cut.nettrace x/sub/a.nettrace", "3 of 3 inputs"},
		{"to nettrace runs", exitUsage, "", "-o FILE merges them into one"},
		{"to nettrace runs --each=false -o 4/all.nettrace", exitIncomplete, "all.nettrace", "and 2 more"},
		{"to pprof runs/**/a.nettrace -o 5/", exitOK, "a.pb.gz sub/a.pb.gz", "2 of 2 inputs"},
		{"to pprof runs/a.nettrace -o 6/", exitOK, "a.pb.gz", "6/a.pb.gz: "},
		{"to pprof runs/a.nettrace runs/sub/a.nettrace -o 7/", exitOK, "runs/a.pb.gz sub/a.pb.gz", "2 of 2 inputs"},
		{"to pprof runs/a.nettrace runs/sub/a.nettrace -o 8/x.pb.gz", exitUsage, "", "-o DIR/ converts each by itself"},
		{"to pprof runs -o 9/x.pb.gz", exitUsage, "", "-o DIR/ converts each by itself, or merge them first: "},
		{"to parquet runs/a.nettrace runs/sub/a.nettrace -o 10/x/", exitOK, "x/attributes.parquet ...", "3,036 events"},
		{"to parquet runs/a.nettrace runs/cut.nettrace -o 11/x/ --each", exitIncomplete, "x/a.parquet/attributes.parquet ...", "2 of 2 inputs"},
		{"convert --to pprof runs 12/", exitIncomplete, "a.pb.gz cut.pb.gz sub/a.pb.gz", "3 of 3 inputs"},
		{"filter --event MethodJittingStarted* runs/[ab].nettrace 13/", exitEmpty, "", "no events match"},
		{"filter --pid 999 runs 14/", exitEmpty, "", "3 empty"},
		{"filter --tid 1 --keep-symbols=false runs/a.nettrace 15/", exitEmpty, "", "no events"},
		{"to nettrace --split-by process runs --each -o 16/", exitIncomplete, "a/shop-17984.nettrace cut/shop-15673.nettrace sub/a/shop-17035.nettrace", "3 of 3 inputs"},
		{"to folded missing -o 17/", exitInput, "", "no such file"},
	} {
		number := regexp.MustCompile(` (\d+)/`).FindStringSubmatch(c.args)
		at := filepath.Join(dir, "0")
		if number != nil {
			at = filepath.Join(dir, number[1])
		}
		if c.want != "" && strings.Contains(c.args, "-o "+filepath.Base(at)+"/") { // the directory of a file must exist
			if err := os.Mkdir(at, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		r := invoke(t, dir, nil, strings.Fields(c.args)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%s: code %d, want %d and %q: %s", c.args, r.code, c.code, c.says, r.stderr)
		}
		var names []string
		err := fs.WalkDir(os.DirFS(at), ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				names = append(names, name)
			}
			return nil
		})
		got := strings.Join(names, " ")
		if begin, ok := strings.CutSuffix(c.want, " ..."); err != nil || got != c.want && !(ok && strings.HasPrefix(got, begin+" ")) {
			t.Errorf("%s: %v: wrote %q, want %q", c.args, err, got, c.want)
		}
	}
}

// What an earlier run has written into the output directory is not an input.
func TestOutputsAreNoInputs(t *testing.T) {
	dir := runs(t)
	for range 2 {
		r := invoke(t, dir, nil, "to", "pprof", "runs", "-o", "runs/out/", "-f", "--report", "json")
		var names []string
		for _, o := range batchReport(t, r) {
			names = append(names, filepath.ToSlash(o.Input))
		}
		if want := "runs/a.nettrace runs/cut.nettrace runs/noise.nettrace runs/sub/a.nettrace"; strings.Join(names, " ") != want {
			t.Errorf("%q", names)
		}
	}
	if r := invoke(t, dir, nil, "to", "nettrace", "runs", "-o", "runs/", "-f"); r.code == exitOK || !strings.Contains(r.stderr, "all traces found are outputs") {
		t.Errorf("inputs were overwritten: %s", r.stderr)
	}
}

// info prints a line or an element per input, with the numbers that it prints for the input alone.
func TestInfoSeveral(t *testing.T) {
	dir := runs(t)
	r := invoke(t, dir, nil, "info", "--json", "runs")
	var list []struct {
		Input, Format, Error string
		Exit                 int
		Events               struct{ Events int64 }
	}
	if err := json.Unmarshal([]byte(r.stdout), &list); err != nil || len(list) != 4 || r.code != exitInput {
		t.Fatalf("code %d, %v: %s", r.code, err, r.stdout)
	}
	table := invoke(t, dir, nil, "info", "-q", "runs").stdout
	for _, d := range list {
		alone := invoke(t, dir, nil, "info", "--json", d.Input)
		var one struct {
			Events struct{ Events int64 }
		}
		if alone.stdout != "" {
			if err := json.Unmarshal([]byte(alone.stdout), &one); err != nil {
				t.Fatal(err)
			}
		}
		if d.Exit != alone.code || one.Events != d.Events || (d.Exit != exitOK) == (d.Error == "") {
			t.Errorf("%+v, alone %+v with exit code %d", d, one, alone.code)
		}
		if !slices.ContainsFunc(strings.Split(table, "\n"), func(line string) bool {
			return strings.HasPrefix(line, d.Input+" ") && strings.Contains(line, " "+cmp.Or(d.Format, "-")+" ")
		}) {
			t.Errorf("no line for %s in\n%s", d.Input, table)
		}
	}
	if !strings.Contains(table, "1 other file skipped: runs/README.md") || !strings.Contains(table, "4 inputs, ") {
		t.Error(table)
	}
	for _, args := range []string{"info", "info - -", "info nothing-*", "info -j 0 runs"} {
		if r := invoke(t, dir, nil, strings.Fields(args)...); r.code == exitOK || r.stdout != "" {
			t.Errorf("%s: code %d: %s", args, r.code, r.stdout)
		}
	}
}

// Two directories are compared pair by pair, regardless of compression. A difference and a missing trace give exit code
// 3.
func TestVerifyDirectories(t *testing.T) {
	dir := runs(t)
	for _, name := range []string{"runs/noise.nettrace", "runs/cut.nettrace"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if r := invoke(t, dir, nil, "to", "parquet", "runs", "-o", "copy", "--each"); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	if r := invoke(t, dir, nil, "verify", "runs", "copy"); r.code != exitOK || !strings.HasSuffix(r.stdout, "2 of 2 pairs equal\n") {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if r := invoke(t, dir, nil, "verify", "-q", "runs", "copy"); r.code != exitOK || r.stdout != "" {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	write(t, dir, "runs/sub/b.nettrace", unpacked(t, "cpu-v6"))
	write(t, dir, "runs/a.nettrace", unpacked(t, "cpu-env"))
	r := invoke(t, dir, nil, "verify", "runs", "copy")
	for _, want := range []string{"different", "only in A", "equal\n", "1 of 3 pairs equal"} {
		if !strings.Contains(r.stdout, want) || r.code != exitDifferent {
			t.Errorf("code %d, want 3 and %q: %s%s", r.code, want, r.stdout, r.stderr)
		}
	}
	if r := invoke(t, dir, nil, "verify", "copy", "runs"); r.code != exitDifferent || !strings.Contains(r.stdout, "only in B") {
		t.Errorf("code %d: %s", r.code, r.stdout)
	}
	write(t, dir, "runs/a.nettrace.gz", unpacked(t, "cpu-env"))
	if r := invoke(t, dir, nil, "verify", "runs", "copy"); r.code != exitUsage || !strings.Contains(r.stderr, "same name without extensions") {
		t.Errorf("code %d: %s", r.code, r.stderr)
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
