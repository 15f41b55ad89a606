package tracker

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
)

// Keys of attributes that state how the tracker has changed a span.
const (
	AttrSynthetic  = "ntconv.synthetic"
	AttrUnfinished = "ntconv.unfinished"
	attrEnd        = "ntconv.end_time_unix_nano"
)

// end ends a span with an event and emits it.
func (t *Tracker) end(o *open, e *ntconv.Event) {
	o.End, o.EndThread = t.unix(e.Time), e.Thread
	t.emit(o)
}

// emit emits a span whose end is known or missing, and releases it.
func (t *Tracker) emit(o *open) {
	if o.omit {
		t.counts.Exporter++
	} else {
		t.complete(&o.Span)
	}
	if o.Evidence == span.FromRuntime {
		t.counts.Intervals++
		if !o.Active.ID.IsZero() {
			t.counts.Linked++
		}
	}
	t.release(o)
}

// complete adds attributes that state deviations from the recording, and emits the span.
func (t *Tracker) complete(s *span.Span) {
	if t.isContext(s) {
		return
	}
	if s.TraceID.IsZero() || s.ID.IsZero() {
		t.counts.Invalid++
		return
	}
	if s.MadeID {
		s.Attributes = append(s.Attributes, span.Attribute{Key: AttrSynthetic, Value: span.Bool(true)})
	}
	// Times before 1970 are negative numbers.
	if s.End != 0 && int64(s.End) < int64(s.Start) {
		t.counts.Clamped++
		s.Attributes = append(s.Attributes, span.Attribute{Key: attrEnd, Value: span.Int(int64(s.End))})
		s.End = s.Start
	}
	if t.filter != nil {
		t.filter.Add(s)
		return
	}
	t.pass(s)
}

// pass passes a span to the caller's emit.
func (t *Tracker) pass(s *span.Span) {
	t.counts.Spans++
	if s.MadeID {
		t.counts.MadeIDs++
	}
	t.out(s)
}

// finish ends a span without an event, because the trace has ended or too many spans are open.
func (t *Tracker) finish(o *open) {
	switch {
	case o.live:
		t.release(o)
		return
	case o.ended, o.Evidence == span.FromRuntime && o.End != 0: // the end is known
	case o.Evidence == span.FromLabels && !o.begun:
		o.End = t.unix(o.last)
	default:
		if !t.unfinished(&o.Span) {
			t.release(o)
			return
		}
	}
	if o.Evidence == span.FromLabels {
		t.name(o)
	}
	t.addPause(o)
	t.emit(o)
}

// unfinished counts a span without an end and sets its end according to Options.Unfinished. It returns false if the
// span is dropped.
func (t *Tracker) unfinished(s *span.Span) bool {
	if t.isContext(s) {
		return false
	}
	t.counts.Unfinished++
	s.Unfinished = true
	switch t.opts.Unfinished {
	case OpenUnfinished:
		s.End = 0
	case CloseUnfinished:
		s.End = max64(t.unix(t.now), s.Start)
		s.Attributes = append(s.Attributes, span.Attribute{Key: AttrUnfinished, Value: span.Bool(true)})
	default:
		return false
	}
	return true
}

// max64 returns the later of two times, which may be before 1970.
func max64(a, b uint64) uint64 { return uint64(max(int64(a), int64(b))) }

// Finish ends all open spans. Call it once, after the last Add.
func (t *Tracker) Finish() {
	if t.diag != nil {
		t.diag.Finish()
	}
	if t.imported != nil {
		t.imported.Finish()
	}
	rest := make([]*open, 0, t.count)
	for o := t.byAge.first; o != nil; o = o.links[chainAge].next {
		rest = append(rest, o)
	}
	for _, o := range rest { // before any is released, because they refer to each other
		t.resolve(o, true)
	}
	slices.SortFunc(rest, func(a, b *open) int {
		return cmp.Or(
			cmp.Compare(int64(a.Start), int64(b.Start)),
			bytes.Compare(a.TraceID[:], b.TraceID[:]),
			bytes.Compare(a.ID[:], b.ID[:]),
		)
	})
	for _, o := range rest {
		t.finish(o)
	}
	if t.filter != nil {
		t.filter.Finish()
	}
}

// maxEnded is the number of ended spans whose keys are retained.
const maxEnded = 1 << 13

// An endedSet holds the keys of the latest maxEnded spans that have ended.
type endedSet struct {
	keys  map[spanKey]struct{}
	order []spanKey // the same keys, in a ring
	next  int       // index of the oldest key in order
}

func (s *endedSet) has(key spanKey) bool {
	_, ok := s.keys[key]
	return ok
}

func (s *endedSet) add(key spanKey) {
	if s.has(key) {
		return
	}
	if s.keys == nil {
		s.keys = make(map[spanKey]struct{})
	}
	s.keys[key] = struct{}{}
	if len(s.order) < maxEnded {
		s.order = append(s.order, key)
		return
	}
	delete(s.keys, s.order[s.next])
	s.order[s.next] = key
	s.next = (s.next + 1) % maxEnded
}

// remember records that a span with recorded IDs has ended, so that later events with its labels do not create it
// again. It does nothing until the trace has shown such labels.
func (t *Tracker) remember(key spanKey) {
	if t.labeled {
		t.ended.add(key)
	}
}

// makeIDs sets synthetic IDs for a span without recorded IDs. A span without a parent is the root of its own trace.
func (t *Tracker) makeIDs(o *open, e *ntconv.Event, provider, task string, parent span.Context) {
	o.MadeID = true
	if t.opts.SerialIDs && (o.Evidence == span.FromRuntime || o.Evidence == span.FromChrome) {
		binary.BigEndian.PutUint64(o.ID[:], o.serial)
		if o.TraceID, o.ParentID = parent.TraceID, parent.ID; o.TraceID.IsZero() {
			copy(o.TraceID[:], o.ID[:])
		}
		return
	}
	kind := 0
	// A separate numbering, so that selecting intervals of the runtime does not change the IDs of other spans.
	if o.Evidence == span.FromRuntime {
		kind = 1
	}
	serial := uint64(0)
	if e.Thread != nil {
		serial = t.threadOf(e.Thread).numbers[kind].number(e.Time)
	}
	if o.TraceID, o.ParentID = parent.TraceID, parent.ID; o.TraceID.IsZero() {
		t.identify(o, e, provider, task, serial)
		o.TraceID = t.hash.Trace()
	}
	t.identify(o, e, provider, task, serial)
	o.ID = t.hash.Span()
}

func (t *Tracker) identify(o *open, e *ntconv.Event, provider, task string, serial uint64) {
	t.identifyProcess(o.Process)
	t.hash.Text(provider)
	t.hash.Text(task)
	t.hash.Number(uint64(e.Time))
	if e.Thread != nil {
		t.hash.Number(e.Thread.TID)
	}
	t.hash.Number(binary.LittleEndian.Uint64(o.Activity[:8]))
	t.hash.Number(binary.LittleEndian.Uint64(o.Activity[8:]))
	t.hash.Number(serial)
}

func (t *Tracker) identifyProcess(p *ntconv.Process) {
	if p == nil {
		t.hash.Text("")
		return
	}
	t.hash.Number(p.PID)
	t.hash.Text(p.Host)
}
