package memlimit

import (
	"math"
	"runtime"
	"strings"
)

// module is the prefix of the function names of this module.
const module = "github.com/ntconv/ntconv"

// memoryUsers returns what the memory is used for that a package allocates. A function belongs to the first entry whose pkg its name
// contains; the last entry matches all functions.
func memoryUsers() []memoryUser {
	return []memoryUser{
		{"/symbol.", "names of addresses"},
		{"/internal/profile.", "samples by stack and labels"},
		{"/internal/span/active.", "times of spans by thread"},
		{"/importers/pprof.", "the samples and names of the profile that is read"},
		{"/exporters/pprof.", "the profile that is written"},
		{"/writer.", "definitions and blocks that are written"},
		{"/reader.", "event types, threads, stacks and events that wait for their turn"},
		{"", ""}, // no use that would help a user to reduce it
	}
}

type memoryUser struct{ pkg, use string }

// largestUse returns what most of the memory is used for, "" if that is not known. It relies on the samples of the allocator.
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

// userOf returns the index of the user of a record: the package of this module that is innermost on the stack of the allocation.
func userOf(users []memoryUser, r *runtime.MemProfileRecord) int {
	frames := runtime.CallersFrames(r.Stack())
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if !strings.HasPrefix(f.Function, module) && !strings.HasPrefix(f.Function, "main.") {
			continue
		}
		for i, u := range users {
			if strings.Contains(f.Function, u.pkg) {
				return i
			}
		}
	}
	return len(users) - 1
}

// estimatedBytes returns an estimate of the bytes in use that a record represents. The allocator samples small allocations rarely;
// the formula is that of pprof for heap profiles.
func estimatedBytes(r *runtime.MemProfileRecord) float64 {
	n, bytes := float64(r.InUseObjects()), float64(r.InUseBytes())
	if n == 0 || runtime.MemProfileRate <= 0 {
		return 0
	}
	return bytes / (1 - math.Exp(-bytes/n/float64(runtime.MemProfileRate)))
}
