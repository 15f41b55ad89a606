package eventtext

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/distribution"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/select/where"
)

// StatsOptions select what a Sink computes. The zero value counts events and bytes of the whole trace.
type StatsOptions struct {
	// By lists the fields and properties by whose values events are grouped. Values are compared as text; a field
	// matches in all event types that have it, and an event without it has no value.
	By []*where.Operand
	// Of is the numeric field or property whose values are described, nil for none.
	Of *where.Operand
	// Namer resolves the names of processes and threads at the end of the trace. If it is nil, names are those that the
	// source recorded.
	Namer ntconv.Namer
}

// HasOwners reports whether events are grouped by the name of their process or thread, so that Namer is needed.
func (o *StatsOptions) HasOwners() bool {
	return slices.ContainsFunc(o.By, func(by *where.Operand) bool { return by.Owner() != where.OwnerNone })
}

// A Sink groups events and describes each group. It is a sink for one trace, not safe for concurrent use. It allocates
// only for a new group, and for the first values of a group.
type StatsSink struct {
	opts    StatsOptions
	columns *where.Columns // opts.By, then opts.Of
	groups  map[string]*group
	last    *group
	owners  owners
	total   tally
	lacking []int64 // events without a value, by operand
	misfits int64   // values of opts.Of that are not numbers
	misfit  string  // describes the first of them
	nans    int64

	// State of the event that Write processes.
	key     []byte
	at      int // offset in key of the current value
	operand int
	any     bool // the current operand has a value
	addKey  func(ntconv.Value)
	addOf   func(ntconv.Value)
}

// A tally counts events.
type tally struct {
	events int64
	bytes  int64 // of their payloads
}

// A group holds what is known about the events with one key.
type group struct {
	key string
	tally
	of distribution.Distribution
}

// NewStats returns a Sink for a trace with the given clock.
func NewStats(clock ntconv.Clock, opts StatsOptions) *StatsSink {
	operands := slices.Clone(opts.By)
	if opts.Of != nil {
		operands = append(operands, opts.Of)
	}
	s := &StatsSink{
		opts:    opts,
		columns: where.NewColumns(clock, operands),
		groups:  make(map[string]*group),
		lacking: make([]int64, len(operands)),
	}
	s.addKey, s.addOf = s.appendKey, s.addNumber // stored, because each conversion of a method allocates
	return s
}

// Write implements ntconv.Sink. It ignores everything but facts.
func (s *StatsSink) Write(e *ntconv.Event) error {
	if e.Kind != ntconv.KindEvent || !recording.IsFact(e) {
		return nil
	}
	s.columns.Read(e)
	s.key = s.key[:0]
	for i := range s.opts.By {
		s.at = len(s.key)
		s.key = openValue(s.key)
		if owner := s.opts.By[i].Owner(); owner != where.OwnerNone {
			s.key = s.owners.appendTo(s.key, owner, e.Thread)
		} else {
			s.each(i, s.addKey)
		}
		closeValue(s.key, s.at)
	}
	g := s.last
	if g == nil || string(s.key) != g.key {
		if g = s.groups[string(s.key)]; g == nil {
			g = &group{key: string(s.key)}
			s.groups[g.key] = g
		}
		s.last = g
	}
	g.events++
	g.bytes += int64(len(e.Payload))
	s.total.events++
	s.total.bytes += int64(len(e.Payload))
	if s.opts.Of != nil {
		s.each(len(s.opts.By), s.addOf)
	}
	return nil
}

// each calls use for the values of an operand and counts an event that has none.
func (s *StatsSink) each(operand int, use func(ntconv.Value)) {
	s.operand, s.any = operand, false
	s.columns.Each(operand, use)
	if !s.any {
		s.lacking[operand]++
	}
}

// appendKey adds a value of the current operand to the key.
func (s *StatsSink) appendKey(v ntconv.Value) {
	s.any = true
	s.key = appendValue(s.key, s.at, v, s.columns.ValueName(s.operand, v))
}

