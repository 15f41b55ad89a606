package parquet

import (
	"container/heap"

	"github.com/ntconv/ntconv"
)

// A stop is the end of a row with a duration.
type stop struct {
	time  int64
	row   int64
	types *rowType
	lane  *lane
	ids   spanIDs
}

// stops are the ends of rows that have begun, the earliest first. Of ends at the same time, that of the latest row comes first, so that
// rows that nest end from the inside out.
type stops struct {
	list  stopHeap
	limit int
	last  stop
}

func (s *stops) empty() bool { return len(s.list) == 0 }

func (s *stops) add(e stop) error {
	if len(s.list) >= s.limit {
		return &ntconv.LimitError{Limit: LimitOpen, Value: int64(s.limit), Asked: int64(len(s.list)) + 1}
	}
	heap.Push(&s.list, e)
	return nil
}

// due removes and returns the first end that is not later than the next row, nil if there is none. It is valid until the next call. After
// the last row, next is nil.
func (s *stops) due(next *rowEvent) *stop {
	if len(s.list) == 0 || next != nil && s.list[0].time > next.time {
		return nil
	}
	s.last = heap.Pop(&s.list).(stop)
	return &s.last
}

type stopHeap []stop

func (h stopHeap) Len() int { return len(h) }

func (h stopHeap) Less(i, j int) bool {
	if h[i].time != h[j].time {
		return h[i].time < h[j].time
	}
	return h[i].row > h[j].row
}

func (h stopHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *stopHeap) Push(x any)   { *h = append(*h, x.(stop)) }

func (h *stopHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
