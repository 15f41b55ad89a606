package ntconvtest

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
)

// Options say what EqualStreams overlooks. Everything is compared where an option does not say otherwise, but for
//
//   - Event.Offset,
//   - the placement of KindDefine events (see EqualStreams),
//   - the difference between a stack or label list that is missing and one that is empty,
//   - sequence numbers that one of the streams does not know,
//   - the time of marks that end threads, which formats do not record,
//   - FlagPlaceholder and FlagLate, which tell about the reading, not about the trace.
type Options struct {
	// EmptyMarks overlooks sequence points without threads and flags: a writer may insert them.
	EmptyMarks bool
	// Sorted overlooks FlagSorted.
	Sorted bool
	// Lost overlooks KindLost events.
	Lost bool
	// Frames compares only the addresses of stacks.
	Frames bool
	// Info does not compare what the sources say before the first event.
	Info bool
	// Errors takes an error of a source for its end.
	Errors bool
}

// Equal returns nil if two events are equal in everything they refer to, and an error that says what differs.
// Pointers are followed, not compared.
func Equal(a, b *ntconv.Event) error {
	c := newComparer(&Options{})
	return c.events(a, b)
}

// EqualStreams returns nil if two sources yield the same trace, and an error that says where they part.
//
// Types, threads and processes are compared by content and by identity: what is one pointer in one stream must be one in
// the other, so two threads with equal rows stay two. KindDefine events may stand elsewhere or be missing if the type or
// thread is used, since writers put definitions where their format wants them; but what is only declared in one stream must
// be declared or used in the other. Attributes of the trace with the prefix "ntconv." are not compared.
func EqualStreams(a, b ntconv.Source, opts *Options) error {
	if opts == nil {
		opts = &Options{}
	}
	c := newComparer(opts)
	c.machine = [2]uint8{pointerSize(a.Info()), pointerSize(b.Info())}
	if err := c.infos(a.Info(), b.Info()); err != nil {
		return fmt.Errorf("info: %w", err)
	}
	for n := 0; ; n++ {
		x, errA := c.next(a, 0)
		y, errB := c.next(b, 1)
		switch {
		case errA != nil && errA != io.EOF:
			return fmt.Errorf("event %d: first source: %w", n, errA)
		case errB != nil && errB != io.EOF:
			return fmt.Errorf("event %d: second source: %w", n, errB)
		case errA != errB:
			return fmt.Errorf("event %d: only one stream ends: %s and %s", n, describe(x), describe(y))
		case errA == io.EOF:
			return c.definitions()
		}
		if err := c.events(x, y); err != nil {
			return fmt.Errorf("event %d: %w\n\t%s\n\t%s", n, err, describe(x), describe(y))
		}
	}
}

// next returns the next event that takes part in the comparison.
func (c *comparer) next(src ntconv.Source, side int) (*ntconv.Event, error) {
	for {
		e, err := src.Next()
		if err != nil && c.opts.Errors {
			err = io.EOF
		}
		switch {
		case err != nil:
			return nil, err
		case e.Kind == ntconv.KindDefine:
			c.define(e, side)
		case e.Kind == ntconv.KindLost && c.opts.Lost:
		case e.Kind == ntconv.KindMark && c.opts.EmptyMarks && emptyMark(e.Mark):
		default:
			return e, nil
		}
	}
}

func emptyMark(m *ntconv.Mark) bool {
	return m.Kind == ntconv.MarkSequencePoint && m.Flags == 0 && len(m.Threads) == 0
}

func pointerSize(info *ntconv.Info) uint8 {
	if info.PointerSize == 4 {
		return 4
	}
	return 8
}

