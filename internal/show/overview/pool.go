package overview

import (
	"cmp"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/schema"
)

// A ThreadPool describes the number of worker threads of a process's thread pool.
type ThreadPool struct {
	PID    uint64 `json:"pid"`    // 0 if unknown
	Events int64  `json:"events"` // that state the number
	First  int64  `json:"first"`
	Last   int64  `json:"last"`
	Min    int64  `json:"min"`
	Max    int64  `json:"max"`

	from, to ntconv.Ticks
}

// poolFields are the fields that state the number of worker threads, by event.
var poolFields = map[string]string{
	"ThreadPoolWorkerThreadStart":                "ActiveWorkerThreadCount",
	"ThreadPoolWorkerThreadStop":                 "ActiveWorkerThreadCount",
	"ThreadPoolWorkerThreadWait":                 "ActiveWorkerThreadCount",
	"ThreadPoolWorkerThreadAdjustmentAdjustment": "NewWorkerThreadCount",
}

// poolField returns how to read the number of worker threads from events of a schema, nil if they do not state it.
func poolField(s *schema.Schema) *schema.Projection {
	field := poolFields[s.Name]
	if s.Provider != clr.Runtime || field == "" {
		return nil
	}
	p, missing := s.Project(field)
	if len(missing) > 0 {
		return nil
	}
	return p
}

// threadPools holds the thread pools of a trace.
type threadPools map[*ntconv.Process]*ThreadPool

func (m threadPools) add(e *ntconv.Event, n int64) {
	var process *ntconv.Process
	if e.Thread != nil {
		process = e.Thread.Process
	}
	p := m[process]
	if p == nil {
		p = &ThreadPool{First: n, Last: n, Min: n, Max: n, from: e.Time, to: e.Time}
		if process != nil {
			p.PID = process.PID
		}
		m[process] = p
	}
	p.Events++
	p.Min, p.Max = min(p.Min, n), max(p.Max, n)
	if e.Time < p.from {
		p.from, p.First = e.Time, n
	}
	if e.Time >= p.to {
		p.to, p.Last = e.Time, n
	}
}

// list returns the thread pools, the largest first.
func (m threadPools) list() []ThreadPool {
	list := make([]ThreadPool, 0, len(m))
	for _, p := range m {
		list = append(list, *p)
	}
	slices.SortFunc(list, func(a, b ThreadPool) int {
		return cmp.Or(cmp.Compare(b.Max, a.Max), cmp.Compare(a.PID, b.PID), cmp.Compare(b.Events, a.Events))
	})
	return list
}
