//go:build linux || darwin

package command

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Runs are killed at random moments while others go on. In the end every trace is in the dataset once and nothing is
// left.
func TestDatasetKilled(t *testing.T) {
	dir := t.TempDir()
	const n = 12
	in, set := fleet(t, dir, n), filepath.Join(dir, "fleet")
	rounds := 15
	if testing.Short() {
		rounds = 5
	}
	for range rounds {
		var running []*exec.Cmd
		for range 2 {
			cmd := command(t, dir, "to", "parquet", "-q", "--dataset", set, "--jobs", "2", in)
			must(t, cmd.Start())
			running = append(running, cmd)
		}
		time.Sleep(20*time.Millisecond + rand.N(150*time.Millisecond))
		for _, cmd := range running {
			_ = cmd.Process.Signal(syscall.SIGKILL) // it may have ended
			_ = cmd.Wait()
		}
		r := invoke(t, dir, nil, "dataset", "verify", set)
		for line := range strings.Lines(r.stdout) {
			if !strings.HasPrefix(line, "_staging/") && !strings.HasPrefix(line, "_commits/pending.json: left") && !strings.HasPrefix(line, "complete") && !strings.Contains(line, " traces, ") && !strings.Contains(line, " trace, ") {
				t.Errorf("after a kill: %s", line)
			}
		}
	}
	if r := invoke(t, dir, nil, "to", "parquet", "--dataset", set, in); r.code != exitIncomplete && r.code != exitOK {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
	if got := len(tracesOf(t, dir, set)); got != n {
		t.Errorf("%d traces, want %d", got, n)
	}
}

// Four runs at once on the same inputs and on different ones add each trace once.
func TestDatasetWriters(t *testing.T) {
	dir := t.TempDir()
	const n = 8
	in, set := fleet(t, dir, n), filepath.Join(dir, "fleet")
	var all sync.WaitGroup
	for _, words := range [][]string{{in}, {in}, {in + "/00[0-4]*"}, {trace(t, "jit"), trace(t, "threads")}} {
		all.Go(func() {
			r := invoke(t, dir, nil, append([]string{"to", "parquet", "--dataset", set, "--jobs", "2"}, words...)...)
			if r.code != exitOK && r.code != exitIncomplete {
				t.Errorf("%q: code %d: %s", words, r.code, r.stderr)
			}
		})
	}
	all.Wait()
	if got := len(tracesOf(t, dir, set)); got != n+2 {
		t.Errorf("%d traces, want %d", got, n+2)
	}
}

// An interrupted run leaves nothing that is unfinished, and says how to go on.
func TestDatasetInterrupted(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "fleet")
	cmd := command(t, dir, "to", "parquet", "--dataset", set, "--jobs", "2", fleet(t, dir, 40))
	var errs strings.Builder
	cmd.Stderr = &errs
	must(t, cmd.Start())
	waitFor(t, "the first traces", func() bool { // which wait for others
		found, _ := filepath.Glob(filepath.Join(set, "_staging", "*-*", "trace1"))
		return len(found) > 4
	})
	must(t, cmd.Process.Signal(os.Interrupt))
	if code := exitCode(t, cmd.Wait()); code != exitSignal+int(syscall.SIGINT) || !strings.Contains(errs.String(), "the same command adds the rest") {
		t.Errorf("code %d: %s", code, errs.String())
	}
	if got := len(tracesOf(t, dir, set)); got == 0 || got == 40 {
		t.Errorf("%d traces", got)
	}
}

// Where writes fail, the dataset has complete traces only, the exit code is that of the destination, and what follows
// is not tried.
func TestDatasetFailingWrites(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "fleet")
	succeed(t, dir, "to", "parquet", "--dataset", set, trace(t, "jit"))
	for _, limit := range []int64{0, 1000, 10_000, 30_000} {
		cmd := command(t, dir, "to", "parquet", "--jobs", "1", "--dataset", set, trace(t, "cpu-default"), trace(t, "cpu-env"))
		cmd.Env = append(cmd.Env, fileLimit+"="+strconv.FormatInt(limit, 10))
		var errs strings.Builder
		cmd.Stderr = &errs
		if code := exitCode(t, cmd.Run()); code != exitOutput || !strings.Contains(errs.String(), "fleet: 0 traces added") || strings.Count(errs.String(), "\n") != 5 { // an error, a table of two inputs, a summary
			t.Errorf("limit %d: code %d: %s", limit, code, errs.String())
		}
		if got := len(tracesOf(t, dir, set)); got != 1 {
			t.Errorf("limit %d: %d traces", limit, got)
		}
	}
}
