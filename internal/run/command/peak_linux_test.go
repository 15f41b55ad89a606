package command

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The test binary runs the command as its child and writes the child's peak of memory in KiB to the file that this
// variable names. The kernel counts for every process also the memory that its parent had when it was forked, so a test
// cannot ask for the peak of its own child: it has used hundreds of MiB itself.
const asMeter = "NTCONV_TEST_MEASURE_INTO"

// meter runs the command, and ends the process as the command ends.
func meter(into string) {
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitSignal - 1)
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), asMeter+"=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // a test may kill the meter
	err = cmd.Run()
	code := exitSignal - 1
	if state := cmd.ProcessState; state != nil {
		code = state.ExitCode()
		err = os.WriteFile(into, fmt.Append(nil, state.SysUsage().(*syscall.Rusage).Maxrss), 0o600)
		if s := state.Sys().(syscall.WaitStatus); s.Signaled() {
			code = exitSignal + int(s.Signal())
		}
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// measure runs a command that was prepared by the function of that name, and returns its peak of memory in MiB.
func measure(t *testing.T, cmd *exec.Cmd) (mib int64, err error) {
	t.Helper()
	peak := prepareMeter(t, cmd)
	err = cmd.Run()
	return peak(), err
}

// prepareMeter is measure for a command that the test runs itself. The function that is returned may be called when the
// command has ended.
func prepareMeter(t *testing.T, cmd *exec.Cmd) (peak func() (mib int64)) {
	t.Helper()
	into := filepath.Join(t.TempDir(), "peak")
	cmd.Env = append(cmd.Env, asMeter+"="+into)
	return func() int64 {
		b := contentAt(t, into)
		kib, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
		must(t, err)
		return kib >> 10
	}
}
