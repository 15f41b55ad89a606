package perfetto

// A stringTable assigns IDs to strings for interned data, starting at 1. Its size is limited: strings that do not fit
// have no ID and are written where they are used.
type stringTable struct {
	numbers map[string]uint64
	list    []string // by ID - 1
	bytes   int      // total size of list
}

// Limits of a stringTable. They are generous, although a name that is written in place costs only a few bytes per
// event.
const (
	maxStrings     = 1 << 17
	maxStringBytes = 16 << 20
)

// number returns the ID of s and whether this call assigned it. It returns 0 if the table is full.
func (t *stringTable) number(s string) (n uint64, added bool) {
	if n, ok := t.numbers[s]; ok {
		return n, false
	}
	return t.add(s)
}

// numberBytes is number for a byte slice. It copies s only if it assigns an ID.
func (t *stringTable) numberBytes(s []byte) (n uint64, added bool) {
	if n, ok := t.numbers[string(s)]; ok {
		return n, false
	}
	return t.add(string(s))
}

// add assigns the next ID to s, or returns 0 if the table is full.
func (t *stringTable) add(s string) (n uint64, added bool) {
	if len(t.list) == maxStrings || t.bytes+len(s) > maxStringBytes {
		return 0, false
	}
	if t.numbers == nil {
		t.numbers = make(map[string]uint64)
	}
	t.list = append(t.list, s)
	t.bytes += len(s)
	n = uint64(len(t.list))
	t.numbers[s] = n
	return n, true
}

// A repeats recognizes recent strings, so that only strings that repeat are interned. It stores one hash per slot. If
// another string has overwritten the slot, s counts as new, which costs a few bytes.
type repeats [1 << 14]uint32

// seen reports whether it was called with s recently.
func (r *repeats) seen(s []byte) bool {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a, because the output must not depend on a random seed
	hash := uint64(offset)
	for _, c := range s {
		hash = (hash ^ uint64(c)) * prime
	}
	hash ^= hash >> 32
	slot := &r[hash%uint64(len(r))]
	tag := uint32(hash>>14) | 1 // never 0, which marks an empty slot
	if *slot == tag {
		return true
	}
	*slot = tag
	return false
}
