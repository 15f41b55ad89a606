package profile

import (
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/sample"
)

// A Division counts the intervals that a division of a trace cuts: they begin in one part and end in another, so that no
// part has them. It sees the intervals of all kinds that are computed from events. It is not safe for concurrent use.
type Division struct {
	stream *Stream[int]
	part   int                  // of the current event
	begins map[int]ntconv.Ticks // times of the first event of each part
	cut    [sample.Count]uint64
}

// NewDivision returns a Division of a trace.
func NewDivision(info *ntconv.Info) *Division {
	d := &Division{begins: map[int]ntconv.Ticks{}}
	var kinds []sample.Kind
	for _, k := range sample.All() {
		hasLength := func(c meters.Column) bool { return c.Unit == "nanoseconds" }
		if s := &meters.Specs()[k]; s.Meter != nil && slices.ContainsFunc(s.Columns, hasLength) {
			kinds = append(kinds, k)
		}
	}
	d.stream = NewStream(info, d.interval, &StreamOptions{Kinds: kinds, Keep: func(string) bool { return false }})
	return d
}

// Add adds an item of the trace, which it borrows. If it is an event, part is the number of its part. Call it for all
// items in the order of the trace, also for those that are in no part of the output.
func (d *Division) Add(e *ntconv.Event, part int) {
	if e.Kind == ntconv.KindEvent {
		if part != d.part || len(d.begins) == 0 {
			if _, known := d.begins[part]; !known {
				d.begins[part] = e.Time
			}
			d.part = part
		}
	}
	d.stream.Add(e, part)
}

// interval counts an interval that the current event has ended, unless it is in one part. Its begin may be earlier than
// the event that Stream.Add associates with it: that of a collection is the begin of the suspension.
func (d *Division) interval(w *Weighed[int]) {
	if w.Subject != d.part || w.Time < d.begins[d.part] {
		d.cut[w.Kind]++
	}
}

// Cut returns the number of intervals by kind that were cut so far.
func (d *Division) Cut() [sample.Count]uint64 { return d.cut }
