package selection

import (
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/interval"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/active"
	"github.com/ntconv/ntconv/schema"
)

// A Filter selects the events of a trace that were recorded during intervals. Call Learn, which reads the whole trace,
// before Keep. A Filter is not safe for concurrent use.
type DuringFilter struct {
	conditions []*DuringCondition
	groups     []*group
	pairs      []*interval.Count // the pairs of the trace after Learn; nil if no condition needs them
}

// A group is the conditions about one kind. Learn creates index, windows and the counts.
type group struct {
	*intervalKind
	conditions []*DuringCondition
	index      *active.Index     // nil if no span is of the kind
	windows    *interval.Windows // nil if only spans are of the kind

	total, picked int64                 // intervals of the kind, and those that satisfy all conditions
	values        map[string]int64      // number of intervals by the value of the first property
	pairs         map[*schema.Pair]bool // pairs of selected intervals
}

// NewDuringFilter returns a Filter for events that satisfy all conditions.
func NewDuringFilter(conditions []*DuringCondition) *DuringFilter {
	f := &DuringFilter{conditions: conditions}
	for _, c := range conditions {
		i := slices.IndexFunc(f.groups, func(g *group) bool { return g.subject.Name == c.kind.subject.Name })
		if i < 0 {
			i = len(f.groups)
			f.groups = append(f.groups, &group{intervalKind: c.kind})
		}
		f.groups[i].conditions = append(f.groups[i].conditions, c)
	}
	return f
}

// NeedsSpans reports whether spans can satisfy one of the conditions.
func (f *DuringFilter) NeedsSpans() bool {
	return slices.ContainsFunc(f.conditions, (*DuringCondition).Spans)
}

// Spans returns an index of all spans of the trace after Learn, or nil if NeedsSpans returns false.
func (f *DuringFilter) Spans() *active.Index {
	for _, g := range f.groups {
		if g.index != nil {
			return g.index
		}
	}
	return nil
}

// Learn begins a reading of a trace. Call see for each event in time order and then end. see borrows the event.
func (f *DuringFilter) Learn(info *ntconv.Info) (see func(*ntconv.Event), end func()) {
	f.pairs = nil
	var sees []func(*ntconv.Event)
	var ends []func()
	for _, g := range f.groups {
		g.total, g.picked, g.index, g.windows = 0, 0, nil, nil
		g.values, g.pairs = make(map[string]int64), make(map[*schema.Pair]bool)
		if g.isSpan != nil {
			g.index = active.New(info, &active.Options{Pick: func(s *span.Span) bool { return g.pickSpan(s, info.Clock) }})
			sees, ends = append(sees, g.index.Add), append(ends, g.index.Finish)
		}
		if g.wants != nil {
			g.windows = interval.NewWindows()
		}
	}
	if slices.ContainsFunc(f.groups, func(g *group) bool { return g.wants != nil }) {
		m := interval.New(info, interval.Options{
			Wants: f.wants,
			Emit:  func(v *interval.Interval) { f.emit(v, info.Clock) },
		})
		sees = append(sees, m.Add)
		ends = append(ends, func() {
			m.Finish()
			f.pairs = m.Counts()
		})
	}
	see = func(e *ntconv.Event) {
		for _, see := range sees {
			see(e)
		}
	}
	if len(sees) == 1 {
		see = sees[0]
	}
	end = func() {
		for _, end := range ends {
			end()
		}
		for _, g := range f.groups {
			if g.windows != nil {
				g.windows.Finish()
			}
		}
	}
	return see, end
}

// wants reports whether a condition needs the intervals of an operation.
func (f *DuringFilter) wants(of *operation.Operation) bool {
	return slices.ContainsFunc(f.groups, func(g *group) bool { return g.wants != nil && g.wants(of) })
}

// emit adds an interval to the windows of the kinds that it is of, if it satisfies their conditions.
func (f *DuringFilter) emit(v *interval.Interval, clock ntconv.Clock) {
	for _, g := range f.groups {
		if g.wants == nil || !g.wants(v.Of) {
			continue
		}
		g.count(g.properties[0].read(v, ""))
		if !slices.ContainsFunc(g.conditions, func(c *DuringCondition) bool { return !c.matchInterval(v, clock) }) {
			g.picked++
			g.pairs[v.Pair] = true
			g.windows.Add(v)
		}
	}
}

// pickSpan reports whether a span is of the kind and satisfies the conditions.
func (g *group) pickSpan(s *span.Span, clock ntconv.Clock) bool {
	if !g.isSpan(s) {
		return false
	}
	g.count(g.ofSpan(s, 0, ""))
	if slices.ContainsFunc(g.conditions, func(c *DuringCondition) bool { return !c.matchSpan(s, clock) }) {
		return false
	}
	g.picked++
	return true
}

// maxValues limits the values that are kept for messages.
const maxValues = 10_000

// count counts an interval of the kind. first is the value of its first property.
func (g *group) count(first ntconv.Value) {
	g.total++
	if len(g.values) < maxValues && first.Kind() != ntconv.ValueNull {
		g.values[first.String()]++
	}
}

// Keep reports whether an event, which it borrows, was recorded during intervals that satisfy the conditions. use is the
// evidence that links events to spans.
func (f *DuringFilter) Keep(e *ntconv.Event, use active.Evidence) bool {
	for _, g := range f.groups {
		if !(g.windows != nil && g.windows.During(e) || g.index != nil && g.index.During(e, use)) {
			return false
		}
	}
	return true
}

// DuringFlag is the name of the flag for conditions, which messages contain.
const DuringFlag = "during"

// String returns the flags that describe the filter.
func (f *DuringFilter) String() string {
	var flags []string
	for _, c := range f.conditions {
		flags = append(flags, "--"+DuringFlag+" '"+c.Text()+"'")
	}
	return strings.Join(flags, " ")
}
