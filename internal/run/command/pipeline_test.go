package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/run/pipeline"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/datasetrows"
	"github.com/ntconv/ntconv/internal/testing/pipelinerun"
)

// testRunner is the variable with the rate of failures of the runner that the test binary has as a command. Without it, the command
// has no runner, as ntconv.
const testRunner = "NTCONV_TEST_RUNNER"

func registerTestRunner() {
	text := os.Getenv(testRunner)
	if text == "" {
		return
	}
	rate, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	faults := &pipelinerun.Faults{Rate: rate, Seed: 7}
	pipeline.Register(pipeline.Prism, pipelinerun.Local{Open: faults.Wrap(PipelineSteps)})
}

// differingTables fails the test if two datasets have other rows.
func differingTables(t *testing.T, got, want string) {
	t.Helper()
	has, err := datasetrows.Read(got)
	must(t, err)
	rows, err := datasetrows.Read(want)
	must(t, err)
	datasetrows.Rename(has, "same.nettrace", "jit.nettrace")
	datasetrows.Rename(rows, "same.nettrace", "jit.nettrace")
	for table := range rows {
		if !slices.Equal(has[table], rows[table]) {
			t.Errorf("table %s: %d rows, want %d, or others", table, len(has[table]), len(rows[table]))
		}
	}
	if len(has) != len(rows) {
		t.Errorf("%d tables, want %d", len(has), len(rows))
	}
}

// mixedTraces copies recorded traces into a directory, one of them twice, and adds a truncated one and one that cannot be read.
func mixedTraces(t *testing.T, dir string) string {
	t.Helper()
	in := filepath.Join(dir, "in")
	must(t, os.Mkdir(in, 0o700))
	for _, name := range []string{"cpu-default", "jit", "exceptions", "threads", "cpu-v6", "spans-stop"} {
		write(t, in, name+".nettrace", unpacked(t, name))
	}
	write(t, in, "same.nettrace", unpacked(t, "jit"))
	data := unpacked(t, "alloc-verbose")
	write(t, in, "truncated.nettrace", data[:len(data)/2])
	write(t, in, "unreadable.nettrace", unpacked(t, "cpu-v6")[:100])
	return in
}

// A pipeline whose steps fail, and are repeated while and after they succeed, adds the same rows as the command, each trace once. A
// second pipeline changes nothing.
func TestPipelineTables(t *testing.T) {
	for i, rate := range []string{"0.2", "0", "0.5"} {
		if corpus.IsOmitted(i, 3) {
			continue
		}
		t.Run(rate, func(t *testing.T) {
			t.Setenv(testRunner, rate)
			dir := t.TempDir()
			in := mixedTraces(t, dir)
			invoke(t, dir, nil, "to", "parquet", "--dataset", "direct", in)
			args := []string{"pipeline", "tables", "--dataset", "fleet", in, "--dead-letters", "letters.jsonl"}
			r := invoke(t, dir, nil, args...)
			if r.code != exitIncomplete || !strings.Contains(r.stderr, "fleet: 7 traces converted, 1 incomplete, 1 already there, 1 dead letter") {
				t.Fatalf("code %d: %s", r.code, r.stderr)
			}
			differingTables(t, filepath.Join(dir, "fleet"), filepath.Join(dir, "direct"))
			if n := len(tracesOf(t, dir, filepath.Join(dir, "fleet"))); n != 7 {
				t.Errorf("%d traces", n)
			}
			var letter pipeline.Outcome
			must(t, json.Unmarshal(contentAt(t, filepath.Join(dir, "letters.jsonl")), &letter))
			if filepath.Base(letter.Input) != "unreadable.nettrace" || letter.Exit != exitInput || !strings.Contains(letter.Reason, "truncated") {
				t.Errorf("dead letter: %+v", letter)
			}
			if r := invoke(t, dir, nil, args...); r.code != exitOutput || !strings.Contains(r.stderr, "letters.jsonl: file already exists; -f overwrites it") {
				t.Errorf("the file of dead letters exists: code %d: %s", r.code, r.stderr)
			}
			r = invoke(t, dir, nil, append(args, "-f")...)
			if r.code != exitIncomplete || !strings.Contains(r.stderr, "fleet: 0 traces converted, 8 already there, 1 dead letter") {
				t.Fatalf("again: code %d: %s", r.code, r.stderr)
			}
			differingTables(t, filepath.Join(dir, "fleet"), filepath.Join(dir, "direct"))
		})
	}
}

