//go:build unix

package beamrun

import (
	"os"
	"syscall"
)

// peak returns the largest size of a process in bytes.
func peak(s *os.ProcessState) int64 {
	if usage, ok := s.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss * 1024 // of Linux
	}
	return 0
}
