package chromeevent

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/data/jsonio"
)

// A Decoder converts events of a trace that an Encoder wrote back to events of Chrome's format. It holds the parts of
// incomplete events: at most one event per capture thread, and 512 MiB in total. It is not safe for concurrent use.
//
// Three caches avoid work: last is the plan of typ, owner the text of thread, and interned holds short strings. e and
// its slices args and other are lent to the caller of Decode, which resets them.
type Decoder struct {
	report *ntconv.Report

	plans map[*ntconv.Type]*plan
	last  *plan
	typ   *ntconv.Type

	owners map[*ntconv.Thread]ownerText
	thread *ntconv.Thread
	owner  ownerText

	open      map[*ntconv.Thread]*parts
	openBytes int // size of the data of all parts

	e        Event
	args     []byte
	other    []byte
	interned map[string]string
	parser   Parser
}

// parts holds the parts of an event whose last part has not been decoded yet.
type parts struct {
	n    uint64 // number of parts so far
	data []byte // JSON so far
}

// maxOpenBytes bounds the parts that a Decoder holds, in bytes.
const maxOpenBytes = 512 << 20

// NewDecoder returns a Decoder for one trace. It counts events that it cannot decode in report (CodePayload), which may
// be nil.
func NewDecoder(report *ntconv.Report) *Decoder {
	return &Decoder{report: report, plans: map[*ntconv.Type]*plan{}, owners: map[*ntconv.Thread]ownerText{}, open: map[*ntconv.Thread]*parts{}}
}

// Decode converts an event, which it borrows. Of must return true for the type of the event. The result and its byte
// slices are borrowed until the next call. ok is false if there is nothing to write for the event: it is one of the
// first parts of a large event, it is invalid, or its kind is not KindEvent.
//
// Time of the result is the member ts in nanoseconds of the clock of the original file. A caller that writes other
// times overwrites it.
func (d *Decoder) Decode(e *ntconv.Event) (event *Event, ok bool) {
	if e.Kind != ntconv.KindEvent {
		return nil, false
	}
	p := d.planOf(e.Type)
	if p.invalid {
		return d.bad(e, "fields do not match the layout of a Chrome event")
	}
	d.e = Event{Phase: p.phase, Name: p.name, Category: p.category, Has: p.has, TopLevel: p.topLevel, Time: int64(e.Time)}
	d.args, d.other = d.args[:0], d.other[:0]
	c := cursor{bin.Reader{B: e.Payload}}
	if p.part {
		return d.addPart(e, &c)
	}
	count := d.fields(p, &c)
	if c.Failed || len(c.B) > 0 {
		return d.bad(e, "payload does not match the layout of a Chrome event")
	}
	switch {
	case p.parts:
		if !d.join(e, count) {
			return d.bad(e, "missing parts of a Chrome event")
		}
	case len(d.other) > 0:
		d.e.Other = d.other
	}
	d.setOwner(e.Thread)
	return &d.e, true
}

// bad counts an event that cannot be decoded.
func (d *Decoder) bad(e *ntconv.Event, what string) (*Event, bool) {
	d.report.Note(ntconv.CodePayload, 1, e.Offset, what)
	return nil, false
}

// planOf returns the plan of a type, which it caches.
func (d *Decoder) planOf(t *ntconv.Type) *plan {
	if t == d.typ && d.last != nil {
		return d.last
	}
	p := d.plans[t]
	if p == nil {
		p = newPlan(t)
		d.plans[t] = p
	}
	d.typ, d.last = t, p
	return p
}

// setOwner sets PID and TID of the result.
func (d *Decoder) setOwner(t *ntconv.Thread) {
	if t != d.thread || t == nil {
		o, ok := d.owners[t]
		if !ok {
			o = textOf(t)
			d.owners[t] = o
		}
		d.thread, d.owner = t, o
	}
	d.e.PID, d.e.TID = d.owner.pid, d.owner.tid
	if d.e.PID != nil {
		d.e.Has |= HasPID
	}
	if d.e.TID != nil {
		d.e.Has |= HasTID
	}
}

