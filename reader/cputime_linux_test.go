package reader

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns how much processor time the calling thread has had.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		panic(err) // the thread exists, and the address is good
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
