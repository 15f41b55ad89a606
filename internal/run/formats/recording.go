package formats

import (
	"strings"

	"github.com/ntconv/ntconv/kind"
)

// recordings says for each kind how to record a trace with samples of it: it completes "record samples with". The
// providers and keywords are those of docs/profiles.md.
var recordings = [kind.Count]string{
	kind.Wall:       "dotnet-trace collect --profile dotnet-common,dotnet-sampled-thread-time",
	kind.CPU:        "dotnet-trace collect-linux",
	kind.Imported:   "",
	kind.Alloc:      "dotnet-trace collect --profile gc-verbose",
	kind.Exceptions: "dotnet-trace collect --providers Microsoft-Windows-DotNETRuntime:0x8000:4",
	kind.Contention: "dotnet-trace collect --providers Microsoft-Windows-DotNETRuntime:0x4000:4",
	kind.Wait:       "dotnet-trace collect --providers Microsoft-Windows-DotNETRuntime:0x40000000000:5 (.NET 9 or later)",
	kind.GC:         "dotnet-trace collect --profile gc-collect",
	kind.JIT:        "dotnet-trace collect --providers Microsoft-Windows-DotNETRuntime:0x10:5",
	kind.TypeLoad:   "dotnet-trace collect --providers Microsoft-Windows-DotNETRuntime:0x8000000000:5",
	kind.ThreadPool: "dotnet-trace collect --providers Microsoft-Windows-DotNETRuntime:0x10000:5",
	kind.Tasks:      "dotnet-trace collect --providers System.Threading.Tasks.TplEventSource:0x43:5",
	kind.OffCPU:     "dotnet-trace collect-linux --profile thread-time",
	kind.PageFaults: "record-trace --soft-page-faults --hard-page-faults (one-collect)",
	kind.Requests: "dotnet-trace collect --providers Microsoft.AspNetCore.Hosting:0xffffffffffffffff:4," +
		"System.Net.Http:0xffffffffffffffff:4,System.Threading.Tasks.TplEventSource:0x80:4",
	kind.Events: "",
}

// recording returns the command that records a trace with samples of a kind, "" if no recorder has an option for it.
func recording(k kind.Kind) string {
	if k >= kind.Count {
		return ""
	}
	return recordings[k]
}

// RecordAdvice returns the next step for traces without samples of kinds: how to record some, "" if that is unknown.
// Without kinds, it is how to record samples.
func RecordAdvice(kinds ...kind.Kind) string {
	if len(kinds) == 0 {
		return sampleAdvice
	}
	var advice []string
	for _, k := range kinds {
		if how := recording(k); how != "" {
			advice = append(advice, "record "+k.Noun(0)+" with "+how)
		}
	}
	return strings.Join(advice, "; ")
}
