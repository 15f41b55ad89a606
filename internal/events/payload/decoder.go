package payload

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/events/layout"
)

// A Decoder converts JSON to payloads of one layout. It is not safe for concurrent use.
//
// Append first assumes that members have the order of the fields and writes each value as it reads it. If it encounters
// another order, it sets disorder and gives up; Append then sets anyOrder and starts over, and each object is searched
// for its members before they are written.
type Decoder struct {
	plan *plan
	json jsonio.Scanner

	b     []byte    // dst and the payload so far
	start int       // index of the payload in b
	end   int       // index in b where the payload ends if only fields without values follow; -1 after a value
	lists int       // number of lists that contain the current value
	left  int       // budget for zeros of missing values and for searched members, see spend
	locs  []pending // locations whose elements are not yet written
	text  []byte    // buffer for strings with escapes

	anyOrder bool
	disorder bool  // the order of members differs, and anyOrder is not set
	spans    []int // offsets in the JSON of the members' values, for all objects that contain the current value
	indexes  map[*node]map[string]int
}

// pending is a location in b whose elements follow the last field. at is its index in b, and pos the offset of the
// elements in the JSON, or -1 if there are none.
type pending struct {
	at, pos int
	node    *node
}

// Limits of the zeros that a payload may contain for values without JSON: per byte of JSON, and in addition to that.
const (
	maxZerosPerByte = 64
	maxZeros        = 1 << 16
)

// NewDecoder returns a Decoder for payloads with these fields. pointerSize is 4 or 8 bytes; other sizes mean 8. The
// Decoder retains fields, which must not be changed.
func NewDecoder(fields []ntconv.Field, pointerSize int) *Decoder {
	if pointerSize != 4 {
		pointerSize = 8
	}
	return &Decoder{plan: newPlan(fields, pointerSize)}
}

// Append converts an object in JSON to a payload, appends it to dst and returns the extended slice. Empty JSON means an
// empty payload. The members may have any order. The payload ends before trailing fields that are null or missing;
// other fields without a value are zero. Bytes may also be a list of numbers. Malformed JSON, a member that is not a
// field, and a value that does not fit its field are errors that wrap ntconv.ErrValue; Append then returns dst
// unchanged. The JSON may be untrusted: memory is proportional to its size. Append borrows json.
func (d *Decoder) Append(dst, json []byte) (payload []byte, err error) {
	if len(json) == 0 {
		return dst, nil
	}
	d.b, d.start = dst, len(dst)
	d.left = maxZerosPerByte*len(json) + maxZeros
	d.anyOrder = false
	err = d.payload(json)
	if d.disorder {
		d.anyOrder = true
		err = d.payload(json)
	}
	payload, d.b, d.json.Text = d.b, nil, nil // both are borrowed
	if err != nil {
		return dst, err
	}
	return payload, nil
}

// payload writes the whole payload, and returns errOrder if disorder is set.
func (d *Decoder) payload(json []byte) error {
	d.json.Text, d.json.Pos = json, 0
	d.b, d.end, d.lists, d.disorder = d.b[:d.start], -1, 0, false
	d.locs, d.spans = d.locs[:0], d.spans[:0]
	if err := d.object(d.plan.Members); err != nil {
		return err
	}
	if d.json.Peek(); d.json.Pos < len(json) {
		return d.fail(errTrail)
	}
	return d.located()
}

// object reads an object and writes its members.
func (d *Decoder) object(members []node) error {
	if !d.json.Accept('{') {
		return d.fail(errType)
	}
	if d.anyOrder {
		return d.unordered(members)
	}
	first := true
	for i := range members {
		n := &members[i]
		if n.Op == layout.Pad {
			d.pad(n)
			continue
		}
		switch comma := !first && d.json.Accept(','); {
		case (first || comma) && d.json.Literal(n.Info.name):
		case !comma && d.short(members):
			return nil
		default:
			d.disorder = true
			return errOrder
		}
		first = false
		if err := d.value(n); err != nil {
			return inField(n, err)
		}
	}
	if !d.json.Accept('}') {
		d.disorder = true
		return errOrder
	}
	return nil
}

