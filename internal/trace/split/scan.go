package split

import (
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/sample"
)

// Limits of the number of parts. Parts that overlap in time each need an open file and the buffers of a writer. For
// other parts the limit bounds the time, because each part is compared with all symbols of the trace.
const (
	MaxOpen  = 500
	MaxParts = 10_000
)

// A Scan is the first reading of a trace that is to be split. It finds where the parts begin, and the symbols that
// parts before them need. It is a sink, so ntconv.Copy fills it. It is not safe for concurrent use.
type Scan struct {
	every   *Every
	divider divider
	dry     *Splitter // writes parts to measure their size; nil unless Every.Size is set
	event   int64     // events so far
	part    int       // of the latest event
	cuts    []int64
	values  []string
	ids     *identities
	types   symbolTypes
	number  int64 // symbol events so far
	late    symbolStore
	users   users
	stacks  addressSets
	weights *weightScan
	cut     *profile.Division
}

// NewScan returns a Scan for a trace. measure returns a sink for a part and a function that returns the number of bytes
// that it has written so far. It is called only if the parts have a size. Write returns the errors of these sinks.
func NewScan(info *ntconv.Info, every *Every, byTime bool, measure func() (ntconv.Sink, func() int64, error)) (*Scan, error) {
	s := &Scan{every: every, ids: newIdentities(nil), users: users{}, weights: newWeightScan(info, every),
		cut: profile.NewDivision(info)}
	var written func() int64
	if every.Size > 0 {
		current := func() int64 { return 0 }
		s.dry = &Splitter{
			info: info, ids: newIdentities(nil), byTime: byTime, scan: s, dry: true,
			create: func(Part) (sink ntconv.Sink, err error) {
				sink, current, err = measure()
				return sink, err
			},
		}
		s.dry.reset()
		written = func() int64 { return current() }
	}
	var err error
	s.divider, err = every.divider(info, written)
	return s, err
}

// Write implements ntconv.Sink.
func (s *Scan) Write(e *ntconv.Event) error {
	s.ids.visit(e)
	if e.Kind == ntconv.KindEvent {
		if err := s.observe(e); err != nil {
			return err
		}
	}
	s.weights.see(e, s.part, s.ids)
	s.cut.Add(e, s.part)
	s.ids.ended(e)
	if s.dry != nil {
		return s.dry.Write(e)
	}
	return nil
}

// observe processes an event.
func (s *Scan) observe(e *ntconv.Event) error {
	n, first := s.divider.part(e)
	s.part = n
	if first {
		s.cuts = append(s.cuts, s.event)
		s.values = append(s.values, s.divider.value())
		if err := s.check(len(s.cuts)); err != nil {
			return err
		}
	}
	s.event++
	s.stacks.add(e.Stack, n)
	if class := s.types.of(e.Type); class != notSymbols {
		s.number++
		if s.every.Process {
			s.users.learn(e, n)
		}
		if class == lateSymbols && !s.every.Ranked() && !recording.IsCopy(e) {
			s.late.add(e, s.ids.typ(e.Type), s.ids.thread(e.Thread), s.number, n)
		}
	}
	return nil
}

// LimitParts is the name of the limit on parts in ntconv.LimitError.Limit.
const LimitParts = "parts"

// check returns an error if there are too many parts.
func (s *Scan) check(parts int) error {
	limit, advice := MaxParts, "choose a longer time, a larger size or a rarer event"
	if s.every.Ranked() {
		limit, advice = MaxOpen, "choose a field with fewer values, or select events with ntconv filter first"
	}
	if parts <= limit {
		return nil
	}
	return &ntconv.AdviceError{
		Err:    fmt.Errorf("--every %v: %w", s.every, &ntconv.LimitError{Limit: LimitParts, Value: int64(limit), Asked: int64(parts)}),
		Advice: advice,
	}
}

// Close implements ntconv.Sink. Call it also if the trace is incomplete.
func (s *Scan) Close() error {
	s.weights.finish(s.ids)
	if s.dry != nil {
		return s.dry.Close()
	}
	return nil
}

// Parts returns the number of parts. It is at least 1.
func (s *Scan) Parts() int { return max(1, len(s.cuts)) }

// Cut returns the number of intervals by kind that begin and end in different parts, so that no part has them. Call it
// after Close.
func (s *Scan) Cut() [sample.Count]uint64 { return s.cut.Cut() }

// Notes returns what users should know about the division, such as fields that no event has. Call it after Close.
func (s *Scan) Notes() []string { return s.divider.notes() }

// value returns the value of part n.
func (s *Scan) value(n int) string {
	if n < len(s.values) {
		return s.values[n]
	}
	return ""
}

// again returns a divider for the second reading, which divides as this reading has.
func (s *Scan) again(info *ntconv.Info) (divider, error) {
	if s.every.Ranked() {
		return s.every.divider(info, nil)
	}
	return &cuts{at: s.cuts}, nil
}
