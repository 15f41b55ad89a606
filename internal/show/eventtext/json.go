package eventtext

import (
	"encoding/hex"
	"hash/crc32"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
)

// eventTime is the layout of the times of events in JSON. They have all digits, so that lines sort as text.
const eventTime = "2006-01-02T15:04:05.000000000Z"

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
	const key = `,"payload":`
	start := len(dst)
	dst = p.encoder.AppendJSON(append(dst, key...), e, t.Schema, p.end)
	fields := dst[start+len(key):]
	if string(fields) == "{}" {
		return dst[:start]
	}
	return append(dst[:start+len(key)], message.JSON(fields)...)
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