// describe returns an event on one line.
func describe(e *ntconv.Event) string {
	if e == nil {
		return "end"
	}
	var s strings.Builder
	fmt.Fprintf(&s, "%v at byte %d, time %d, seq %d", e.Kind, e.Offset, e.Time, e.Seq)
	if e.Type != nil {
		fmt.Fprintf(&s, ", %s/%d %q", e.Type.Provider, e.Type.ID, e.Type.Name)
	}
	if e.Thread != nil {
		fmt.Fprintf(&s, ", thread %d", e.Thread.TID)
	}
	if e.Capture != nil && e.Capture != e.Thread {
		fmt.Fprintf(&s, " by %d", e.Capture.TID)
	}
	if e.Kind == ntconv.KindLost {
		fmt.Fprintf(&s, ", %d lost", e.Lost)
	}
	if e.Mark != nil {
		fmt.Fprintf(&s, ", %v with flags %d and %d threads", e.Mark.Kind, e.Mark.Flags, len(e.Mark.Threads))
	}
	if len(e.Payload) > 0 {
		fmt.Fprintf(&s, ", %d bytes", len(e.Payload))
	}
	return s.String()
}

// A comparer compares two streams, and remembers which pointers of one stand for which of the other.
type comparer struct {
	opts    *Options
	machine [2]uint8 // pointer size of the machine, for processes that do not know theirs; 0 if not compared

	types   pairs[ntconv.Type]
	threads pairs[ntconv.Thread]
	procs   pairs[ntconv.Process]

	lastStacks [2]*ntconv.Stack // found equal
	lastLabels [2]*ntconv.Labels

	defTypes   [2][]*ntconv.Type
	defThreads [2][]*ntconv.Thread
}

func newComparer(opts *Options) *comparer {
	c := &comparer{opts: opts}
	c.types = newPairs("type", equalTypes)
	c.threads = newPairs("thread", c.equalThreads)
	c.procs = newPairs("process", c.equalProcesses)
	return c
}

// pairs is a one-to-one relation of the pointers of two streams.
type pairs[T any] struct {
	what  string
	equal func(a, b *T) error
	other [2]map[*T]*T
	last  [2]*T
}

func newPairs[T any](what string, equal func(a, b *T) error) pairs[T] {
	return pairs[T]{what: what, equal: equal, other: [2]map[*T]*T{{}, {}}}
}

// match relates a and b, and fails if their content differs or if one of them has another partner.
func (p *pairs[T]) match(a, b *T) error {
	switch {
	case a == p.last[0] && b == p.last[1]:
		return nil
	case a == nil || b == nil:
		if a != b {
			return fmt.Errorf("only one has a %s", p.what)
		}
		return nil
	}
	x, y := p.other[0][a], p.other[1][b]
	switch {
	case x == nil && y == nil:
		if err := p.equal(a, b); err != nil {
			return fmt.Errorf("%s: %w", p.what, err)
		}
		p.other[0][a], p.other[1][b] = b, a
	case x != b || y != a:
		if x != nil {
			return fmt.Errorf("one %s of the first stream is several in the second: %+v", p.what, *a)
		}
		return fmt.Errorf("several %ss of the first stream are one in the second: %+v", p.what, *b)
	}
	p.last = [2]*T{a, b}
	return nil
}

func (c *comparer) events(a, b *ntconv.Event) error {
	const reading = ntconv.FlagPlaceholder | ntconv.FlagLate
	flags := (a.Flags ^ b.Flags) &^ reading
	if c.opts.Sorted {
		flags &^= ntconv.FlagSorted
	}
	switch {
	case a.Kind != b.Kind:
		return fmt.Errorf("kind: %v and %v", a.Kind, b.Kind)
	case a.Time != b.Time && !removal(a):
		return fmt.Errorf("time: %d and %d", a.Time, b.Time)
	case !sameSeq(a.Seq, b.Seq):
		return fmt.Errorf("sequence number: %d and %d", a.Seq, b.Seq)
	case a.Lost != b.Lost:
		return fmt.Errorf("lost events: %d and %d", a.Lost, b.Lost)
	case a.CPU != b.CPU:
		return fmt.Errorf("processor: %d and %d", a.CPU, b.CPU)
	case flags != 0:
		return fmt.Errorf("flags: %b and %b", a.Flags, b.Flags)
	case !bytes.Equal(a.Payload, b.Payload):
		return fmt.Errorf("payload: %s", differ(a.Payload, b.Payload))
	}
	if err := c.types.match(a.Type, b.Type); err != nil {
		return err
	}
	if err := c.threads.match(a.Thread, b.Thread); err != nil {
		return err
	}
	if err := c.threads.match(a.Capture, b.Capture); err != nil {
		return fmt.Errorf("capture %w", err)
	}
	if err := c.stacks(a.Stack, b.Stack); err != nil {
		return fmt.Errorf("stack: %w", err)
	}
	if err := c.labels(a.Labels, b.Labels); err != nil {
		return fmt.Errorf("labels: %w", err)
	}
	return c.marks(a.Mark, b.Mark)
}

