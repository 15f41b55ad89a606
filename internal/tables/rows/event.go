package rows

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/tables"
)

// event writes an event of KindEvent. It resolves IDs once in s.item, from which all parts read them.
func (s *Sink) event(e *ntconv.Event) error {
	s.owners.learn(e)
	it, thread, kind, labels := &s.item, s.owners.thread(e.Thread), s.types.kind(e), s.labels.of(e.Labels)
	it.Process, it.Thread, it.PID, it.TID = thread.processID(), thread.id, thread.pid, thread.tid
	it.Schema, it.Provider, it.Event = kind.schema, kind.provider, kind.event
	it.Labels, it.TraceID, it.SpanID = labels.id, labels.trace, labels.span
	var err error
	if it.Stack, err = s.stacks.id(e, it.Process); err != nil {
		return err
	}
	if recording.IsFact(e) {
		thread.count(e.Time)
		kind.row.events++
		kind.row.bytes += int64(len(e.Payload))
	}
	s.done.Events++
	s.recorded.Observe(e)
	s.out.ordered = s.out.ordered && it.Nanos >= s.nanos
	s.nanos = it.Nanos
	if !s.events.discard {
		s.eventRow(e, kind, labels)
	}
	if recording.IsReplica(e) {
		return nil
	}
	for _, p := range s.parts {
		if err := p.Write(e, it); err != nil {
			return err
		}
	}
	return nil
}

// eventRow writes a row of the table events.
func (s *Sink) eventRow(e *ntconv.Event, kind *eventKind, labels *labelList) {
	it, row := &s.item, s.events.row()
	row.EventID, row.TS, row.TSNanos = it.ID, it.Micros, it.Nanos
	row.ProcessID, row.PID, row.ThreadID, row.TID = it.Process, it.PID, it.Thread, it.TID
	if e.Capture != e.Thread {
		row.CaptureThreadID = s.thread(e.Capture)
	}
	row.CPU, row.TypeID, row.Provider, row.Event = e.CPU, kind.row.id, kind.provider, kind.event
	row.Level, row.Opcode = int32(e.Level()), int32(kind.schema.OpcodeOf(e))
	row.StackID, row.LabelListID = it.Stack, it.Labels
	row.ActivityID, row.RelatedActivityID, row.TraceID, row.SpanID = labels.activity, labels.related, labels.trace, labels.span
	row.Sequence, row.Flags = int64(e.Seq), int32(e.Flags)
	if !s.clock.restores(e.Time, it.Nanos) {
		row.Ticks = s.events.int64(int64(e.Time))
	}
	if len(e.Payload) > 0 {
		s.payload(e, row)
	}
}

// payload sets the payload columns: JSON, or bytes if Options.Raw is set or the JSON would not restore the payload.
func (s *Sink) payload(e *ntconv.Event, row *tables.Event) {
	if s.o.Raw {
		row.PayloadRaw = s.events.bytes(e.Payload)
		return
	}
	buffer, exact := s.payloads.Append(s.events.begin(), e, s.item.Schema)
	row.Payload = s.events.end(buffer)
	if !exact || row.Payload == "" {
		row.PayloadRaw = s.events.bytes(e.Payload)
		s.done.Raw++
	}
}

// loss writes a row of the table losses.
func (s *Sink) loss(e *ntconv.Event) {
	it, row := &s.item, s.losses.row()
	s.out.ordered = s.out.ordered && it.Nanos >= s.lossNanos
	s.lossNanos = it.Nanos
	row.EventID, row.TS, row.TSNanos = it.ID, it.Micros, it.Nanos
	owner := e.Capture
	if owner == nil {
		owner = e.Thread
	}
	if thread := s.owners.thread(owner); thread != nil {
		row.ProcessID, row.ThreadID = thread.processID(), thread.id
	}
	row.Lost, row.Sequence, row.CPU, row.Flags = int64(e.Lost), int64(e.Seq), e.CPU, int32(e.Flags)
	if !s.clock.restores(e.Time, it.Nanos) {
		row.Ticks = s.losses.int64(int64(e.Time))
	}
	s.lost += int64(e.Lost)
}

// markThreadBytes is the memory of an element of tables.Mark.Threads in bytes.
const markThreadBytes = 16

// mark writes a row of the table marks.
func (s *Sink) mark(e *ntconv.Event) {
	it, row := &s.item, s.marks.row()
	row.EventID, row.TS, row.TSNanos, row.Flags = it.ID, it.Micros, it.Nanos, int32(e.Flags)
	if !s.clock.restores(e.Time, it.Nanos) {
		row.Ticks = s.marks.int64(int64(e.Time))
	}
	switch {
	case e.Kind == ntconv.KindDefine && e.Type != nil:
		row.Kind, row.TypeID = tables.MarkType, s.types.of(e.Type).id
	case e.Kind == ntconv.KindDefine:
		row.Kind, row.ThreadID = tables.MarkThread, s.thread(e.Thread)
	case e.Kind == ntconv.KindMark && e.Mark != nil:
		row.Kind, row.MarkFlags = tables.MarkSequencePoint, int64(e.Mark.Flags)
		if e.Mark.Kind == ntconv.MarkThreadsRemoved {
			row.Kind = tables.MarkThreadsEnded
		}
		for _, t := range e.Mark.Threads {
			row.Threads = append(row.Threads, tables.MarkThreads{ThreadID: s.thread(t.Thread), Sequence: int64(t.Seq)})
		}
		s.marks.hold(markThreadBytes * len(row.Threads))
	default:
		row.Kind, row.BlockKind = tables.MarkBlock, int64(e.Seq)
		row.PayloadRaw = s.marks.bytes(e.Payload)
	}
}
