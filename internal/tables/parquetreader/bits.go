package parquetreader

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// Errors of decoders. The pageReader adds the position.
var (
	errValuesEnd = errors.New("the page has fewer values than its header states")
	errBitWidth  = errors.New("values of more bits than their type has")
	errRun       = errors.New("run of zero values")
	errDelta     = errors.New("header of delta encoding")
)

// load returns the 8 bytes at b[i:] in little-endian order. Bytes past the end are 0.
func load(b []byte, i int) uint64 {
	if i+8 <= len(b) {
		return binary.LittleEndian.Uint64(b[i:])
	}
	var v uint64
	for k := 0; i+k < len(b) && k < 8; k++ {
		v |= uint64(b[i+k]) << (8 * k)
	}
	return v
}

// unpack returns the value of width bits at bit position at. The caller has checked that b has these bits.
func unpack(b []byte, at int, width uint) uint64 {
	i, shift := at/8, uint(at%8)
	v := load(b, i) >> shift
	if shift+width > 64 {
		v |= load(b, i+8) << (64 - shift)
	}
	return v & (1<<width - 1)
}

// A hybrid decodes runs and bit-packed groups (Encodings.md, "Run Length Encoding / Bit-Packing Hybrid"). It yields
// values on request, so that a long run needs no memory.
type hybrid struct {
	b     []byte
	width uint
	// run is the number of values left in the current run; each of them is value.
	run   int
	value uint32
	// packed is the number of values left in the current bit-packed groups. The next one is at bit position at of bits.
	packed int
	bits   []byte
	at     int
}

// newHybrid returns a decoder for values of width bits.
func newHybrid(b []byte, width uint) (hybrid, error) {
	if width > 32 {
		return hybrid{}, errBitWidth
	}
	return hybrid{b: b, width: width}, nil
}

// start reads the header of the next run or of the next bit-packed groups.
func (h *hybrid) start() error {
	u, n := binary.Uvarint(h.b)
	if n <= 0 {
		return errValuesEnd
	}
	h.b = h.b[n:]
	if u>>1 == 0 {
		return errRun
	}
	// A count larger than the page is not an error, because the reader stops after the values of the page.
	count := int(min(u>>1, math.MaxInt32))
	if u&1 == 0 {
		size := int(h.width+7) / 8
		if size > len(h.b) {
			return errValuesEnd
		}
		h.run, h.value = count, uint32(load(h.b[:size], 0))
		if h.width < 32 && h.value >= 1<<h.width {
			return errBitWidth
		}
		h.b = h.b[size:]
		return nil
	}
	h.packed = count * 8
	size := count * int(h.width)
	if size > len(h.b) {
		// The last group may lack the bits after its last value. A shorter group is detected when its values are read.
		size = len(h.b)
		h.packed = size * 8 / int(h.width)
		if h.packed == 0 {
			return errValuesEnd
		}
	}
	h.bits, h.b, h.at = h.b[:size], h.b[size:], 0
	return nil
}

// decode fills dst with the next values of h.
func decode[T uint8 | uint32](h *hybrid, dst []T) error {
	for len(dst) > 0 {
		switch {
		case h.run > 0:
			n := min(h.run, len(dst))
			v := T(h.value)
			for i := range dst[:n] {
				dst[i] = v
			}
			h.run -= n
			dst = dst[n:]
		case h.packed > 0:
			n := min(h.packed, len(dst))
			at, width, mask := h.at, h.width, uint64(1)<<h.width-1
			for i := range dst[:n] {
				// A value has at most 32 bits, so it lies within the 8 bytes that begin with its first one.
				dst[i] = T(load(h.bits, at>>3) >> (at & 7) & mask)
				at += int(width)
			}
			h.at = at
			h.packed -= n
			dst = dst[n:]
		default:
			if err := h.start(); err != nil {
				return err
			}
		}
	}
	return nil
}

