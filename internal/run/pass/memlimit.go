package pass

import (
	"errors"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/ntconv/ntconv"
)

// LimitMemory is the Limit of the *ntconv.LimitError of this package. Its values are bytes.
const LimitMemory = "memory in use"

// DefaultMemory is the limit in bytes of a command whose user has set none: 1 GiB.
const DefaultMemory = 1 << 30

// Memory in use may exceed Limit.Max by these percentages. Without room for garbage the collector would run
// continuously when the live heap is near Max. Beyond endPercent the process ends. The rest of the 25% that the command
// guarantees is for allocations until the watch notices them.
const (
	collectorPercent = 12
	endPercent       = 17
)

// base is the memory in use before the work begins, at least minBase. It does not count when the process is ended. The
// percentage is at least minRoom, because any Go process needs a few MiB.
const (
	minBase = 8 << 20
	minRoom = 4 << 20
)

// A Limit bounds the memory of the process. Set its members before Start; afterwards its methods are safe for
// concurrent use. All jobs of a process share one Limit.
type MemoryLimit struct {
	Max    int64  // maximum live heap in bytes; 0 means no limit
	Advice string // next step for error messages, such as the flag that raises the limit; must not be empty
	// End, if not nil, is called once, on a separate goroutine, when memory in use exceeds Max by a sixth. Its argument
	// is the error to report. It must end the process.
	End func(error)

	base      int64         // bytes in use when the work began
	collected bool          // Start has set the limit of the garbage collector, because GOMEMLIMIT is not set
	quit      chan struct{} // nil until Start
	ending    sync.Mutex    // held forever by a call of End; guards stopped
	stopped   bool
}

// Start sets the memory limit of the garbage collector above Max, unless the environment variable GOMEMLIMIT is set. If
// End is not nil, it starts the watch. Call it once, before the work begins.
func (l *MemoryLimit) Start() {
	if l.Max <= 0 {
		return
	}
	l.base = max(inUse(readMemory()), minBase)
	if l.collected = os.Getenv("GOMEMLIMIT") == ""; l.collected {
		debug.SetMemoryLimit(plus(l.Max, l.Max/100*collectorPercent))
	}
	if l.End != nil {
		l.quit = make(chan struct{})
		go l.watch()
	}
}

// last returns the number of bytes in use at which the process ends.
func (l *MemoryLimit) last() int64 {
	return plus(plus(l.Max, max(l.Max/100*endPercent, minRoom)), l.base)
}

// plus returns the sum of two sizes, or math.MaxInt64 if it overflows.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Stop ends the watch. When Stop returns, End has not been called and will not be called. If End is running, Stop does
// not return, because End ends the process. Check still works afterwards. Call Stop before the results of the work
// become visible.
func (l *MemoryLimit) Stop() {
	l.ending.Lock()
	defer l.ending.Unlock()
	if l.quit != nil && !l.stopped {
		close(l.quit)
	}
	l.stopped = true
}

// Check returns nil if the live heap after the last garbage collection was within the limit. Otherwise it returns an
// *ntconv.AdviceError that wraps an *ntconv.LimitError. It takes less than a microsecond if it returns nil.
func (l *MemoryLimit) Check() error {
	if l.Max <= 0 {
		return nil
	}
	live := [1]metrics.Sample{{Name: liveHeap}}
	metrics.Read(live[:])
	if n := live[0].Value.Uint64(); n > uint64(l.Max) {
		return l.exceeded(int64(n))
	}
	return nil
}

// MemoryCause returns the error of Check in the chain of err, and nil if there is none. Text that callers have added to
// it, such as the name of a writer, does not help the user.
func MemoryCause(err error) error {
	var of *ntconv.LimitError
	var advice *ntconv.AdviceError
	if errors.As(err, &of) && of.Limit == LimitMemory && errors.As(err, &advice) {
		return advice
	}
	return nil
}

// exceeded returns the error for n bytes in use.
func (l *MemoryLimit) exceeded(n int64) error {
	const mib = 1 << 20 // smaller differences depend on the garbage collector
	err := &ntconv.LimitError{Limit: LimitMemory, Value: l.Max, Asked: (n + mib - 1) / mib * mib, Unit: "bytes"}
	return &ntconv.AdviceError{Err: err, Advice: l.Advice}
}

// Runtime metrics that the watch reads. Memory released to the operating system is mapped, but not in use.
const (
	liveHeap = "/gc/heap/live:bytes"
	mapped   = "/memory/classes/total:bytes"
	released = "/memory/classes/heap/released:bytes"
)

func readMemory() []metrics.Sample {
	samples := []metrics.Sample{{Name: liveHeap}, {Name: mapped}, {Name: released}}
	metrics.Read(samples)
	return samples
}

// inUse returns the bytes in use, without the program file.
func inUse(s []metrics.Sample) int64 { return int64(s[1].Value.Uint64() - s[2].Value.Uint64()) }

// The interval of the watch is short enough to notice growth of fastestGrowth in time. Writing to memory is faster, but
// the system must zero new pages when they are first touched.
const (
	fastestGrowth = 4 << 30 // bytes per second
	shortestSleep = time.Millisecond
	longestSleep  = 100 * time.Millisecond
)

// watch calls End when the memory in use exceeds the limit.
func (l *MemoryLimit) watch() {
	samples := readMemory()
	end := l.last()
	wait := time.NewTimer(0)
	defer wait.Stop()
	for {
		select {
		case <-l.quit:
			return
		case <-wait.C:
		}
		metrics.Read(samples)
		n := inUse(samples)
		if !l.collected { // then GOMEMLIMIT controls the amount of garbage, and only the live heap counts
			n = int64(samples[0].Value.Uint64())
		}
		if n > end {
			l.end(n)
			return
		}
		room := time.Duration(float64(end-n) / fastestGrowth * float64(time.Second))
		wait.Reset(min(max(room, shortestSleep), longestSleep))
	}
}

// end calls End unless Stop was called.
func (l *MemoryLimit) end(n int64) {
	l.ending.Lock()
	defer l.ending.Unlock()
	if !l.stopped {
		// Setting stopped first makes End run at most once. The mutex stays locked until End ends the process.
		l.stopped = true
		l.End(l.exceeded(n - l.base))
	}
}
