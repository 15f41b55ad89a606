package otlp

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"google.golang.org/protobuf/encoding/protowire"
)

// A protoReader reads protobuf in any form. It holds one message of a resource, such as ResourceSpans, at a time.
type protoReader struct {
	*decoder
	in     *bufio.Reader
	form   form
	offset int64 // offset of the next byte of in, in the decompressed input
	rest   int64 // remaining bytes of the current delimited message
	frames int

	group    []byte // the current message of a resource
	res      *span.Resource
	sections []section // its messages of scopes, such as ScopeSpans
	section  *message  // the current one of sections; nil if there is none
	sc       *span.Scope
	decoded  items
	err      error // error to return after the group

	// Messages of resources that have been read to find the dictionary of their profiles, and the error after them.
	pending [][]byte
	after   error
	dict    []byte // the dictionary of the current message
	groups  int    // messages of resources in the current message so far
}

// A section is the range of the message of a scope within that of a resource.
type section struct{ from, to int }

func newProtoReader(in *bufio.Reader, f form, d *decoder) *protoReader {
	d.place.message = -1
	return &protoReader{decoder: d, in: in, form: f}
}

// next returns the next item. At the end of the input, or after an error, it first returns the items that precede it.
func (p *protoReader) next() (item, error) {
	for {
		if it, ok := p.decoded.next(p.decoder, p.res, p.sc); ok {
			return it, nil
		}
		for p.section != nil {
			if !p.section.next() {
				p.endSection()
				break
			}
			if !p.section.is(2, lenType) {
				continue // openSection has read it
			}
			p.place.item++
			p.decoded.decode(p.decoder, p.section.bytes(), false)
			if p.decoded.left > 0 {
				break
			}
		}
		if p.decoded.left > 0 {
			continue
		}
		switch {
		case len(p.sections) > 0:
			p.openSection(p.sections[0])
			p.sections = p.sections[1:]
			continue
		case p.err != nil:
			return item{}, p.err
		}
		p.openGroup()
	}
}

// endSection counts a corrupt message of a scope, except the last one of truncated input.
func (p *protoReader) endSection() {
	if p.section.corrupt && (p.err == nil || len(p.sections) > 0) {
		p.corrupt(messageNames[p.place.signal].scopes + " is not a valid message")
	}
	p.section = nil
}

// openGroup reads the next message of a resource and decodes what its items share. If the input is truncated, it sets
// err and keeps the incomplete message.
func (p *protoReader) openGroup() {
	if len(p.pending) == 0 {
		p.profiles.dict = nil
		if p.group, p.err = p.read(p.group[:0], false); p.hasProfiles() {
			p.collect()
		}
	}
	if len(p.pending) > 0 {
		p.group, p.pending, p.err = p.pending[0], p.pending[1:], nil
		if len(p.pending) == 0 {
			p.err, p.after = p.after, nil
		}
	}
	p.place.message++
	p.place.item = -1
	p.res = &span.Resource{Absent: true}
	p.sections = p.sections[:0]
	m := message{b: p.group, end: len(p.group)}
	for m.next() {
		switch {
		case m.is(1, lenType):
			if !p.resource(p.res, m.bytes()) {
				p.corrupt("Resource is not a valid message")
			}
		case m.is(2, lenType):
			p.sections = append(p.sections, section{m.from, m.to})
		case m.is(3, lenType):
			p.res.SchemaURL = p.valid(string(m.bytes()))
		default:
			p.unknownField(messageNames[p.place.signal].resources, &m)
		}
	}
	switch {
	case !m.corrupt:
	case p.err == nil:
		p.corrupt(messageNames[p.place.signal].resources + " is not a valid message")
	default: // the last field is truncated; it may be a scope with complete items
		num, typ, n := protowire.ConsumeTag(p.group[m.start:])
		if _, size := protowire.ConsumeVarint(p.group[m.start+max(n, 0):]); n > 0 && num == 2 && typ == lenType &&
			size > 0 {
			p.sections = append(p.sections, section{m.start + n + size, len(p.group)})
		}
	}
}

