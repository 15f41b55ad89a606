package diagsource

import (
	"hash/maphash"

	"github.com/ntconv/ntconv/internal/data/bin"
)

// stringCache decodes UTF-16 and caches recent strings, because most names and values in a trace repeat. It is a
// set-associative cache: a string can only be in the set that its hash selects. Use newStringCache; the zero value is
// not usable.
type stringCache struct {
	seed    maphash.Seed
	entries []cachedString // sets of ways entries, the newest first
	buf     []byte         // for decoding
}

// A cachedString is a string in both encodings.
type cachedString struct{ raw, str string }

const (
	cacheSize       = 1 << 10
	ways            = 4       // entries per set; with one, two frequent strings could evict each other every time
	maxCachedString = 256     // bytes of UTF-16; longer strings rarely repeat
	maxStringBuffer = 1 << 20 // maximum bytes of buf that are retained
)

func newStringCache() stringCache {
	return stringCache{seed: maphash.MakeSeed(), entries: make([]cachedString, cacheSize)}
}

// of decodes UTF-16. Equal input that was decoded recently yields the same string.
func (t *stringCache) of(raw []byte) string {
	if len(raw) == 0 || len(raw) > maxCachedString {
		return t.fresh(raw)
	}
	at := maphash.Bytes(t.seed, raw) % (cacheSize / ways) * ways
	set := t.entries[at : at+ways]
	for i := range set {
		if set[i].raw == string(raw) {
			return set[i].str
		}
	}
	copy(set[1:], set)
	set[0] = cachedString{string(raw), t.fresh(raw)}
	return set[0].str
}

// fresh decodes UTF-16 to a new string.
func (t *stringCache) fresh(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	t.buf = bin.DecodeUTF16(t.buf[:0], raw)
	s := string(t.buf)
	if cap(t.buf) > maxStringBuffer {
		t.buf = nil
	}
	return s
}

// nibbles contains the values of hexadecimal digits; for all other bytes, the high bits are set.
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

// parseHex sets dst to the bytes of a hexadecimal number in UTF-16. It returns false if raw does not have exactly that
// many digits.
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

// parseID sets dst as parseHex does, or to zeros if raw is not an ID.
func parseID(dst, raw []byte) {
	if !parseHex(dst, raw) {
		clear(dst)
	}
}

// parseDecimal returns a decimal number in UTF-16. It returns false if raw is not a number or exceeds 64 bits.
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