// removal reports whether e is a mark that ends threads, the one thing without a time of its own: readers give it the time
// of its neighbors.
func removal(e *ntconv.Event) bool {
	return e.Kind == ntconv.KindMark && e.Mark != nil && e.Mark.Kind == ntconv.MarkThreadsRemoved
}

// sameSeq compares sequence numbers. Zero is a number that was not recorded.
func sameSeq(a, b uint32) bool { return a == b || a == 0 || b == 0 }

// differ says where two byte slices part.
func differ(a, b []byte) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return fmt.Sprintf("%d and %d bytes, which differ from byte %d on", len(a), len(b), n)
}

func (c *comparer) stacks(a, b *ntconv.Stack) error {
	if a == c.lastStacks[0] && b == c.lastStacks[1] {
		return nil
	}
	var x, y ntconv.Stack
	if a != nil {
		x = *a
	}
	if b != nil {
		y = *b
	}
	if !slices.Equal(x.PCs, y.PCs) {
		return fmt.Errorf("addresses: %#x and %#x", x.PCs, y.PCs)
	}
	if !c.opts.Frames {
		if len(x.Frames) != len(y.Frames) {
			return fmt.Errorf("%d and %d frames", len(x.Frames), len(y.Frames))
		}
		for i := range x.Frames {
			if err := equalFrames(&x.Frames[i], &y.Frames[i]); err != nil {
				return fmt.Errorf("frame %d: %w", i, err)
			}
		}
	}
	c.lastStacks = [2]*ntconv.Stack{a, b}
	return nil
}

func equalFrames(a, b *ntconv.Frame) error {
	x, y := *a, *b
	x.Func, x.Mapping, y.Func, y.Mapping = nil, nil, nil, nil
	if x != y {
		return fmt.Errorf("%+v and %+v", x, y)
	}
	if !equalPointees(a.Func, b.Func) {
		return fmt.Errorf("function: %+v and %+v", a.Func, b.Func)
	}
	if !equalPointees(a.Mapping, b.Mapping) {
		return fmt.Errorf("mapping: %+v and %+v", a.Mapping, b.Mapping)
	}
	return nil
}

func equalPointees[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func (c *comparer) labels(a, b *ntconv.Labels) error {
	if a == c.lastLabels[0] && b == c.lastLabels[1] {
		return nil
	}
	if !a.Equal(b) {
		return fmt.Errorf("%+v and %+v", a, b)
	}
	c.lastLabels = [2]*ntconv.Labels{a, b}
	return nil
}

func (c *comparer) marks(a, b *ntconv.Mark) error {
	switch {
	case a == nil && b == nil:
		return nil
	case a == nil || b == nil:
		return fmt.Errorf("only one has a mark")
	case a.Kind != b.Kind || a.Flags != b.Flags || len(a.Threads) != len(b.Threads):
		return fmt.Errorf("mark: %+v and %+v", a, b)
	}
	for i := range a.Threads {
		x, y := a.Threads[i], b.Threads[i]
		if err := c.threads.match(x.Thread, y.Thread); err != nil {
			return fmt.Errorf("mark: entry %d: %w", i, err)
		}
		if !sameSeq(x.Seq, y.Seq) {
			return fmt.Errorf("mark: entry %d: sequence number %d and %d", i, x.Seq, y.Seq)
		}
	}
	return nil
}
