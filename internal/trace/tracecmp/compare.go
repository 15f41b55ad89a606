package tracecmp

import (
	"bytes"
	"fmt"

	"github.com/ntconv/ntconv"
)

// A comparer compares two streams. Index 0 of its arrays is the first stream, 1 the second.
//
//	field                         set by                  cleared by
//	types, threads, procs         match                   never: pointers keep their partner
//	sameStacks, sameLabels        add                     add, at maxAlike pairs
//	sameMappings                  keepEqual               keepEqual, at maxAlike pairs
//	mappingLists, listNumbers     mappingsNumber          never
//	numbers                       sameEventSeq, lose,     endMark, for threads that the mark ends
//	                              sameMarkSeq
//	defTypes, defThreads          define                  never; definitions reads them at the end
type comparer struct {
	opts    *Options
	n       [2]int64 // number of KindEvent events read
	machine [2]uint8 // pointer size of the machine, for processes without their own; 0 if not compared

	types   pairs[ntconv.Type]
	threads pairs[ntconv.Thread]
	procs   pairs[ntconv.Process]

	sameStacks alike[ntconv.Stack]
	sameLabels alike[ntconv.Labels]
	// Many processes may share a list of mappings, so results per list are cached.
	sameMappings map[[2]mappingList]bool
	mappingLists map[string]int      // numbers of lists by content
	listNumbers  map[mappingList]int // numbers of lists by pointer

	numbers [2]numbers

	defTypes   declared[ntconv.Type]
	defThreads declared[ntconv.Thread]
}

func newComparer(opts *Options) *comparer {
	c := &comparer{opts: opts}
	c.types = newPairs("type", equalTypes)
	c.threads = newPairs("thread", c.equalThreads)
	c.procs = newPairs("process", c.equalProcesses)
	return c
}

// events compares two items of the streams. It returns nil if they are equal.
func (c *comparer) events(a, b *ntconv.Event) *Difference {
	if d := c.values(a, b); d != nil {
		return d
	}
	if d := c.types.match(a.Type, b.Type); d != nil {
		return d
	}
	if d := c.threads.match(a.Thread, b.Thread); d != nil {
		return d
	}
	if d := c.threads.match(a.Capture, b.Capture); d != nil {
		return d.in("captured by")
	}
	if d := c.stacks(a.Stack, b.Stack); d != nil {
		return d.in("stack")
	}
	if d := c.labels(a.Labels, b.Labels); d != nil {
		return d
	}
	return c.marks(a.Mark, b.Mark).in("mark")
}

// values compares the members of the events that are not pointers.
func (c *comparer) values(a, b *ntconv.Event) *Difference {
	const reading = ntconv.FlagPlaceholder | ntconv.FlagLate | ntconv.FlagNumbered
	flags := (a.Flags ^ b.Flags) &^ reading
	if c.opts.Sorted {
		flags &^= ntconv.FlagSorted
	}
	switch {
	case a.Kind != b.Kind:
		return differ("kind", a.Kind, b.Kind)
	case a.Time != b.Time && !removal(a):
		return differ("time", a.Time, b.Time)
	case !c.sameEventSeq(a, b):
		return differ("sequence number", a.Seq, b.Seq)
	case a.Lost != b.Lost:
		return differ("lost events", a.Lost, b.Lost)
	case a.CPU != b.CPU:
		return differ("CPU", a.CPU, b.CPU)
	case flags != 0:
		return differ("flags", a.Flags, b.Flags)
	case !bytes.Equal(a.Payload, b.Payload):
		return differPayloads(a.Payload, b.Payload)
	}
	return nil
}

// removal reports whether e is a mark that ends threads. Such a mark has no time of its own; readers give it the time
// of its neighbors.
func removal(e *ntconv.Event) bool {
	return e.Kind == ntconv.KindMark && e.Mark != nil && e.Mark.Kind == ntconv.MarkThreadsRemoved
}

// differPayloads returns the position at which two payloads differ, and the bytes from there on.
func differPayloads(a, b []byte) *Difference {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	const some = 32
	part := func(p []byte) string { return fmt.Sprintf("%d bytes with %#x", len(p), p[n:min(n+some, len(p))]) }
	return &Difference{What: fmt.Sprintf("payload from its byte %d on", n), A: part(a), B: part(b)}
}

