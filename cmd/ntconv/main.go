// Command ntconv converts .NET traces (nettrace, netperf) to the formats of other tools, and shows their contents.
//
//	ntconv convert trace.nettrace trace.pb.gz     the format follows from the extension
//	ntconv to pprof trace.nettrace --kind cpu     the same, with the format's own flags
//	ntconv info trace.nettrace                    what the trace holds and what can be made of it
//	ntconv print trace.nettrace --json            its events
//	ntconv top trace.nettrace                     where the time went
//
// Only data is written to standard output. Messages and the summary line are written to standard error. exit.go defines
// the exit codes.
package main

import (
	"io"
	"log"
	"os"
	"runtime"
	"runtime/debug"
)

func main() {
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
