// Command ntconv converts .NET traces (nettrace, netperf) into the formats of other tools, and shows what is in them.
//
//	ntconv convert trace.nettrace trace.pb.gz     the format follows from the extension
//	ntconv to pprof trace.nettrace --kind cpu     the same, with the format's own flags
//	ntconv info trace.nettrace                    what the trace holds and what can be made of it
//	ntconv print trace.nettrace --json            its events
//	ntconv top trace.nettrace                     where the time went
//
// Only data goes to standard output. Messages and a line that sums up what was done go to standard error. The exit
// codes stand in exit.go.
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
	log.SetOutput(io.Discard) // net/http logs what receivers do wrong; errors say what matters
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// How much memory may be garbage, in percent of what is in use. The runtime collects first at 4 MiB times the
// percentage: with firstGarbage at 32 MiB, which most traces never need, and where a collection would take a tenth of
// the time of those that need a little less. Traces that need more keep much, and as much again is enough for them.
const (
	firstGarbage = 800
	laterGarbage = 100
)

// paceCollector makes the garbage collector start late, and run often from then on.
func paceCollector() {
	debug.SetGCPercent(firstGarbage)
	runtime.AddCleanup(new([16]byte), func(percent int) { debug.SetGCPercent(percent) }, laterGarbage)
}
