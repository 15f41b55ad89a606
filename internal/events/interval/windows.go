package interval

import (
	"cmp"
	"slices"

	"github.com/ntconv/ntconv"
)

// Windows is the times that a set of intervals covers, by thread and process. Call Add for all intervals, then Finish,
// then During. Windows is not safe for concurrent use.
//
// Threads and processes are compared by content, because each pass over a trace has its own pointers. recent is a cache
// of the results.
type Windows struct {
	owners  map[owner]*windows
	skipped int64
	recent  map[*ntconv.Thread]covers
	last    *ntconv.Thread
	covers  covers // of last; valid if found
	found   bool
}

// An owner is a thread, or a process if ofProcess is set.
type owner struct {
	host, name string
	pid, tid   uint64
	known      bool // the process is known
	ofProcess  bool
}

// covers is the times that concern a thread: its own, and those of its process. Both may be nil.
type covers struct{ thread, process *windows }

// windows is a set of times. After Finish it is disjoint and in time order.
type windows struct {
	list []window
	next int // index of the first window that did not end before the time of the latest query
}

// A window is a range of time, including both ends.
type window struct{ from, to ntconv.Ticks }

// NewWindows returns an empty set.
func NewWindows() *Windows {
	return &Windows{owners: make(map[owner]*windows), recent: make(map[*ntconv.Thread]covers)}
}

// Add adds an interval. One whose thread the trace does not identify is skipped.
func (w *Windows) Add(v *Interval) {
	var key owner
	if t := v.Begin.Thread; v.coversProcess() {
		key = processOwner(t)
	} else {
		if t == nil || t.TID == ntconv.TIDUnknown {
			w.skipped++
			return
		}
		key = threadOwner(t)
	}
	l := w.owners[key]
	if l == nil {
		l = new(windows)
		w.owners[key] = l
	}
	l.add(window{v.Begin.Time, v.End.Time})
}

// Skipped returns the number of intervals that Add has skipped.
func (w *Windows) Skipped() int64 { return w.skipped }

// Finish prepares the set for During.
func (w *Windows) Finish() {
	for _, l := range w.owners {
		l.merge()
	}
}

// During reports whether an event, which it borrows, was recorded during one of the intervals. It allocates only for
// new threads.
func (w *Windows) During(e *ntconv.Event) bool {
	if e.Thread != w.last || !w.found {
		w.last, w.covers, w.found = e.Thread, w.coversOf(e.Thread), true
	}
	return w.covers.thread.contain(e.Time) || w.covers.process.contain(e.Time)
}

func (w *Windows) coversOf(t *ntconv.Thread) covers {
	c, ok := w.recent[t]
	if !ok {
		if t != nil && t.TID != ntconv.TIDUnknown {
			c.thread = w.owners[threadOwner(t)]
		}
		c.process = w.owners[processOwner(t)]
		w.recent[t] = c
	}
	return c
}

func processOwner(t *ntconv.Thread) owner {
	if t == nil || t.Process == nil {
		return owner{ofProcess: true}
	}
	p := t.Process
	return owner{host: p.Host, name: p.Name, pid: p.PID, known: true, ofProcess: true}
}

func threadOwner(t *ntconv.Thread) owner {
	key := processOwner(t)
	key.tid, key.ofProcess = t.TID, false
	return key
}

// add adds a window. Nested intervals end before the one that encloses them, so it removes the windows that the new one
// contains.
func (l *windows) add(w window) {
	n := len(l.list)
	for n > 0 && w.from <= l.list[n-1].from && l.list[n-1].to <= w.to {
		n--
	}
	l.list = append(l.list[:n], w)
}

// merge sorts the windows and merges those that overlap.
func (l *windows) merge() {
	slices.SortFunc(l.list, func(a, b window) int { return cmp.Compare(a.from, b.from) })
	merged := l.list[:0]
	for _, w := range l.list {
		if n := len(merged); n > 0 && w.from <= merged[n-1].to {
			merged[n-1].to = max(merged[n-1].to, w.to)
			continue
		}
		merged = append(merged, w)
	}
	l.list = slices.Clip(merged)
}

// contain reports whether a time is in one of the windows. Queries in time order are fast.
func (l *windows) contain(at ntconv.Ticks) bool {
	if l == nil {
		return false
	}
	i := l.next
	if i > 0 && at <= l.list[i-1].to || i < len(l.list) && at > l.list[i].to {
		i, _ = slices.BinarySearchFunc(l.list, at, func(w window, at ntconv.Ticks) int {
			if w.to < at {
				return -1
			}
			return 1
		})
		l.next = i
	}
	return i < len(l.list) && l.list[i].from <= at
}
