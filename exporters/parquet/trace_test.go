package parquet_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/parquet"
	"github.com/ntconv/ntconv/internal/events/payload"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// memory is a directory of tables.
type memory map[string]*file

type file struct {
	bytes.Buffer
	closed bool
}

func (f *file) Close() error {
	f.closed = true
	return nil
}

func (m memory) create(table string) (io.WriteCloser, error) {
	m[table] = new(file)
	return m[table], nil
}

// rowsOf reads a table with parquet-go, which checks the checksums and encodings.
func rowsOf[T any](t testing.TB, m memory, name string) []T {
	t.Helper()
	f := m[name]
	if f == nil {
		t.Fatalf("there is no table %s", name)
	}
	rows, err := pq.Read[T](bytes.NewReader(f.Bytes()), int64(f.Len()))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return rows
}

// exported writes the tables of a trace, in time order and with symbols. It returns the events as they were.
func exported(t testing.TB, data []byte, o parquet.Options) (memory, []*ntconv.Event, *ntconv.Info, parquet.Summary) {
	t.Helper()
	src, err := reader.New(bytes.NewReader(data), &reader.Options{Order: reader.ByTime})
	if err != nil {
		t.Fatal(err)
	}
	names := symbol.New(nil)
	m := memory{}
	o.Ordered, o.TempDir = true, t.TempDir()
	sink, err := parquet.New(m.create, src.Info(), names, &o)
	if err != nil {
		t.Fatal(err)
	}
	var events []*ntconv.Event
	for e, err := range ntconv.Events(ntconvtest.Poison(symbol.Watch(src, names))) {
		if err != nil {
			break // damaged traces end early
		}
		events = append(events, e.Clone())
		if err := sink.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	for name, f := range m {
		if !f.closed {
			t.Errorf("%s was not closed", name)
		}
	}
	if left, _ := os.ReadDir(o.TempDir); len(left) > 0 {
		t.Errorf("%d temporary files are left", len(left))
	}
	return m, events, src.Info(), sink.Summary()
}

// exportTo writes the tables of a trace and returns the first error.
func exportTo(t testing.TB, data []byte, create func(string) (io.WriteCloser, error)) error {
	t.Helper()
	src, err := reader.New(bytes.NewReader(data), &reader.Options{Order: reader.ByTime})
	if err != nil {
		t.Fatal(err)
	}
	names := symbol.New(nil)
	sink, err := parquet.New(create, src.Info(), names, &parquet.Options{Ordered: true, TempDir: t.TempDir()})
	if err != nil {
		return err
	}
	_, err = ntconv.Copy(sink, symbol.Watch(src, names))
	return errors.Join(err, sink.Close())
}

// traces returns the traces of testdata, and those of the reference data unless tests are short.
func traces(t *testing.T) []corpus.File {
	list := corpus.Traces(t)
	if _, err := corpus.Find("data"); err == nil && !testing.Short() {
		list = append(list, corpus.SharedTraces(t)...)
	}
	return list
}

// TestTablesRestoreEvents: the rows hold every event with its time, thread, stack, labels and payload.
func TestTablesRestoreEvents(t *testing.T) {
	for _, f := range traces(t) {
		t.Run(f.Name, func(t *testing.T) {
			m, events, info, done := exported(t, f.Data, parquet.Options{})
			c := newChecker(t, m, info)
			for i, e := range events {
				c.check(int64(i+1), e)
			}
			c.end(done)
		})
	}
}

// A checker compares events with rows.
type checker struct {
	t         *testing.T
	info      *ntconv.Info
	trace     tables.TraceInfo
	events    []tables.Event
	losses    []tables.Loss
	marks     []tables.Mark
	types     []tables.EventType
	threads   []tables.Thread
	processes []tables.Process
	stacks    []tables.Stack
	frames    []tables.Frame
	labels    map[int64][]tables.Label
	threadIDs map[*ntconv.Thread]int32
	typeIDs   map[*ntconv.Type]int32
	decoders  map[decoderKey]*payload.Decoder
	raw       int64
}

type decoderKey struct {
	typ  int32
	size int
}

func newChecker(t *testing.T, m memory, info *ntconv.Info) *checker {
	c := &checker{
		t: t, info: info, trace: rowsOf[tables.TraceInfo](t, m, "trace_info")[0], events: rowsOf[tables.Event](t, m, "events"),
		losses: rowsOf[tables.Loss](t, m, "losses"), marks: rowsOf[tables.Mark](t, m, "marks"), types: rowsOf[tables.EventType](t, m, "event_types"),
		threads: rowsOf[tables.Thread](t, m, "threads"), processes: rowsOf[tables.Process](t, m, "processes"),
		stacks: rowsOf[tables.Stack](t, m, "stacks"), frames: rowsOf[tables.Frame](t, m, "frames"), labels: map[int64][]tables.Label{},
		threadIDs: map[*ntconv.Thread]int32{}, typeIDs: map[*ntconv.Type]int32{}, decoders: map[decoderKey]*payload.Decoder{},
	}
	for _, l := range rowsOf[tables.Label](t, m, "labels") {
		c.labels[l.LabelListID] = append(c.labels[l.LabelListID], l)
	}
	for i := range c.stacks {
		if c.stacks[i].StackID != int64(i+1) {
			t.Fatalf("stack %d has the ID %d", i+1, c.stacks[i].StackID)
		}
	}
	return c
}

// check compares an event with the row of its number, which must be the next one of its table.
func (c *checker) check(id int64, e *ntconv.Event) {
	switch e.Kind {
	case ntconv.KindEvent:
		row := next(c.t, &c.events)
		c.equal("event_id", row.EventID, id)
		c.time(e, row.TS, row.TSNanos, row.Ticks)
		c.event(e, &row)
	case ntconv.KindLost:
		row := next(c.t, &c.losses)
		c.equal("event_id", row.EventID, id)
		c.time(e, row.TS, row.TSNanos, row.Ticks)
		c.equal("lost", row.Lost, int64(e.Lost))
		c.thread(e.Capture, row.ThreadID)
	default:
		row := next(c.t, &c.marks)
		c.equal("event_id", row.EventID, id)
		c.time(e, row.TS, row.TSNanos, row.Ticks)
		c.mark(e, &row)
	}
}

func next[T any](t *testing.T, rows *[]T) T {
	t.Helper()
	if len(*rows) == 0 {
		t.Fatalf("too few rows of %T", *rows)
	}
	row := (*rows)[0]
	*rows = (*rows)[1:]
	return row
}

func (c *checker) equal(what string, got, want any) {
	c.t.Helper()
	if got != want {
		c.t.Fatalf("%s is %v, want %v", what, got, want)
	}
}

func (c *checker) time(e *ntconv.Event, ts, nanos int64, ticks *int64) {
	c.t.Helper()
	var restored ntconv.Ticks
	if ticks != nil {
		restored = ntconv.Ticks(*ticks)
	} else {
		restored = c.info.Clock.TicksAt(time.Duration(nanos - c.trace.StartNanos))
	}
	c.equal("time", restored, e.Time)
	if wall := c.info.Clock.Time(e.Time); ticks == nil && !wall.IsZero() {
		c.equal("ts_ns", nanos, wall.UnixNano())
		c.equal("ts", ts, wall.UnixMicro())
	}
}

func (c *checker) thread(th *ntconv.Thread, id int32) {
	c.t.Helper()
	if th == nil {
		c.equal("thread_id of no thread", id, int32(0))
		return
	}
	if known, ok := c.threadIDs[th]; ok {
		c.equal("thread_id", id, known)
		return
	}
	for _, other := range c.threadIDs {
		if other == id {
			c.t.Fatalf("two threads have the ID %d", id)
		}
	}
	c.threadIDs[th] = id
	row := c.threads[id-1]
	c.equal("thread_id", row.ThreadID, id)
	c.equal("tid", uint64(row.TID), th.TID)
	c.equal("recorded_name", row.RecordedName, th.Name)
	if p := th.Process; p != nil {
		c.equal("pid", uint64(c.processes[row.ProcessID-1].PID), p.PID)
		c.equal("pointer_size", c.processes[row.ProcessID-1].PointerSize, int32(p.PointerSize))
	}
}

func (c *checker) event(e *ntconv.Event, row *tables.Event) {
	c.t.Helper()
	c.thread(e.Thread, row.ThreadID)
	if e.Capture != e.Thread {
		c.thread(e.Capture, row.CaptureThreadID)
	} else {
		c.equal("capture_thread_id", row.CaptureThreadID, int32(0))
	}
	if known, ok := c.typeIDs[e.Type]; ok {
		c.equal("type_id", row.TypeID, known)
	}
	c.typeIDs[e.Type] = row.TypeID
	typ := &c.types[row.TypeID-1]
	c.equal("id", typ.Number, int64(e.Type.ID))
	c.equal("recorded_name", typ.RecordedName, e.Type.Name)
	c.equal("provider", row.Provider, e.Type.Provider)
	c.equal("cpu", row.CPU, e.CPU)
	c.equal("sequence", row.Sequence, int64(e.Seq))
	c.equal("flags", row.Flags, int32(e.Flags))
	c.stack(e.Stack, row.StackID)
	c.labelList(e.Labels, row.LabelListID)
	c.payload(e, row, typ)
}

func (c *checker) stack(s *ntconv.Stack, id int64) {
	c.t.Helper()
	if s == nil || len(s.PCs)+len(s.Frames) == 0 {
		c.equal("stack_id", id, int64(0))
		return
	}
	row := &c.stacks[id-1]
	c.equal("addresses", len(row.Addresses), len(s.PCs))
	for i, pc := range s.PCs {
		c.equal("address", uint64(row.Addresses[i]), pc)
	}
	c.equal("recorded", row.Recorded, len(s.Frames) > 0)
	for _, f := range row.Frames {
		if f < 1 || int(f) > len(c.frames) || c.frames[f-1].FrameID != f || c.frames[f-1].Name == "" {
			c.t.Fatalf("stack %d has frame %d of %d, or it has no name", id, f, len(c.frames))
		}
	}
	c.equal("depth", int(row.Depth), len(row.Frames))
	c.equal("leaf_frame_id", row.LeafID, row.Frames[0])
}

func (c *checker) labelList(l *ntconv.Labels, id int64) {
	c.t.Helper()
	list := c.labels[id]
	c.equal("labels", len(list), len(l.List()))
	for i, want := range l.List() {
		got := list[i]
		c.equal("kind_number", got.LabelKind, int32(want.Kind))
		c.equal("ordinal", got.Ordinal, int32(i))
		c.equal("key", got.Key, want.Key)
		switch {
		case got.ValueInt != nil:
			c.equal("value_int", *got.ValueInt, want.Num)
		case want.Kind == ntconv.LabelString:
			c.equal("value", got.Value, want.Str)
		}
	}
}

// payload restores the payload as an importer does.
func (c *checker) payload(e *ntconv.Event, row *tables.Event, typ *tables.EventType) {
	c.t.Helper()
	// NULL is nil or empty: parquet-go reads some of them as empty.
	if len(row.PayloadRaw) > 0 || row.Payload == "" {
		c.equal("payload_raw", string(row.PayloadRaw), string(e.Payload))
		if len(row.PayloadRaw) > 0 {
			c.raw++
		}
		return
	}
	key := decoderKey{row.TypeID, e.PointerSize()}
	d := c.decoders[key]
	if d == nil {
		text := typ.Layout
		if text == "" {
			text = typ.RecordedFields
		}
		fields, err := tables.ParseFields(text)
		if err != nil {
			c.t.Fatal(err)
		}
		d = payload.NewDecoder(fields, key.size)
		c.decoders[key] = d
	}
	got, err := d.Append(nil, []byte(row.Payload))
	if err != nil || !bytes.Equal(got, e.Payload) {
		c.t.Fatalf("payload of %s/%s %s gives %x (%v), want %x", row.Provider, row.Event, row.Payload, got, err, e.Payload)
	}
}

func (c *checker) mark(e *ntconv.Event, row *tables.Mark) {
	c.t.Helper()
	switch e.Kind {
	case ntconv.KindMark:
		c.equal("kind", row.Kind, map[ntconv.MarkKind]string{ntconv.MarkSequencePoint: "sequence_point", ntconv.MarkThreadsRemoved: "threads_removed"}[e.Mark.Kind])
		c.equal("mark_flags", row.MarkFlags, int64(e.Mark.Flags))
		c.equal("threads", len(row.Threads), len(e.Mark.Threads))
		for i, th := range e.Mark.Threads {
			c.thread(th.Thread, row.Threads[i].ThreadID)
			c.equal("sequence", row.Threads[i].Sequence, int64(th.Seq))
		}
	case ntconv.KindDefine:
		c.equal("kind", row.Kind, map[bool]string{true: "define_type", false: "define_thread"}[e.Type != nil])
	case ntconv.KindOpaque:
		c.equal("block_kind", row.BlockKind, int64(e.Seq))
		c.equal("payload_raw", string(row.PayloadRaw), string(e.Payload))
	}
}

// end checks the counts.
func (c *checker) end(done parquet.Summary) {
	c.t.Helper()
	if n := len(c.events) + len(c.losses) + len(c.marks); n > 0 {
		c.t.Errorf("%d rows too many", n)
	}
	c.equal("event_count", c.trace.EventCount, done.Events)
	c.equal("raw", done.Raw, c.raw)
	var byType, byThread, byProcess int64
	for i := range c.types {
		byType += c.types[i].EventCount
	}
	for i := range c.threads {
		byThread += c.threads[i].EventCount
	}
	for i := range c.processes {
		byProcess += c.processes[i].EventCount
	}
	c.equal("events of types", byType, done.Events)
	c.equal("events of threads", byThread, done.Events)
	if byProcess > done.Events {
		c.t.Errorf("%d events of processes, want at most %d", byProcess, done.Events)
	}
}

// TestBytesAreDeterministic: two exports of a trace are identical.
func TestBytesAreDeterministic(t *testing.T) {
	f := corpus.Traces(t)[0]
	a, _, _, _ := exported(t, f.Data, parquet.Options{})
	b, _, _, _ := exported(t, f.Data, parquet.Options{})
	if len(a) != len(b) || len(a) == 0 {
		t.Fatalf("%d and %d tables", len(a), len(b))
	}
	for name := range a {
		if !bytes.Equal(a[name].Bytes(), b[name].Bytes()) {
			t.Errorf("%s differs", name)
		}
	}
}