// fields decodes a payload into d.e. It returns the number of parts, or 0 if the event has no parts.
func (d *Decoder) fields(p *plan, c *cursor) (parts uint64) {
	for i := 0; i < len(p.ops); i++ {
		o := &p.ops[i]
		switch o.code {
		case codeArgs:
			i++
			d.args, i = d.object(append(d.args, '{'), p.ops, i, c)
			d.e.Args = d.args
		case codeWhole:
			i++
			d.args = c.value(d.args, &p.ops[i])
			d.e.Args = d.args
		case codeOther:
			if len(d.other) > 0 {
				d.other = append(d.other, ',')
			}
			i++
			d.other, i = d.member(d.other, p.ops, i, c)
		case codeOthers:
			d.other = append(d.other, c.Text()...)
		case codeGeneric:
			d.generic(p, c)
		case codeParts:
			parts = c.Uvarint()
		default:
			d.field(o.code, c)
		}
	}
	return parts
}

// field decodes the field of one member.
func (d *Decoder) field(code byte, c *cursor) {
	e := &d.e
	switch code {
	case codeDuration:
		e.Duration, e.Has = c.Varint(), e.Has|HasDuration
	case codeThreadDuration:
		e.ThreadDuration, e.Has = c.Varint(), e.Has|HasThreadDuration
	case codeThreadTime:
		e.ThreadTime, e.Has = c.Varint(), e.Has|HasThreadTime
	case codeTime:
		e.Time = c.Varint()
	case codeID, upper(codeID):
		e.ID = ID{PlainID, code != codeID, c.Text()}
	case codeLocalID, upper(codeLocalID):
		e.ID = ID{LocalID, code != codeLocalID, c.Text()}
	case codeGlobalID, upper(codeGlobalID):
		e.ID = ID{GlobalID, code != codeGlobalID, c.Text()}
	case codeBindID, upper(codeBindID):
		e.BindID = ID{PlainID, code != codeBindID, c.Text()}
	case codeName:
		e.Name = string(c.Text())
	case codeCategory:
		e.Category = string(c.Text())
	case codeIDScope:
		e.IDScope, e.Has = d.string(c.Text()), e.Has|HasIDScope
	case codeScope:
		e.Scope, e.Has = d.string(c.Text()), e.Has|HasScope
	case codeBindPoint:
		e.BindPoint, e.Has = d.string(c.Text()), e.Has|HasBindPoint
	case codeFlowIn:
		e.FlowIn, e.Has = c.bool(), e.Has|HasFlowIn
	case codeFlowOut:
		e.FlowOut, e.Has = c.bool(), e.Has|HasFlowOut
	}
}

// string interns a string; only members with few values use it.
func (d *Decoder) string(b []byte) string {
	s, ok := d.interned[string(b)]
	if !ok {
		s = string(b)
		if d.interned == nil || len(d.interned) >= maxNames {
			d.interned = map[string]string{}
		}
		d.interned[s] = s
	}
	return s
}

// object appends the members and the closing brace of an object whose first member is ops[i]. It returns the index of
// the op that closes the object.
func (d *Decoder) object(dst []byte, ops []op, i int, c *cursor) ([]byte, int) {
	for first := true; i < len(ops) && ops[i].code != classClose; first, i = false, i+1 {
		if !first {
			dst = append(dst, ',')
		}
		dst, i = d.member(dst, ops, i, c)
	}
	return append(dst, '}'), i
}

// member appends a name and a value, and returns the index of the last op of the value.
func (d *Decoder) member(dst []byte, ops []op, i int, c *cursor) ([]byte, int) {
	o := &ops[i]
	dst = append(dst, o.key...)
	switch o.code {
	case classOpen:
		return d.object(append(dst, '{'), ops, i+1, c)
	case classArray:
		n := c.Uint16()
		dst = append(dst, '[')
		for k := range n {
			if c.Failed {
				break
			}
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = c.value(dst, o)
		}
		return append(dst, ']'), i
	}
	return c.value(dst, o), i
}