func (c *comparer) stacks(a, b *ntconv.Stack) *Difference {
	if c.sameStacks.has(a, b) {
		return nil
	}
	x, y := content(a), content(b)
	if d := elements("address", x.PCs, y.PCs); d != nil {
		return d
	}
	if d := c.frames(x.Frames, y.Frames); d != nil {
		return d
	}
	c.sameStacks.add(a, b, len(x.PCs)+len(x.Frames))
	return nil
}

// content returns the value that p points to, or the zero value for nil.
func content[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func (c *comparer) frames(a, b []ntconv.Frame) *Difference {
	switch {
	case c.opts.Frames:
		return nil
	case len(a) != len(b):
		return differ("number of frames", len(a), len(b))
	}
	for i := range a {
		if d := equalFrames(&a[i], &b[i]); d != nil {
			return d.in("frame %d", i)
		}
	}
	return nil
}

func equalFrames(a, b *ntconv.Frame) *Difference {
	switch {
	case a.PC != b.PC:
		return differ("address", address(a.PC), address(b.PC))
	case a.Line != b.Line:
		return differ("line", a.Line, b.Line)
	case a.Column != b.Column:
		return differ("column", a.Column, b.Column)
	case a.Flags != b.Flags:
		return differ("flags", a.Flags, b.Flags)
	}
	if d := equalFunctions(a.Func, b.Func); d != nil {
		return d.in("function")
	}
	return equalMappings(a.Mapping, b.Mapping).in("mapping")
}

func equalFunctions(a, b *ntconv.Function) *Difference {
	switch {
	case a == b:
		return nil
	case a == nil || b == nil:
		return differf("only one has it")
	case a.Name != b.Name:
		return differ("name", a.Name, b.Name)
	case a.SystemName != b.SystemName:
		return differ("system name", a.SystemName, b.SystemName)
	case a.File != b.File:
		return differ("file", a.File, b.File)
	case a.StartLine != b.StartLine:
		return differ("first line", a.StartLine, b.StartLine)
	}
	return nil
}

func equalMappings(a, b *ntconv.Mapping) *Difference {
	switch {
	case a == b:
		return nil
	case a == nil || b == nil:
		return differf("only one has it")
	case a.Start != b.Start:
		return differ("start", address(a.Start), address(b.Start))
	case a.Limit != b.Limit:
		return differ("limit", address(a.Limit), address(b.Limit))
	case a.Offset != b.Offset:
		return differ("file offset", address(a.Offset), address(b.Offset))
	case a.File != b.File:
		return differ("file", a.File, b.File)
	case a.BuildID != b.BuildID:
		return differ("build ID", a.BuildID, b.BuildID)
	case a.Flags != b.Flags:
		return differ("flags", a.Flags, b.Flags)
	}
	return nil
}

func (c *comparer) labels(a, b *ntconv.Labels) *Difference {
	if c.sameLabels.has(a, b) {
		return nil
	}
	if !a.Equal(b) {
		return elements("label", a.List(), b.List())
	}
	c.sameLabels.add(a, b, len(a.List()))
	return nil
}

func (c *comparer) marks(a, b *ntconv.Mark) *Difference {
	switch {
	case a == nil && b == nil:
		return nil
	case a == nil || b == nil:
		return differf("only one has it")
	case a.Kind != b.Kind:
		return differ("kind", a.Kind, b.Kind)
	case a.Flags != b.Flags:
		return differ("flags", a.Flags, b.Flags)
	case len(a.Threads) != len(b.Threads):
		return differ("number of threads", len(a.Threads), len(b.Threads))
	}
	defer c.endMark(a, b)
	for i := range a.Threads {
		x, y := a.Threads[i], b.Threads[i]
		if d := c.threads.match(x.Thread, y.Thread); d != nil {
			return d.in("entry %d", i)
		}
		if !c.sameMarkSeq(&x, &y) {
			return differ(fmt.Sprintf("entry %d: sequence number", i), x.Seq, y.Seq)
		}
	}
	return nil
}
