// Command ntconv converts .NET traces (nettrace, netperf) to the formats of other tools, and shows their contents.
//
//	ntconv convert trace.nettrace trace.pb.gz     the format follows from the extension
//	ntconv to pprof trace.nettrace --kind cpu     the same, with the format's own flags
//	ntconv info trace.nettrace                    what the trace holds and what can be made of it
//	ntconv print trace.nettrace --json            its events
//	ntconv top trace.nettrace                     where the time went
package main

import "github.com/ntconv/ntconv/internal/run/command"

func main() { command.Main() }