// short reports whether the JSON of the payload ends before its next member. The payload then ends there, too, unless
// it contains padding, which JSON does not show.
func (d *Decoder) short(members []node) bool {
	if &members[0] != &d.plan.Members[0] || d.plan.Pads || !d.json.Accept('}') {
		return false
	}
	if d.end < 0 {
		d.end = len(d.b)
	}
	return true
}

// inField adds the name of the field to an error.
func inField(n *node, err error) error {
	if err == errOrder {
		return err
	}
	return fmt.Errorf("field %s %w", n.Info.name, err)
}

// pad writes padding, which the payload contains even if only fields without values follow.
func (d *Decoder) pad(n *node) {
	if n.Size > 0 {
		d.end = -1
		d.zeros(int(n.Size))
	}
}

// unordered locates the value of each member of an object and writes the values in the order of the fields.
func (d *Decoder) unordered(members []node) error {
	base := len(d.spans)
	if err := d.spend(len(members)); err != nil {
		return err
	}
	for range members {
		d.spans = append(d.spans, -1)
	}
	if err := d.find(members, base); err != nil {
		return err
	}
	after := d.json.Pos
	for i := range members {
		n := &members[i]
		var err error
		switch pos := d.spans[base+i]; {
		case n.Op == layout.Pad:
			d.pad(n)
		case pos < 0:
			err = d.null(n)
		default:
			d.json.Pos = pos
			err = d.value(n)
		}
		if err != nil {
			return inField(n, err)
		}
	}
	d.json.Pos, d.spans = after, d.spans[:base]
	return nil
}

// find stores the offsets of the members' values in d.spans[base:] and reads to the end of the object.
func (d *Decoder) find(members []node, base int) error {
	for first := true; !d.json.Accept('}'); first = false {
		if !first && !d.json.Accept(',') {
			return d.fail(errSyntax)
		}
		d.json.Peek()
		begin := d.json.Pos
		text, err := d.readText()
		if err != nil {
			return err
		}
		i, ok := d.indexOf(members)[quotedKey(string(text))]
		switch {
		case !d.json.Accept(':'):
			return d.fail(errSyntax)
		case !ok:
			d.json.Pos = begin
			return d.fail(errUnknown)
		case d.spans[base+i] >= 0:
			d.json.Pos = begin
			return d.fail(errTwice)
		}
		d.spans[base+i] = d.json.Pos
		if err := d.skip(); err != nil {
			return err
		}
	}
	return nil
}

// indexOf returns the indices of members by name, and caches them.
func (d *Decoder) indexOf(members []node) map[string]int {
	if len(members) == 0 {
		return nil
	}
	index := d.indexes[&members[0]]
	if index == nil {
		index = make(map[string]int, len(members))
		for i := range members {
			if members[i].Op != layout.Pad {
				index[members[i].Info.name] = i
			}
		}
		if d.indexes == nil {
			d.indexes = make(map[*node]map[string]int)
		}
		d.indexes[&members[0]] = index
	}
	return index
}

// spend takes n from the budget of zeros and searches that no JSON pays for, so that short JSON cannot create a large
// payload.
func (d *Decoder) spend(n int) error {
	if d.left -= n; d.left < 0 || n < 0 {
		d.left = 0
		return d.fail(errSize)
	}
	return nil
}

func (d *Decoder) zeros(n int) { d.b = append(d.b, make([]byte, n)...) }

// located writes the elements of all locations. These may contain further locations, which it appends to the same list.
func (d *Decoder) located() error {
	if d.end >= 0 {
		d.b = d.b[:d.end]
		d.locs = slices.DeleteFunc(d.locs, func(l pending) bool { return l.at >= d.end })
	}
	for i := 0; i < len(d.locs); i++ {
		l := d.locs[i]
		from := d.start
		if l.node.Type.Code == ntconv.TypeRelLoc {
			from = l.at + 4
		}
		begin := len(d.b)
		if l.pos >= 0 {
			d.json.Pos = l.pos
			if _, err := d.elems(l.node.Elem); err != nil {
				return err
			}
		}
		size := len(d.b) - begin
		if size > math.MaxUint16 || begin-from > math.MaxUint16 {
			return d.fail(
				fmt.Errorf("%w: %d bytes at position %d of a location with 16 bits each", errRange, size, begin-from),
			)
		}
		binary.LittleEndian.PutUint32(d.b[l.at:], uint32(size)<<16|uint32(begin-from))
	}
	return nil
}
