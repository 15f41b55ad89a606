//go:build linux || darwin

package fileio

import "syscall"

func limitFileSize(n uint64) {
	l := syscall.Rlimit{Cur: n, Max: n}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l); err != nil {
		panic(err)
	}
}
