package eventtext

import (
	"encoding/hex"
	"hash/crc32"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/jsonio"
)

// Layouts of time in JSON. Times of events have all digits, so that lines sort as text; times in payloads have the
// seven digits that .NET prints.
const (
	eventTime = "2006-01-02T15:04:05.000000000Z"
	fieldTime = "2006-01-02T15:04:05.0000000Z"
)

// AppendJSON appends an event, which must be of KindEvent, as one JSON object and a line feed, and returns the extended
// slice. It borrows the event. Check Err before you use the line.
func (p *Printer) AppendJSON(dst []byte, e *ntconv.Event) []byte {
	p.begin(dst, e)
	dst = strconv.AppendInt(append(dst, `{"ticks":`...), int64(e.Time), 10)
	if t := p.clock.Time(e.Time); !t.IsZero() {
		dst = append(dst, `,"time":"`...)
		dst = append(t.AppendFormat(dst, eventTime), '"')
	}
	dst = appendWhere(dst, e)
	t := p.typeOf(e)
	dst = appendWhat(dst, t, e)
	dst = p.appendLabels(dst, e.Labels)
	dst = strconv.AppendInt(append(dst, `,"size":`...), int64(len(e.Payload)), 10)
	if p.opts.CRC {
		dst = appendCRC(append(dst, `,"crc32":"`...), e.Payload)
		dst = append(dst, '"')
	}
	if p.opts.Hex {
		dst = hex.AppendEncode(append(dst, `,"payload_hex":"`...), e.Payload)
		dst = append(dst, '"')
	}
	dst = p.appendPayload(dst, t, e)
	if p.opts.Stacks && e.Stack != nil {
		dst = p.appendStack(dst, e)
	}
	p.full(dst)
	return append(dst, '}', '\n')
}

// appendWhere appends the process, the thread and the CPU number.
func appendWhere(dst []byte, e *ntconv.Event) []byte {
	if p := e.Thread.Process; p != nil {
		dst = strconv.AppendUint(append(dst, `,"pid":`...), p.PID, 10)
	}
	if e.Thread.TID != ntconv.TIDUnknown {
		dst = strconv.AppendUint(append(dst, `,"tid":`...), e.Thread.TID, 10)
	}
	if e.CPU != ntconv.CPUUnknown {
		dst = strconv.AppendUint(append(dst, `,"cpu":`...), uint64(uint32(e.CPU)), 10)
	}
	return dst
}

// appendWhat appends the properties of the type; labels of the event override version, opcode, level and keywords.
func appendWhat(dst []byte, t *typeText, e *ntconv.Event) []byte {
	dst = append(append(dst, ','), t.json...)
	dst = strconv.AppendUint(append(dst, `,"version":`...), uint64(e.Version()), 10)
	dst = append(append(dst, ','), t.name...)
	dst = strconv.AppendUint(append(dst, `,"opcode":`...), uint64(t.OpcodeOf(e)), 10)
	dst = strconv.AppendUint(append(dst, `,"level":`...), uint64(e.Level()), 10)
	dst = strconv.AppendUint(append(dst, `,"keywords":"0x`...), e.Keywords(), 16)
	return append(dst, '"')
}

// appendCRC appends the CRC-32 of the payload as 8 hexadecimal digits.
func appendCRC(dst, payload []byte) []byte {
	sum := crc32.ChecksumIEEE(payload)
	return hex.AppendEncode(dst, []byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
}

// appendPayload appends the object of the fields, or nothing if the event has no fields.
func (p *Printer) appendPayload(dst []byte, t *typeText, e *ntconv.Event) []byte {
	open := `,"payload":{`
	p.scope = p.scope[:0]
	var o object
	for f, v := range t.Values(e) {
		if f.Type.Code == ntconv.TypePad64 {
			continue
		}
		if p.full(dst) {
			break
		}
		dst = append(dst, open...)
		open = ","
		dst = append(dst, p.key(f, &o)...)
		dst = p.appendValue(dst, &f.Type, v)
	}
	if open == "," {
		dst = append(dst, '}')
	}
	return dst
}

// appendValue appends a field's value as JSON. t is its type, which may be nil for an element of a list without one.
func (p *Printer) appendValue(dst []byte, t *ntconv.FieldType, v ntconv.Value) []byte {
	switch v.Kind() {
	case ntconv.ValueBool:
		return strconv.AppendBool(dst, v.Bool())
	case ntconv.ValueInt:
		return strconv.AppendInt(dst, v.Int(), 10)
	case ntconv.ValueUint:
		return strconv.AppendUint(dst, v.Uint(), 10)
	case ntconv.ValueFloat:
		return jsonio.AppendFloat(dst, v.Float(), floatBits(t))
	case ntconv.ValueString:
		return appendStringValue(dst, v)
	case ntconv.ValueBytes:
		dst = hex.AppendEncode(append(dst, `"hex:`...), v.Bytes())
		return append(dst, '"')
	case ntconv.ValueGUID:
		return append(v.GUID().Append(append(dst, '"')), '"')
	case ntconv.ValueTime:
		return append(v.Time().AppendFormat(append(dst, '"'), fieldTime), '"')
	case ntconv.ValueList:
		return p.appendList(dst, t, v)
	case ntconv.ValueObject:
		return p.appendObject(dst, v)
	case ntconv.ValueError:
		dst = appendQuoted(append(dst, `{"error":`...), v.Err().Error())
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

func (p *Printer) appendList(dst []byte, t *ntconv.FieldType, v ntconv.Value) []byte {
	open := byte('[')
	for m := range v.Elems() {
		if p.full(dst) {
			break
		}
		dst = p.appendValue(append(dst, open), t.Elem, m)
		open = ','
	}
	if open == '[' {
		dst = append(dst, '[')
	}
	return append(dst, ']')
}

func (p *Printer) appendObject(dst []byte, v ntconv.Value) []byte {
	o := object{start: len(p.scope)}
	open := byte('{')
	for f, m := range v.Fields() {
		if f.Type.Code == ntconv.TypePad64 {
			continue
		}
		if p.full(dst) {
			break
		}
		dst = append(append(dst, open), p.key(f, &o)...)
		dst = p.appendValue(dst, &f.Type, m)
		open = ','
	}
	p.scope = p.scope[:o.start]
	if open == '{' {
		dst = append(dst, '{')
	}
	return append(dst, '}')
}

// appendStringValue appends a quoted string. It transcodes into dst and inserts the quotes there, so that only strings
// with characters to escape cause an allocation.
func appendStringValue(dst []byte, v ntconv.Value) []byte {
	start := len(dst)
	dst = v.AppendString(dst)
	if plain(dst[start:]) {
		return enclose(dst, start)
	}
	s := string(dst[start:])
	return appendQuoted(dst[:start], s)
}

// plain reports whether b needs no escape between quotes, in JSON and in Go.
func plain(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// enclose inserts quotes around dst[start:].
func enclose(dst []byte, start int) []byte {
	dst = append(dst, `""`...)
	copy(dst[start+1:], dst[start:len(dst)-2])
	dst[start] = '"'
	return dst
}

// floatBits returns the size of the floating-point type, which determines the shortest decimal form.
func floatBits(t *ntconv.FieldType) int {
	if t != nil && t.Code == ntconv.TypeFloat32 {
		return 32
	}
	return 64
}
