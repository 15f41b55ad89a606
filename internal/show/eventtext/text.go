package eventtext

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/payload"
	"github.com/ntconv/ntconv/schema"
)

// AppendText appends an event as a human-readable line and returns the extended slice: seconds since the clock's Tick,
// process/thread, CPU number, provider/name, fields and labels. A log record has its severity, category and message in
// place of the fields with them. Options.Hex, CRC and Stacks add lines that begin with
// spaces. The line contains no characters that a terminal could interpret. Losses and sequence points have a line too;
// AppendText ignores events of other kinds. It borrows the event. Check Err before you use the line.
func (p *Printer) AppendText(dst []byte, e *ntconv.Event) []byte {
	switch e.Kind {
	case ntconv.KindEvent:
		p.begin(dst, e)
		dst = p.appendEventText(dst, e)
		p.full(dst)
		return dst
	case ntconv.KindLost:
		dst = append(p.appendSeconds(dst, e.Time), "  -- "...)
		dst = strconv.AppendUint(dst, uint64(e.Lost), 10)
		dst = append(dst, " events of this thread were lost before: "...)
		return append(appendThread(dst, e.Capture), '\n')
	case ntconv.KindMark:
		dst = append(p.appendSeconds(dst, e.Time), "  -- "...)
		return append(append(dst, e.Mark.Kind.String()...), '\n')
	}
	return dst
}

func (p *Printer) appendEventText(dst []byte, e *ntconv.Event) []byte {
	dst = append(p.appendSeconds(dst, e.Time), ' ', ' ')
	dst = append(appendThread(dst, e.Thread), ' ', ' ')
	if e.CPU != ntconv.CPUUnknown {
		dst = strconv.AppendUint(append(dst, "cpu"...), uint64(uint32(e.CPU)), 10)
		dst = append(dst, ' ', ' ')
	}
	t := p.typeOf(e)
	dst = append(dst, t.text...)
	hasRecord := false
	if t.record {
		dst, hasRecord = p.appendRecord(dst, e)
	}
	for f, v := range t.Values(e) {
		if v.Kind() == ntconv.ValueNull || hasRecord && isShown(f.Name) {
			continue
		}
		if p.full(dst) {
			break
		}
		dst = append(appendWord(append(dst, ' '), f.Name), '=')
		dst = p.appendTextValue(dst, &f.Type, v)
		dst = appendValueName(dst, t.Schema, f.Name, v)
	}
	dst = p.appendTextLabels(dst, e.Labels)
	dst = append(dst, '\n')
	if p.opts.CRC {
		dst = append(appendCRC(append(dst, "    crc32 "...), e.Payload), '\n')
	}
	if p.opts.Hex && len(e.Payload) > 0 {
		dst = append(hex.AppendEncode(append(dst, "    payload "...), e.Payload), '\n')
	}
	if p.opts.Stacks && e.Stack != nil {
		dst = p.appendStackText(dst, e)
	}
	return dst
}

// appendSeconds appends the time since the clock's Tick with a sign and nine decimals.
func (p *Printer) appendSeconds(dst []byte, t ntconv.Ticks) []byte {
	n, sign := p.clock.Nanos(t), byte('+')
	u := uint64(n)
	if n < 0 {
		u, sign = -u, '-'
	}
	dst = strconv.AppendUint(append(dst, sign), u/1e9, 10)
	frac := strconv.AppendUint(append(dst, '.'), 1e9+u%1e9, 10)
	copy(frac[len(dst)+1:], frac[len(dst)+2:]) // drop the leading 1, which preserved leading zeros
	return append(frac[:len(frac)-1], 's')
}

// appendThread appends process/thread, with a question mark for each that was not recorded.
func appendThread(dst []byte, t *ntconv.Thread) []byte {
	if t == nil {
		return append(dst, "?/?"...)
	}
	if t.Process == nil {
		dst = append(dst, '?')
	} else {
		dst = strconv.AppendUint(dst, t.Process.PID, 10)
	}
	if t.TID == ntconv.TIDUnknown {
		return append(dst, "/?"...)
	}
	return strconv.AppendUint(append(dst, '/'), t.TID, 10)
}

