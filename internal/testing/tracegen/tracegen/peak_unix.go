//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak returns the peak memory of a process in bytes.
func peak(s *os.ProcessState) int64 {
	n := s.SysUsage().(*syscall.Rusage).Maxrss
	if runtime.GOOS != "darwin" && runtime.GOOS != "ios" {
		n <<= 10 // only darwin reports bytes
	}
	return int64(n)
}
