package parquetreader

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"github.com/ntconv/ntconv"
)

// An encoding is an Encoding of parquet.thrift.
type encoding int

const (
	plain           encoding = 0
	plainDictionary encoding = 2
	rle             encoding = 3
	deltaPacked     encoding = 5
	deltaLength     encoding = 6
	deltaStrings    encoding = 7
	rleDictionary   encoding = 8
	streamSplit     encoding = 9
)

// String returns the name that the specification uses.
func (e encoding) String() string {
	names := []string{
		"PLAIN",
		"1",
		"PLAIN_DICTIONARY",
		"RLE",
		"BIT_PACKED",
		"DELTA_BINARY_PACKED",
		"DELTA_LENGTH_BYTE_ARRAY",
		"DELTA_BYTE_ARRAY",
		"RLE_DICTIONARY",
		"BYTE_STREAM_SPLIT",
	}
	if e < 0 || int(e) >= len(names) {
		return fmt.Sprint(int(e))
	}
	return names[e]
}

var (
	errNoDictionary = errors.New("the column chunk has no dictionary")
	errIndex        = errors.New("index past the end of the dictionary")
	errLevel        = errors.New("level that the column does not have")
	errClosed       = errors.New("parquet: the reader is closed")
	errLength       = errors.New("length of a value exceeds the page")
)

// isNumber reports whether values of the type are decoded to uint64. The others are decoded to strings.
func (p Physical) isNumber() bool {
	return p == Boolean || p == Int32 || p == Int64 || p == Float || p == Double
}

// A valueDecoder decodes the values of a page that are not NULL. It implements the method for its type and embeds
// noValues for the other. It does not allocate by counts that the page states.
type valueDecoder interface {
	// numbers fills dst with the next values of a type with isNumber: integers sign-extended, Float and Double as their
	// bits.
	numbers(dst []uint64) error
	// strings fills dst with the next values of another type. They share the memory of the page.
	strings(dst []string) error
}

// noValues implements the method that a decoder does not support.
type noValues struct{}

func (noValues) numbers([]uint64) error { return errValuesEnd }
func (noValues) strings([]string) error { return errValuesEnd }

// text returns a string that shares the memory of b. The bytes must not change afterwards.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// newValueDecoder returns the decoder for data in the encoding e. Its strings share the memory of data, except those
// that DELTA_BYTE_ARRAY assembles: the decoder calls expand with their number of bytes before it allocates them, and
// stops if expand returns an error.
func newValueDecoder(
	c *Column,
	e encoding,
	data []byte,
	dict *dictionary,
	expand func(int64) error,
) (valueDecoder, error) {
	number := c.Physical.isNumber()
	switch {
	case e == plain && number:
		return &plainNumbers{physical: c.Physical, b: data}, nil
	case e == plain:
		return &plainStrings{b: data, size: c.fixedSize()}, nil
	case e == plainDictionary || e == rleDictionary:
		return newIndexes(data, dict)
	case e == rle && c.Physical == Boolean:
		return newRunBooleans(data)
	case e == deltaPacked && (c.Physical == Int32 || c.Physical == Int64):
		d, err := newDelta(data)
		return &deltaNumbers{d: d, narrow: c.Physical == Int32}, err
	case e == deltaLength && c.Physical == ByteArray:
		return newDeltaLengths(data)
	case e == deltaStrings && !number && c.Physical != Int96:
		return newDeltaStrings(data, c.fixedSize(), expand)
	case e == streamSplit && number && c.Physical != Boolean, e == streamSplit && c.Physical == FixedLenByteArray:
		return newStreamSplit(c, data)
	}
	return nil, fmt.Errorf("%w: encoding %v of values of type %v", ntconv.ErrUnsupported, e, c.Physical)
}

// fixedSize returns the size in bytes of values that are decoded to strings, and 0 if it varies.
func (c *Column) fixedSize() int {
	if c.Physical == Int96 {
		return 12
	}
	return c.Length
}

type plainNumbers struct {
	noValues
	physical Physical
	b        []byte
	bit      int
}

