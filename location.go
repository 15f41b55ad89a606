package ntconv

import (
	"errors"
	"fmt"
	"math"
)

// A location takes 4 bytes of a payload and refers to as many as 65,535, which may hold further locations. Several
// locations may refer to the same bytes, so a few hundred bytes could describe more values than any memory holds. The
// decoder therefore charges a location for the bytes of its elements, and for the locations among them as if they were
// iterated over right away. A value keeps the total before its first element: iterating over it continues from there
// and finds the same locations valid as the first walk did. Values without bytes are charged too, as a list can have
// any number of them per byte.
const (
	// maxLocatedPerByte and maxLocatedExtra bound the total per payload. Locations that share no bytes need a factor of
	// 1.
	maxLocatedPerByte = 16
	maxLocatedExtra   = 4096
	// locErrorCharge is charged for a location that is not valid, because its error takes about as many bytes when
	// printed. The 4 bytes of a location allow for it.
	locErrorCharge = 4 * maxLocatedPerByte
)

// overCharged is the total of a decoder that has exceeded its limit: every further charge fails.
const overCharged = math.MaxUint32

// chargeLimit returns the limit of a payload's total. It is less than overCharged.
func (d *decoder) chargeLimit() uint64 {
	return min(maxLocatedPerByte*uint64(len(d.payload))+maxLocatedExtra, overCharged-1)
}

// charge adds n to the total and reports whether it is within the limit.
func (d *decoder) charge(n int) bool {
	total := uint64(d.charged) + uint64(n)
	if total > d.chargeLimit() {
		d.charged = overCharged
		return false
	}
	d.charged = uint32(total)
	return true
}

// errCharge returns the error of a charge that failed.
func (d *decoder) errCharge() error {
	if d.probe {
		return errOverCharged
	}
	return fmt.Errorf(
		"%w: limit %d, %d times the payload plus %d",
		errOverCharged,
		d.chargeLimit(),
		maxLocatedPerByte,
		maxLocatedExtra,
	)
}

var errOverCharged = errors.New("too many located bytes or empty values")

// loc decodes elements that lie elsewhere in the payload. An error in them does not affect the fields that follow.
func (d *decoder) loc(t *FieldType, at uint32) Value {
	if d.charged == overCharged {
		return d.locError(d.errCharge())
	}
	start, size := int(at&0xffff), int(at>>16)
	if t.Code == TypeRelLoc {
		start += d.off
	}
	end := start + size
	elem, ok := d.mode.footprint(t.Elem)
	within := d.charge(elem.nodes)
	switch {
	case !ok || elem.size == 0:
		return d.invalidLoc(errElementSize)
	case end > len(d.payload):
		return d.invalidLoc(errLocRange)
	case size%elem.size != 0:
		return d.invalidLoc(errLocSize)
	case !within || !d.charge(size):
		return d.locError(d.errCharge())
	}
	v := d.run(t.Elem, start, end, d.charged)
	if elem.nests {
		d.chargeElems(t.Elem, start, end)
	}
	return v
}

func (d *decoder) invalidLoc(err error) Value {
	d.charge(locErrorCharge)
	return d.locError(err)
}

// locError returns the value of a location that cannot be decoded, which ends at the decoder's position.
func (d *decoder) locError(err error) Value {
	if d.probe {
		return errorValue(err)
	}
	return errorValue(fmt.Errorf("byte %d of the payload: %w", d.off-4, err))
}

// chargeElems charges for the elements from start to end, except for their own bytes.
func (d *decoder) chargeElems(elem *FieldType, start, end int) {
	e := decoder{b: d.payload[:end], off: start, payload: d.payload, mode: d.mode, probe: true, charged: d.charged}
	for e.off < end && e.charged != overCharged {
		e.value(elem, nil, 0)
	}
	d.charged = e.charged
}

// isLocation reports whether values of the code refer to other bytes.
func (c TypeCode) isLocation() bool { return c == TypeRelLoc || c == TypeDataLoc }

// A footprint is what all values of a type have in common.
type footprint struct {
	size  int  // bytes of a value
	nodes int  // types visited: the type itself, its elements and its members
	nests bool // decoding a value charges for values in it
}

// footprint returns what all values of type t have in common. It returns false if their size varies; nodes is set
// nevertheless.
func (m mode) footprint(t *FieldType) (f footprint, ok bool) {
	f.nodes = 1
	if t == nil {
		return f, false
	}
	switch t.Code {
	case TypeObject:
		f.nests = len(t.Fields) == 0
		for i := range t.Fields {
			member, ok := m.footprint(&t.Fields[i].Type)
			f.size += member.size
			f.nodes += member.nodes
			f.nests = f.nests || member.nests
			if !ok || f.size > maxFixedSize {
				return f, false
			}
		}
		return f, true
	case TypeFixedArray:
		elem, ok := m.footprint(t.Elem)
		count := int(t.Count)
		f = footprint{size: elem.size * count, nodes: 1 + elem.nodes, nests: count == 0 || elem.nests}
		return f, ok && elem.size <= maxFixedSize/(count+1)
	case TypePad64:
		f.size = int(m.ptr) - 4
		return f, true
	}
	f.size, f.nests = t.Code.fixedSize(m), t.Code.isLocation()
	return f, f.size > 0
}
