package mutate

import (
	"slices"
	"strconv"
)

// A node is a value in a JSON document, or a member of an object including its name.
type node struct {
	begin, end int // byte offsets in the document
	member     bool
}

// scanJSON returns the values and members in a JSON document. If the document is invalid, it returns those before the
// error.
func scanJSON(data []byte) (nodes []node) {
	type open struct {
		begin  int
		object bool
		member int // start of the current member of an object, -1 before its name
	}
	var stack []open
	closed := func(begin, end int) {
		nodes = append(nodes, node{begin, end, false})
		if n := len(stack); n > 0 && stack[n-1].object && stack[n-1].member >= 0 {
			nodes = append(nodes, node{stack[n-1].member, end, true})
			stack[n-1].member = -1
		}
	}
	for i := 0; i < len(data); {
		switch c := data[i]; c {
		case '{', '[':
			stack = append(stack, open{i, c == '{', -1})
			i++
		case '}', ']':
			i++
			if len(stack) == 0 {
				return nodes
			}
			begin := stack[len(stack)-1].begin
			stack = stack[:len(stack)-1]
			closed(begin, i)
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
		default:
			end := scalar(data, i)
			if n := len(stack); n > 0 && stack[n-1].object && stack[n-1].member < 0 {
				stack[n-1].member = i // start of the name
			} else {
				closed(i, end)
			}
			i = end
		}
	}
	return nodes
}

// scalar returns the end of a string, number or literal.
func scalar(data []byte, i int) int {
	if data[i] == '"' {
		for i++; i < len(data) && data[i] != '"'; i++ {
			if data[i] == '\\' {
				i++
			}
		}
		return min(i+1, len(data))
	}
	for i++; i < len(data); i++ {
		switch data[i] {
		case ' ', '\t', '\r', '\n', ',', ':', '{', '}', '[', ']', '"':
			return i
		}
	}
	return i
}

// oddJSON are replacement values.
var oddJSON = [...]string{
	"null", "true", "{}", "[]", `""`, "-1", "0", "1e308", "-1e308", "1e-320", "0.5", "9223372036854775807", "-9223372036854775808", "18446744073709551615", "18446744073709551616",
	"4294967295", "2147483648", `"\u0000"`, `"\ud800"`, `"NaN"`, `"-1"`, `"18446744073709551615"`, "[[[[[[[[[[]]]]]]]]]]", `{"":{"":{"":[null]}}}`, "[null]", "[0]", "[-1]", `"ff"`,
	`"0123456789abcdef0123456789abcdef"`, "1", "2", "3", "16",
}

// editJSON edits one to four values. The document stays valid unless two edits overlap.
func (m *Mutator) editJSON() bool {
	nodes := m.seed.nodes
	if len(nodes) == 0 {
		return false
	}
	m.buf = append(m.buf[:0], m.seed.Data...)
	last := len(m.buf) // edits go backwards, so that offsets of earlier values stay valid
	picked := make([]node, 0, 4)
	for range 1 + m.r.IntN(4) {
		picked = append(picked, nodes[m.r.IntN(len(nodes))])
	}
	slices.SortFunc(picked, func(a, b node) int { return b.begin - a.begin })
	for _, n := range picked {
		if n.end > last {
			continue
		}
		last = n.begin
		m.editNode(n)
	}
	return true
}

func (m *Mutator) editNode(n node) {
	kind := m.r.IntN(8)
	if kind < 3 && n.member { // only the value of the member
		begin := scalar(m.buf, n.begin)
		for begin < n.end && (m.buf[begin] == ' ' || m.buf[begin] == ':') {
			begin++
		}
		n.begin, n.member = begin, false
	}
	old := m.buf[n.begin:n.end]
	var with []byte
	switch kind {
	case 0, 1:
		with = []byte(oddJSON[m.r.IntN(len(oddJSON))])
	case 2: // a number close to this one, or its text
		v, err := strconv.ParseInt(string(old), 10, 64)
		if err != nil {
			with = []byte(strconv.FormatUint(m.extreme(), 10))
			break
		}
		with = strconv.AppendInt(nil, [...]int64{v + 1, v - 1, -v, v * 1000, v << 31, int64(m.extreme())}[m.r.IntN(6)], 10)
	case 3: // duplicate it
		with = append(append(slices.Clone(old), ','), old...)
	case 4: // delete it with the comma that follows
		end := n.end
		if end < len(m.buf) && m.buf[end] == ',' {
			end++
		}
		m.buf = slices.Delete(m.buf, n.begin, end)
		return
	case 5, 6: // replace it with a value of this or another document
		from := m.seed
		if kind == 6 {
			from = m.seeds[m.r.IntN(len(m.seeds))]
		}
		with = from.similar(m, n.member)
	default: // nest it deeper
		with = append(append([]byte("["), old...), ']')
	}
	m.buf = slices.Replace(m.buf, n.begin, n.end, with...)
}

// similar returns a random value, or a random member if member is set.
func (s *Seed) similar(m *Mutator, member bool) []byte {
	for range 16 {
		if len(s.nodes) == 0 {
			break
		}
		if n := s.nodes[m.r.IntN(len(s.nodes))]; n.member == member && n.end-n.begin < 4096 {
			return slices.Clone(s.Data[n.begin:n.end])
		}
	}
	if member {
		return []byte(`"x":null`)
	}
	return []byte("null")
}
