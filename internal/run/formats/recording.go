package formats

import (
	"strings"

	"github.com/ntconv/ntconv/sample"
)

// recordings says for each kind how to record a trace with samples of it: it completes "record samples with". The
// providers and keywords are those of docs/profiles.md.
var recordings = [sample.Count]string{
	sample.Wall:       "dotnet-trace collect --profile dotnet-common,dotnet-sampled-thread-time",
	sample.CPU:        "dotnet-trace collect-linux",
	sample.Imported:   "",
	sample.Alloc:      "dotnet-trace collect --profile gc-verbose",
	sample.Exceptions: "dotnet-trace collect --providers Microsoft-Windows-DotNETRuntime:0x8000:4",
	sample.Contention: "dotnet-trace collect --providers Microsoft-Windows-DotNETRuntime:0x4000:4",
	sample.Wait:       "dotnet-trace collect --providers Microsoft-Windows-DotNETRuntime:0x40000000000:5 (.NET 9 or later)",
	sample.GC:         "dotnet-trace collect --profile gc-collect",
	sample.JIT:        "dotnet-trace collect --providers Microsoft-Windows-DotNETRuntime:0x10:5",
	sample.TypeLoad:   "dotnet-trace collect --providers Microsoft-Windows-DotNETRuntime:0x8000000000:5",
	sample.ThreadPool: "dotnet-trace collect --providers Microsoft-Windows-DotNETRuntime:0x10000:5",
	sample.Tasks:      "dotnet-trace collect --providers System.Threading.Tasks.TplEventSource:0x43:5",
	sample.OffCPU:     "dotnet-trace collect-linux --profile thread-time",
	sample.PageFaults: "record-trace --soft-page-faults --hard-page-faults (one-collect)",
	sample.Requests: "dotnet-trace collect --providers Microsoft.AspNetCore.Hosting:0xffffffffffffffff:4," +
		"System.Net.Http:0xffffffffffffffff:4,System.Threading.Tasks.TplEventSource:0x80:4",
	sample.Slices: "",
	sample.Events: "",
}

// recorder returns the command that records a trace with samples of a kind, "" if no recorder has an option for it.
func recorder(k sample.Kind) string {
	if k >= sample.Count {
		return ""
	}
	return recordings[k]
}

// RecordAdvice returns the next step for traces without samples of kinds: how to record some, "" if that is unknown.
// Without kinds, it is how to record samples.
func RecordAdvice(kinds ...sample.Kind) string {
	if len(kinds) == 0 {
		return sampleAdvice
	}
	var advice []string
	for _, k := range kinds {
		if how := recorder(k); how != "" {
			advice = append(advice, "record "+k.Noun(0)+" with "+how)
		}
	}
	return strings.Join(advice, "; ")
}
