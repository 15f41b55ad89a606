package wiretext

import (
	"strconv"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/internal/trace/wire/legacy"
)

// printEvents prints the header and the events of an event block, or of a metadata block of version 4.
func (p *printer) printEvents(n *node, c *bin.Cursor) error {
	h, err := wire.ParseEventBlockHeader(c)
	if err != nil {
		return err
	}
	n.num("flags", uint64(h.Flags), wire.FlagCompressed)
	n.num("min", h.Min, 0)
	n.num("max", h.Max, 0)
	n.hex("extra", h.Extra)
	e := wirestream.Headers{Objects: p.stream.Objects(), Compressed: h.Compressed()}
	if e.Objects && e.Compressed && n.word == wire.KindEvent.String() {
		e.Preview, _ = legacy.IsPreRelease(unread(*c), &h)
	}
	n.flag("preview", e.Preview)
	prev := e.First()
	for c.Len() > 0 {
		next, before := prev, *c
		size, used := e.Parse(&next, unread(*c))
		c.Skip(size)
		payload := c.Bytes(int(next.PayloadSize))
		if size <= 0 || c.Err() != nil {
			*c = before
			break
		}
		k := n.kid("event")
		printHeader(k, e, &prev, &next)
		p.printPayload(k, payload, n.word == wire.KindMetadata.String())
		if used > size+len(payload) {
			k.hex("padding", c.Bytes(used-size-len(payload)))
		}
		prev = next
	}
	return nil
}

// unread returns the unread bytes of a cursor, which does not move.
func unread(c bin.Cursor) []byte { return c.Rest() }

func printHeader(k *node, e wirestream.Headers, prev, h *wire.EventHeader) {
	k.put("", bare(strconv.FormatUint(h.Time, 10)))
	k.num("metadata", uint64(h.MetadataID), 0)
	k.num("seq", uint64(h.Sequence), 0)
	k.num("thread", h.Thread, 0)
	k.num("capture", h.CaptureThread, h.Thread)
	k.num("cpu", uint64(h.CPU), wire.NoCPU)
	k.num("stack", uint64(h.StackID), 0)
	k.num("labels", uint64(h.LabelList), 0)
	printIDs(k, h)
	k.flag("sorted", h.Sorted)
	if !e.Compressed {
		k.num("eventsize", uint64(h.EventSize), uint64(e.EventSize(int(h.PayloadSize))))
	} else if usual := e.Append(nil, prev, h, 0)[0]; h.Flags != usual {
		k.put("fields", bare("0x"+strconv.FormatUint(uint64(h.Flags), 16)))
	}
}

func printIDs(k *node, h *wire.EventHeader) {
	if h.Activity != [16]byte{} {
		k.hex("activity", h.Activity[:])
	}
	if h.Related != [16]byte{} {
		k.hex("related", h.Related[:])
	}
}

// printPayload prints a payload as bytes, or as a metadata row if it is one.
func (p *printer) printPayload(k *node, payload []byte, row bool) {
	if row && printRow(k, payload) {
		return
	}
	k.hex("payload", payload)
}

// buildEvents is the inverse of printEvents.
func (a *assembler) buildEvents(n *node) []string {
	h := wire.EventBlockHeader{
		Flags: uint16(a.num(n, "flags", 16, wire.FlagCompressed)),
		Min:   a.num(n, "min", 64, 0),
		Max:   a.num(n, "max", 64, 0),
		Extra: a.hex(n, "extra"),
	}
	h.HeaderSize = uint16(a.num(n, "headersize", 16, uint64(wire.MinEventBlockHeaderSize+len(h.Extra))))
	a.out = wire.AppendEventBlockHeader(a.out, &h)
	e := wirestream.Headers{Objects: a.stream.Objects(), Compressed: h.Compressed(), Preview: a.flag(n, "preview")}
	prev := e.First()
	return a.rows(n, "event", func(k *node) {
		next := a.header(k)
		payload := a.payload(k)
		next.PayloadSize = uint32(a.num(k, "payloadsize", 32, uint64(len(payload))))
		next.EventSize = uint32(a.num(k, "eventsize", 32, uint64(e.EventSize(len(payload)))))
		a.out = e.Append(a.out, &prev, &next, uint8(a.num(k, "fields", 8, 0)))
		a.out = append(a.out, payload...)
		a.out = append(a.out, a.hex(k, "padding")...)
		prev = next
	})
}

func (a *assembler) header(k *node) (h wire.EventHeader) {
	h.Time = a.num(k, "", 64, 0)
	h.MetadataID = uint32(a.num(k, "metadata", 32, 0))
	h.Sequence = uint32(a.num(k, "seq", 32, 0))
	h.Thread = a.num(k, "thread", 64, 0)
	h.CaptureThread = a.num(k, "capture", 64, h.Thread)
	h.CPU = uint32(a.num(k, "cpu", 32, wire.NoCPU))
	h.StackID = uint32(a.num(k, "stack", 32, 0))
	h.LabelList = uint32(a.num(k, "labels", 32, 0))
	h.Activity = a.id(k, "activity")
	h.Related = a.id(k, "related")
	h.Sorted = a.flag(k, "sorted")
	return h
}

