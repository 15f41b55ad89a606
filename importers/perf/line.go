package perf

import (
	"bytes"
	"math"
	"strconv"
)

// A header is the first line of an event:
//
//	comm  pid/tid [cpu] seconds.fraction:  period event:  details
//
// perf script omits what its option -F does not list, and the CPU unless it was recorded. comm may have any characters.
type header struct {
	comm      []byte
	pid, tid  uint64 // equal if the line has one number
	cpu       int64  // -1 if unknown
	time      int64  // nanoseconds
	timed     bool
	period    int64
	hasPeriod bool
	event     []byte // with its modifiers
	details   []byte // of a tracepoint, or the frame of an event that was recorded without stacks
}

// parseHeader parses a line without its line end. The comm ends before the first number that numbers and a time follow,
// or, if the lines have no time, a name with a colon at its end.
func parseHeader(line []byte) (h header, ok bool) {
	if len(line) == 0 || line[0] == '#' {
		return h, false
	}
	for _, timed := range []bool{true, false} {
		for i := 0; i+1 < len(line); i++ {
			if line[i] != ' ' || !isDigit(line[i+1]) && line[i+1] != '-' {
				continue
			}
			if h, ok = parseFields(line[i+1:]); ok && h.timed == timed && (timed || len(h.details) == 0) {
				h.comm = bytes.TrimSpace(line[:i])
				return h, true
			}
		}
	}
	return h, false
}

// parseFields parses what follows the comm.
func parseFields(b []byte) (h header, ok bool) {
	h.cpu = -1
	if h.tid, b, ok = cutID(b); !ok {
		return h, false
	}
	if h.pid = h.tid; len(b) > 0 && b[0] == '/' {
		if h.tid, b, ok = cutID(b[1:]); !ok {
			return h, false
		}
	}
	if b, ok = cutSpace(b); !ok {
		return h, false
	}
	if b[0] == '[' {
		n, rest, ok := cutNumber(b[1:])
		if !ok || n > math.MaxInt32 || len(rest) == 0 || rest[0] != ']' {
			return h, false
		}
		h.cpu = int64(n)
		if b, ok = cutSpace(rest[1:]); !ok {
			return h, false
		}
	}
	if t, rest, ok := cutTime(b); ok {
		h.time, h.timed, b = t, true, bytes.TrimLeft(rest, " ")
	}
	if n, rest, ok := cutNumber(b); ok && len(rest) > 0 && rest[0] == ' ' {
		h.period, h.hasPeriod = int64(min(n, math.MaxInt64)), true
		b = bytes.TrimLeft(rest, " ")
	}
	return h, h.cutEvent(b)
}

// cutEvent parses the name of the event, which ends at the last colon before a space, and the details.
func (h *header) cutEvent(b []byte) bool {
	name, rest, spaced := bytes.Cut(b, []byte(" "))
	h.event = bytes.TrimSuffix(name, []byte(":"))
	if len(h.event) == len(name) || len(h.event) == 0 { // without a colon
		return h.timed && !spaced && len(name) == 0 // perf script -F comm,tid,time
	}
	h.details = bytes.TrimSpace(rest)
	return true
}

// cutTime cuts seconds with a fraction of up to nine digits and a colon.
func cutTime(b []byte) (nanos int64, rest []byte, ok bool) {
	seconds, rest, ok := cutNumber(b)
	if !ok || len(rest) == 0 || rest[0] != '.' || seconds > math.MaxInt64/2_000_000_000 {
		return 0, nil, false
	}
	fraction, after, ok := cutNumber(rest[1:])
	digits := len(rest) - 1 - len(after)
	if !ok || digits > 9 || len(after) == 0 || after[0] != ':' {
		return 0, nil, false
	}
	for ; digits < 9; digits++ {
		fraction *= 10
	}
	return int64(seconds*1_000_000_000 + fraction), after[1:], true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// cutNumber cuts a decimal number.
func cutNumber(b []byte) (n uint64, rest []byte, ok bool) {
	end := 0
	for end < len(b) && isDigit(b[end]) {
		end++
	}
	n, err := strconv.ParseUint(string(b[:end]), 10, 63)
	return n, b[end:], err == nil
}

// cutID cuts the ID of a process or thread. -1 is an ID that perf does not know, which becomes 0.
func cutID(b []byte) (id uint64, rest []byte, ok bool) {
	if rest, ok := bytes.CutPrefix(b, []byte("-1")); ok {
		return 0, rest, true
	}
	return cutNumber(b)
}

// cutSpace cuts at least one space. It fails at the end of the line.
func cutSpace(b []byte) ([]byte, bool) {
	rest := bytes.TrimLeft(b, " ")
	return rest, len(rest) < len(b) && len(rest) > 0
}

// A frameLine is a line of a stack:
//
//	address symbol+0xoffset (file)
//
// The symbol may have spaces and parentheses, so the file is the last group of parentheses. Symbols of C++ and .NET end
// in groups, too: a line without a file after its symbol is ambiguous, and then loses its parameters.
type frameLine struct {
	symbol, file []byte
	address      uint64
	inlined      bool
}

const (
	unknown = "[unknown]"
	inlined = "(inlined)"
	deleted = " (deleted)"
)

// parseFrame parses a line of a stack without its white space. It fails for other lines, such as those of the option
// -F srcline.
func parseFrame(line []byte) (f frameLine, ok bool) {
	word, rest, _ := bytes.Cut(line, []byte(" "))
	var err error
	if len(word) == 0 { // the usual event without details; an error of ParseUint would be allocated
		return f, false
	}
	if f.address, err = strconv.ParseUint(string(word), 16, 64); err != nil {
		return f, false
	}
	rest = bytes.TrimSpace(rest)
	if name, ok := bytes.CutSuffix(rest, []byte(inlined)); ok {
		f.symbol, f.inlined = bytes.TrimSpace(name), true
		return f, true
	}
	f.symbol = rest
	if body, ok := bytes.CutSuffix(rest, []byte(")")); ok {
		body = bytes.TrimSuffix(body, []byte(deleted))
		if at := bytes.LastIndex(body, []byte(" (")); at >= 0 {
			f.symbol, f.file = rest[:at], body[at+2:]
		} else if file, ok := bytes.CutPrefix(body, []byte("(")); ok { // no symbol
			f.symbol, f.file = nil, file
		}
	}
	f.symbol = cutOffset(f.symbol)
	return f, true
}

// cutOffset removes the offset of the address in the function, which perf script writes after the symbol.
func cutOffset(symbol []byte) []byte {
	at := bytes.LastIndex(symbol, []byte("+0x"))
	if at <= 0 {
		return symbol
	}
	for _, c := range symbol[at+3:] {
		if !isDigit(c) && (c < 'a' || c > 'f') {
			return symbol
		}
	}
	return symbol[:at]
}

// Sniff reports whether a text that begins with head is an output of perf script: after comments, its first line begins
// an event with a time or a stack.
func Sniff(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\uFEFF"))
	for len(head) > 0 {
		line, rest, ended := bytes.Cut(head, []byte("\n"))
		line = bytes.TrimRight(line, " \t\r")
		if head = rest; len(line) == 0 || line[0] == '#' {
			continue
		}
		h, ok := parseHeader(line)
		if !ok || len(h.event) == 0 || !ended {
			return false
		}
		next, _, _ := bytes.Cut(rest, []byte("\n"))
		if next = bytes.TrimRight(next, "\r"); len(next) == 0 {
			return h.timed
		}
		_, isFrame := parseFrame(bytes.TrimSpace(next))
		_, isHeader := parseHeader(next)
		return isFrame || isHeader && h.timed
	}
	return false
}
