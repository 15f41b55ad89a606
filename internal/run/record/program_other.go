//go:build !unix

package record

import (
	"os"
	"syscall"
)

// ownGroup does nothing: diagnostic ports of this system cannot be listened at.
func ownGroup() *syscall.SysProcAttr { return nil }

// runs is not used, see ownGroup.
func runs(int) bool { return false }

// exitCode returns the exit code of a program.
func exitCode(s *os.ProcessState) int { return s.ExitCode() }
