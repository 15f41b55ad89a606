package rows

import (
	"errors"
	"math"
	"unsafe"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/payload"
	"github.com/ntconv/ntconv/internal/tables"
)

// A Single produces the rows of the table single: a row per event, including all names. Losses, marks and definitions
// have no rows. It is not safe for concurrent use. Call Close or Abort even after an error, because they end the
// goroutine that passes rows to the Receiver.
type Single struct {
	namer    ntconv.Namer
	clock    clock
	rows     *table[tables.SingleEvent]
	types    *typeTable
	owners   *ownerTable
	labels   *labelTable
	payloads payload.Encoder
	hasher   hasher
	stacks   map[sum]*singleStack
	last     [stackMemo]singleMemory
	next     int
	names    map[*ntconv.Function]string
	frames   []ntconv.Frame
	out      *output
	position int64
	nanos    int64 // ts_ns of the previous event
	process  map[*ntconv.Process]string
	thread   map[*ntconv.Thread]string
	done     Summary
	ended    bool // Close or Abort has been called
}

// A singleStack holds the method names of a stack, innermost first.
type singleStack struct {
	names []string
	size  int // memory of the names in bytes
}

// A singleMemory is a cached result for a recent stack.
type singleMemory struct {
	stack   *ntconv.Stack
	process *ntconv.Process
	epoch   uint32
	found   *singleStack
}

// Limits of the caches of a Single. A cache that exceeds its limit is emptied.
const (
	maxSingleStacks = 1 << 14
	maxSingleNames  = 1 << 17
)

// NewSingle returns a Single that passes its rows to the receiver. info must not be nil. The namer must know all symbols
// before the first event; nil resolves only stacks that carry their frames. ordered states that events arrive in time
// order.
func NewSingle(receiver Receiver, info *ntconv.Info, namer ntconv.Namer, ordered bool) (*Single, error) {
	if namer == nil {
		namer = new(ntconv.NoNames)
	}
	// Only the rows of events are written; the tables that they refer to discard their rows.
	none := &output{selected: []string{}}
	modules, err1 := newModuleTable(none)
	labels, err2 := newLabelTable(none)
	out := &output{receiver: receiver, ordered: ordered}
	rows, err3 := newTable[tables.SingleEvent](out)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	return &Single{
		out: out, nanos: math.MinInt64, namer: namer, clock: newClock(info.Clock), rows: rows, types: newTypeTable(), owners: newOwnerTable(modules), labels: labels,
		hasher: newHasher(), stacks: make(map[sum]*singleStack), names: make(map[*ntconv.Function]string),
		process: make(map[*ntconv.Process]string), thread: make(map[*ntconv.Thread]string),
	}, nil
}

// Write writes an event, which must have a type and a thread. It does not keep e. If the Receiver returns an error,
// this or a later call returns it.
func (s *Single) Write(e *ntconv.Event) error {
	if s.rows.broken != nil {
		return s.rows.broken
	}
	s.position++
	if e.Kind != ntconv.KindEvent {
		return nil
	}
	if err := e.Check(); err != nil {
		return err
	}
	if e.Thread == nil {
		return errOwner
	}
	thread, kind, labels, row := s.owners.thread(e.Thread), s.types.kind(e), s.labels.of(e.Labels), s.rows.row()
	row.EventID = s.position
	row.TS, row.TSNanos = s.clock.at(e.Time)
	s.out.ordered = s.out.ordered && row.TSNanos >= s.nanos
	s.nanos = row.TSNanos
	row.PID, row.TID, row.CPU = thread.pid, thread.tid, e.CPU
	row.Process, row.Thread = s.processName(e.Thread.Process), s.threadName(e.Thread)
	row.Provider, row.Event, row.Level, row.Opcode = kind.provider, kind.event, int32(e.Level()), int32(kind.schema.OpcodeOf(e))
	row.ActivityID, row.RelatedActivityID, row.TraceID, row.SpanID = labels.activity, labels.related, labels.trace, labels.span
	if stack := s.stack(e); stack != nil && len(stack.names) > 0 {
		row.Method, row.Stack = stack.names[0], stack.names
		s.rows.share(stack.size)
	}
	if len(e.Payload) > 0 {
		buffer, _ := s.payloads.Append(s.rows.begin(), e, kind.schema)
		row.Payload = s.rows.end(buffer)
	}
	s.done.Events++
	return nil
}

// stack returns the names of an event's stack, or nil if the event has none.
func (s *Single) stack(e *ntconv.Event) *singleStack {
	if e.Stack == nil {
		return nil
	}
	m := singleMemory{
		stack:   e.Stack,
		process: e.Thread.Process,
		epoch:   s.namer.Epoch(e.Thread.Process, e.Stack, e.Time),
	}
	for i := range s.last {
		if l := &s.last[i]; l.stack == m.stack && l.process == m.process && l.epoch == m.epoch {
			return l.found
		}
	}
	var key sum
	if len(e.Stack.Frames) == 0 {
		b := append(s.hasher.key[:0], bytesOf(e.Stack.PCs)...)
		s.hasher.key = append(b, bytesOf([]uint64{uint64(s.owners.thread(e.Thread).processID()), uint64(m.epoch)})...)
		key = s.hasher.sum(s.hasher.key)
		m.found = s.stacks[key]
	}
	if m.found == nil {
		m.found = s.newStack(e)
		if len(s.stacks) >= maxSingleStacks {
			clear(s.stacks)
		}
		if len(e.Stack.Frames) == 0 {
			s.stacks[key] = m.found
		}
	}
	s.last[s.next%stackMemo] = m
	s.next++
	return m.found
}

// newStack resolves the stack of an event.
func (s *Single) newStack(e *ntconv.Event) *singleStack {
	s.frames = s.namer.AppendFrames(s.frames[:0], e.Thread.Process, e.Stack, e.Time)
	found := &singleStack{names: make([]string, 0, len(s.frames))}
	for i := range s.frames {
		if f := s.frames[i].Func; f != nil {
			name := remember(s.names, f, func() string { return valid(f.Name) })
			found.names, found.size = append(found.names, name), found.size+int(unsafe.Sizeof(name))+len(name)
		}
	}
	return found
}

func (s *Single) processName(p *ntconv.Process) string {
	return remember(s.process, p, func() string {
		if p == nil {
			return ""
		}
		info := s.owners.info(p, s.namer)
		return valid(info.Name)
	})
}

func (s *Single) threadName(t *ntconv.Thread) string {
	return remember(s.thread, t, func() string { return valid(s.namer.ThreadName(t)) })
}

// remember returns m[k]. If the map does not have the key, it calls value and caches the result.
func remember[K comparable](m map[K]string, k K, value func() string) string {
	v, ok := m[k]
	if !ok {
		if len(m) >= maxSingleNames {
			clear(m)
		}
		v = value()
		m[k] = v
	}
	return v
}

// Close completes the table. It does nothing after Close or Abort.
func (s *Single) Close() error {
	if s.ended {
		return nil
	}
	s.ended = true
	return s.rows.close()
}

// Abort ends the goroutine, in place of Close, without Writer.Finish, so that no reader mistakes the table for complete.
// It does nothing after Close.
func (s *Single) Abort() error {
	if s.ended {
		return nil
	}
	s.ended = true
	s.rows.fail(errAborted)
	if err := s.rows.close(); !errors.Is(err, errAborted) {
		return err
	}
	return nil
}

var errAborted = errors.New("the table is not kept")

// Summary returns what was written. It is complete after Close.
func (s *Single) Summary() Summary { return s.done }
