package wiretext

import (
	"strconv"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/internal/trace/wire/legacy"
)

// printBody appends the contents of a block to its line. It stops at the first row that it cannot parse, and the caller
// prints the rest of c as bytes. After an error the caller prints the whole body as bytes.
func (p *printer) printBody(n *node, kind wire.Kind, c *bin.Cursor) error {
	switch kind {
	case wire.KindTrace:
		return p.printTrace(n, c)
	case wire.KindEvent, wire.KindMetadata:
		if kind == wire.KindMetadata && !p.stream.Objects() {
			return printMetadata(n, c)
		}
		if p.stream.Version == wire.V3 {
			return p.printEventsV3(n, c)
		}
		return p.printEvents(n, c)
	case wire.KindSequencePoint:
		return p.printSequencePoint(n, c)
	case wire.KindStack:
		return p.printStacks(n, c)
	case wire.KindThread:
		return printThreads(n, c)
	case wire.KindRemoveThread:
		for c.Len() > 0 && c.Err() == nil {
			printThreadSeq(n, wire.ParseThreadSeq(c))
		}
		return c.Err()
	case wire.KindLabelList:
		return printLabels(n, c)
	}
	return nil
}

// buildBody is the inverse of printBody. It returns the words that are permitted in lines below n.
func (a *assembler) buildBody(n *node, kind wire.Kind) []string {
	switch kind {
	case wire.KindTrace:
		return a.buildTrace(n)
	case wire.KindEvent, wire.KindMetadata:
		if kind == wire.KindMetadata && !a.stream.Objects() {
			return a.buildMetadata(n)
		}
		if a.stream.Version == wire.V3 {
			return a.rows(n, "event", a.buildEventV3)
		}
		return a.buildEvents(n)
	case wire.KindSequencePoint:
		return a.buildSequencePoint(n)
	case wire.KindStack:
		a.idRange(n, "stack")
		return a.rows(n, "stack", a.buildStack)
	case wire.KindThread:
		return a.rows(n, "row", a.buildThread)
	case wire.KindRemoveThread:
		return a.rows(n, "thread", func(k *node) { a.out = wire.AppendThreadSeq(a.out, a.threadSeq(k)) })
	case wire.KindLabelList:
		a.idRange(n, "list")
		return a.rows(n, "list", a.buildLabels)
	}
	return a.rows(n, wordRaw, nil)
}

// rows appends the rows of the lines with the given word, and raw lines, in their order.
func (a *assembler) rows(n *node, word string, row func(*node)) []string {
	for _, k := range n.kids {
		switch k.word {
		case wordRaw:
			a.raw(k)
		case word:
			row(k)
			a.done(k, "field", "v2field", "stack", "row")
		}
	}
	return []string{word}
}

// count returns the number of lines below n with a word, which is the default of a count.
func count(n *node, word string) (c uint64) {
	for _, k := range n.kids {
		if k.word == word {
			c++
		}
	}
	return c
}

func (p *printer) printTrace(n *node, c *bin.Cursor) error {
	var t wire.Trace
	var err error
	if p.stream.Objects() {
		t, err = legacy.ParseTrace(c)
	} else {
		t, err = wire.ParseTrace(c)
	}
	p.pointer = int(t.PointerSize)
	var sync []atom
	for _, v := range t.Sync {
		sync = append(sync, bare(strconv.Itoa(int(v))))
	}
	n.put("sync", sync...)
	n.int("ticks", t.SyncTicks, 0)
	n.int("frequency", t.Frequency, 0)
	n.int("pointer", int64(t.PointerSize), 0)
	n.int("pid", int64(t.ProcessID), 0)
	n.int("processors", int64(t.Processors), 0)
	n.int("rate", int64(t.SamplingRate), 0)
	for _, kv := range t.KeyValues {
		k := n.kid("kv")
		k.put("", quoted(kv.Key))
		k.put("", quoted(kv.Value))
	}
	n.kids = append(n.kids, rawLines(t.Extra)...)
	return err
}

