package mutate

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/testing/wiretest"
	"github.com/ntconv/ntconv/internal/testing/wiretext"
)

// parseTrace stores the text form of a trace. A trace that is mostly raw bytes is edited only as bytes.
func (s *Seed) parseTrace() {
	for b := range wiretest.Blocks(s.Data) {
		s.edges = append(s.edges, int(b.Offset))
	}
	var text bytes.Buffer
	_ = wiretext.Disassemble(&text, s.Data) // a buffer returns no errors
	lines := splitLines(text.String())
	raw := 0
	for _, l := range lines {
		if word(l) == "raw" {
			raw++
		}
	}
	if 2*raw < len(lines) {
		s.lines = lines
	}
}

func splitLines(text string) []string {
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// indent returns the indentation of a line in bytes.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// word returns the first word of a line.
func word(line string) string {
	line = strings.TrimLeft(line, " ")
	if i := strings.IndexByte(line, ' '); i >= 0 {
		return line[:i]
	}
	return line
}

// block returns the end of the block of line i: the following lines with a deeper indentation.
func block(lines []string, i int) int {
	end := i + 1
	for end < len(lines) && indent(lines[end]) > indent(lines[i]) {
		end++
	}
	return end
}

// editTrace edits rows of a trace and assembles it again.
func (m *Mutator) editTrace() bool {
	if len(m.seed.lines) == 0 {
		return false
	}
	for range 3 { // some results cannot be assembled because a number exceeds its type
		m.lines = append(m.lines[:0], m.seed.lines...)
		for range 1 + m.r.IntN(6) {
			m.editRow()
		}
		data, err := wiretext.Assemble(strings.Join(m.lines, "\n"))
		if err == nil {
			m.buf = append(m.buf[:0], data...)
			return true
		}
	}
	return false
}

// editRow changes, removes, repeats or moves a line with its block.
func (m *Mutator) editRow() {
	if len(m.lines) < 2 {
		return
	}
	i := 1 + m.r.IntN(len(m.lines)-1) // the first line is the header
	end := block(m.lines, i)
	switch kind := m.r.IntN(20); {
	case kind == 0:
		m.lines = slices.Delete(m.lines, i, end)
	case kind == 1:
		m.lines = slices.Insert(m.lines, end, slices.Clone(m.lines[i:end])...)
	case kind == 2: // move to another line of the same depth
		if j := m.sibling(m.lines, i); j >= 0 {
			moved := slices.Clone(m.lines[i:end])
			m.lines = slices.Insert(m.lines, j, moved...)
		}
	case kind == 3: // from another trace
		other := m.seeds[m.r.IntN(len(m.seeds))].lines
		if j := m.similarLine(other, m.lines[i]); j >= 0 {
			m.lines = slices.Insert(m.lines, i, other[j:block(other, j)]...)
		}
	case kind == 4:
		m.lines[i] += m.override(word(m.lines[i]))
	case kind == 5 && strings.Contains(m.lines[i], `"`):
		m.lines[i] = m.newText(m.lines[i])
	case kind < 10 && strings.Contains(m.lines[i], "payload="):
		m.lines[i] = m.newPayload(m.lines[i])
	case word(m.lines[i]) == "field":
		m.lines[i] = m.newFieldType(m.lines[i])
	default:
		m.lines[i] = m.newNumber(m.lines[i])
	}
}

// sibling returns a random line with the same indentation as line i, or -1.
func (m *Mutator) sibling(lines []string, i int) int {
	for range 8 {
		if j := 1 + m.r.IntN(len(lines)-1); j != i && indent(lines[j]) == indent(lines[i]) {
			return j
		}
	}
	return -1
}

// similarLine returns a random line of another trace with the same first word, or else the same depth, or -1.
func (m *Mutator) similarLine(lines []string, like string) int {
	if len(lines) < 2 {
		return -1
	}
	for n := range 16 {
		j := 1 + m.r.IntN(len(lines)-1)
		if word(lines[j]) == word(like) || n > 8 && indent(lines[j]) == indent(like) {
			return j
		}
	}
	return -1
}

// override returns an argument that states a size or count that the line does not have, or an argument that is usually
// absent.
func (m *Mutator) override(word string) string {
	keys := []string{"size", "count", "eventsize", "payloadsize", "stacksize", "headersize", "optionalsize", "first", "flags", "padding", "fields"}
	switch word {
	case "event":
		keys = []string{"eventsize", "payloadsize", "padding", "fields", "labels", "cpu", "capture", "stack", "related", "activity"}
	case "row":
		keys = []string{"size", "optionalsize", "version", "keywords", "level", "opcode"}
	case "stack":
		keys = []string{"size"}
	}
	key := keys[m.r.IntN(len(keys))]
	if key == "activity" || key == "related" {
		return " " + key + "=" + hex.EncodeToString(m.noise(16))
	}
	return " " + key + "=" + strconv.FormatUint(m.extreme()>>m.r.IntN(33), 10)
}

// newText replaces the first string of a line.
func (m *Mutator) newText(line string) string {
	begin := strings.IndexByte(line, '"')
	old, err := strconv.QuotedPrefix(line[begin:])
	if err != nil {
		return line
	}
	text := [...]string{
		"", "x", "\x00", "\ufffd", "𝄞é", "TraceId", "SpanId", "ActivityId", "Microsoft-Windows-DotNETRuntime", "Universal.System", "ProcessSymbol", "ProcessMapping", "ntconv", "Frame",
		"Microsoft-DotNETCore-SampleProfiler", "EventCounters", "a,b[c`1]<d>(e)", strings.Repeat("n", 200), "/usr/lib/x.so", "otlp", "Span", "Start", "Stop", "line\nfeed\t\x1b[0m",
	}[m.r.IntN(24)]
	return line[:begin] + strconv.Quote(text) + line[begin+len(old):]
}

// newPayload edits the bytes of a payload.
func (m *Mutator) newPayload(line string) string {
	begin := strings.Index(line, "payload=") + len("payload=")
	end := begin
	for end < len(line) && line[end] != ' ' {
		end++
	}
	b, err := hex.DecodeString(line[begin:end])
	if err != nil || len(b) == 0 {
		return line
	}
	saved := m.buf
	m.buf = b
	at := m.r.IntN(len(b))
	switch m.r.IntN(6) {
	case 0:
		m.buf = m.buf[:at]
	case 1:
		m.buf = slices.Insert(m.buf, at, m.noise(1+m.r.IntN(8))...)
	case 2:
		m.putVarint(at)
	case 3:
		m.putFixed(at &^ 3)
	case 4:
		m.buf = slices.Delete(m.buf, at, min(len(b), at+1+m.r.IntN(8)))
	default:
		m.buf[at] ^= 1 << m.r.IntN(8)
	}
	text := hex.EncodeToString(m.buf)
	m.buf = saved
	return line[:begin] + text + line[end:]
}

// fieldTypes are field types, including nested ones and some that no writer produces.
var fieldTypes = [...]string{
	"Int32", "UInt64", "Boolean32", "UTF16String", "Guid", "DateTime", "Double", "Byte", "VarInt", "VarUInt", "Array(Int32)", "Array(Byte)", "Array(UTF16String)", "Array(Array(Byte))",
	"FixedLengthArray(Byte,3)", "FixedLengthArray(Int32,65535)", "FixedLengthArray(FixedLengthArray(Byte,65535),65535)", "UTF8CodeUnit", "RelLoc(Byte)", "DataLoc(UTF16CodeUnit)",
	"Array(DataLoc(Byte))", "Array(RelLoc(Array(Byte)))", "FixedLengthArray(Byte,0)", "Object", "Array(Object)",
}

func (m *Mutator) newFieldType(line string) string {
	begin := strings.LastIndexByte(line, ' ')
	if begin <= indent(line) {
		return line
	}
	return line[:begin+1] + fieldTypes[m.r.IntN(len(fieldTypes))]
}

// newNumber replaces one of the numbers of a line, outside of strings and payloads, with an extreme number, a neighbor,
// or another number of the line.
func (m *Mutator) newNumber(line string) string {
	spots := numbers(line)
	if len(spots) == 0 {
		return line
	}
	s := spots[m.r.IntN(len(spots))]
	old, err := strconv.ParseUint(line[s[0]:s[1]], 0, 64)
	if err != nil {
		return line
	}
	v := m.extreme()
	switch m.r.IntN(4) {
	case 0:
		v = old + 1
	case 1:
		v = old - 1
	case 2:
		other := spots[m.r.IntN(len(spots))]
		v, _ = strconv.ParseUint(line[other[0]:other[1]], 0, 64)
	}
	return line[:s[0]] + strconv.FormatUint(v, 10) + line[s[1]:]
}

// numbers returns the positions of the decimal and 0x-hexadecimal arguments of a line.
func numbers(line string) (spots [][2]int) {
	for i := indent(line); i < len(line); {
		switch c := line[i]; {
		case c == '"':
			q, err := strconv.QuotedPrefix(line[i:])
			if err != nil {
				return spots
			}
			i += len(q)
		case c >= '0' && c <= '9' && (line[i-1] == ' ' || line[i-1] == '=' || line[i-1] == ':'):
			end := i
			for end < len(line) && line[end] != ' ' && line[end] != ':' && line[end] != '=' {
				end++
			}
			if !strings.HasSuffix(line[:i], "payload=") && end-i < 21 {
				spots = append(spots, [2]int{i, end})
			}
			i = end
		default:
			i++
		}
	}
	return spots
}

// editLines edits a file of lines: whole lines, and numbers and words in them.
func (m *Mutator) editLines() bool {
	m.lines = append(m.lines[:0], m.seed.lines...)
	for range 1 + m.r.IntN(6) {
		i := m.r.IntN(len(m.lines))
		line := m.lines[i]
		words := strings.Split(line, [...]string{" ", ";", ":"}[m.r.IntN(3)])
		switch m.r.IntN(6) {
		case 0:
			m.lines = slices.Delete(m.lines, i, i+1)
		case 1:
			m.lines = slices.Insert(m.lines, i, m.lines[m.r.IntN(len(m.lines))])
		case 2:
			line = m.newNumber(" " + line)[1:]
			m.lines[i] = line
		case 3:
			words[m.r.IntN(len(words))] = [...]string{"", "x", "0", "-1", "1e400", "18446744073709551616", "\x00\xff", "@", "0x", "[", strings.Repeat("y", 300)}[m.r.IntN(11)]
			m.lines[i] = strings.Join(words, " ")
		case 4:
			other := m.seeds[m.r.IntN(len(m.seeds))].lines
			if len(other) > 0 {
				m.lines = slices.Insert(m.lines, i, other[m.r.IntN(len(other))])
			}
		default:
			m.lines[i] = strings.Repeat(line+";", 1+m.r.IntN(3)) + line
		}
		if len(m.lines) == 0 {
			return false
		}
	}
	m.buf = append(m.buf[:0], strings.Join(m.lines, "\n")...)
	return true
}
