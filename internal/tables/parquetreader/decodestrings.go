package parquetreader

import (
	"fmt"

	"github.com/ntconv/ntconv"
)

// A dictionary holds the distinct values of a column chunk, as numbers or as strings.
type dictionary struct {
	numbers []uint64
	strings []string
}

// newDictionary decodes the n values of a dictionary page.
func newDictionary(c *Column, e encoding, data []byte, n int) (*dictionary, error) {
	if e != plain && e != plainDictionary {
		return nil, fmt.Errorf("%w: encoding %v of a dictionary", ntconv.ErrUnsupported, e)
	}
	if n > len(data)/c.minSize() {
		return nil, errValuesEnd
	}
	d := &dictionary{}
	if c.Physical.isNumber() {
		d.numbers = make([]uint64, n)
		return d, (&plainNumbers{physical: c.Physical, b: data}).numbers(d.numbers)
	}
	d.strings = make([]string, n)
	return d, (&plainStrings{b: data, size: c.fixedSize()}).strings(d.strings)
}

// minSize returns the smallest number of bytes that a value occupies in a dictionary page.
func (c *Column) minSize() int {
	switch c.Physical {
	case Boolean:
		return 1 // a dictionary of booleans has at most two values
	case Int64, Double:
		return 8
	case Int96, FixedLenByteArray:
		return c.fixedSize()
	}
	return 4
}

// indexes decodes values that are stored as positions in a dictionary.
type indexes struct {
	h    hybrid
	dict *dictionary
	buf  [256]uint32
}

func newIndexes(data []byte, dict *dictionary) (valueDecoder, error) {
	if dict == nil {
		return nil, errNoDictionary
	}
	d := &indexes{dict: dict}
	if len(data) == 0 {
		// A page whose values are all NULL may have no data at all.
		return d, nil
	}
	var err error
	d.h, err = newHybrid(data[1:], uint(data[0]))
	return d, err
}

// lookup fills dst with the dictionary values at the next positions.
func lookup[T any](d *indexes, dict []T, dst []T) error {
	for len(dst) > 0 {
		buf := d.buf[:min(len(d.buf), len(dst))]
		if err := decode(&d.h, buf); err != nil {
			return err
		}
		for i, v := range buf {
			if uint(v) >= uint(len(dict)) {
				return errIndex
			}
			dst[i] = dict[v]
		}
		dst = dst[len(buf):]
	}
	return nil
}

func (d *indexes) numbers(dst []uint64) error { return lookup(d, d.dict.numbers, dst) }
func (d *indexes) strings(dst []string) error { return lookup(d, d.dict.strings, dst) }

// deltaLengths decodes DELTA_LENGTH_BYTE_ARRAY: all lengths, followed by all bytes.
type deltaLengths struct {
	noValues
	lengths delta
	b       []byte
	buf     [256]uint64
}

func newDeltaLengths(data []byte) (*deltaLengths, error) {
	lengths, err := newDelta(data)
	if err != nil {
		return nil, err
	}
	b, err := lengths.rest()
	return &deltaLengths{lengths: lengths, b: b}, err
}

func (d *deltaLengths) strings(dst []string) error {
	for len(dst) > 0 {
		buf := d.buf[:min(len(d.buf), len(dst))]
		if err := d.lengths.decode(buf); err != nil {
			return err
		}
		for i, n := range buf {
			// The format defines lengths as 32-bit integers, so deltas wrap around at 32 bits.
			if n = uint64(uint32(n)); n > uint64(len(d.b)) {
				return errLength
			}
			dst[i] = text(d.b[:n:n])
			d.b = d.b[n:]
		}
		dst = dst[len(buf):]
	}
	return nil
}

// deltaPrefixes decodes DELTA_BYTE_ARRAY: the lengths of the prefixes that values share with the previous value, and
// the rests of the values.
type deltaPrefixes struct {
	noValues
	prefixes delta
	suffixes *deltaLengths
	last     string
	size     int
	// expand is called with the number of bytes before values are allocated. A value can be as long as the page, and
	// every later value can repeat it, so the size of the page does not bound the size of its values.
	expand  func(int64) error
	rests   [256]string
	lengths [256]uint64
}

func newDeltaStrings(data []byte, size int, expand func(int64) error) (valueDecoder, error) {
	prefixes, err := newDelta(data)
	if err != nil {
		return nil, err
	}
	rest, err := prefixes.rest()
	if err != nil {
		return nil, err
	}
	suffixes, err := newDeltaLengths(rest)
	return &deltaPrefixes{prefixes: prefixes, suffixes: suffixes, size: size, expand: expand}, err
}

func (d *deltaPrefixes) strings(dst []string) error {
	for len(dst) > 0 {
		n := min(len(d.rests), len(dst))
		if err := d.prefixes.decode(d.lengths[:n]); err != nil {
			return err
		}
		if err := d.suffixes.strings(d.rests[:n]); err != nil {
			return err
		}
		for i, suffix := range d.rests[:n] {
			prefix := uint64(uint32(d.lengths[i]))
			if prefix > uint64(len(d.last)) || d.size > 0 && int(prefix)+len(suffix) != d.size {
				return errLength
			}
			if prefix > 0 && len(suffix) > 0 {
				if err := d.expand(int64(prefix) + int64(len(suffix))); err != nil {
					return err
				}
			}
			d.last = d.last[:prefix] + suffix
			dst[i] = d.last
		}
		dst = dst[n:]
	}
	return nil
}
