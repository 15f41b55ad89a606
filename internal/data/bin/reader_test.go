package bin

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

// TestReader writes a record, reads it in full, and reads every truncation of it: what is complete is the same, and the
// rest is zero.
func TestReader(t *testing.T) {
	for _, n := range []int64{0, 1, -1, 63, 64, 127, 128, 1 << 20, math.MaxUint32, math.MaxInt64, math.MinInt64} {
		record := []byte{byte(n)}
		ends := []int{len(record)}
		add := func(b []byte) { record, ends = b, append(ends, len(b)) }
		add(binary.AppendUvarint(record, uint64(n)))
		add(binary.AppendUvarint(record, uint64(uint32(n))))
		add(binary.AppendVarint(record, n))
		add(append(record, "four"...))
		add(append(append(record, 3, 0), "abc"...))
		for size := range len(record) + 1 {
			r := Reader{B: record[:size:size]}
			whole := 0
			for i, got := range []bool{
				r.Byte() == byte(n), r.Uvarint() == uint64(n), r.Uvarint32() == uint32(n), r.Varint() == n,
				string(r.Bytes(4)) == "four", string(r.Text()) == "abc",
			} {
				if size >= ends[i] {
					whole++
					if !got {
						t.Errorf("%d: value %d of %d bytes differs", n, i, size)
					}
				}
			}
			if r.Failed != (whole < len(ends)) || r.Rest() != nil {
				t.Errorf("%d: %d of %d bytes: failed is %t, %d bytes are left", n, size, len(record), r.Failed, len(r.B))
			}
		}
	}
}

// TestReaderFails checks what must fail although there are bytes, and that nothing is read after a failure.
func TestReaderFails(t *testing.T) {
	long := append(bytes.Repeat([]byte{0xff}, 10), 1)
	for name, read := range map[string]func(*Reader) bool{
		"a number of more than 64 bits": func(r *Reader) bool { return r.Uvarint() == 0 },
		"a number of more than 32 bits": func(r *Reader) bool { r.B = binary.AppendUvarint(nil, 1<<32); return r.Uvarint32() == 0 },
		"a negative size":               func(r *Reader) bool { return r.Bytes(-1) == nil },
		"a size beyond the end":         func(r *Reader) bool { return r.Bytes(12) == nil },
		"a text beyond the end":         func(r *Reader) bool { return r.Text() == nil },
	} {
		r := Reader{B: long}
		if !read(&r) || !r.Failed || r.Byte() != 0 || r.Uvarint() != 0 || r.Bytes(1) != nil || r.Rest() != nil {
			t.Errorf("%s is read", name)
		}
	}
}
