package diagsource

import (
	"hash/maphash"

	"github.com/ntconv/ntconv/internal/bin"
)

// texts decodes UTF-16 and remembers recent strings, because most names and values of a trace repeat. The zero value is
// not usable.
type texts struct {
	seed    maphash.Seed
	entries []text
	buf     []byte
}

// text is a string in both encodings.
type text struct{ raw, str string }

const (
	cachedTexts   = 1 << 10
	ways          = 4       // strings with the same hash that are remembered: with one, two frequent strings may evict each other every time
	maxCachedText = 256     // bytes of UTF-16; longer strings rarely repeat
	maxTextBuffer = 1 << 20 // bytes that are kept for the next string
)

func newTexts() texts { return texts{seed: maphash.MakeSeed(), entries: make([]text, cachedTexts)} }

// of returns UTF-16 as a string, the same one for recent equal bytes.
func (t *texts) of(raw []byte) string {
	if len(raw) == 0 || len(raw) > maxCachedText {
		return t.fresh(raw)
	}
	at := maphash.Bytes(t.seed, raw) % (cachedTexts / ways) * ways
	set := t.entries[at : at+ways]
	for i := range set {
		if set[i].raw == string(raw) {
			return set[i].str
		}
	}
	copy(set[1:], set)
	set[0] = text{string(raw), t.fresh(raw)}
	return set[0].str
}

// fresh returns UTF-16 as a new string.
func (t *texts) fresh(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	t.buf = bin.DecodeUTF16(t.buf[:0], raw)
	s := string(t.buf)
	if cap(t.buf) > maxTextBuffer {
		t.buf = nil
	}
	return s
}

// nibbles are the values of hexadecimal digits; other bytes have high bits set.
var nibbles = func() (table [256]byte) {
	for i := range table {
		table[i] = 0xff
	}
	for i := range 16 {
		table["0123456789abcdef"[i]] = byte(i)
		table["0123456789ABCDEF"[i]] = byte(i)
	}
	return table
}()

// parseHex fills dst with the bytes of a hexadecimal number in UTF-16 and reports whether raw has just as many digits.
func parseHex(dst, raw []byte) bool {
	if len(raw) != 4*len(dst) {
		return false
	}
	bad := byte(0)
	for i := range dst {
		four := raw[4*i : 4*i+4 : 4*i+4]
		hi, lo := nibbles[four[0]], nibbles[four[2]]
		bad |= hi&0xf0 | lo&0xf0 | four[1] | four[3]
		dst[i] = hi<<4 | lo&0x0f
	}
	return bad == 0
}

// parseID fills dst as parseHex does, and with zeros if raw is not an ID.
func parseID(dst, raw []byte) {
	if !parseHex(dst, raw) {
		clear(dst)
	}
}

// parseDecimal returns a decimal number in UTF-16, and false if raw is not a number or exceeds 64 bits.
func parseDecimal(raw []byte) (int64, bool) {
	negative := len(raw) >= 2 && raw[0] == '-' && raw[1] == 0
	if negative {
		raw = raw[2:]
	}
	if len(raw) == 0 || len(raw)%2 != 0 || len(raw) > 2*19 {
		return 0, false
	}
	n := uint64(0)
	for i := 0; i < len(raw); i += 2 {
		digit := raw[i] - '0'
		if digit > 9 || raw[i+1] != 0 {
			return 0, false
		}
		n = n*10 + uint64(digit)
	}
	if n > 1<<63-1 {
		return 0, false
	}
	if negative {
		return -int64(n), true
	}
	return int64(n), true
}

// hasASCIIPrefix reports whether UTF-16 begins with an ASCII string.
func hasASCIIPrefix(raw []byte, prefix string) bool {
	if len(raw) < 2*len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if raw[2*i] != prefix[i] || raw[2*i+1] != 0 {
			return false
		}
	}
	return true
}
