package tracecmp

import (
	"encoding/binary"

	"github.com/ntconv/ntconv"
)

// The functions below append all compared members of a value. The result is equal if and only if the content is equal.
// Definitions that no event uses are matched by it, because comparing each pair would take quadratic time.

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

// appendThread appends a thread without its process.
func appendThread(dst []byte, t *ntconv.Thread) []byte {
	return appendAttrs(appendString(binary.AppendUvarint(dst, t.TID), t.Name), t.Attrs)
}

// appendProcess appends a process without its mappings. machine is the pointer size for processes without their own.
// nil equals the zero Process.
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

// mappingsNumber returns a number that lists of mappings with equal content share. It reads each list once, because
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