// appendTextValue appends strings quoted as in Go, pointers in hexadecimal, and all other values as in JSON.
func (p *Printer) appendTextValue(dst []byte, t *ntconv.FieldType, v ntconv.Value) []byte {
	switch v.Kind() {
	case ntconv.ValueUint:
		if t.Code == ntconv.TypePointer {
			return strconv.AppendUint(append(dst, "0x"...), v.Uint(), 16)
		}
	case ntconv.ValueGUID:
		return v.GUID().Append(dst)
	case ntconv.ValueString:
		return appendTextString(dst, v)
	case ntconv.ValueError:
		return strconv.AppendQuote(append(dst, "!"...), v.Err().Error())
	case ntconv.ValueList:
		open := byte('[')
		for m := range v.Elems() {
			if p.full(dst) {
				break
			}
			dst = p.appendTextValue(append(dst, open), t.Elem, m)
			open = ' '
		}
		if open == '[' {
			dst = append(dst, '[')
		}
		return append(dst, ']')
	case ntconv.ValueObject:
		open := byte('{')
		for f, m := range v.Fields() {
			if p.full(dst) {
				break
			}
			dst = append(appendWord(append(dst, open), f.Name), '=')
			dst = p.appendTextValue(dst, &f.Type, m)
			open = ' '
		}
		if open == '{' {
			dst = append(dst, '{')
		}
		return append(dst, '}')
	}
	return payload.AppendScalar(dst, v, floatBits(t))
}

// appendValueName appends the name that the runtime's manifest has for a value, if any: Type=2:Managed.
func appendValueName(dst []byte, s *schema.Schema, field string, v ntconv.Value) []byte {
	if v.Kind() != ntconv.ValueUint && v.Kind() != ntconv.ValueInt {
		return dst
	}
	if name := s.ValueName(field, v.Uint()); name != "" {
		dst = append(append(dst, ':'), name...)
	}
	return dst
}

func (p *Printer) appendTextLabels(dst []byte, l *ntconv.Labels) []byte {
	if l == nil {
		return dst
	}
	for i := range l.List() {
		a := &l.List()[i]
		switch {
		case a.IsID() && a.ID != [16]byte{}:
			dst = append(append(append(dst, " @"...), a.Name()...), '=')
			dst = a.AppendText(dst)
		case other(a):
			dst = append(appendWord(append(dst, " @"...), a.Key), '=')
			if a.Kind == ntconv.LabelString {
				dst = strconv.AppendQuote(dst, a.Str)
				continue
			}
			dst = strconv.AppendInt(dst, a.Num, 10)
			dst = appendWord(dst, a.Unit)
		}
	}
	return dst
}

func (p *Printer) appendStackText(dst []byte, e *ntconv.Event) []byte {
	if p.opts.Namer == nil && len(e.Stack.PCs) > 0 {
		for _, pc := range e.Stack.PCs {
			dst = append(strconv.AppendUint(append(dst, "    "...), pc, 16), '\n')
		}
		return dst
	}
	for _, f := range p.framesOf(e) {
		if p.full(dst) {
			break
		}
		dst = append(strconv.AppendUint(append(dst, "    "...), f.PC, 16), ' ')
		m, name := module(&f), funcName(&f)
		if m != "" &&
			!(f.Flags&ntconv.FrameUnresolved != 0 && strings.HasPrefix(name, m+"+")) { // already in a placeholder
			dst = append(appendPrintable(dst, m), '!')
		}
		dst = append(appendPrintable(dst, name), '\n')
	}
	return dst
}

// appendTextString appends a string value quoted as in Go.
func appendTextString(dst []byte, v ntconv.Value) []byte {
	start := len(dst)
	dst = v.AppendString(dst)
	if plain(dst[start:]) {
		return enclose(dst, start)
	}
	s := string(dst[start:])
	return strconv.AppendQuote(dst[:start], s)
}

// appendWord appends s unchanged if it is one visible word, and otherwise quoted.
func appendWord(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '=' {
			return appendOddWord(dst, s)
		}
	}
	return append(dst, s...)
}

func appendOddWord(dst []byte, s string) []byte {
	for _, r := range s {
		if r == ' ' || r == '"' || r == '=' || r == utf8.RuneError || !unicode.IsPrint(r) {
			return strconv.AppendQuote(dst, s)
		}
	}
	return append(dst, s...)
}

// appendPrintable appends s, which may contain spaces, with all unprintable characters escaped.
func appendPrintable(dst []byte, s string) []byte {
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			q := strconv.Quote(s)
			return append(dst, q[1:len(q)-1]...)
		}
	}
	return append(dst, s...)
}
