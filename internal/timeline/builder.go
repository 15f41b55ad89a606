package timeline

import (
	"encoding/binary"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/track"
)

// Watch processes every event of the trace before the selection, see ntconv.Watcher. It borrows the event.
func (t *Timeline) Watch(e *ntconv.Event) {
	if t.samples != nil {
		t.samples.stream.Watch(e)
	}
	if e.Kind == ntconv.KindEvent && e.Type != nil && recording.Describes(e.Type) {
		t.owners.learn(e)
	}
}

// Write adds a selected event, which it borrows. Call it in time order. It fails if the temporary file cannot be
// written, for an event without a type, and after Finish.
func (t *Timeline) Write(e *ntconv.Event) error {
	if t.finished {
		return errFinished
	}
	if err := e.Check(); err != nil {
		return err
	}
	if t.samples != nil {
		t.samples.stream.Watch(e)
	}
	switch e.Kind {
	case ntconv.KindEvent:
		t.counts.Events++
		t.event(e)
	case ntconv.KindLost:
		t.loss(e)
	case ntconv.KindMark:
		t.tracker.Add(e)
	}
	return t.err
}

// event converts an event by the first rule in the package comment that applies.
func (t *Timeline) event(e *ntconv.Event) {
	r := t.roles.of(e)
	if r.describes {
		t.owners.learn(e)
	}
	if recording.IsReplica(e) {
		t.counts.Rundown++
		return
	}
	t.recorded.Observe(e)
	at := t.clock.Nanos(e.Time)
	if t.opts.Raw != nil && t.raw(e, r, at) {
		return
	}
	if r.chrome {
		if !t.chrome.add(e, r, at) {
			t.instantUnless(e, r, at)
		}
		return
	}
	t.tracker.Add(e)
	if !r.sample && t.samples.isComputed(e) {
		t.samples.add(e, at)
	}
	switch {
	case r.sample:
		t.parts.samples++
		if t.samples != nil {
			t.samples.add(e, at)
		}
		return
	case r.counter && t.shows(track.Counters) && t.counters.read(e, r, at) && !(r.universal && e.Stack != nil):
		t.parts.counters++
		return
	case t.tracker.IsBound():
		t.parts.bounds++
		if e.Stack != nil {
			t.begun.put(e.Thread, at, t.stacks.number(e))
		}
		return
	}
	if r.rundown && !t.opts.Rundown {
		t.counts.Rundown++
		return
	}
	if r.log && t.logs != nil {
		t.logs.reader.Add(e)
		if r.logRecord {
			t.parts.joined++
			return
		}
	}
	t.instantUnless(e, r, at)
}

// instantUnless adds an instant unless the timeline does not show it.
func (t *Timeline) instantUnless(e *ntconv.Event, r *role, at int64) {
	if !t.shows(track.Events) && (r.exception == nil || !t.shows(track.Exceptions)) {
		t.parts.omitted++
		return
	}
	t.instant(e, r, at)
}

// raw adds an event as encoded by Options.Raw. It returns false if Raw does not encode the event.
func (t *Timeline) raw(e *ntconv.Event, r *role, at int64) bool {
	thread := t.owners.thread(e.Thread) // all threads with events have tracks
	if !r.chrome {
		return false
	}
	t.rec = appendHead(t.rec[:0], recordRaw, thread)
	rec, ok := t.opts.Raw(t.rec, e)
	t.rec = rec
	if ok {
		if r.threadSlice {
			t.owners.at(thread).HasSlices = true
		}
		t.rec = binary.LittleEndian.AppendUint32(t.rec, t.stacks.number(e))
		t.counts.Raw++
		t.add(at, rankOther)
	}
	return ok
}

// instant adds an event as an instant.
func (t *Timeline) instant(e *ntconv.Event, r *role, at int64) {
	rec := appendHead(t.rec[:0], recordInstant, t.owners.thread(e.Thread))
	switch {
	case r.exception != nil:
		rec = t.titles.append(rec, t.exceptionType(e, r), CategoryException)
	case r.chrome:
		rec = t.titles.append(rec, t.chrome.title.name, t.chrome.title.category)
	default:
		rec = appendNumber(rec, r.title)
	}
	rec = appendNumber(rec, t.stacks.number(e))
	rec = t.allocations.append(rec, e, r.allocation)
	t.rec = t.eventArgs(rec, e)
	t.counts.Instants++
	t.add(at, rankOther)
}

// eventArgs appends the args of an event.
func (t *Timeline) eventArgs(rec []byte, e *ntconv.Event) []byte {
	if t.opts.Args == nil {
		return rec
	}
	t.source.Event = e
	rec = t.opts.Args(rec, &t.source)
	t.source.Event = nil
	return rec
}

// loss adds an instant for lost events of a thread.
func (t *Timeline) loss(e *ntconv.Event) {
	at := t.clock.Nanos(e.Time)
	thread := t.owners.thread(e.Capture)
	rec := appendHead(t.rec[:0], recordLoss, t.owners.own(thread, LossTrack))
	rec = appendNumber(rec, thread)
	rec = t.attributeArgs(rec, []span.Attribute{{Key: argEvents, Value: span.Int(int64(e.Lost))}})
	t.rec = rec
	t.counts.Losses++
	t.add(at, rankOther)
}

// attributeArgs appends args that are attributes only.
func (t *Timeline) attributeArgs(rec []byte, list []span.Attribute) []byte {
	if t.opts.Args == nil {
		return rec
	}
	t.source.Attributes = list
	rec = t.opts.Args(rec, &t.source)
	t.source.Attributes = nil
	return rec
}
