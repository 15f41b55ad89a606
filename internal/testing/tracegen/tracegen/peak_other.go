//go:build !unix

package main

import "os"

// peak returns 0, because the peak memory is unknown on this system.
func peak(*os.ProcessState) int64 { return 0 }
