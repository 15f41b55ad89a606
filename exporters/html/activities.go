package html

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/tables"
)

// maxActivities is the maximum number of intervals, and of spans, on a page.
const maxActivities = 500_000

// activities holds rows that have a kind, a begin and a duration: intervals of the runtime, or spans. If there are more
// than max, it keeps the longest of each kind. It is used by one goroutine.
type activities struct {
	max     int // maxActivities, except in tests
	texts   texts
	rows    []activity
	sets    [][]attribute
	setIDs  map[string]int32 // by content
	key     []byte
	keys    []string    // for attributes
	list    []attribute // for attributes
	seen    int64
	open    int64 // rows whose end the trace does not contain
	omitted omitted
}

// omitted counts the rows that were left out.
type omitted struct {
	rows, nanos int64
}

// An activity is an interval or a span. Strings are numbers in activities.texts.
type activity struct {
	time, duration  int64 // duration is -1 if the end is unknown
	parent          spanKey
	hasParent       bool
	kind, name      uint32
	process, thread int32 // rows of the tables, from 1; 0 means unknown
	attributes      int32 // index in sets, -1 for none
	details         *spanDetails
}

// spanDetails holds what only spans have.
type spanDetails struct {
	id                                              spanKey
	hasID                                           bool
	traceID, spanID, status, message, scope, source uint32
}

// An attribute is a key and a value, both numbers in activities.texts.
type attribute struct{ key, value uint32 }

func newActivities() *activities {
	return &activities{max: maxActivities, setIDs: make(map[string]int32)}
}

// addInterval adds a row of the table intervals. parent is the span that was active.
func (a *activities) addInterval(row *tables.Interval) {
	r := activity{
		time: row.TSNanos, duration: a.duration(row.DurationNanos), kind: a.texts.id(row.Kind), name: a.texts.id(row.Name),
		process: row.ProcessID, thread: row.ThreadID, attributes: a.attributes(row.Attributes),
	}
	if row.SpanID != "" {
		r.parent, r.hasParent = newSpanKey(row.TraceID, row.SpanID)
	}
	a.add(r)
}

// addSpan adds a row of the table spans.
func (a *activities) addSpan(row *tables.Span) {
	r := activity{
		time: row.TSNanos, duration: a.duration(row.DurationNanos), kind: a.texts.id(row.Kind), name: a.texts.id(row.Name),
		process: row.ProcessID, thread: row.ThreadID, attributes: a.attributes(row.Attributes),
		details: &spanDetails{
			traceID: a.texts.id(row.TraceID), spanID: a.texts.id(row.SpanID), status: a.texts.id(row.Status),
			message: a.texts.id(row.StatusMessage), scope: a.texts.id(row.Scope), source: a.texts.id(row.Source),
		},
	}
	r.details.id, r.details.hasID = newSpanKey(row.TraceID, row.SpanID)
	if row.ParentSpanID != "" {
		r.parent, r.hasParent = newSpanKey(row.TraceID, row.ParentSpanID)
	}
	a.add(r)
}

func (a *activities) add(r activity) {
	a.seen++
	a.rows = append(a.rows, r)
	if len(a.rows) >= a.max+a.max/2 {
		a.limit(a.max)
	}
}

func (a *activities) duration(nanos *int64) int64 {
	if nanos == nil {
		a.open++
		return -1
	}
	return max(0, *nanos)
}

// attributes returns the index of a set of attributes, -1 for an empty one.
func (a *activities) attributes(m map[string]string) int32 {
	if len(m) == 0 {
		return -1
	}
	a.keys = slices.AppendSeq(a.keys[:0], maps.Keys(m))
	slices.Sort(a.keys)
	a.list = a.list[:0]
	for _, key := range a.keys {
		a.list = append(a.list, attribute{a.texts.id(key), a.texts.id(m[key])})
	}
	return a.set(a.list)
}

// set returns the index of a set of attributes, which it borrows.
func (a *activities) set(set []attribute) int32 {
	a.key = a.key[:0]
	for _, x := range set {
		a.key = appendUint32s(a.key, x.key, x.value)
	}
	id, ok := a.setIDs[string(a.key)]
	if !ok {
		id = int32(len(a.sets))
		a.sets = append(a.sets, slices.Clone(set))
		a.setIDs[string(a.key)] = id
	}
	return id
}

// limit keeps the longest rows of each kind, at most n in all, in their order. Kinds with few rows keep all of them.
// Rows without an end count as the longest.
func (a *activities) limit(n int) {
	if len(a.rows) <= n {
		return
	}
	byKind := map[uint32][]int32{}
	for i := range a.rows {
		byKind[a.rows[i].kind] = append(byKind[a.rows[i].kind], int32(i))
	}
	kinds := slices.SortedFunc(maps.Keys(byKind), func(x, y uint32) int {
		return cmp.Or(cmp.Compare(len(byKind[x]), len(byKind[y])), cmp.Compare(x, y))
	})
	kept := make([]bool, len(a.rows))
	for i, kind := range kinds {
		share := n / (len(kinds) - i) // of what the kinds with fewer rows leave
		list := byKind[kind]
		slices.SortFunc(list, func(x, y int32) int { return cmp.Or(cmp.Compare(a.length(y), a.length(x)), cmp.Compare(x, y)) })
		for _, at := range list[:min(share, len(list))] {
			kept[at] = true
		}
		n -= min(share, len(list))
	}
	a.keep(kept)
}

// length returns the duration of a row, as limit compares it.
func (a *activities) length(row int32) int64 {
	if d := a.rows[row].duration; d >= 0 {
		return d
	}
	return math.MaxInt64
}

// keep removes all other rows, and the attributes that only they have.
func (a *activities) keep(kept []bool) {
	rows, sets := a.rows[:0], a.sets
	a.sets = nil
	clear(a.setIDs)
	for i, r := range a.rows {
		if !kept[i] {
			a.omitted.rows++
			a.omitted.nanos = bin.AddClamped(a.omitted.nanos, max(0, r.duration))
			continue
		}
		if r.attributes >= 0 {
			r.attributes = a.set(sets[r.attributes])
		}
		rows = append(rows, r)
	}
	clear(a.rows[len(rows):])
	a.rows = rows
}

// finish limits the rows and sorts them by time; rows of one time keep their order.
func (a *activities) finish() {
	a.limit(a.max)
	byTime := func(x, y activity) int { return cmp.Compare(x.time, y.time) }
	if !slices.IsSortedFunc(a.rows, byTime) {
		slices.SortStableFunc(a.rows, byTime)
	}
}
