//go:build unix

package pass_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// makePipe creates a FIFO from which data can be read once.
func makePipe(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Skip("no FIFOs: ", err)
	}
	go func() {
		_ = os.WriteFile(path, data, 0o600) // waits for the reader, whose test detects missing data
	}()
}
