//go:build !linux

package main

import "os"

// peak returns 0: dotnet-trace is measured on Linux only.
func peak(*os.ProcessState) int64 { return 0 }