// addNumber adds a value of Options.Of to the current group.
func (s *StatsSink) addNumber(v ntconv.Value) {
	s.any = true
	n, ok := distribution.Of(v)
	switch {
	case ok:
		s.last.of.Add(n)
	case v.Kind() == ntconv.ValueFloat:
		s.nans++
	default:
		if s.misfits++; s.misfits == 1 {
			s.misfit = s.columns.Is(s.operand, v)
		}
	}
}

// Close implements ntconv.Sink. It does nothing.
func (s *StatsSink) Close() error { return nil }

// Empty reports whether there was no event.
func (s *StatsSink) Empty() bool { return s.total.events == 0 }

// Problem returns why the table would say nothing about an operand, and "" if there is no such operand: no event has
// the field, or none of its values is a number. Call it after the last Write.
func (s *StatsSink) Problem() string {
	for i := range s.lacking {
		if s.lacking[i] < s.total.events {
			continue
		}
		if text := s.columns.NoField(i); text != "" {
			return text
		}
	}
	if s.misfit != "" && !s.hasNumbers() {
		return s.misfit + "; --of needs a number"
	}
	return ""
}

func (s *StatsSink) hasNumbers() bool {
	for _, g := range s.groups {
		if g.of.Count() > 0 {
			return true
		}
	}
	return false
}

// Notes returns one line for each operand that some events lack, and for values that are not numbers. Call it after
// Table.
func (s *StatsSink) Notes() (notes []string) {
	operands := slices.Clone(s.opts.By)
	if s.opts.Of != nil {
		operands = append(operands, s.opts.Of)
	}
	for i, n := range s.lacking {
		if n > 0 {
			notes = append(notes, fmt.Sprintf("%s of %s have no value of %s", message.Group(n),
				message.Count(s.total.events, "event"), operands[i]))
		}
	}
	if s.misfits > 0 {
		notes = append(notes, message.Count(s.misfits, "value")+" omitted that are not numbers: "+s.misfit)
	}
	if s.nans > 0 {
		notes = append(notes, message.Count(s.nans, "value")+" of "+s.opts.Of.String()+" omitted that are NaN")
	}
	return notes
}

// named replaces the processes and threads of rows by their names, and joins rows that are equal then.
func (s *StatsSink) named(rows []*row) (list []*row) {
	equal := make(map[string][]*row)
	for _, r := range rows {
		var key []byte
		for i := range r.values {
			if s.opts.By[i].Owner() != where.OwnerNone {
				r.values[i] = s.owners.name(r.values[i], s.opts.Namer)
				if r.values[i].form == formNone {
					s.lacking[i] += r.events
				}
			}
			key = r.values[i].appendTo(key)
		}
		equal[string(key)] = append(equal[string(key)], r)
	}
	for _, same := range equal {
		all := join(same)
		all.values = same[0].values
		list = append(list, all)
	}
	return list
}

// sorted returns the groups in the order of the table: by descending sum or number of events, then by key. Groups
// without a value of Options.Of come last.
func (s *StatsSink) sorted() []*row {
	list := make([]*row, 0, len(s.groups))
	floats := false
	for _, g := range s.groups {
		list = append(list, &row{values: values(g.key), tally: g.tally, of: &g.of})
		floats = floats || g.of.Sum().IsFloat()
	}
	if s.opts.HasOwners() {
		list = s.named(list)
	}
	bySum := s.opts.Of != nil && !s.opts.Of.IsTime()
	slices.SortFunc(list, func(a, b *row) int {
		if bySum {
			if (a.of.Count() == 0) != (b.of.Count() == 0) {
				return cmp.Compare(b.of.Count(), a.of.Count())
			}
			if c := distribution.CompareSums(b.of.Sum(), a.of.Sum(), floats); c != 0 {
				return c
			}
		}
		return cmp.Or(cmp.Compare(b.events, a.events), compareValues(a.values, b.values))
	})
	return list
}
