package parquetreader

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/ntconv/ntconv"
)

// A field sets one field of consecutive rows to the values of the current batch.
type field interface {
	// set sets the field in n rows, which must be zero. base points to the field of the first row; consecutive rows are
	// stride bytes apart.
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

// A scalar copies the values of one column to a field of rows, or to a field of the elements of lists.
type scalar struct {
	c      *columnReader
	offset uintptr
	kind   kind
	// pointer means that the field is a pointer to kind, and NULL is nil.
	pointer bool
	// element is the lowest definition level of a value that is an element of a list. A lower level means that the list
	// is empty or NULL, so there is no element to set.
	element uint8
}

// at returns a pointer to the field of element i.
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

// setIntegers is setValues for int64, the most frequent type, without a call per value.
func setIntegers(s *scalar, base unsafe.Pointer, stride uintptr) {
	if len(s.c.defs) > 0 {
		setValues(s, s.c.numbers, base, stride, func(v uint64) int64 { return int64(v) })
		return
	}
	for i, v := range s.c.numbers {
		*(*int64)(s.at(base, stride, i)) = int64(v)
	}
}

// setValues sets the field of each element that is not NULL.
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

// setPointers is setValues for pointer fields. The values of a batch share one allocation.
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

// lengths appends the number of elements of each row to dst. The column must be inside a list.
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

// A repeatedField is the common part of listField and mapField: columns that must have the same number of elements in
// each row.
type repeatedField struct {
	offset  uintptr
	columns []*scalar
	// counts has the number of elements per row in the first column, others those of another column, to compare them.
	counts, others []int32
}

// count returns the total number of elements in the n rows of the batch. It fails if the columns disagree.
func (l *repeatedField) count(n int) (total int, err error) {
	l.counts = l.columns[0].lengths(l.counts[:0])
	for _, s := range l.columns[1:] {
		l.others = s.lengths(l.others[:0])
		for i := range l.counts {
			if l.others[i] != l.counts[i] {
				return 0, s.c.located(
					fmt.Errorf(
						"%w: row of %d elements, but column %s has %d",
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

// A listField sets a slice field. The elements of the rows of a batch share one allocation.
type listField struct {
	repeatedField
	// makeSlice allocates n elements.
	makeSlice func(n int) unsafe.Pointer
	size      uintptr // of an element
}

// A sliceHeader is the memory layout of a slice.
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
	// The caller owns the elements from here on, so the budget no longer counts them.
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