func (a *assembler) buildTrace(n *node) []string {
	var t wire.Trace
	if sync := a.arg(n, "sync"); sync != nil {
		for i, v := range sync.atoms {
			x, err := strconv.ParseInt(v.text, 0, 16)
			if err != nil || i >= len(t.Sync) {
				a.fail(n, "sync wants %d numbers of 16 bits", len(t.Sync))
				break
			}
			t.Sync[i] = int16(x)
		}
	}
	t.SyncTicks = a.int(n, "ticks", 64, 0)
	t.Frequency = a.int(n, "frequency", 64, 0)
	t.PointerSize = int32(a.int(n, "pointer", 32, 0))
	a.pointer = int(t.PointerSize)
	if a.stream.Objects() {
		t.ProcessID = int32(a.int(n, "pid", 32, 0))
		t.Processors = int32(a.int(n, "processors", 32, 0))
		t.SamplingRate = int32(a.int(n, "rate", 32, 0))
		a.out = legacy.AppendTrace(a.out, &t)
		return a.rows(n, wordRaw, nil)
	}
	a.out = t.AppendClock(a.out)
	a.out = bin.AppendU32(a.out, uint32(a.num(n, "count", 32, count(n, "kv"))))
	return a.rows(n, "kv", func(k *node) {
		a.out = bin.AppendString(a.out, a.str(k))
		a.out = bin.AppendString(a.out, a.str(k))
	})
}

func (p *printer) printSequencePoint(n *node, c *bin.Cursor) error {
	var sp wire.SequencePoint
	var err error
	if p.stream.Objects() {
		sp, err = legacy.ParseSequencePoint(c, nil)
	} else {
		sp, err = wire.ParseSequencePoint(c, nil)
	}
	n.num("time", sp.Time, 0)
	n.num("flags", uint64(sp.Flags), 0)
	for _, t := range sp.Threads {
		printThreadSeq(n, t)
	}
	n.kids = append(n.kids, rawLines(sp.Extra)...)
	return err
}

func (a *assembler) buildSequencePoint(n *node) []string {
	a.out = bin.AppendU64(a.out, a.num(n, "time", 64, 0))
	if !a.stream.Objects() {
		a.out = bin.AppendU32(a.out, uint32(a.num(n, "flags", 32, 0)))
	}
	a.out = bin.AppendU32(a.out, uint32(a.num(n, "count", 32, count(n, "thread"))))
	return a.rows(n, "thread", func(k *node) {
		t := a.threadSeq(k)
		if a.stream.Objects() {
			a.out = bin.AppendU32(bin.AppendU64(a.out, t.Thread), t.Sequence)
		} else {
			a.out = wire.AppendThreadSeq(a.out, t)
		}
	})
}

func printThreadSeq(n *node, t wire.ThreadSeq) {
	k := n.kid("thread")
	k.put("", bare(strconv.FormatUint(t.Thread, 10)))
	k.num("seq", uint64(t.Sequence), 0)
}

func (a *assembler) threadSeq(k *node) wire.ThreadSeq {
	return wire.ThreadSeq{Thread: a.num(k, "", 64, 0), Sequence: uint32(a.num(k, "seq", 32, 0))}
}

// idRange appends the header of a stack or label list block.
func (a *assembler) idRange(n *node, word string) {
	first := uint32(a.num(n, "first", 32, 1))
	a.out = wire.AppendIDRange(a.out, wire.IDRange{First: first, Count: uint32(a.num(n, "count", 32, count(n, word)))})
}

func (p *printer) printStacks(n *node, c *bin.Cursor) error {
	r, err := wire.ParseStackHeader(c)
	n.num("first", uint64(r.First), 1)
	for c.Len() > 0 {
		before := *c
		stack := wire.NextStack(c)
		if c.Err() != nil {
			*c = before
			break
		}
		p.printStack(n, stack)
	}
	n.num("count", uint64(r.Count), count(n, "stack"))
	return err
}

// printStack prints a stack as addresses, or as bytes if its size is not a multiple of the pointer size.
func (p *printer) printStack(n *node, stack []byte) {
	k := n.kid("stack")
	if p.pointer != 4 && p.pointer != 8 || len(stack)%p.pointer != 0 {
		k.hex("bytes", stack)
		return
	}
	for c := bin.New(stack, 0); c.Len() > 0; {
		v := uint64(0)
		if p.pointer == 4 {
			v = uint64(c.U32())
		} else {
			v = c.U64()
		}
		k.put("", bare("0x"+strconv.FormatUint(v, 16)))
	}
}

func (a *assembler) buildStack(k *node) {
	stack := a.stack(k)
	a.out = bin.AppendU32(a.out, uint32(a.num(k, "size", 32, uint64(len(stack)))))
	a.out = append(a.out, stack...)
}

// stack returns the bytes of a stack line.
func (a *assembler) stack(k *node) []byte {
	stack := a.hex(k, "bytes")
	for i := range k.args {
		v := &k.args[i]
		if v.key != "" || len(v.atoms) != 1 {
			continue
		}
		v.used = true
		if a.pointer == 4 {
			stack = bin.AppendU32(stack, uint32(a.parseNum(k, v.atoms[0].text, 32)))
		} else {
			stack = bin.AppendU64(stack, a.parseNum(k, v.atoms[0].text, 64))
		}
	}
	return stack
}
