package beamrun

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/run/command"
	"github.com/ntconv/ntconv/internal/run/pipeline"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/datasetrows"
	"github.com/ntconv/ntconv/internal/testing/pipelinerun"
)

// The test binary is ntconv-fleet when this variable is set. Its value is the rate of failures of steps.
const asCommand = "NTCONV_FLEET_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if text := os.Getenv(asCommand); text != "" {
		rate, err := strconv.ParseFloat(text, 64)
		if err != nil {
			panic(err)
		}
		faults := &pipelinerun.Faults{Rate: rate, Seed: uint64(os.Getpid())}
		Register(faults.Wrap(command.PipelineSteps))
		command.Main()
	}
	os.Exit(m.Run())
}

type result struct {
	code           int
	stdout, stderr string
	memory         int64 // peak in bytes
}

// fleet runs ntconv-fleet in a directory.
func fleet(t *testing.T, dir, rate string, args ...string) result {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asCommand+"="+rate, "TMPDIR="+dir, "NTCONV_LOCAL_SYMBOLS=false")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String(), peak(cmd.ProcessState)}
}

// insist runs a pipeline until it does not fail: a step may fail in all of its attempts, and then the same command continues.
func insist(t *testing.T, dir, rate string, args ...string) result {
	t.Helper()
	for range 10 {
		r := fleet(t, dir, rate, args...)
		if r.stdout != "" {
			t.Errorf("on standard output: %s", r.stdout)
		}
		if r.code != 6 {
			return r
		}
		if !strings.Contains(r.stderr, pipelinerun.ErrInjected.Error()) {
			t.Fatalf("%v: %s", args, r.stderr)
		}
		t.Logf("failed: %s", r.stderr)
	}
	t.Fatalf("%v: fails again and again", args)
	return result{}
}

