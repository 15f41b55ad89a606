// Package command is the ntconv command: its subcommands and flags, what it prints, and its exit codes. exit.go defines those.
//
// Only data is written to standard output. Messages and the summary line are written to standard error.
package command

import (
	"io"
	"log"
	"os"
	"runtime"
	"runtime/debug"
)

// Main runs the command with the arguments of the process, and ends the process.
func Main() {
	if len(os.Args) == 3 && os.Args[1] == guardWord {
		os.Exit(keepRunning(os.Args[2]))
	}
	if os.Getenv("GOGC") == "" {
		paceCollector()
	}
	log.SetOutput(io.Discard)  // net/http logs protocol errors of receivers; its errors are enough
	os.Stdout = openedStdout() // outputs also use it by its name
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// Values of GOGC: the maximum garbage in percent of the live heap. The first collection happens at 4 MiB times the
// percentage: with firstGarbage at 32 MiB. Most traces never need that much, and for those that need a little less, a
// collection would take 10% of the time. Larger heaps are mostly live, and 100 percent is enough.
const (
	firstGarbage = 800
	laterGarbage = 100
)

// paceCollector makes the garbage collector start late, and run at its usual rate after the first collection.
func paceCollector() {
	debug.SetGCPercent(firstGarbage)
	runtime.AddCleanup(new([16]byte), func(percent int) { debug.SetGCPercent(percent) }, laterGarbage)
}
