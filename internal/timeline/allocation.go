package timeline

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/sample"
)

// allocations reads the bytes that allocations represent. The runtime has several ways to record them, which may be
// enabled together: only those that a profile would use have bytes, because the total would be too large otherwise.
type allocations struct {
	samples []uint64 // by source
	carry   []int64  // by source
	used    []bool   // by source, after the first read
}

// append appends the source plus 1 and the bytes of an event, or 0 if it is not an allocation.
func (a *allocations) append(rec []byte, e *ntconv.Event, of *meters.Allocation) []byte {
	if of == nil {
		return appendNumber(rec, 0)
	}
	for int(of.Source) >= len(a.samples) {
		a.samples, a.carry = append(a.samples, 0), append(a.carry, 0)
	}
	bytes := of.Bytes(e, &a.carry[of.Source])
	if bytes > 0 {
		a.samples[of.Source]++
	}
	return appendSigned(appendNumber(rec, uint32(of.Source)+1), bytes)
}

// read decodes what append has encoded. Call it after the last append.
func (a *allocations) read(c *bin.Reader) int64 {
	source := c.Uvarint32()
	if source == 0 {
		return 0
	}
	if a.used == nil {
		_, a.used = meters.SourcesOf(sample.Alloc, a.samples)
	}
	bytes := c.Varint()
	if int(source) > len(a.used) || !a.used[source-1] {
		return 0
	}
	return bytes
}
