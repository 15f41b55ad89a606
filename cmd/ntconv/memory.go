package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"

	"github.com/ntconv/ntconv"
)

// A memoryLimit ends a run that needs more memory than the user allows: the machine would swap, or end it without a word.
type memoryLimit struct {
	most int64 // bytes; 0 for any number
	live []metrics.Sample
}

// limitMemory is the name of the limit, and flagMemory raises it.
const (
	limitMemory = "memory in use"
	flagMemory  = "--max-memory"
)

// defaultMemory is the limit without the flag.
const defaultMemory = 1 << 30

// begin makes the garbage collector keep within the limit as long as it can, unless the user has told it something else.
func (m *memoryLimit) begin() {
	if m.most > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(m.most)
	}
	m.live = []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
}

// check returns an error if more is in use than is allowed, with what holds the most of it and the flag.
func (m *memoryLimit) check() error {
	if m.most <= 0 {
		return nil
	}
	metrics.Read(m.live)
	live := m.live[0].Value.Uint64()
	if live <= uint64(m.most) {
		return nil
	}
	const mib = 1 << 20 // what lies below is noise of the garbage collector
	var err error = &ntconv.LimitError{Limit: limitMemory, Value: m.most, Asked: int64((live + mib - 1) / mib * mib), Unit: "bytes"}
	if what := holder(); what != "" {
		err = fmt.Errorf("%w; most of it is used for %s", err, what)
	}
	return &ntconv.AdviceError{Err: err, Advice: "raise " + flagMemory}
}

// holders says what the memory is for that a package allocates. The first that matches counts.
var holders = []struct{ in, what string }{
	{"/symbol.", "names of addresses"},
	{"/internal/profile.", "samples by stack and labels"},
	{"/importers/pprof.", "the samples and names of the profile that is read"},
	{"/exporters/pprof.", "the profile that is written"},
	{"/writer.", "definitions and blocks that are written"},
	{"/reader.", "event types, threads, stacks and events that wait for their turn"},
	{"", ""}, // nothing that would help anybody
}

// module is in front of the names of all own packages.
const module = "github.com/ntconv/ntconv"

// holder returns what the most memory in use is for, "" if there is no word for it, by the samples that the allocator takes.
func holder() string {
	records := make([]runtime.MemProfileRecord, 0)
	for n, ok := runtime.MemProfile(nil, false); !ok; {
		records = make([]runtime.MemProfileRecord, n+100)
		if n, ok = runtime.MemProfile(records, false); ok {
			records = records[:n]
		}
	}
	held := make([]float64, len(holders))
	most := 0
	for i := range records {
		h := holderOf(&records[i])
		if held[h] += sampled(&records[i]); held[h] > held[most] {
			most = h
		}
	}
	return holders[most].what
}

// holderOf returns the holder of what was allocated at one place: the innermost own package that was on the stack then.
func holderOf(r *runtime.MemProfileRecord) int {
	frames := runtime.CallersFrames(r.Stack())
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if !strings.HasPrefix(f.Function, module) && !strings.HasPrefix(f.Function, "main.") {
			continue
		}
		for i, h := range holders {
			if strings.Contains(f.Function, h.in) {
				return i
			}
		}
	}
	return len(holders) - 1
}

// sampled returns how many bytes a record stands for: of small allocations few are seen.
func sampled(r *runtime.MemProfileRecord) float64 {
	n, bytes := float64(r.InUseObjects()), float64(r.InUseBytes())
	if n == 0 || runtime.MemProfileRate <= 0 {
		return 0
	}
	return bytes / (1 - math.Exp(-bytes/n/float64(runtime.MemProfileRate)))
}

// checkEvery is how many events lie between two checks: about a millisecond.
const checkEvery = 8192

// watched is a source that ends when the limit is reached.
type watched struct {
	ntconv.Source
	limit *memoryLimit
	next  int // events up to the next check
}

// watch returns a source that checks the limit now and then.
func (m *memoryLimit) watch(src ntconv.Source) ntconv.Source { return &watched{Source: src, limit: m} }

func (w *watched) Next() (*ntconv.Event, error) {
	if w.next--; w.next < 0 {
		if err := w.limit.check(); err != nil {
			return nil, err
		}
		w.next = checkEvery
	}
	return w.Source.Next()
}
