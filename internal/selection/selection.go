// Package selection says which events of a trace a user wants: by provider, event, process, thread, time and content.
package selection

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/glob"
	"github.com/ntconv/ntconv/internal/where"
	"github.com/ntconv/ntconv/schema"
)

// Options are what a user asks for. Everything that is set must hold; of a list, one entry must. The zero value selects
// every event.
type Options struct {
	// Providers and Events are names, in which * stands for any text and ? for one character; case does not count. An
	// event may also be given by its number, or with its provider as "provider/event".
	Providers, Events []string
	PIDs, TIDs        []uint64
	// From and To bound the time: from is in, to is out, as for slices.
	From, To Moment
	// Where are conditions on what stands in events.
	Where []*where.Expr
	// During, if not nil, selects the events that were recorded during something.
	During During
}

// A During selects events by what was going on when they were recorded, such as certain spans.
type During interface {
	// Keep borrows an event of kind ntconv.KindEvent and reports whether it is selected.
	Keep(*ntconv.Event) bool
	// String describes the choice as the flags that state it, for messages.
	String() string
	// Notes returns what the user should know about the choice after the trace was read, a line each.
	Notes() []string
}

// NeedsEnd reports whether the time of the last event must be known for Compile.
func (o *Options) NeedsEnd() bool { return o.From.FromEnd() || o.To.FromEnd() }

// Reversed reports whether the time ends before it begins, in whatever trace.
func (o *Options) Reversed() bool { return o.To.before(o.From) }

// Timed reports whether the time is bounded.
func (o *Options) Timed() bool { return o.From != Moment{} || o.To != Moment{} }

// Empty reports whether every event is selected.
func (o *Options) Empty() bool {
	return len(o.Providers)+len(o.Events)+len(o.PIDs)+len(o.TIDs)+len(o.Where) == 0 && o.During == nil && !o.Timed()
}

// A WhereError means that a condition of Options.Where cannot be used for a trace.
type WhereError struct{ Err error }

func (e *WhereError) Error() string { return "--where: " + e.Err.Error() }

// Unwrap returns the cause, which names no flag.
func (e *WhereError) Unwrap() error { return e.Err }

// A Selector is a selection made ready for one trace. It is for use by one goroutine.
type Selector struct {
	opts     Options
	all      bool
	typed    bool // types must be looked at
	bounded  bool // to is a bound
	from, to ntconv.Ticks
	schemas  schema.Table
	types    map[*ntconv.Type]bool
	last     *ntconv.Type
	lastOK   bool
	where    []*where.Matcher

	providers, events, pids, tids matchList
}

// Notes returns what a user should know about conditions that no event so far could fulfil, a line each.
func (s *Selector) Notes() []string {
	var notes []string
	for _, names := range [][]string{s.opts.Providers, s.opts.Events} {
		for _, n := range names {
			if strings.HasPrefix(n, "!") {
				notes = append(
					notes,
					"! in "+n+" is taken for a part of the name; --where '!($event =~ \"^GC\")' selects events whose names do not begin with GC",
				)
			}
		}
	}
	for _, l := range []*matchList{&s.providers, &s.events, &s.pids, &s.tids} {
		notes = append(notes, l.notes()...)
	}
	for _, m := range s.where {
		for _, n := range m.Notes() {
			notes = append(notes, "--where: "+n)
		}
	}
	if s.opts.During != nil {
		notes = append(notes, s.opts.During.Notes()...)
	}
	return notes
}

// Compile returns the Keep of For.
func (o *Options) Compile(clock ntconv.Clock, last ntconv.Ticks) (func(*ntconv.Event) bool, error) {
	s, err := o.For(clock, last)
	if err != nil {
		return nil, err
	}
	return s.Keep, nil
}

// For makes a selection ready for a trace. last is the time of the trace's last event and counts only if NeedsEnd says
// so. The error tells what the clock cannot say.
func (o *Options) For(clock ntconv.Clock, last ntconv.Ticks) (*Selector, error) {
	s := &Selector{
		opts:  *o,
		all:   o.Empty(),
		typed: len(o.Providers)+len(o.Events) > 0,
		from:  math.MinInt64,
		to:    math.MaxInt64,
		types: make(map[*ntconv.Type]bool),
	}
	s.providers, s.events = newMatchList("provider", o.Providers, true), newMatchList("event", o.Events, true)
	s.pids, s.tids = newMatchList("pid", numbers(o.PIDs), false), newMatchList("tid", numbers(o.TIDs), false)
	var err error
	if o.From.kind != momentNone {
		if s.from, err = o.From.ticks(clock, last); err != nil {
			return nil, err
		}
	}
	if o.To.kind != momentNone {
		if s.to, err = o.To.ticks(clock, last); err != nil {
			return nil, err
		}
	}
	s.bounded = o.To.kind != momentNone
	for _, x := range o.Where {
		m, err := x.Bind(clock)
		if err != nil {
			return nil, &WhereError{err}
		}
		s.where = append(s.where, m)
	}
	return s, nil
}

