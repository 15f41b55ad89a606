package parquet

import "github.com/ntconv/ntconv"

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
type stops struct { // heap; container/heap would allocate twice per end
	list  []stop // a heap; container/heap would allocate twice per end
	limit int
	last  stop
}

func (s *stops) empty() bool { return len(s.list) == 0 }

// add adds an end. It returns a *ntconv.LimitError if too many rows are open.
func (s *stops) add(e stop) error {
	if len(s.list) >= s.limit {
		return &ntconv.LimitError{Limit: LimitOpen, Value: int64(s.limit), Asked: int64(len(s.list)) + 1}
	}
	s.list = append(s.list, e)
	for i := len(s.list) - 1; i > 0; {
		parent := (i - 1) / 2
		if !s.list[i].before(&s.list[parent]) {
			break
		}
		s.list[i], s.list[parent] = s.list[parent], s.list[i]
		i = parent
	}
	return nil
}

// due removes and returns the first end that is not later than the next row, or nil if there is none. next is nil after
// the last row. The result is valid until the next call.
func (s *stops) due(next *rowEvent) *stop {
	if len(s.list) == 0 || next != nil && s.list[0].time > next.time {
		return nil
	}
	s.last = s.list[0]
	n := len(s.list) - 1
	s.list[0], s.list[n] = s.list[n], stop{}
	s.list = s.list[:n]
	for i := 0; 2*i+1 < n; {
		child := 2*i + 1
		if child+1 < n && s.list[child+1].before(&s.list[child]) {
			child++
		}
		if !s.list[child].before(&s.list[i]) {
			break
		}
		s.list[i], s.list[child] = s.list[child], s.list[i]
		i = child
	}
	return &s.last
}

func (e *stop) before(f *stop) bool {
	if e.time != f.time {
		return e.time < f.time
	}
	return e.row > f.row
}
