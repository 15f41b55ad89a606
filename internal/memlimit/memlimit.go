// Package memlimit bounds the live heap of a process: it ends the reading of a source with an error, before the machine swaps or the
// operating system kills the process. It is for memory that no limit of a table counts.
package memlimit

import (
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"

	"github.com/ntconv/ntconv"
)

// Name is the Limit of the *ntconv.LimitError of this package. Its values are bytes.
const Name = "memory in use"

// Default is the limit in bytes of a command whose user has set none: 1 GiB.
const Default = 1 << 30

// A Limit bounds the live heap. It is not safe for concurrent use.
type Limit struct {
	Max    int64  // maximum live heap in bytes; 0 means no limit
	Advice string // next step in errors, such as the flag that raises the limit; must not be empty
	live   []metrics.Sample
}

// Start makes the garbage collector work harder when the heap approaches the limit, unless the environment variable GOMEMLIMIT is
// set. Call it once, before the first check and after Max was set.
func (l *Limit) Start() {
	if l.Max > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(l.Max)
	}
	l.live = []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
}

// Check returns nil if the live heap after the last garbage collection was within the limit. Otherwise it returns an
// *ntconv.AdviceError with an *ntconv.LimitError in it. Its text states what most of the memory is used for, if that is known.
func (l *Limit) Check() error {
	if l.Max <= 0 {
		return nil
	}
	metrics.Read(l.live)
	live := l.live[0].Value.Uint64()
	if live <= uint64(l.Max) {
		return nil
	}
	const mib = 1 << 20 // smaller differences are noise of the garbage collector
	var err error = &ntconv.LimitError{Limit: Name, Value: l.Max, Asked: int64((live + mib - 1) / mib * mib), Unit: "bytes"}
	if use := largestUse(); use != "" {
		err = fmt.Errorf("%w; most of it is used for %s", err, use)
	}
	return &ntconv.AdviceError{Err: err, Advice: l.Advice}
}

// checkInterval is the number of events between two checks. Reading them takes about a millisecond.
const checkInterval = 8192

// watchedSource is a source that ends with an error when the limit is exceeded.
type watchedSource struct {
	ntconv.Source
	limit *Limit
	next  int // events until the next check
}

// Watch returns a source with the events of src. It calls Check before the first event and at intervals, and ends with the error of
// Check.
func (l *Limit) Watch(src ntconv.Source) ntconv.Source { return &watchedSource{Source: src, limit: l} }

// Next implements ntconv.Source.
func (w *watchedSource) Next() (*ntconv.Event, error) {
	if w.next--; w.next < 0 {
		if err := w.limit.Check(); err != nil {
			return nil, err
		}
		w.next = checkInterval
	}
	return w.Source.Next()
}