// recorded returns a trace of testdata.
func recorded(t *testing.T, name string) []byte {
	t.Helper()
	return corpus.Trace(t, name).Data
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, data, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// traces writes recorded traces, one of them twice, a truncated one, one that cannot be read, and n others.
func traces(t *testing.T, dir string, n int) {
	t.Helper()
	for _, name := range []string{"cpu-default", "jit", "exceptions", "threads", "cpu-v6", "spans-stop"} {
		write(t, filepath.Join(dir, "in", name+".nettrace"), recorded(t, name))
	}
	write(t, filepath.Join(dir, "in", "same.nettrace"), recorded(t, "jit"))
	data := recorded(t, "alloc-verbose")
	write(t, filepath.Join(dir, "in", "truncated.nettrace"), data[:len(data)/2])
	write(t, filepath.Join(dir, "in", "unreadable.nettrace"), []byte("no trace"))
	data = recorded(t, "cpu-v6")
	for i := range n {
		write(t, filepath.Join(dir, "in", fmt.Sprintf("more%03d.nettrace", i)), data[:len(data)-1-i])
	}
}

// With a fifth of the steps failing after their work is done, and others done twice, a pipeline on Prism adds the rows that the command
// adds, each trace once; a second one changes nothing.
func TestTables(t *testing.T) {
	dir := t.TempDir()
	traces(t, dir, 60)
	fleet(t, dir, "0", "to", "parquet", "--dataset", "direct", "in")
	args := []string{"pipeline", "tables", "--dataset", "beam", "in", "--dead-letters", "letters.jsonl", "-f", "--report", "json"}
	for round, want := range []string{`"converted":67,"incomplete":61,"already_there":1,`, `"converted":0,"incomplete":0,"already_there":68,`} {
		r := insist(t, dir, "0.2", args...)
		if r.code != 3 || !strings.Contains(r.stderr, want) || !strings.Contains(r.stderr, `"dead_letters":1`) {
			t.Fatalf("round %d: code %d: %s", round, r.code, r.stderr)
		}
		got, err := datasetrows.Read(filepath.Join(dir, "beam"))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := datasetrows.Read(filepath.Join(dir, "direct"))
		if err != nil {
			t.Fatal(err)
		}
		datasetrows.Rename(got, "same.nettrace", "jit.nettrace")
		datasetrows.Rename(rows, "same.nettrace", "jit.nettrace")
		for table := range rows {
			if !slices.Equal(got[table], rows[table]) {
				t.Errorf("round %d: table %s: %d rows, want %d, or others", round, table, len(got[table]), len(rows[table]))
			}
		}
		if r := fleet(t, dir, "0", "dataset", "verify", "beam"); r.code != 0 {
			t.Errorf("round %d: verify: %s%s", round, r.stdout, r.stderr)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "beam", "_staging", "*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	var letter pipeline.Outcome
	data, err := os.ReadFile(filepath.Join(dir, "letters.jsonl"))
	if err != nil || json.Unmarshal(data, &letter) != nil || letter.Input != filepath.Join("in", "unreadable.nettrace") || !strings.Contains(letter.Reason, "unknown format") {
		t.Errorf("dead letters: %s, %v", data, err)
	}
}

// Profiles and regressions do not depend on failures either.
func TestOutputs(t *testing.T) {
	dir := t.TempDir()
	traces(t, dir, 5)
	read := func(pattern string) (all []string) {
		list, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: no files, %v", pattern, err)
		}
		for _, name := range list {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(data))
		}
		return all
	}
	var profiles, tables [][]string
	for _, rate := range []string{"0", "0.2"} {
		insist(t, dir, rate, "pipeline", "pprof", "--kind", "wall", "in", "-o", "profiles"+rate)
		profiles = append(profiles, read("profiles"+rate+"/*/*.pb.gz"))
		insist(t, dir, rate, "pipeline", "regressions", "--kind", "wall", "--build-from", "cpu|jit", "in", "-o", "changes"+rate+".tsv")
		tables = append(tables, read("changes"+rate+".tsv"))
	}
	if !slices.Equal(profiles[0], profiles[1]) {
		t.Error("the profiles differ")
	}
	if !slices.Equal(tables[0], tables[1]) || strings.Count(tables[0][0], "\n") < 100 {
		t.Errorf("the tables differ, or have too few rows: %d", strings.Count(tables[0][0], "\n"))
	}
}

// The memory of a worker does not grow with the number of traces.
func TestMemory(t *testing.T) {
	var used []int64
	for _, n := range []int{50, 400} {
		dir := t.TempDir()
		traces(t, dir, n)
		r := insist(t, dir, "0", "pipeline", "tables", "--dataset", "beam", "in")
		used = append(used, r.memory)
		t.Logf("%d traces: %d MB", n, r.memory/1e6)
	}
	if used[0] > 0 && used[1] > used[0]*3/2 {
		t.Errorf("%d bytes for 50 traces, %d for 400", used[0], used[1])
	}
}

// Flags of the runner follow --, and those that Beam does not have are refused.
func TestFlags(t *testing.T) {
	dir := t.TempDir()
	traces(t, dir, 0)
	r := fleet(t, dir, "0", "pipeline", "tables", "--dataset", "beam", "in", "--", "--no_such_flag=1")
	if r.code != 1 || !strings.Contains(r.stderr, "--runner prism: --no_such_flag: Apache Beam does not have this flag") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
	for runner, missing := range map[string]string{"flink": "endpoint", "spark": "endpoint", "dataflow": "project"} {
		r := fleet(t, dir, "0", "pipeline", "tables", "--dataset", "beam", "in", "--runner", runner)
		if r.code != 1 || !strings.Contains(r.stderr, "--runner "+runner+": the runner needs a value: want --"+missing+"=VALUE after --") {
			t.Errorf("%s without its flags: code %d: %s", runner, r.code, r.stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "beam")); err == nil {
		t.Error("a dataset was created")
	}
	r = fleet(t, dir, "0", "pipeline", "tables", "--dataset", "beam", "in", "--runner", "flink", "--", "--endpoint=127.0.0.1:1")
	if r.code == 0 || !strings.Contains(r.stderr, "beam: the pipeline failed") {
		t.Errorf("a cluster that does not exist: code %d: %s", r.code, r.stderr)
	}
}
