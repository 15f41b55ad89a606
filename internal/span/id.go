package span

import (
	"crypto/sha256"
	"encoding/binary"
)

// A Hash derives IDs from data that identifies a span, so that every run yields the same IDs. The zero value is ready
// to use. A Hash is not safe for concurrent use.
type Hash struct{ buf []byte }

// Text adds a string, with its length.
func (h *Hash) Text(s string) {
	h.buf = binary.AppendUvarint(h.buf, uint64(len(s)))
	h.buf = append(h.buf, s...)
}

// Number adds a number.
func (h *Hash) Number(n uint64) { h.buf = binary.LittleEndian.AppendUint64(h.buf, n) }

// Trace returns a trace ID derived from the added data, never zero, and resets the Hash.
func (h *Hash) Trace() (id TraceID) {
	sum := h.sum('t')
	copy(id[:], sum[:])
	if id.IsZero() {
		id[15] = 1
	}
	return id
}

// Span returns a span ID derived from the added data, never zero, and resets the Hash.
func (h *Hash) Span() (id ID) {
	sum := h.sum('s')
	copy(id[:], sum[:])
	if id.IsZero() {
		id[7] = 1
	}
	return id
}

// sum returns the hash of the data and resets it. kind separates trace IDs from span IDs, so that neither is a prefix
// of the other.
func (h *Hash) sum(kind byte) [sha256.Size]byte {
	sum := sha256.Sum256(append(h.buf, kind))
	h.buf = h.buf[:0]
	return sum
}
