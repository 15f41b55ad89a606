package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// peakFile is the environment variable with the name of a file. If it is set, the test binary runs itself as the command and writes the
// command's largest resident memory in KiB to that file.
//
// A process inherits the peak of the one that started it, until it executes its program. So a test, which may be large, does not
// measure the command itself: a small process between the two does.
const peakFile = "NTCONV_TEST_PEAK_FILE"

// measurePeak is the process between a test and the command. It returns if it is not asked for.
func measurePeak() {
	name := os.Getenv(peakFile)
	if name == "" {
		return
	}
	os.Unsetenv(peakFile)
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	_ = cmd.Run() // the state has the exit code
	peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	if err := os.WriteFile(name, []byte(strconv.FormatInt(peak, 10)), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(cmd.ProcessState.ExitCode())
}

// measure makes a command that is prepared measure its peak. The function that is returned returns it in MiB, after the command has ended.
func measure(t *testing.T, cmd *exec.Cmd) (peak func() int64) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "peak")
	cmd.Env = append(cmd.Env, peakFile+"="+name)
	return func() int64 {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.ParseInt(string(b), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n >> 10
	}
}
