package timeline

import (
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
)

// MoveForTest returns the times to which a span is moved, given the range of the recording, in nanoseconds since the
// clock's Tick.
func MoveForTest(tb testing.TB, info *ntconv.Info, start, end uint64, first, latest int64) (from, to int64) {
	t := New(info, nil, nil)
	tb.Cleanup(func() { t.Close() })
	for _, at := range []int64{first, latest} {
		t.recorded.Observe(&ntconv.Event{Time: info.Clock.TicksAt(time.Duration(at)), Type: &ntconv.Type{}})
	}
	from, to, _ = t.times(&span.Span{Start: start, End: end, Evidence: span.FromActivity})
	return from, to
}

// Accounted returns the number of events that became items or parts of items, or were omitted by options.
func (t *Timeline) Accounted() int64 {
	p, c := &t.parts, &t.counts
	return p.bounds + p.counters + p.samples + p.omitted + p.joined + c.Instants - p.inner + c.Raw + c.Rundown
}