// generic decodes an event whose type states only the phase. All other members are fields.
func (d *Decoder) generic(p *plan, c *cursor) {
	phase, category, name, members, args := c.Text(), c.Text(), c.Text(), c.Text(), c.Text()
	if c.Failed {
		return
	}
	text := append(append([]byte{'{'}, members...), '}')
	if end, err := jsonio.Skip(text, 0); err != nil || end != len(text) {
		c.Failed = true
		return
	}
	last := d.e
	d.parser.Parse(text, &d.e)
	d.e.Time, d.e.TopLevel = last.Time, last.TopLevel
	if d.e.Has |= p.has & HasTime; last.Has&HasDuration != 0 {
		d.e.Duration, d.e.Has = last.Duration, d.e.Has|HasDuration
	}
	d.e.Phase = string(phase)
	d.quoted(&d.e.Category, HasCategory, category)
	d.quoted(&d.e.Name, HasName, name)
	if d.e.Args = nil; len(args) > 0 {
		d.e.Args = args
	}
	c.Failed = c.Failed || len(args) > 0 && !isJSON(args)
}

// quoted decodes a string in quotes. An empty b means that the member is absent.
func (d *Decoder) quoted(s *string, m Member, b []byte) {
	if len(b) > 0 {
		text, _ := jsonio.AppendUnquoted(nil, b)
		*s = string(text)
		d.e.Has |= m
	}
}

// isJSON reports whether b is exactly one JSON value.
func isJSON(b []byte) bool {
	end, err := jsonio.Skip(b, 0)
	return err == nil && end == len(b)
}

// addPart stores one of the first parts of an event. A part with number 0 begins a new event.
func (d *Decoder) addPart(e *ntconv.Event, c *cursor) (*Event, bool) {
	number, data := c.Uvarint(), c.Text()
	if c.Failed || len(c.B) > 0 {
		return d.bad(e, "payload does not match the layout of a Chrome event")
	}
	p := d.open[e.Capture]
	if number == 0 {
		if p != nil {
			d.openBytes -= len(p.data)
			d.bad(e, "missing parts of a Chrome event")
		}
		p = &parts{}
		d.open[e.Capture] = p
	}
	if p == nil || p.n != number || d.openBytes+len(data) > maxOpenBytes {
		if p != nil {
			d.openBytes -= len(p.data)
			delete(d.open, e.Capture)
		}
		return d.bad(e, "missing parts of a Chrome event, or parts that are too large")
	}
	p.n++
	p.data = append(p.data, data...)
	d.openBytes += len(data)
	return nil, false
}

// join sets d.e to the event whose n parts precede the last one, and keeps the times of the last one. It returns false
// if parts are missing.
func (d *Decoder) join(e *ntconv.Event, n uint64) bool {
	p := d.open[e.Capture]
	if p == nil {
		return false
	}
	delete(d.open, e.Capture)
	d.openBytes -= len(p.data)
	if p.n != n || !isJSON(p.data) {
		return false
	}
	last := d.e
	d.parser.Parse(p.data, &d.e)
	d.e.Time, d.e.TopLevel = last.Time, last.TopLevel
	d.e.Has = d.e.Has&^HasTime | last.Has&HasTime
	return true
}

// A cursor reads a payload.
type cursor struct{ bin.Reader }

func (c *cursor) bool() bool {
	b := c.Bytes(4)
	return b != nil && binary.LittleEndian.Uint32(b) != 0
}

// value appends a scalar as JSON.
func (c *cursor) value(dst []byte, o *op) []byte {
	switch o.class {
	case classText:
		return jsonio.AppendQuoted(dst, c.Text())
	case classBool:
		return appendBool(dst, c.bool())
	case classUint:
		return strconv.AppendUint(dst, c.Uvarint(), 10)
	case classJSON:
		b := c.Text()
		c.Failed = c.Failed || !isJSON(b)
		return append(dst, b...)
	}
	if !o.float {
		return strconv.AppendInt(dst, c.Varint(), 10)
	}
	b := c.Bytes(8)
	if b == nil {
		return dst
	}
	f := math.Float64frombits(binary.LittleEndian.Uint64(b))
	c.Failed = c.Failed || math.IsNaN(f) || math.IsInf(f, 0)
	return jsonio.AppendFloat(dst, f, 64)
}
