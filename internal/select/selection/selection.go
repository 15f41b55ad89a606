package selection

import (
	"math"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/select/where"
	"github.com/ntconv/ntconv/schema"
)

// Options are the conditions of a selection. An event must satisfy all of them; a list is satisfied by any of its
// elements. The zero value selects every event.
type Options struct {
	// Providers and Events are case-insensitive names; * matches any text and ? one character. An event can also be
	// given by its ID, or with its provider as "provider/event".
	Providers, Events []string
	PIDs, TIDs        []uint64
	// Processes and ThreadNames are case-insensitive names with the same patterns. A process has several names, see
	// recording.NameSet, and one of them must match. A thread has the name that the trace states in Thread.Name.
	Processes, ThreadNames []string
	// Names knows the names of processes. It must be set if NeedsNames returns true; it is read for each event, so its
	// owner may still be learning, if it ensures that the names of the event's process are known.
	Names *recording.Names
	// From and To bound the time. From is inclusive and To exclusive, as for slices.
	From, To Moment
	// Where lists conditions on the contents of events.
	Where []*where.Expr
	// Conditions are those of intervals that must have been open when an event was recorded. Who reads the trace turns
	// them into During.
	Conditions []*DuringCondition
	// During, if not nil, selects the events that were recorded during something, such as spans.
	During During
}

// A During selects events by what was active when they were recorded, such as certain spans.
type During interface {
	// Keep borrows an event of kind ntconv.KindEvent and reports whether it is selected.
	Keep(*ntconv.Event) bool
	// String returns the flags that describe the condition, for messages.
	String() string
	// Notes returns what the user should know about the condition after the trace was read, one string per line.
	Notes() []string
}

// NeedsEnd reports whether For and Compile need the time of the last event.
func (o *Options) NeedsEnd() bool { return o.From.FromEnd() || o.To.FromEnd() }

// NeedsNames reports whether the names of processes must be known.
func (o *Options) NeedsNames() bool { return len(o.Processes) > 0 }

// owned reports whether the selection depends on processes or threads.
func (o *Options) owned() bool {
	return len(o.PIDs)+len(o.TIDs)+len(o.Processes)+len(o.ThreadNames) > 0
}

// Reversed reports whether the end of the time range precedes its start in every trace.
func (o *Options) Reversed() bool { return o.To.before(o.From) }

// Timed reports whether the time is bounded.
func (o *Options) Timed() bool { return o.From != Moment{} || o.To != Moment{} }

// Empty reports whether every event is selected.
func (o *Options) Empty() bool {
	return len(o.Providers)+len(o.Events)+len(o.Where) == 0 && !o.owned() && o.During == nil && !o.Timed()
}

// Parse sets Where and Conditions from expressions. The error is an *ExpressionError.
func (o *Options) Parse(expressions, during []string) error {
	o.Where, o.Conditions = nil, nil
	for _, text := range expressions {
		x, err := where.Parse(text)
		if err != nil {
			return &ExpressionError{whereFlag, err}
		}
		o.Where = append(o.Where, x)
	}
	for _, text := range during {
		c, err := ParseDuring(text)
		if err != nil {
			return &ExpressionError{DuringFlag, err}
		}
		o.Conditions = append(o.Conditions, c)
	}
	return nil
}

const whereFlag = "where"

// An ExpressionError means that an expression is not valid, or does not apply to a trace.
type ExpressionError struct {
	Flag string // of the command that sets the expression, without hyphens
	Err  error  // does not mention the flag
}

func (e *ExpressionError) Error() string { return "--" + e.Flag + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *ExpressionError) Unwrap() error { return e.Err }

// A Selector is a selection bound to one trace. It is not safe for concurrent use.
type Selector struct {
	opts     Options
	all      bool
	typed    bool // conditions on types are set
	owned    bool // conditions on processes or threads are set
	bounded  bool // to is set
	from, to ntconv.Ticks
	schemas  schema.Table
	types    map[*ntconv.Type]bool // results of matchType
	last     *ntconv.Type          // type of lastOK
	lastOK   bool
	where    []*where.Matcher

	providers, events, pids, tids, processes, threadNames matchList

	owners owners
}

