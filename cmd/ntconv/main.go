// Command ntconv converts .NET traces (nettrace, netperf) into the formats of other tools, and shows what is in them.
//
//	ntconv convert trace.nettrace trace.pb.gz     the format follows from the extension
//	ntconv to pprof trace.nettrace --kind cpu     the same, with the format's own flags
//	ntconv info trace.nettrace                    what the trace holds and what can be made of it
//	ntconv print trace.nettrace --json            its events
//	ntconv top trace.nettrace                     where the time went
//
// Only data goes to standard output. Messages and a line that sums up what was done go to standard error. The exit codes
// stand in exit.go.
package main

import (
	"os"
	"runtime/debug"
)

// garbage is how much memory may be garbage, in percent of what is in use, unless GOGC says otherwise. Conversions allocate
// little, so a low figure costs them nothing and keeps the peak low.
const garbage = 50

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}