// openSection decodes the scope of a message of a scope and makes the message the current section.
func (p *protoReader) openSection(s section) {
	p.sc = &span.Scope{Absent: true}
	sig, known := p.signalIn(s)
	if !known {
		sig = p.place.signal
	}
	p.begin(sig)
	m := message{b: p.group, pos: s.from, end: s.to}
	for m.next() {
		switch {
		case m.is(1, lenType):
			if !p.scope(p.sc, m.bytes()) {
				p.corrupt("InstrumentationScope is not a valid message")
			}
		case m.is(2, lenType):
		case m.is(3, lenType):
			p.sc.SchemaURL = p.valid(string(m.bytes()))
		default:
			p.unknownField(messageNames[p.place.signal].scopes, &m)
		}
	}
	p.section = &message{b: p.group, pos: s.from, end: s.to}
}

// signalIn returns the signal of the first item of a section that is not empty. Without one, items have the signal of
// the preceding section.
func (p *protoReader) signalIn(s section) (sig signal, ok bool) {
	for m := (message{b: p.group, pos: s.from, end: s.to}); m.next(); {
		if m.is(2, lenType) {
			if sig, ok = signalOf(m.bytes()); ok {
				return sig, true
			}
		}
	}
	return traces, false
}

// hasProfiles reports whether the first item of the group is a profile.
func (p *protoReader) hasProfiles() bool {
	for m := (message{b: p.group, end: len(p.group)}); m.next(); {
		if m.is(2, lenType) {
			s, ok := p.signalIn(section{m.from, m.to})
			return ok && s == profiles
		}
	}
	return false
}

// collect reads the rest of a message of profiles, because its dictionary follows the profiles.
func (p *protoReader) collect() {
	size, err := len(p.group), p.err
	p.pending = append(p.pending, p.group)
	for p.group = nil; err == nil; {
		var group []byte
		if group, err = p.read(nil, true); len(group) > 0 {
			p.pending = append(p.pending, group)
		}
		if size += len(group); size+len(p.dict) > p.limits.Message && err == nil {
			err = located(p.place.offset, "profiles", &ntconv.LimitError{
				Limit: LimitMessage, Value: int64(p.limits.Message), Asked: int64(size) + int64(len(p.dict)), Unit: "bytes",
			})
		}
	}
	if dict, e := readDictionary(p.decoder, p.dict, err != errMessageEnd && err != io.EOF); e == nil {
		p.profiles.dict = dict
	} else {
		p.pending, err = nil, located(p.place.offset, "dictionary", e)
		p.err = err
	}
	if err != errMessageEnd {
		p.after = err
	}
}

// errMessageEnd means that the current message has no further field.
var errMessageEnd = errors.New("end of the message")

// read appends the next message of a resource to dst. If it fails, it appends the part that it has read. within means that
// it must be one of the current message, else the error is errMessageEnd.
func (p *protoReader) read(dst []byte, within bool) ([]byte, error) {
	for {
		if p.form != formProto && p.rest == 0 {
			if within {
				return dst, errMessageEnd
			}
			p.dict, p.groups = nil, 0
			if err := p.frame(); err != nil {
				return dst, err
			}
			continue
		}
		p.place.offset = p.offset
		tag, err := p.varint()
		if err == io.EOF && p.form == formProto {
			return dst, io.EOF
		}
		num, typ := protowire.DecodeTag(tag)
		if err == nil && num == 0 {
			err = fmt.Errorf("%w: tag %#x", ntconv.ErrCorrupt, tag)
		}
		if err != nil {
			return dst, p.fail("tag of a field", err)
		}
		if num == 1 && typ == lenType {
			p.groups++
			dst, err = p.body(dst)
			return dst, p.fail("ResourceSpans", err)
		}
		if num == 2 && typ == lenType && (within || p.groups == 0) { // of profiles; elsewhere unknown
			if p.dict, err = p.body(p.dict); err != nil {
				return dst, p.fail("dictionary", err)
			}
			continue
		}
		p.unknown(fmt.Sprintf("TracesData.%d", num))
		if err := p.skipField(num, typ, 100); err != nil {
			return dst, p.fail(fmt.Sprintf("unknown field %d", num), err)
		}
	}
}