// The report of a pipeline is exact, however often its steps were repeated.
func TestPipelineReport(t *testing.T) {
	t.Setenv(testRunner, "0.5")
	dir := t.TempDir()
	in := mixedTraces(t, dir)
	r := invoke(t, dir, nil, "pipeline", "tables", "--dataset", "fleet", in, "--report", "json")
	var report struct {
		Converted, Incomplete int
		There                 int `json:"already_there"`
		Letters               int `json:"dead_letters"`
		Events                int64
		In                    int64 `json:"bytes_in"`
		Out                   int64 `json:"bytes_out"`
		Made                  []pipeline.Made
		Exit                  int
	}
	decode(t, []byte(r.stderr), &report)
	size, events := int64(0), int64(0)
	for _, name := range namesIn(t, in) {
		info, err := os.Stat(filepath.Join(in, name))
		must(t, err)
		size += info.Size()
	}
	for _, one := range tracesOf(t, dir, filepath.Join(dir, "fleet")) {
		events += one.Manifest.Events
	}
	if report.Converted != 7 || report.Incomplete != 1 || report.There != 1 || report.Letters != 1 || report.Exit != exitIncomplete ||
		report.Events != events || report.In != size || len(report.Made) != 1 || report.Made[0].Inputs != 7 || report.Out != report.Made[0].Bytes {
		t.Errorf("%+v; want %d events, %d bytes", report, events, size)
	}
}

// A pipeline that was killed is continued by the same command. Its workspace is kept for a day, and is no defect of the dataset.
func TestPipelineContinues(t *testing.T) {
	t.Setenv(testRunner, "1") // every step fails
	dir := t.TempDir()
	in := mixedTraces(t, dir)
	args := []string{"pipeline", "tables", "--dataset", "fleet", in}
	r := invoke(t, dir, nil, args...)
	if r.code != exitOutput || !strings.Contains(r.stderr, "fleet: the pipeline failed: failed 20 times: "+pipelinerun.ErrInjected.Error()+"; the same command continues it") {
		t.Fatalf("code %d: %s", r.code, r.stderr)
	}
	left, err := filepath.Glob(filepath.Join(dir, "fleet", "_staging", "pipeline-*"))
	must(t, err)
	if len(left) != 1 {
		t.Fatalf("workspaces: %v", left)
	}
	if r := succeed(t, dir, "dataset", "verify", "fleet"); !strings.Contains(r.stdout, "complete: 0 traces") {
		t.Errorf("verify: %s%s", r.stdout, r.stderr)
	}
	invoke(t, dir, nil, "to", "parquet", "--dataset", "fleet", filepath.Join(in, "jit.nettrace")) // another run keeps it
	if !exists(left[0]) {
		t.Error("the workspace was removed")
	}
	t.Setenv(testRunner, "0")
	r = invoke(t, dir, nil, args...)
	if r.code != exitIncomplete || !strings.Contains(r.stderr, "fleet: 6 traces converted, 1 incomplete, 2 already there, 1 dead letter") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
	if n := len(tracesOf(t, dir, filepath.Join(dir, "fleet"))); n != 7 {
		t.Errorf("%d traces", n)
	}
}

// Without a runner, the command names the program that has one.
func TestPipelineWithoutRunner(t *testing.T) {
	dir := t.TempDir()
	r := invoke(t, dir, nil, "pipeline", "tables", "--dataset", "fleet", trace(t, "jit"))
	if r.code != exitUsage || !strings.Contains(r.stderr, "--runner prism: no such runner in this program; use ntconv-fleet, which make fleet builds") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
	if exists(filepath.Join(dir, "fleet")) {
		t.Error("a dataset was created")
	}
}

// A wrong flag of the runner, or an input that does not exist, is reported before anything is created.
func TestPipelineNotCreated(t *testing.T) {
	t.Setenv(testRunner, "0")
	dir := t.TempDir()
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{exitUsage, "--runner prism: --endpoint=x: no such flag", []string{trace(t, "jit"), "--", "--endpoint=x"}},
		{exitInput, "MISTYPED: open: no such file", []string{"MISTYPED"}},
	} {
		r := invoke(t, dir, nil, append([]string{"pipeline", "tables", "--dataset", "fleet"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.says) || strings.Contains(r.stderr, "continues it") || exists(filepath.Join(dir, "fleet")) {
			t.Errorf("%q: code %d: %s", c.args, r.code, r.stderr)
		}
	}
}

// Flags reach the steps with their values, whatever characters these have.
func TestPipelineFlags(t *testing.T) {
	t.Setenv(testRunner, "0")
	dir := t.TempDir()
	flags := []string{"--event", "GC*,Method*", "--where", `$time < 5s || $provider == "a,b"`, "--service", "the shop, 1", "--typed", "My-*/*", "--jobs", "1"}
	for i, command := range []string{"to parquet", "pipeline tables"} {
		args := append(strings.Fields(command), flags...)
		succeed(t, dir, append(args, "--dataset", fmt.Sprint("set", i), trace(t, "cpu-default"))...)
	}
	differingTables(t, filepath.Join(dir, "set1"), filepath.Join(dir, "set0"))
	a, b := tracesOf(t, dir, filepath.Join(dir, "set0"))[0].Manifest, tracesOf(t, dir, filepath.Join(dir, "set1"))[0].Manifest
	if a.Selection != b.Selection || a.Settings != b.Settings || a.Service != b.Service || a.Selection == "" || a.UID != b.UID {
		t.Errorf("%+v\n%+v", a, b)
	}
}
