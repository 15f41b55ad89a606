package parquetreader

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/ntconv/ntconv"
)

// A field sets a field of consecutive rows to the values of the batch of its columns.
type field interface {
	// set sets the field of n rows, which are zero. The first is at base, each of the others stride bytes after the one
	// before.
	set(base unsafe.Pointer, stride uintptr, n int) error
}

// A kind is the Go type of a scalar.
type kind uint8

const (
	kindInt32 kind = iota
	kindInt64
	kindBool
	kindFloat64
	kindString
	kindBytes
)

// A scalar sets a field of rows, or of the elements of lists, to the values of one column.
type scalar struct {
	c      *columnReader
	offset uintptr
	kind   kind
	// pointer means that the field is a pointer to the kind.
	pointer bool
	// element is the least definition level of a value that is an element: a lower one is an empty list, which has no
	// element to set.
	element uint8
}

// at returns the field of the element i.
func (s *scalar) at(base unsafe.Pointer, stride uintptr, i int) unsafe.Pointer {
	return unsafe.Add(base, uintptr(i)*stride+s.offset)
}

func (s *scalar) set(base unsafe.Pointer, stride uintptr, _ int) error {
	switch {
	case s.pointer && s.kind == kindInt32:
		setPointers(s, base, stride, func(v uint64) int32 { return int32(v) })
	case s.pointer && s.kind == kindInt64:
		setPointers(s, base, stride, func(v uint64) int64 { return int64(v) })
	case s.pointer && s.kind == kindBool:
		setPointers(s, base, stride, func(v uint64) bool { return v != 0 })
	case s.pointer:
		setPointers(s, base, stride, math.Float64frombits)
	case s.kind == kindInt32:
		setValues(s, s.c.numbers, base, stride, func(v uint64) int32 { return int32(v) })
	case s.kind == kindInt64:
		setIntegers(s, base, stride)
	case s.kind == kindBool:
		setValues(s, s.c.numbers, base, stride, func(v uint64) bool { return v != 0 })
	case s.kind == kindFloat64:
		setValues(s, s.c.numbers, base, stride, math.Float64frombits)
	case s.kind == kindString:
		setValues(s, s.c.strings, base, stride, func(v string) string { return v })
	default:
		setValues(s, s.c.strings, base, stride, func(v string) []byte { return bytesOf(v)[:len(v):len(v)] })
	}
	return nil
}

// setIntegers is setValues for the most frequent type.
func setIntegers(s *scalar, base unsafe.Pointer, stride uintptr) {
	if len(s.c.defs) > 0 {
		setValues(s, s.c.numbers, base, stride, func(v uint64) int64 { return int64(v) })
		return
	}
	for i, v := range s.c.numbers {
		*(*int64)(s.at(base, stride, i)) = int64(v)
	}
}

// setValues sets the fields of elements that are not NULL.
func setValues[S, V any](s *scalar, values []S, base unsafe.Pointer, stride uintptr, convert func(S) V) {
	if len(s.c.defs) == 0 {
		for i, v := range values {
			*(*V)(s.at(base, stride, i)) = convert(v)
		}
		return
	}
	if len(values) == 0 {
		return
	}
	maximum, i, k := uint8(s.c.column.MaxDefinition), 0, 0
	for _, d := range s.c.defs {
		if d == maximum {
			*(*V)(s.at(base, stride, i)) = convert(values[k])
			k++
		}
		if d >= s.element {
			i++
		}
	}
}

// setPointers is setValues for a field that is a pointer. The values of a batch share an allocation.
func setPointers[V any](s *scalar, base unsafe.Pointer, stride uintptr, convert func(uint64) V) {
	if len(s.c.numbers) == 0 {
		return
	}
	slab := make([]V, len(s.c.numbers))
	for i, v := range s.c.numbers {
		slab[i] = convert(v)
	}
	next := 0
	setValues(s, s.c.numbers, base, stride, func(uint64) *V {
		next++
		return &slab[next-1]
	})
}

// lengths appends the number of elements of each row of a column of lists.
func (s *scalar) lengths(dst []int32) []int32 {
	for i, r := range s.c.reps {
		if r == 0 {
			dst = append(dst, 0)
		}
		if s.c.defs[i] >= s.element {
			dst[len(dst)-1]++
		}
	}
	return dst
}

// A repeatedField is what lists and maps have in common: some columns with the same number of elements in each row.
type repeatedField struct {
	offset  uintptr
	columns []*scalar
	// counts has the number of elements of each row, first by the first column.
	counts, others []int32
}

// count returns the number of all elements of the n rows of the batch.
func (l *repeatedField) count(n int) (total int, err error) {
	l.counts = l.columns[0].lengths(l.counts[:0])
	for _, s := range l.columns[1:] {
		l.others = s.lengths(l.others[:0])
		for i := range l.counts {
			if l.others[i] != l.counts[i] {
				return 0, s.c.located(
					fmt.Errorf(
						"%w: %d elements in a row where column %s has %d",
						ntconv.ErrCorrupt,
						l.others[i],
						l.columns[0].c.column.Name(),
						l.counts[i],
					),
				)
			}
		}
	}
	for _, k := range l.counts[:n] {
		total += int(k)
	}
	return total, nil
}

// A listField sets a field that is a slice. The elements of the rows of a batch share an allocation.
type listField struct {
	repeatedField
	// makeSlice returns the memory of n elements.
	makeSlice func(n int) unsafe.Pointer
	size      uintptr // of an element
}

// A sliceHeader is how Go lays out a slice.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

func (l *listField) set(base unsafe.Pointer, stride uintptr, n int) error {
	total, err := l.count(n)
	if err != nil || total == 0 {
		return err
	}
	if err := l.columns[0].c.budget.add(int64(total) * int64(l.size)); err != nil {
		return l.columns[0].c.located(err)
	}
	// The elements belong to the caller from here on.
	l.columns[0].c.budget.used -= int64(total) * int64(l.size)
	slab := l.makeSlice(total)
	for _, s := range l.columns {
		if err := s.set(slab, l.size, total); err != nil {
			return err
		}
	}
	first := uintptr(0)
	for i, k := range l.counts {
		if k > 0 {
			p := unsafe.Add(base, uintptr(i)*stride+l.offset)
			*(*sliceHeader)(p) = sliceHeader{unsafe.Add(slab, first*l.size), int(k), int(k)}
			first += uintptr(k)
		}
	}
	return nil
}

// A mapField sets a field of type map[string]string.
type mapField struct {
	repeatedField
	keys, values []string
}

func (m *mapField) set(base unsafe.Pointer, stride uintptr, n int) error {
	total, err := m.count(n)
	if err != nil || total == 0 {
		return err
	}
	m.keys = append(m.keys[:0], make([]string, total)...)
	m.values = append(m.values[:0], make([]string, total)...)
	size := unsafe.Sizeof("")
	if err := m.columns[0].set(unsafe.Pointer(&m.keys[0]), size, total); err != nil {
		return err
	}
	if err := m.columns[1].set(unsafe.Pointer(&m.values[0]), size, total); err != nil {
		return err
	}
	next := 0
	for i, k := range m.counts {
		if k == 0 {
			continue
		}
		entries := make(map[string]string, k)
		for range k {
			entries[m.keys[next]] = m.values[next]
			next++
		}
		*(*map[string]string)(unsafe.Add(base, uintptr(i)*stride+m.offset)) = entries
	}
	return nil
}