func (p *plainNumbers) numbers(dst []uint64) error {
	switch p.physical {
	case Boolean:
		if p.bit+len(dst) > 8*len(p.b) {
			return errValuesEnd
		}
		for i := range dst {
			dst[i] = uint64(p.b[p.bit/8]>>(p.bit%8)) & 1
			p.bit++
		}
	case Int32, Float:
		if len(dst) > len(p.b)/4 {
			return errValuesEnd
		}
		for i := range dst {
			dst[i] = uint64(int64(int32(binary.LittleEndian.Uint32(p.b[4*i:]))))
		}
		p.b = p.b[4*len(dst):]
	default:
		if len(dst) > len(p.b)/8 {
			return errValuesEnd
		}
		for i := range dst {
			dst[i] = binary.LittleEndian.Uint64(p.b[8*i:])
		}
		p.b = p.b[8*len(dst):]
	}
	return nil
}

// plainStrings decodes strings of a fixed size, or each preceded by its length.
type plainStrings struct {
	noValues
	b    []byte
	size int
}

func (p *plainStrings) strings(dst []string) error {
	b := p.b
	for i := range dst {
		n := p.size
		if n == 0 {
			if len(b) < 4 {
				return errValuesEnd
			}
			n = int(binary.LittleEndian.Uint32(b))
			b = b[4:]
		}
		if n > len(b) {
			return errLength
		}
		dst[i] = text(b[:n:n])
		b = b[n:]
	}
	p.b = b
	return nil
}

// runBooleans decodes booleans that are stored as a hybrid after its size in 4 bytes.
type runBooleans struct {
	noValues
	h   hybrid
	buf [256]uint8
}

func newRunBooleans(data []byte) (valueDecoder, error) {
	if len(data) < 4 || int64(binary.LittleEndian.Uint32(data)) > int64(len(data)-4) {
		return nil, errLength
	}
	h, err := newHybrid(data[4:4+binary.LittleEndian.Uint32(data)], 1)
	return &runBooleans{h: h}, err
}

func (r *runBooleans) numbers(dst []uint64) error {
	for len(dst) > 0 {
		buf := r.buf[:min(len(r.buf), len(dst))]
		if err := decode(&r.h, buf); err != nil {
			return err
		}
		for i, v := range buf {
			dst[i] = uint64(v)
		}
		dst = dst[len(buf):]
	}
	return nil
}

type deltaNumbers struct {
	noValues
	d delta
	// narrow means that values wrap around at 32 bits, because the column has the type Int32.
	narrow bool
}

func (d *deltaNumbers) numbers(dst []uint64) error {
	err := d.d.decode(dst)
	if d.narrow {
		for i, v := range dst {
			dst[i] = uint64(int64(int32(v)))
		}
	}
	return err
}

// A streamSplitter decodes BYTE_STREAM_SPLIT: the first bytes of all values, then the second bytes of all values, and
// so on.
type streamSplitter struct {
	b       []byte
	size, n int
	next    int
	narrow  bool
}

func newStreamSplit(c *Column, data []byte) (valueDecoder, error) {
	s := &streamSplitter{b: data, size: 8}
	switch c.Physical {
	case Int32, Float:
		s.size, s.narrow = 4, true
	case FixedLenByteArray:
		s.size = c.Length
	}
	if s.n = len(data) / s.size; s.n*s.size != len(data) {
		return nil, errLength
	}
	return s, nil
}

func (s *streamSplitter) numbers(dst []uint64) error {
	if len(dst) > s.n-s.next {
		return errValuesEnd
	}
	for i := range dst {
		var v uint64
		for k := range s.size {
			v |= uint64(s.b[k*s.n+s.next]) << (8 * k)
		}
		if s.narrow {
			v = uint64(int64(int32(v)))
		}
		dst[i] = v
		s.next++
	}
	return nil
}

func (s *streamSplitter) strings(dst []string) error {
	if len(dst) > s.n-s.next {
		return errValuesEnd
	}
	buf := make([]byte, 0, len(dst)*s.size)
	for i := range dst {
		for k := range s.size {
			buf = append(buf, s.b[k*s.n+s.next])
		}
		dst[i] = text(buf[len(buf)-s.size:])
		s.next++
	}
	return nil
}
