package main

import (
	"os"
	"syscall"
)

// peak returns the largest resident size in bytes of a process that has ended.
func peak(p *os.ProcessState) int64 {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss * 1024
	}
	return 0
}
