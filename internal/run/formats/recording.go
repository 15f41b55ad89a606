package formats

import (
	"strings"

	"github.com/ntconv/ntconv/sample"
)

// recorder returns the command that records a trace with samples of a kind, "" if no recorder has an option for it: it completes
// "record samples with". ntconv collect asks for the events from which the kind is computed.
func recorder(k sample.Kind) string {
	switch k {
	case sample.Auto, sample.Imported, sample.Slices, sample.Events, sample.Count:
		return ""
	case sample.CPU:
		return "dotnet-trace collect-linux"
	case sample.OffCPU:
		return "dotnet-trace collect-linux --profile thread-time"
	case sample.PageFaults:
		return "record-trace --soft-page-faults --hard-page-faults (one-collect)"
	case sample.Wait:
		return "ntconv collect --kind wait (.NET 9 or later)"
	}
	return "ntconv collect --kind " + k.String()
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
