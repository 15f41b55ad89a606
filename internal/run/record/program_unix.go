//go:build unix

package record

import (
	"errors"
	"os"
	"syscall"
)

// ownGroup puts a process into a group of its own, so that Ctrl-C does not end it.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// runs reports whether a process exists.
func runs(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// exitCode returns the exit code of a program, as a shell states it.
func exitCode(s *os.ProcessState) int {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return s.ExitCode()
}
