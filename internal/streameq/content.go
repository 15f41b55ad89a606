package streameq

import (
	"encoding/binary"

	"github.com/ntconv/ntconv"
)

// The functions below append all that the comparison looks at, in a form that is equal for equal content only: what no
// event uses is matched by it, because comparing each with each takes a time that is the product of their numbers.

func appendString[T string | []byte](dst []byte, s T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendAttrs(dst []byte, attrs ntconv.Attrs) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(attrs)))
	for _, a := range attrs {
		dst = appendString(appendString(dst, a.Key), a.Value)
	}
	return dst
}

func appendType(dst []byte, t *ntconv.Type) []byte {
	dst = append(appendString(dst, t.Provider), t.GUID[:]...)
	dst = appendString(binary.AppendUvarint(dst, uint64(t.ID)), t.Name)
	opcode := byte(0)
	if t.HasOpcode {
		opcode = 1
	}
	dst = append(dst, t.Version, t.Level, opcode, t.Opcode)
	dst = binary.AppendUvarint(dst, t.Keywords)
	dst = appendString(appendString(dst, t.Message), t.Description)
	dst = appendString(appendString(dst, t.Extra), t.OptionalExtra)
	return appendFields(appendAttrs(dst, t.Attrs), t.Fields)
}

func appendFields(dst []byte, fields []ntconv.Field) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(fields)))
	for i := range fields {
		f := &fields[i]
		dst = appendString(appendString(dst, f.Name), f.Extra)
		dst = appendFieldType(dst, &f.Type)
	}
	return dst
}

func appendFieldType(dst []byte, t *ntconv.FieldType) []byte {
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(t.Code)), uint64(t.Count))
	if t.Elem == nil {
		return appendFields(append(dst, 0), t.Fields)
	}
	return appendFields(appendFieldType(append(dst, 1), t.Elem), t.Fields)
}

// appendThread leaves out the process.
func appendThread(dst []byte, t *ntconv.Thread) []byte {
	return appendAttrs(appendString(binary.AppendUvarint(dst, t.TID), t.Name), t.Attrs)
}

// appendProcess appends a process of a machine with the given size of pointers, without its mappings. No process is one
// that nothing is known about.
func appendProcess(dst []byte, p *ntconv.Process, machine uint8) []byte {
	if p == nil {
		p = &ntconv.Process{}
	}
	size := p.PointerSize
	if size == 0 {
		size = machine
	}
	dst = append(binary.AppendUvarint(dst, p.PID), size)
	return appendAttrs(appendString(appendString(dst, p.Host), p.Name), p.Attrs)
}

// mappingsNumber returns a number that lists of mappings share if their content is equal. Each list is read once, because
// many processes may share it.
func (c *comparer) mappingsNumber(list []*ntconv.Mapping) int {
	if len(list) == 0 {
		return 0
	}
	n, known := c.listNumbers[listOf(list)]
	if known {
		return n
	}
	if c.listNumbers == nil {
		c.listNumbers, c.mappingLists = map[mappingList]int{}, map[string]int{}
	}
	var content []byte
	for _, m := range list {
		content = appendMapping(content, m)
	}
	if n, known = c.mappingLists[string(content)]; !known {
		n = len(c.mappingLists) + 1
		c.mappingLists[string(content)] = n
	}
	c.listNumbers[listOf(list)] = n
	return n
}

func appendMapping(dst []byte, m *ntconv.Mapping) []byte {
	if m == nil {
		return append(dst, 0)
	}
	dst = binary.AppendUvarint(binary.AppendUvarint(append(dst, 1), m.Start), m.Limit)
	dst = appendString(appendString(binary.AppendUvarint(dst, m.Offset), m.File), m.BuildID)
	return append(dst, byte(m.Flags))
}
