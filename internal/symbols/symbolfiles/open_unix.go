//go:build unix

package symbolfiles

import "syscall"

// openFlags keep the opening of a FIFO, which may have replaced a file, from blocking.
const openFlags = syscall.O_NONBLOCK
