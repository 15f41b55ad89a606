//go:build unix

package record

import (
	"os"
	"syscall"
)

// exitCode returns the exit code of a program, as a shell states it.
func exitCode(s *os.ProcessState) int {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return s.ExitCode()
}
