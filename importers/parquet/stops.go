package parquet

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
)

// A stop is the end of a row with a duration.
type stop struct {
	time   int64
	row    int64
	typ    *ntconv.Type
	lane   *lane
	labels *ntconv.Labels // labels of the begin
}

// stops is a priority queue of the ends of rows that have begun, earliest first. Among ends at the same time, the end
// of the latest row comes first, so that nested rows end from the innermost to the outermost.
type stops struct {
	list  intern.Heap[stop, *stop]
	limit int
	last  stop
}

func (s *stops) empty() bool { return len(s.list) == 0 }

// add adds an end. It returns a *ntconv.LimitError if too many rows are open.
func (s *stops) add(e stop) error {
	if len(s.list) >= s.limit {
		return &ntconv.LimitError{Limit: LimitOpen, Value: int64(s.limit), Asked: int64(len(s.list)) + 1}
	}
	s.list.Push(e)
	return nil
}

// due removes and returns the first end that is not later than the next row, or nil if there is none. next is nil after
// the last row. The result is valid until the next call.
func (s *stops) due(next *rowEvent) *stop {
	if len(s.list) == 0 || next != nil && s.list[0].time > next.time {
		return nil
	}
	s.last = s.list.Pop()
	return &s.last
}

// Before implements intern.Heap.
func (e *stop) Before(f *stop) bool {
	if e.time != f.time {
		return e.time < f.time
	}
	return e.row > f.row
}
