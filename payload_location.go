package ntconv

import (
	"errors"
	"fmt"
	"math"

	"github.com/ntconv/ntconv/internal/data/bin"
)

// Locations could describe more values than fit into memory (see bin.MaxLocated). The decoder therefore charges a
// location for the bytes of its elements, and for the locations among them as if a caller iterated over them
// immediately. A value stores the total before its first element. Iterating over the value continues from this total,
// so it finds the same locations valid as the first pass. Values without bytes are charged as well, because a list can
// have any number of them per byte.

// locErrorCharge is the charge for an invalid location, because its error has about as many bytes when it is printed.
// It equals the limit that the 4 bytes of a location add.
const locErrorCharge = 4 * bin.LocatedPerByte

// overCharged is the total of a decoder that has exceeded its limit. Every further charge fails.
const overCharged = math.MaxUint32

// chargeLimit returns the limit of the total for a payload. It is less than overCharged.
func (d *decoder) chargeLimit() uint64 {
	return min(uint64(bin.MaxLocated(len(d.payload))), overCharged-1)
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

// errCharge returns the error of a failed charge.
func (d *decoder) errCharge() error {
	if d.probe {
		return errOverCharged
	}
	return fmt.Errorf("%w: limit %d, %d times the payload plus %d",
		errOverCharged, d.chargeLimit(), bin.LocatedPerByte, bin.MaxLocated(0))
}

var errOverCharged = errors.New("too many located bytes or empty values")

// loc decodes the elements that a location refers to. An error in them does not affect the fields that follow.
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

// invalidLoc charges for an invalid location and returns its value.
func (d *decoder) invalidLoc(err error) Value {
	d.charge(locErrorCharge)
	return d.locError(err)
}

// locError returns the value of a location that cannot be decoded. The location ends at the decoder's position.
func (d *decoder) locError(err error) Value {
	if d.probe {
		return errorValue(err)
	}
	return errorValue(fmt.Errorf("byte %d of the payload: %w", d.off-4, err))
}

// chargeElems charges for the elements from start to end, without their own bytes.
func (d *decoder) chargeElems(elem *FieldType, start, end int) {
	e := decoder{b: d.payload[:end], off: start, payload: d.payload, mode: d.mode, probe: true, charged: d.charged}
	for e.off < end && e.charged != overCharged {
		e.value(elem, nil, 0)
	}
	d.charged = e.charged
}

// isLocation reports whether values of this code refer to other bytes.
func (c TypeCode) isLocation() bool { return c == TypeRelLoc || c == TypeDataLoc }

// A footprint holds the properties that all values of a type share.
type footprint struct {
	size  int  // size of a value in bytes
	nodes int  // number of types: the type itself, its elements and its members
	nests bool // decoding a value charges for values in it
}

// footprint returns the footprint of type t. It returns false if the size of its values varies; nodes is valid in both
// cases.
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
