//go:build !unix

package command

import "os"

// openedStdout returns standard output. Writes to a closed one fail here.
func openedStdout() *os.File { return os.Stdout }
