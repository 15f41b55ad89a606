package stored

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"unicode/utf8"

	"github.com/ntconv/ntconv/internal/span"
)

// Cut truncates a string to at most size bytes without splitting a character.
func Cut(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for size > 0 && !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size]
}

// A Payload is a payload under construction, in the encoding that a Cursor reads.
type Payload struct {
	b    []byte
	wide bool
	over bool // a length does not fit into 16 bits, so the payload is invalid
}

func (p *Payload) reset() { p.b, p.over = p.b[:0], false }

// Varuint appends an unsigned number of variable length (ntconv.TypeVarUint).
func (p *Payload) Varuint(n uint64) { p.b = binary.AppendUvarint(p.b, n) }

// Varint appends a signed number of variable length (ntconv.TypeVarInt).
func (p *Payload) Varint(n int64) { p.b = binary.AppendVarint(p.b, n) }

// Flag appends a Boolean (ntconv.TypeVarUint).
func (p *Payload) Flag(set bool) {
	if set {
		p.b = append(p.b, 1)
	} else {
		p.b = append(p.b, 0)
	}
}

// Uint32 appends a number of 4 bytes.
func (p *Payload) Uint32(n uint32) { p.b = binary.LittleEndian.AppendUint32(p.b, n) }

// Uint64 appends a number of 8 bytes.
func (p *Payload) Uint64(n uint64) { p.b = binary.LittleEndian.AppendUint64(p.b, n) }

// Count appends the number of elements of a list, or the length of a string in bytes.
func (p *Payload) Count(n int) {
	if p.wide {
		p.Varuint(uint64(n))
		return
	}
	p.over = p.over || n > math.MaxUint16
	p.b = binary.LittleEndian.AppendUint16(p.b, uint16(n))
}

// Text appends a string. It omits the bytes if the payload is invalid.
func (p *Payload) Text(s string) {
	if p.Count(len(s)); !p.over {
		p.b = append(p.b, s...)
	}
}

// ID appends an ID as hexadecimal digits, or an empty string if none is set.
func (p *Payload) ID(id []byte, none bool) {
	if none {
		p.Count(0)
		return
	}
	p.Count(hex.EncodedLen(len(id)))
	p.b = hex.AppendEncode(p.b, id)
}

// Attributes appends a list and the number of attributes that were dropped from it.
func (p *Payload) Attributes(list []span.Attribute, dropped uint32) {
	p.Count(len(list))
	for i := range list {
		a := &list[i]
		p.Text(a.Key)
		p.Value(&a.Value)
	}
	p.Varuint(uint64(dropped))
}

// Value appends a value as two strings: its type and its text form.
func (p *Payload) Value(v *span.Value) {
	p.Text(v.Kind().String())
	if v.Kind() == span.ValueString {
		p.Text(v.Str())
		return
	}
	if p.wide {
		p.Text(string(v.AppendText(nil)))
		return
	}
	from := len(p.b)
	p.b = v.AppendText(append(p.b, 0, 0))
	n := len(p.b) - from - 2
	p.over = p.over || n > math.MaxUint16
	binary.LittleEndian.PutUint16(p.b[from:], uint16(n))
}

func (p *Payload) scope(s *span.Scope) {
	if s == nil {
		s = &span.Scope{Absent: true}
	}
	p.Flag(s.Absent)
	p.Text(s.Name)
	p.Text(s.Version)
	p.Text(s.SchemaURL)
	p.Attributes(s.Attributes, s.DroppedAttributes)
}

func (p *Payload) resource(r *span.Resource) {
	if r == nil {
		r = &span.Resource{Absent: true}
	}
	p.Flag(r.Absent)
	p.Text(r.SchemaURL)
	p.Attributes(r.Attributes, r.DroppedAttributes)
	p.Count(len(r.Entities))
	for i := range r.Entities {
		e := &r.Entities[i]
		p.Text(e.SchemaURL)
		p.Text(e.Type)
		for _, keys := range [...][]string{e.IDKeys, e.DescriptionKeys} {
			p.Count(len(keys))
			for _, k := range keys {
				p.Text(k)
			}
		}
	}
}
