package memlimit

import (
	"math"
	"runtime"
	"strings"
)

// module is the prefix of this module's function names.
const module = "github.com/ntconv/ntconv"

// memoryUsers lists uses of memory by package. A function belongs to the entry whose pkg is a prefix of its name after
// the module path. Packages without an entry allocate for their callers, or hold little. The last entry matches
// everything else.
func memoryUsers() []memoryUser {
	return []memoryUser{
		{"/symbol.", "names of addresses"},
		{"/internal/symbolfiles.", "symbols from files"},
		{"/internal/elfsym.", "symbols from files"},
		{"/internal/managedcode.", "symbols from assemblies and PDBs"},
		{"/internal/readytorun.", "symbols from assemblies and PDBs"},
		{"/internal/portablepdb.", "symbols from assemblies and PDBs"},
		{"/internal/profile.", "samples by stack and labels"},
		{"/internal/span/active.", "times of spans by thread"},
		{"/internal/span/tracker.", "open spans"},
		{"/internal/span/diagsource.", "open spans"},
		{"/internal/timeline.", "tracks, stacks and open slices of the timeline"},
		{"/internal/spool.", "records that are sorted by time"},
		{"/internal/timesort.", "events that are sorted by time"},
		{"/internal/counter.", "counters"},
		{"/internal/procinfo.", "descriptions of processes"},
		{"/internal/overview.", "counters, and totals by type"},
		{"/internal/inventory.", "counts by event type, thread and process"},
		{"/internal/distribution.", "numbers whose quantiles are computed"},
		{"/internal/eventstats.", "groups of events and their values"},
		{"/internal/during.", "spans and intervals during which events are selected"},
		{"/internal/interval.", "open intervals, and those during which events are selected"},
		{"/internal/grouping.", "names of functions that are folded or grouped"},
		{"/internal/streameq.", "definitions and events that are compared"},
		{"/internal/subset.", "the processes and threads of the selected events"},
		{"/internal/split.", "symbols that the parts of a split need"},
		{"/internal/scrub.", "texts and their replacements"},
		{"/internal/profilediff.", "functions, spans and counters that are compared"},
		{"/internal/eventtext.", "a line of text that is printed"},
		{"/internal/payload.", "a payload as JSON"},
		{"/schema.", "descriptions of event types"},
		{"/importers/pprof.", "the samples and names of the profile that is read"},
		{"/internal/pproflegacy.", "the samples and names of the profile that is read"},
		{"/importers/folded.", "the stacks that are read"},
		{"/internal/sampled.", "the samples and stacks that are read"},
		{"/importers/chrome.", "the slices, samples and tables of the Chrome trace that is read"},
		{"/internal/chromeevent.", "open slices of the Chrome trace that is read"},
		{"/importers/firefox.", "the tables of the Firefox profile that is read"},
		{"/importers/speedscope.", "the frames and profiles of the speedscope file that is read"},
		{"/importers/otlp.", "the spans that are read"},
		{"/importers/parquet.", "the tables that are read"},
		{"/internal/parquetreader.", "the tables that are read"},
		{"/internal/jsonread.", "JSON text that is read"},
		{"/exporters/pprof.", "the profile that is written"},
		{"/internal/pprofview.", "the profile and its report"},
		{"/exporters/folded.", "the stacks that are written"},
		{"/exporters/chrome.", "the timeline that is written"},
		{"/exporters/perfetto.", "the timeline that is written"},
		{"/exporters/firefox.", "the timeline that is written"},
		{"/exporters/speedscope.", "the timeline that is written"},
		{"/internal/jsoncolumns.", "the timeline that is written"},
		{"/exporters/otlp.", "batches of spans that are sent or written"},
		{"/internal/otlpclient.", "batches of spans that are sent or written"},
		{"/exporters/parquet.", "the tables that are written"},
		{"/internal/parquetwriter.", "the tables that are written"},
		{"/writer.", "definitions and blocks that are written"},
		{"/reader.", "event types, threads, stacks and events that wait to be sorted"},
		{"", ""}, // no use that the user could reduce
	}
}

type memoryUser struct{ pkg, use string }

// largestUse returns the largest use of memory, and "" if it is unknown. It uses the samples of the heap profiler.
func largestUse() string {
	records := make([]runtime.MemProfileRecord, 0)
	for n, ok := runtime.MemProfile(nil, false); !ok; {
		records = make([]runtime.MemProfileRecord, n+100)
		if n, ok = runtime.MemProfile(records, false); ok {
			records = records[:n]
		}
	}
	users := memoryUsers()
	held := make([]float64, len(users))
	largest := 0
	for i := range records {
		u := userOf(users, &records[i])
		if held[u] += estimatedBytes(&records[i]); held[u] > held[largest] {
			largest = u
		}
	}
	return users[largest].use
}

// userOf returns the index of the user of an allocation: the entry that matches the innermost function on the
// allocation's stack that any entry matches.
func userOf(users []memoryUser, r *runtime.MemProfileRecord) int {
	frames := runtime.CallersFrames(r.Stack())
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if !strings.HasPrefix(f.Function, module) {
			continue
		}
		for i, u := range users[:len(users)-1] {
			if strings.HasPrefix(f.Function[len(module):], u.pkg) {
				return i
			}
		}
	}
	return len(users) - 1
}

// estimatedBytes returns an estimate of the bytes in use that a record represents. The heap profiler samples small
// allocations rarely; the formula is that of pprof.
func estimatedBytes(r *runtime.MemProfileRecord) float64 {
	n, bytes := float64(r.InUseObjects()), float64(r.InUseBytes())
	if n == 0 || runtime.MemProfileRate <= 0 {
		return 0
	}
	return bytes / (1 - math.Exp(-bytes/n/float64(runtime.MemProfileRate)))
}
