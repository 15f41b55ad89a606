package overview

import (
	"math"

	"github.com/ntconv/ntconv"
)

// Columns is the number of columns of a Timeline.
const Columns = 60

// Sources of Timeline.CPU.
const (
	CPUSamples = "cpu samples"     // CPU time of a machine-wide trace, in CPUs
	CPUCounter = "cpu-usage"       // the counter of System.Runtime, as a share of all CPUs
	CPUManaged = "managed samples" // threads that the sample profiler saw in managed code, running or waiting
)

// A Timeline distributes the selected part of the recording over columns of equal width.
type Timeline struct {
	Column int64 `json:"column_ns"` // width
	// Events are the events per column, without those of the rundown, rounded.
	Events []int64 `json:"events"`
	// CPU is what CPUSource states: the mean number of CPUs or threads, or a share from 0 to 1. It is absent if the trace
	// has nothing of it. A negative number means that it is unknown.
	CPU       []float64 `json:"cpu,omitempty"`
	CPUSource string    `json:"cpu_source,omitempty"`
	// GCPauses are shares of each column from 0 to 1. Absent without garbage collections.
	GCPauses []float64 `json:"gc_pause_share,omitempty"`
}

func (s *Sink) timeline(first, last ntconv.Ticks) *Timeline {
	t := &Timeline{Column: int64(s.info.Clock.Since(first, last)) / Columns}
	width := (float64(last) - float64(first) + 1) / Columns
	for _, v := range s.events.columns(first, last, Columns) {
		t.Events = append(t.Events, int64(math.Round(v)))
	}
	shares := func(of *series, limit float64) (list []float64) {
		for _, v := range of.columns(first, last, Columns) {
			list = append(list, rounded(min(max(v, 0)/width, limit)))
		}
		return list
	}
	switch {
	case len(s.cpu.values) > 0:
		t.CPU, t.CPUSource = shares(&s.cpu, math.MaxFloat64), CPUSamples
	case len(s.counters.usage.counts.values) > 0:
		t.CPU, t.CPUSource = s.counters.usage.columns(first, last), CPUCounter
	case len(s.managed.values) > 0:
		t.CPU, t.CPUSource = shares(&s.managed, math.MaxFloat64), CPUManaged
	}
	if len(s.pauses.values) > 0 {
		t.GCPauses = shares(&s.pauses, 1)
	}
	return t
}

// rounded returns a number with four digits after the point: more are below the width of a bucket.
func rounded(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// columns returns the mean per column. A value covers the time since the value before, so a column without values has
// that of the next one; after the last value it is unknown.
func (u *usage) columns(first, last ntconv.Ticks) []float64 {
	sums, counts := u.sums.columns(first, last, Columns), u.counts.columns(first, last, Columns)
	next := -1.
	for i := Columns - 1; i >= 0; i-- {
		if counts[i] > 0 {
			next = rounded(sums[i] / counts[i] / 1e4)
		}
		sums[i] = next
	}
	return sums
}
