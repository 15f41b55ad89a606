// Package memlimit bounds the memory of a process: it ends the work with an error before the machine swaps or the
// operating system kills the process. It is for memory that no limit of a table counts.
//
// Two things are bounded. The live heap, which the garbage collector cannot free, is checked where the work can end
// with an error: [Limit.Check], called by [Limit.Watch] between events and by outputs between blocks of bytes. Memory
// in use as the operating system sees it, garbage included, is watched by a goroutine: most of a profile is parsed,
// sorted or summed up in one call, in which nothing asks.
package memlimit

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/ntconv/ntconv"
)

// Name is the Limit of the *ntconv.LimitError of this package. Its values are bytes.
const Name = "memory in use"

// Default is the limit in bytes of a command whose user has set none: 1 GiB.
const Default = 1 << 30

// What memory in use may exceed Limit.Max by, in percent. Without room for garbage the collector would run all the time
// when the live heap is near Max, so it gets some; beyond that the process ends. The rest of the 25% that the command
// promises is for what is allocated until the watch notices.
const (
	collectorPercent = 12
	endPercent       = 17
)

// What was in use before the work began does not count for the end of the process, at least minBase, and its percentage
// amounts to at least minRoom: a process of Go needs a few MiB whatever it does.
const (
	minBase = 8 << 20
	minRoom = 4 << 20
)

// A Limit bounds memory. Its methods are safe for concurrent use after Start; jobs of a process share one Limit.
type Limit struct {
	Max    int64  // maximum live heap in bytes; 0 means no limit
	Advice string // next step in errors, such as the flag that raises the limit; must not be empty
	// End, if not nil, is called once, on another goroutine, with the error of memory in use that exceeds Max by a
	// sixth. It must end the process.
	End func(error)

	base      int64         // bytes in use when the work began
	collected bool          // the collector has the limit of this package, and not that of GOMEMLIMIT
	quit      chan struct{} // nil until Start
	ending    sync.Mutex    // held by a call of End, for ever; guards stopped
	stopped   bool
}

// Start gives the garbage collector a limit above Max, unless the environment variable GOMEMLIMIT is set, and starts
// the watch if there is a function End. Call it once, after Max was set and before the work begins.
func (l *Limit) Start() {
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

// last returns how many bytes may be in use before the process ends.
func (l *Limit) last() int64 { return plus(plus(l.Max, max(l.Max/100*endPercent, minRoom)), l.base) }

// plus returns the sum of two sizes, or the largest size.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Stop ends the watch: when it returns, End has not been called and is not called any more. If End is being called,
// Stop does not return, because the process ends. Check goes on to work. Call Stop before the results of the work
// become visible.
func (l *Limit) Stop() {
	l.ending.Lock()
	defer l.ending.Unlock()
	if l.quit != nil && !l.stopped {
		close(l.quit)
	}
	l.stopped = true
}

// Check returns nil if the live heap after the last garbage collection was within the limit. Otherwise it returns an
// *ntconv.AdviceError with an *ntconv.LimitError in it. Its text states what most of the memory is used for, if that is
// known. Check takes less than a microsecond if it returns nil.
func (l *Limit) Check() error {
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

// Cause returns the error of Check in the chain of an error, nil if there is none. What others have put before its
// text, such as the writer that passed it on, adds nothing.
func Cause(err error) error {
	var of *ntconv.LimitError
	var advice *ntconv.AdviceError
	if errors.As(err, &of) && of.Limit == Name && errors.As(err, &advice) {
		return advice
	}
	return nil
}

// exceeded returns the error of that many bytes in use.
func (l *Limit) exceeded(n int64) error {
	const mib = 1 << 20 // smaller differences are noise of the garbage collector
	var err error = &ntconv.LimitError{Limit: Name, Value: l.Max, Asked: (n + mib - 1) / mib * mib, Unit: "bytes"}
	if use := largestUse(); use != "" {
		err = fmt.Errorf("%w; most of it is used for %s", err, use)
	}
	return &ntconv.AdviceError{Err: err, Advice: l.Advice}
}

// Metrics of the runtime that the watch reads. Memory that was released to the operating system is mapped, but not in
// use.
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

// inUse returns the bytes that the process has of the operating system, those of its program file not counted.
func inUse(s []metrics.Sample) int64 { return int64(s[1].Value.Uint64() - s[2].Value.Uint64()) }

// How often the watch looks: so often that memory that grows at fastestGrowth is noticed in time. New pages are zeroed
// when they are first touched, so growth is slower than that of writing to memory.
const (
	fastestGrowth = 4 << 30 // bytes per second
	shortestSleep = time.Millisecond
	longestSleep  = 100 * time.Millisecond
)

// watch calls End when too much memory is in use.
func (l *Limit) watch() {
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
		if !l.collected { // garbage is as much as the user permits
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

// end calls End unless the watch was stopped.
func (l *Limit) end(n int64) {
	l.ending.Lock()
	defer l.ending.Unlock()
	if !l.stopped {
		l.stopped = true
		l.End(l.exceeded(n - l.base))
	}
}
