package active

import (
	"bytes"
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
)

// Evidence is the data in a trace that links an event to a span. It is a bit set.
type Evidence uint8

const (
	Label    Evidence = 1 << iota // the event has a label SpanId
	Activity                      // the event has the activity ID of a span
	Thread                        // a span was active on the thread of the event

	All = Label | Activity | Thread
)

// kinds lists the kinds of evidence in the order in which Find tries them.
var kinds = [...]struct {
	evidence Evidence
	name     string
}{{Label, "label"}, {Activity, "activity"}, {Thread, "thread"}}

// String returns the names of the kinds in a set, separated by commas: label, activity, thread.
func (v Evidence) String() string {
	var names []string
	for _, k := range kinds {
		if v&k.evidence != 0 {
			names = append(names, k.name)
		}
	}
	return strings.Join(names, ",")
}

// ParseEvidence returns the kind of evidence with a name. ok is false if there is none.
func ParseEvidence(name string) (v Evidence, ok bool) {
	for _, k := range kinds {
		if k.name == name {
			return k.evidence, true
		}
	}
	return 0, false
}

// A Found is the span of an event.
type Found struct {
	span.Context
	Name     string // "" if the index does not contain the span, as for a label that refers to a span of another trace
	Evidence Evidence
	number   int32
}

// Find returns the span that was active when an event was recorded, by the first kind of evidence in use that yields
// one. ok is false if there is none. Find borrows the event and does not allocate.
func (x *Index) Find(e *ntconv.Event, use Evidence) (f Found, ok bool) {
	if use&Label != 0 {
		if id, has := e.Labels.ID(ntconv.LabelSpanID); has {
			f.Evidence, f.number = Label, noSpan
			f.ID = x.labelID(id)
			f.TraceID, _ = e.Labels.ID(ntconv.LabelTraceID)
			if n := x.find(x.processOf(e.Thread), f.Context); n != noSpan {
				f.TraceID, f.Name, f.number = x.spans[n].TraceID, x.names[x.spans[n].name], n
			}
			return f, true
		}
	}
	n := noSpan
	if use&Activity != 0 {
		f.Evidence = Activity
		n = x.byActivity(e)
	}
	if n == noSpan && use&Thread != 0 {
		f.Evidence = Thread
		if t := x.timeline(e.Thread); t != nil {
			n = t.at(e.Time)
		}
	}
	if n == noSpan {
		return Found{}, false
	}
	if trace, has := e.Labels.ID(ntconv.LabelTraceID); has && use&Label != 0 && trace != x.spans[n].TraceID {
		return Found{}, false // the event states that it belongs to another trace
	}
	f.Context, f.Name, f.number = x.spans[n].Context, x.names[x.spans[n].name], n
	return f, true
}

// Context returns the span that was active when an event was recorded, by any evidence. It returns false if there is
// none, or if a label of the event refers to a span that the index does not contain. It can be used as
// tracker.Options.Active.
func (x *Index) Context(e *ntconv.Event) (span.Context, bool) {
	f, ok := x.Find(e, All)
	if !ok || f.number == noSpan {
		return span.Context{}, false
	}
	return f.Context, true
}

// During reports whether an event was recorded while a span selected by Options.Pick, or one of its descendants, was
// active. That span need not be the one that Find returns: on its thread, an inner span may be active as well.
func (x *Index) During(e *ntconv.Event, use Evidence) bool {
	f, ok := x.Find(e, use)
	if !ok {
		return false
	}
	if f.Evidence == Thread {
		return x.timeline(e.Thread).during(e.Time)
	}
	return f.number != noSpan && x.spans[f.number].picked
}

// labelID returns the span ID in a label.
func (x *Index) labelID(label [16]byte) (id span.ID) {
	copy(id[:], label[:])
	if x.reverse {
		slices.Reverse(id[:])
	}
	return id
}

// timeline returns the timeline of a thread, or nil if no span was active on it.
func (x *Index) timeline(t *ntconv.Thread) *timeline {
	if t == x.lastThread {
		return x.last
	}
	line, ok := x.threads[t]
	if !ok {
		if key, known := locate(x.processOf(t), t); known {
			line = x.timelines[key]
		}
		x.threads[t] = line
	}
	x.lastThread, x.last = t, line
	return line
}

// An activityTime is the interval from the first to the last event of a span with an activity ID, both inclusive.
type activityTime struct {
	id       ntconv.GUID
	process  uint32
	span     int32
	from, to ntconv.Ticks
}

// sortActivities builds the index by activity ID.
func (x *Index) sortActivities(all []facts) {
	for n := range all {
		f := &all[n]
		if f.activity == (ntconv.GUID{}) {
			continue
		}
		a := activityTime{f.activity, x.spans[n].process, int32(n), f.from, f.to}
		if !f.finished {
			a.to = math.MaxInt64
		}
		x.activities = append(x.activities, a)
	}
	slices.SortFunc(x.activities, func(a, b activityTime) int {
		v, w := interval{window{a.from, a.to}, a.span}, interval{window{b.from, b.to}, b.span}
		return cmp.Or(
			cmp.Compare(a.process, b.process),
			bytes.Compare(a.id[:], b.id[:]),
			cmp.Compare(a.from, b.from),
			x.compareInner(w, v),
		)
	})
}

// maxSameActivity limits the examined spans with one activity ID that started before an event; recursion creates
// several.
const maxSameActivity = 64

// byActivity returns the innermost open span with the activity ID of an event, or else with the longest prefix of it.
func (x *Index) byActivity(e *ntconv.Event) int32 {
	if len(x.activities) == 0 {
		return noSpan
	}
	label, has := e.Labels.ID(ntconv.LabelActivityID)
	if !has {
		return noSpan
	}
	process := x.processOf(e.Thread)
	for id := range ancestors(label) {
		i, _ := slices.BinarySearchFunc(x.activities, e.Time, func(a activityTime, at ntconv.Ticks) int {
			return cmp.Or(cmp.Compare(a.process, process), bytes.Compare(a.id[:], id[:]), startsBy(a.from, at))
		})
		for j := i - 1; j >= 0 && j >= i-maxSameActivity; j-- {
			a := &x.activities[j]
			if a.process != process || a.id != id {
				break
			}
			if e.Time <= a.to {
				return a.span
			}
		}
	}
	return noSpan
}

// startsBy returns -1 if from is at or before at, and 1 otherwise.
func startsBy(from, at ntconv.Ticks) int {
	if from <= at {
		return -1
	}
	return 1
}

// ancestors yields an activity ID and, if it is a path, the IDs of its prefixes, longest first. It omits the first
// number of a path, which is the application domain and not an activity.
func ancestors(id ntconv.GUID) iter.Seq[ntconv.GUID] {
	return func(yield func(ntconv.GUID) bool) {
		if !yield(id) {
			return
		}
		path, ok := span.ParseActivityPath(id)
		for depth := path.Depth() - 1; ok && depth > 1; depth-- {
			if !yield(path.Ancestor(depth)) {
				return
			}
		}
	}
}
