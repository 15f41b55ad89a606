//go:build unix

package command

import (
	"os"

	"golang.org/x/sys/unix"
)

// openedStdout returns standard output, or a file that fails each write if the caller has closed standard output: the
// runtime of Go has replaced it by /dev/null, open for reading and writing, and all output would be lost silently.
// A caller that itself opens /dev/null in this way gets the same errors, except if standard error is like that, too:
// such a caller wants no output, and no message.
func openedStdout() *os.File {
	if !isReplaced(os.Stdout) || isReplaced(os.Stderr) {
		return os.Stdout
	}
	closed, err := os.Open(os.DevNull)
	if err != nil {
		return os.Stdout
	}
	return closed
}

// isReplaced reports whether f is /dev/null, open for reading and writing. Shells open it only for writing.
func isReplaced(f *os.File) bool {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR {
		return false
	}
	null, err := os.Stat(os.DevNull)
	if err != nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && os.SameFile(info, null)
}
