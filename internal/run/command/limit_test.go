//go:build linux || darwin

package command

import (
	"os"
	"os/signal"
	"strconv"
	"syscall"
)

// fileLimit is the environment variable with the size beyond which no file of the command may grow.
const fileLimit = "NTCONV_TEST_FILE_LIMIT"

// limitFiles makes writes fail that go beyond the limit.
func limitFiles() {
	n, err := strconv.ParseUint(os.Getenv(fileLimit), 10, 64)
	if err != nil {
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
		panic(err)
	}
}
