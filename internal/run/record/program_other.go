//go:build !unix

package record

import "os"

// exitCode returns the exit code of a program.
func exitCode(s *os.ProcessState) int { return s.ExitCode() }
