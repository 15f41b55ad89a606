package parquet

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/events/payload"
	"github.com/ntconv/ntconv/internal/tables"
)

// A trace converts the tables of a trace to events.
type trace struct {
	o     *Options
	info  ntconv.Info
	start int64 // nanoseconds from 1970-01-01 to Info.Clock.Tick
	d     definitions

	stacks *stacks
	labels *labels
	events *rows[eventRow]
	losses *rows[tables.Loss]
	marks  *rows[tables.Mark]
	last   int64 // event_id of the latest row

	event   ntconv.Event
	payload []byte
	json    []byte

	// Placeholders for IDs that no table defines.
	unknownTypes   map[int32]*typeOf
	unknownThreads map[int32]*ntconv.Thread
}

// An eventRow holds the columns of tables.Event that are read. The definitions also contain the other columns.
type eventRow struct {
	EventID         int64  `parquet:"event_id,delta"`
	TSNanos         int64  `parquet:"ts_ns,delta"`
	ThreadID        int32  `parquet:"thread_id,dict"`
	CaptureThreadID int32  `parquet:"capture_thread_id,dict,optional"`
	CPU             int32  `parquet:"cpu,dict"`
	TypeID          int32  `parquet:"type_id,dict"`
	StackID         int64  `parquet:"stack_id,optional,delta"`
	LabelListID     int64  `parquet:"label_list_id,optional,delta"`
	Payload         string `parquet:"payload,optional"`
	PayloadRaw      []byte `parquet:"payload_raw,optional"`
	Sequence        int64  `parquet:"sequence,optional,delta"`
	Ticks           *int64 `parquet:"ticks,optional"`
	Flags           int32  `parquet:"flags,dict,optional"`
}

// required are the columns without which the table events cannot be read.
var required = [...]string{"event_id", "ts_ns", "thread_id", "type_id"}

// newTrace returns a source over the tables of a trace. It reads all definitions except stacks, frames and labels,
// which are read as events refer to them.
func newTrace(f *files) (ntconv.Source, error) {
	t := &trace{o: f.o, d: definitions{f: f}, unknownTypes: map[int32]*typeOf{}, unknownThreads: map[int32]*ntconv.Thread{}}
	events, err := f.file(tableEvents)
	if err != nil {
		return nil, err
	}
	for _, name := range required {
		if !hasColumn(events, name) {
			return nil, inTable(tableEvents, fmt.Errorf("%w: the column %s is missing", ntconv.ErrCorrupt, name))
		}
	}
	if err := t.d.read(); err != nil {
		return nil, err
	}
	t.info, t.start = t.d.traceInfo()
	for _, open := range []func() error{
		func() (err error) { t.stacks, err = newStacks(&t.d, t.d.info.Selection); return err },
		func() (err error) { t.labels, err = newLabels(&t.d); return err },
		func() (err error) { t.events, err = newRows[eventRow](f, tableEvents); return err },
		func() (err error) { t.losses, err = newRows[tables.Loss](f, "losses"); return err },
		func() (err error) { t.marks, err = newRows[tables.Mark](f, "marks"); return err },
		t.sortRows,
	} {
		if err := open(); err != nil {
			return nil, err
		}
	}
	if t.d.info.Incomplete {
		f.o.Report.Note(ntconv.CodeTruncated, 1, -1, "the trace from which the tables were written was incomplete")
	}
	if f.o.ByTime && t.d.hasInfo && !t.d.info.Ordered {
		return byTime(t, f.o.Report), nil
	}
	return t, nil
}

func (t *trace) Info() *ntconv.Info { return &t.info }

// Next returns the row of events, losses and marks with the smallest event_id.
func (t *trace) Next() (*ntconv.Event, error) {
	return &t.event, t.fill()
}

// fill sets t.event to the next event.
func (t *trace) fill() error {
	const none = math.MaxInt64
	at := [3]int64{none, none, none}
	event, err := t.events.head()
	if err == nil {
		at[0] = event.EventID
	} else if err != io.EOF {
		return err
	}
	loss, err := t.losses.head()
	if err == nil {
		at[1] = loss.EventID
	} else if err != io.EOF {
		return err
	}
	mark, err := t.marks.head()
	if err == nil {
		at[2] = mark.EventID
	} else if err != io.EOF {
		return err
	}
	first := min(at[0], at[1], at[2])
	if first < t.last {
		t.o.Report.Note(ntconv.CodeOutOfOrder, 1, -1, fmt.Sprintf("event_id %d after %d", first, t.last))
	}
	t.last = first
	switch {
	case event != nil && at[0] == first:
		t.events.skip()
		return t.eventOf(event)
	case loss != nil && at[1] == first:
		t.losses.skip()
		t.lossOf(loss)
	case mark != nil:
		t.marks.skip()
		return t.markOf(mark)
	default:
		return io.EOF
	}
	return nil
}

// time returns the ticks of a row.
func (t *trace) time(nanos int64, ticks *int64) ntconv.Ticks {
	if ticks != nil {
		return ntconv.Ticks(*ticks)
	}
	return t.info.Clock.TicksAt(time.Duration(bin.AddClamped(nanos, -t.start)))
}