// frame reads the length of the next delimited message, which may be 0. It returns io.EOF at the end of the input.
func (p *protoReader) frame() error {
	at := p.offset
	var n uint64
	var err error
	if p.form == formVarint {
		n, err = p.rawVarint()
	} else {
		var b [4]byte
		var read int
		read, err = io.ReadFull(p.in, b[:])
		p.offset += int64(read)
		n = uint64(binary.BigEndian.Uint32(b[:]))
	}
	if err == io.EOF && p.offset == at {
		return io.EOF
	}
	if err == nil && n > 1<<40 {
		err = fmt.Errorf("%w: length of %d bytes", ntconv.ErrCorrupt, n)
	}
	p.place.offset = at
	p.rest = int64(n)
	p.frames++
	return p.fail(fmt.Sprintf("length of message %d", p.frames-1), err)
}

// body reads the length and the contents of a message. It allocates memory as bytes arrive, not for the stated length.
func (p *protoReader) body(dst []byte) ([]byte, error) {
	n, err := p.varint()
	if err != nil {
		return dst, err
	}
	if n > uint64(p.limits.Message) {
		return dst, &ntconv.LimitError{Limit: LimitMessage, Value: int64(p.limits.Message), Asked: int64(min(n, 1<<62)), Unit: "bytes"}
	}
	if err := p.take(n); err != nil {
		return dst, err
	}
	const step = 1 << 20
	for n > 0 {
		from := len(dst)
		size := int(min(n, step))
		dst = append(dst, make([]byte, size)...)
		read, err := io.ReadFull(p.in, dst[from:])
		p.offset += int64(read)
		if dst = dst[:from+read]; err != nil {
			return dst, err
		}
		n -= uint64(size)
	}
	return dst, nil
}

// take subtracts n bytes from the current delimited message. It returns an error if the message is shorter.
func (p *protoReader) take(n uint64) error {
	if p.form == formProto {
		return nil
	}
	if n > uint64(p.rest) {
		return fmt.Errorf("%w: field of %d bytes in the last %d bytes of message %d", ntconv.ErrCorrupt, n, p.rest, p.frames-1)
	}
	p.rest -= int64(n)
	return nil
}

// varint reads a varint within a message.
func (p *protoReader) varint() (uint64, error) {
	at := p.offset
	n, err := p.rawVarint()
	if err != nil {
		return 0, err
	}
	return n, p.take(uint64(p.offset - at))
}

// rawVarint reads a varint. It returns io.EOF only before the first byte.
func (p *protoReader) rawVarint() (n uint64, err error) {
	for i := 0; ; i++ {
		b, err := p.in.ReadByte()
		if err != nil {
			if err == io.EOF && i > 0 {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		p.offset++
		if i == binary.MaxVarintLen64-1 && b > 1 {
			return 0, fmt.Errorf("%w: varint of more than 64 bits", ntconv.ErrCorrupt)
		}
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return n, nil
		}
	}
}

// skipField discards the value of a field. depth limits nested groups.
func (p *protoReader) skipField(num protowire.Number, typ protowire.Type, depth int) error {
	switch typ {
	case protowire.VarintType:
		_, err := p.varint()
		return err
	case protowire.Fixed32Type:
		return p.discard(4)
	case protowire.Fixed64Type:
		return p.discard(8)
	case protowire.BytesType:
		n, err := p.varint()
		if err != nil {
			return err
		}
		return p.discard(n)
	case protowire.StartGroupType:
		for depth > 0 {
			tag, err := p.varint()
			if err != nil {
				return err
			}
			inner, typ := protowire.DecodeTag(tag)
			if typ == protowire.EndGroupType && inner == num {
				return nil
			}
			if err := p.skipField(inner, typ, depth-1); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("%w: wire type %d", ntconv.ErrCorrupt, typ)
}

// discard skips n bytes of the input without holding them.
func (p *protoReader) discard(n uint64) error {
	if err := p.take(n); err != nil {
		return err
	}
	for n > 0 {
		skipped, err := p.in.Discard(int(min(n, 1<<20)))
		p.offset += int64(skipped)
		if err != nil {
			return err
		}
		n -= uint64(skipped)
	}
	return nil
}

// fail converts an error of the input to an error of this package. io.EOF within a message becomes ErrTruncated; errors
// of the reader are returned unchanged.
func (p *protoReader) fail(where string, err error) error {
	var limit *ntconv.LimitError
	switch {
	case err == nil:
		return nil
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return located(p.offset, where, ntconv.ErrTruncated)
	case errors.Is(err, ntconv.ErrCorrupt), errors.As(err, &limit):
		return located(p.offset, where, err)
	}
	return err
}
