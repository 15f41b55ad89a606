package web

import "golang.org/x/sys/unix"

// limitMemory limits the address space of a process to a number of bytes.
func limitMemory(pid int, bytes uint64) error {
	return unix.Prlimit(pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: bytes, Max: bytes}, nil)
}