// A delta decodes DELTA_BINARY_PACKED (Encodings.md, "Delta Encoding"). It yields values on request.
type delta struct {
	b []byte
	// left is the number of values that decode has not returned yet.
	left int
	// first means that last is the first value, which is stored in the header and needs no delta.
	first bool
	last  int64
	// mini is the number of values per miniblock, and minis the number of miniblocks per block.
	mini, minis int

	minDelta int64
	widths   []byte // bit widths of the miniblocks left in the block
	packed   int    // values left in the miniblock
	width    uint
	bits     []byte
	at       int
}

// newDelta reads the header. It states the number of values, which is not used to allocate.
func newDelta(b []byte) (delta, error) {
	d := delta{first: true}
	var header [3]uint64
	for i := range header {
		v, k := binary.Uvarint(b)
		if k <= 0 {
			return d, errDelta
		}
		header[i], b = v, b[k:]
	}
	last, k := binary.Varint(b)
	if k <= 0 {
		return d, errDelta
	}
	block, minis := header[0], header[1]
	if block == 0 || block > 1<<20 || block%128 != 0 || minis == 0 || minis > block/32 || block%minis != 0 ||
		block/minis%32 != 0 {
		return d, errDelta
	}
	if header[2] > math.MaxInt32 {
		return d, errDelta
	}
	d.b, d.left, d.last = b[k:], int(header[2]), last
	d.mini, d.minis = int(block/minis), int(minis)
	return d, nil
}

// miniblock starts the next miniblock, and the next block if necessary.
func (d *delta) miniblock() error {
	if len(d.widths) == 0 {
		v, k := binary.Varint(d.b)
		if k <= 0 || len(d.b)-k < d.minis {
			return errValuesEnd
		}
		d.minDelta = v
		d.widths, d.b = d.b[k:k+d.minis], d.b[k+d.minis:]
	}
	d.width, d.widths = uint(d.widths[0]), d.widths[1:]
	if d.width > 64 {
		return errBitWidth
	}
	// The last miniblock may lack the bits after its last value.
	size := d.mini * int(d.width) / 8
	if need := (min(d.mini, d.left)*int(d.width) + 7) / 8; need > len(d.b) {
		return errValuesEnd
	}
	size = min(size, len(d.b))
	d.bits, d.b, d.at, d.packed = d.b[:size], d.b[size:], 0, d.mini
	return nil
}

// decode fills dst with the next values. It returns errValuesEnd if there are fewer.
func (d *delta) decode(dst []uint64) error {
	if len(dst) > d.left {
		return errValuesEnd
	}
	if len(dst) > 0 && d.first {
		dst[0], dst, d.first = uint64(d.last), dst[1:], false
		d.left--
	}
	for len(dst) > 0 {
		if d.packed == 0 {
			if err := d.miniblock(); err != nil {
				return err
			}
		}
		n := min(d.packed, len(dst))
		last := d.last
		if d.width == 0 {
			for i := range dst[:n] {
				last += d.minDelta
				dst[i] = uint64(last)
			}
		} else {
			for i := range dst[:n] {
				last += d.minDelta + int64(unpack(d.bits, d.at, d.width))
				dst[i] = uint64(last)
				d.at += int(d.width)
			}
		}
		d.last = last
		d.packed -= n
		d.left -= n
		dst = dst[n:]
	}
	return nil
}

// rest returns the bytes after the last value. d does not change.
func (d *delta) rest() ([]byte, error) {
	c := *d
	if c.first && c.left > 0 {
		c.left--
	}
	for c.left > 0 {
		if c.packed == 0 {
			if err := c.miniblock(); err != nil {
				return nil, err
			}
		}
		n := min(c.packed, c.left)
		c.packed -= n
		c.left -= n
	}
	return c.b, nil
}

// levelWidth returns the number of bits of a level between 0 and maximum.
func levelWidth(maximum int) uint { return uint(bits.Len(uint(maximum))) }