// Keep reports whether an event is selected. It does not allocate, but once for each new type.
//
// What is no event passes if it belongs to what is selected: definitions of a type or thread that is, losses of a
// thread that is, and marks always. Blocks of an unknown kind pass only if everything does. Where has no say in that.
func (s *Selector) Keep(e *ntconv.Event) bool {
	if s.all {
		return true
	}
	switch e.Kind {
	case ntconv.KindEvent:
		return s.inTime(e.Time) && s.thread(e.Thread) && s.typeOf(e) &&
			(s.opts.During == nil || s.opts.During.Keep(e)) &&
			s.content(e)
	case ntconv.KindLost:
		return s.inTime(e.Time) && s.thread(e.Capture)
	case ntconv.KindDefine:
		return (e.Thread == nil || s.thread(e.Thread)) && (e.Type == nil || s.typeOf(e))
	case ntconv.KindOpaque:
		return false
	}
	return true
}

// KeepMark reports whether a mark tells something about the events that are selected: only time may be selected, and
// the mark lies in it. Keep lets all marks pass, as readers of a trace need them.
func (s *Selector) KeepMark(e *ntconv.Event) bool {
	return s.all ||
		!s.typed && len(s.opts.PIDs)+len(s.opts.TIDs)+len(s.where) == 0 && s.opts.During == nil && s.inTime(e.Time)
}

// Clip returns what of a span of time is selected.
func (s *Selector) Clip(first, last ntconv.Ticks) (from, to ntconv.Ticks) {
	from, to = max(first, s.from), last
	if s.bounded {
		to = min(to, s.to)
	}
	return from, max(from, to)
}

func (s *Selector) inTime(t ntconv.Ticks) bool { return t >= s.from && (!s.bounded || t < s.to) }

func (s *Selector) thread(t *ntconv.Thread) bool {
	if len(s.opts.TIDs) > 0 {
		if t == nil {
			return false
		}
		i := slices.Index(s.opts.TIDs, t.TID)
		if i < 0 {
			return false
		}
		s.tids.matched[i] = true
	}
	if len(s.opts.PIDs) == 0 {
		return true
	}
	if t == nil || t.Process == nil {
		return false
	}
	i := slices.Index(s.opts.PIDs, t.Process.PID)
	if i >= 0 {
		s.pids.matched[i] = true
	}
	return i >= 0
}

func (s *Selector) content(e *ntconv.Event) bool {
	for _, m := range s.where {
		if !m.Match(e) {
			return false
		}
	}
	return true
}

func (s *Selector) typeOf(e *ntconv.Event) bool {
	if !s.typed || e.Type == s.last {
		return !s.typed || s.lastOK
	}
	ok, known := s.types[e.Type]
	if !known {
		ok = s.matchType(e)
		s.types[e.Type] = ok
	}
	s.last, s.lastOK = e.Type, ok
	return ok
}

func (s *Selector) matchType(e *ntconv.Event) bool {
	provider := e.Type.Provider
	if len(s.opts.Providers) > 0 {
		s.providers.see(provider)
		if !s.providers.match(func(p string) bool { return glob.Match(p, provider) }) {
			return false
		}
	}
	if len(s.opts.Events) == 0 {
		return true
	}
	name, id := s.schemas.Of(e).Name, strconv.FormatUint(uint64(e.Type.ID), 10)
	s.events.see(name)
	return s.events.match(func(p string) bool { return glob.MatchEvent(p, provider, name, id) })
}

// String describes the selection as the flags that make it, for messages.
func (o *Options) String() string {
	var parts []string
	for _, p := range o.Providers {
		parts = append(parts, "--provider "+p)
	}
	for _, e := range o.Events {
		parts = append(parts, "--event "+e)
	}
	for _, n := range o.PIDs {
		parts = append(parts, "--pid "+strconv.FormatUint(n, 10))
	}
	for _, n := range o.TIDs {
		parts = append(parts, "--tid "+strconv.FormatUint(n, 10))
	}
	if o.From.kind != momentNone {
		parts = append(parts, "--from-time "+o.From.String())
	}
	if o.To.kind != momentNone {
		parts = append(parts, "--to-time "+o.To.String())
	}
	for _, x := range o.Where {
		parts = append(parts, "--where '"+x.Text()+"'")
	}
	if o.During != nil {
		parts = append(parts, o.During.String())
	}
	return strings.Join(parts, " ")
}