// payload returns the bytes of the payload argument or of the metadata row below an event.
func (a *assembler) payload(k *node) []byte {
	b := a.hex(k, "payload")
	for _, r := range k.kids {
		if r.word == "row" {
			b = a.row(b, r)
			a.done(r, "field", "v2field")
		}
	}
	return b
}

// printRow prints a metadata row of versions 3 to 5 if its line can represent it.
func printRow(k *node, payload []byte) bool {
	c := bin.New(payload, 0)
	m, err := legacy.ParseMetadata(&c, wire.Limits{})
	if again := legacy.AppendMetadata(nil, &m); err != nil || string(again) != string(payload) {
		return false
	}
	r := k.kid("row")
	r.put("", bare(strconv.FormatUint(uint64(m.ID), 10)))
	r.put("", quoted(m.Provider))
	r.put("", bare(strconv.FormatUint(uint64(m.EventID), 10)))
	r.put("", quoted(m.Name))
	if m.Keywords != 0 {
		r.put("keywords", bare("0x"+strconv.FormatUint(m.Keywords, 16)))
	}
	r.num("version", uint64(m.Version), 0)
	r.num("level", uint64(m.Level), 0)
	if m.Has&legacy.HasOpcode != 0 {
		r.put("opcode", bare(strconv.Itoa(int(m.Opcode))))
	}
	r.flag("headonly", m.Has&legacy.HasV1 == 0)
	r.flag("v2", m.Has&legacy.HasV2 != 0)
	printFields(r, "field", m.V1)
	printFields(r, "v2field", m.V2)
	r.hex("extra", m.Extra)
	return true
}

// row is the inverse of printRow.
func (a *assembler) row(dst []byte, r *node) []byte {
	m := legacy.Metadata{Has: legacy.HasV1}
	m.ID = uint32(a.num(r, "", 32, 0))
	m.Provider = a.str(r)
	m.EventID = uint32(a.num(r, "", 32, 0))
	m.Name = a.str(r)
	m.Keywords = a.num(r, "keywords", 64, 0)
	m.Version = uint32(a.num(r, "version", 32, 0))
	m.Level = uint32(a.num(r, "level", 32, 0))
	if v := a.int(r, "opcode", 16, -1); v >= 0 {
		m.Opcode = uint8(v)
		m.Has |= legacy.HasOpcode
	}
	if a.flag(r, "headonly") {
		m.Has &^= legacy.HasV1
	}
	if a.flag(r, "v2") {
		m.Has |= legacy.HasV2
	}
	m.V1 = a.fields(r, "field")
	m.V2 = a.fields(r, "v2field")
	m.Extra = a.hex(r, "extra")
	return legacy.AppendMetadata(dst, &m)
}

// printEventsV3 prints the events of a version 3 block, each with its stack.
func (p *printer) printEventsV3(n *node, c *bin.Cursor) error {
	for c.Len() > 0 {
		before, offset := *c, c.Offset()
		e, _ := legacy.ParseEventV3(c) // if a long stack is its only defect, an event is complete
		if c.Err() != nil {
			*c = before
			break
		}
		k := n.kid("event")
		k.put("", bare(strconv.FormatUint(e.Header.Time, 10)))
		k.num("metadata", uint64(e.Header.MetadataID), 0)
		k.num("thread", e.Header.Thread, 0)
		printIDs(k, &e.Header)
		p.printPayload(k, e.Payload, e.Header.MetadataID == 0)
		if len(e.Stack) > 0 {
			p.printStack(k, e.Stack)
		}
		end := offset + int64(legacy.HeaderSizeV3+len(e.Payload)+4+len(e.Stack))
		if usual := legacy.Padding(end); len(e.Padding) != usual {
			k.num("padding", uint64(len(e.Padding)), uint64(usual))
		}
	}
	return nil
}

// buildEventV3 is the inverse of printEventsV3.
func (a *assembler) buildEventV3(k *node) {
	e := legacy.EventV3{Header: a.header(k), Payload: a.payload(k)}
	for _, s := range k.kids {
		if s.word == "stack" {
			e.Stack = a.stack(s)
			a.done(s)
		}
	}
	start := len(a.out)
	if n := a.int(k, "padding", 32, -1); n >= 0 && n < 1<<20 {
		e.Padding = make([]byte, n)
	}
	a.out = legacy.AppendEventV3(a.out, &e, a.base+int64(start))
	put := func(key string, at int) {
		if v := a.int(k, key, 32, -1<<40); v != -1<<40 {
			copy(a.out[at:], bin.AppendU32(nil, uint32(v)))
		}
	}
	put("eventsize", start)
	put("payloadsize", start+legacy.HeaderSizeV3-4)
	put("stacksize", start+legacy.HeaderSizeV3+len(e.Payload))
}