// eventOf sets t.event to the event of a row.
func (t *trace) eventOf(row *eventRow) (err error) {
	t.event = ntconv.Event{
		Kind: ntconv.KindEvent, Flags: ntconv.Flags(row.Flags), CPU: row.CPU, Seq: uint32(row.Sequence), Time: t.time(row.TSNanos, row.Ticks), Offset: -1,
	}
	e := &t.event
	def := t.typeOf(row.TypeID)
	e.Type = def.Type
	e.Thread = t.thread(row.ThreadID)
	if e.Capture = e.Thread; row.CaptureThreadID != 0 {
		e.Capture = t.thread(row.CaptureThreadID)
	}
	if row.StackID != 0 {
		if e.Stack, err = t.stacks.get(row.StackID); err != nil {
			return err
		}
		if e.Stack == nil {
			t.o.Report.Note(ntconv.CodeUnknownStack, 1, -1, fmt.Sprintf("stack_id %d", row.StackID))
		}
	}
	if row.LabelListID != 0 {
		if e.Labels, err = t.labels.get(row.LabelListID); err != nil {
			return err
		}
		if e.Labels == nil {
			e.Flags |= ntconv.FlagPlaceholder
			t.o.Report.Note(ntconv.CodeUnknownLabels, 1, -1, fmt.Sprintf("label_list_id %d", row.LabelListID))
		}
	}
	e.Payload = t.payloadOf(row, def)
	return nil
}

// payloadOf returns the payload of a row. A payload that cannot be encoded is reported (CodePayload) and omitted.
func (t *trace) payloadOf(row *eventRow, def *typeOf) []byte {
	if len(row.PayloadRaw) > 0 {
		return row.PayloadRaw
	}
	if row.Payload == "" || def.unknown {
		return nil
	}
	size := t.event.PointerSize()
	decoder := &def.decoders[size/8]
	if *decoder == nil {
		*decoder = payload.NewDecoder(def.layout, size)
	}
	var err error
	t.json = append(t.json[:0], row.Payload...) // a conversion would allocate
	if t.payload, err = (*decoder).Append(t.payload[:0], t.json); err != nil {
		t.o.Report.Note(ntconv.CodePayload, 1, -1, fmt.Sprintf("event_id %d: column payload: %v", row.EventID, err))
		return nil
	}
	return t.payload
}

// typeOf returns the type with an ID, or a placeholder if the ID has no row.
func (t *trace) typeOf(n int32) *typeOf {
	if def := t.d.types.Near(id(n)); def != nil {
		return def
	}
	if def := t.d.types.Get(id(n)); def != nil {
		return def
	}
	return placeholder(t, t.unknownTypes, n, ntconv.CodeUnknownType, "type_id", func() *typeOf {
		return &typeOf{unknown: true, Type: &ntconv.Type{ID: uint32(n), Description: fmt.Sprintf("undefined type_id %d", n)}}
	})
}

// thread returns the thread with an ID, or a placeholder if the ID has no row.
func (t *trace) thread(n int32) *ntconv.Thread {
	if th := t.d.threads.Near(id(n)); th != nil {
		return th
	}
	if th := t.d.threads.Get(id(n)); th != nil {
		return th
	}
	return placeholder(t, t.unknownThreads, n, ntconv.CodeUnknownThread, "thread_id", func() *ntconv.Thread {
		return &ntconv.Thread{TID: ntconv.TIDUnknown, Process: &t.d.noProcess}
	})
}

// placeholder returns the placeholder for an ID without a row, the same one for each event, and flags the event.
func placeholder[T any](t *trace, known map[int32]*T, n int32, code ntconv.Code, column string, make func() *T) *T {
	t.o.Report.Note(code, 1, -1, fmt.Sprintf("%s %d", column, n))
	t.event.Flags |= ntconv.FlagPlaceholder
	x := known[n]
	if x == nil {
		if len(known) >= maxPlaceholders {
			clear(known)
		}
		x = make()
		known[n] = x
	}
	return x
}

// maxPlaceholders limits the placeholders that are remembered.
const maxPlaceholders = 4096

// lossOf sets t.event to the event of a loss.
func (t *trace) lossOf(row *tables.Loss) {
	t.event = ntconv.Event{
		Kind: ntconv.KindLost, Flags: ntconv.Flags(row.Flags), CPU: row.CPU, Seq: uint32(row.Sequence), Lost: uint32(row.Lost),
		Time: t.time(row.TSNanos, row.Ticks), Offset: -1,
	}
	t.event.Capture = t.thread(row.ThreadID)
}

// markOf sets t.event to the event of a mark.
func (t *trace) markOf(row *tables.Mark) error {
	t.event = ntconv.Event{Flags: ntconv.Flags(row.Flags), CPU: ntconv.CPUUnknown, Time: t.time(row.TSNanos, row.Ticks), Offset: -1}
	e := &t.event
	switch row.Kind {
	case tables.MarkType:
		e.Kind, e.Type = ntconv.KindDefine, t.typeOf(row.TypeID).Type
	case tables.MarkThread:
		e.Kind, e.Thread = ntconv.KindDefine, t.thread(row.ThreadID)
	case tables.MarkBlock:
		e.Kind, e.Seq, e.Payload = ntconv.KindOpaque, uint32(row.BlockKind), row.PayloadRaw
	case tables.MarkSequencePoint, tables.MarkThreadsEnded:
		m := &ntconv.Mark{Flags: ntconv.MarkFlags(row.MarkFlags)}
		if row.Kind == tables.MarkThreadsEnded {
			m.Kind = ntconv.MarkThreadsRemoved
		}
		for _, th := range row.Threads {
			m.Threads = append(m.Threads, ntconv.ThreadSeq{Thread: t.thread(th.ThreadID), Seq: uint32(th.Sequence)})
		}
		e.Kind, e.Mark = ntconv.KindMark, m
	default:
		return inTable("marks", fmt.Errorf("event_id %d: column kind: %w: %q", row.EventID, ntconv.ErrCorrupt, row.Kind))
	}
	return nil
}