// Notes returns what the user should know about conditions that no event so far could satisfy, one string per line.
func (s *Selector) Notes() []string {
	var notes []string
	for _, names := range [][]string{s.opts.Providers, s.opts.Events} {
		for _, n := range names {
			if strings.HasPrefix(n, "!") {
				notes = append(notes, "! in "+n+" is part of the name; "+
					"--where '!($event =~ \"^GC\")' selects events whose names do not begin with GC")
			}
		}
	}
	for _, l := range []*matchList{&s.providers, &s.events, &s.pids, &s.tids, &s.processes, &s.threadNames} {
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

// Compile returns the Keep method of the Selector that For returns.
func (o *Options) Compile(clock ntconv.Clock, last ntconv.Ticks) (func(*ntconv.Event) bool, error) {
	s, err := o.For(clock, last)
	if err != nil {
		return nil, err
	}
	return s.Keep, nil
}

// For binds the selection to a trace. last is the time of the trace's last event; it is used only if NeedsEnd returns
// true. The error is an *ExpressionError, or describes a date that the clock cannot represent.
func (o *Options) For(clock ntconv.Clock, last ntconv.Ticks) (*Selector, error) {
	s := &Selector{
		opts:  *o,
		all:   o.Empty(),
		typed: len(o.Providers)+len(o.Events) > 0,
		owned: o.owned(),
		from:  math.MinInt64,
		to:    math.MaxInt64,
		types: make(map[*ntconv.Type]bool),
	}
	s.providers, s.events = newMatchList("provider", o.Providers, true), newMatchList("event", o.Events, true)
	s.pids, s.tids = newMatchList("pid", numbers(o.PIDs), false), newMatchList("tid", numbers(o.TIDs), false)
	s.processes = newMatchList("process", o.Processes, true)
	s.threadNames = newMatchList("thread-name", o.ThreadNames, true)
	s.processes.what, s.threadNames.what = "processes", "threads"
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
			return nil, &ExpressionError{whereFlag, err}
		}
		s.where = append(s.where, m)
	}
	return s, nil
}

// Keep reports whether an event is selected. It borrows e, and allocates only once per new type.
//
// Items that are not events pass if they belong to the selection: definitions of a selected type or thread, losses of a
// selected thread, and all marks. Blocks of unknown kind pass only if everything is selected. Where does not apply to
// them.
func (s *Selector) Keep(e *ntconv.Event) bool {
	if s.all {
		return true
	}
	switch e.Kind {
	case ntconv.KindEvent:
		return s.inTime(e.Time) && s.thread(e.Thread, e.Time) && s.typeOf(e) &&
			(s.opts.During == nil || s.opts.During.Keep(e)) &&
			s.content(e)
	case ntconv.KindLost:
		return s.inTime(e.Time) && s.thread(e.Capture, e.Time)
	case ntconv.KindDefine:
		return (e.Thread == nil || s.thread(e.Thread, e.Time)) && (e.Type == nil || s.typeOf(e))
	case ntconv.KindOpaque:
		return false
	}
	return true
}

// KeepMark reports whether a mark informs about selected events: it does if the selection depends on nothing but time
// and includes the mark's time. Keep lets all marks pass, because readers need them.
func (s *Selector) KeepMark(e *ntconv.Event) bool {
	return s.all ||
		!s.typed && len(s.where) == 0 && !s.owned && s.opts.During == nil && s.inTime(e.Time)
}

// Clip returns the selected part of a time range.
func (s *Selector) Clip(first, last ntconv.Ticks) (from, to ntconv.Ticks) {
	from, to = max(first, s.from), last
	if s.bounded {
		to = min(to, s.to)
	}
	return from, max(from, to)
}

// Window returns a function that reports whether a time is selected, or nil if all times are.
func (s *Selector) Window() func(ntconv.Ticks) bool {
	if !s.opts.Timed() {
		return nil
	}
	return s.inTime
}

func (s *Selector) inTime(t ntconv.Ticks) bool { return t >= s.from && (!s.bounded || t < s.to) }

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
		if !s.providers.match(func(p string) bool { return where.Match(p, provider) }) {
			return false
		}
	}
	if len(s.opts.Events) == 0 {
		return true
	}
	name, id := s.schemas.Of(e).Name, strconv.FormatUint(uint64(e.Type.ID), 10)
	s.events.see(name)
	return s.events.match(func(p string) bool { return where.MatchEvent(p, provider, name, id) })
}

// String returns the flags that describe the selection, for messages.
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
	for _, n := range o.Processes {
		parts = append(parts, "--process "+n)
	}
	for _, n := range o.ThreadNames {
		parts = append(parts, "--thread-name "+n)
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
