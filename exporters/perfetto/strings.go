package perfetto

// A textTable numbers strings from 1 for interned data. Its size is limited: strings that do not fit have no number and
// are written where they are used.
type textTable struct {
	numbers map[string]uint64
	list    []string // by number - 1
	bytes   int
}

// Limits of a table. A name that is written in place costs a few bytes per event, so they are generous.
const (
	maxTexts     = 1 << 17
	maxTextBytes = 16 << 20
)

// number returns the number of s and whether this call assigned it, or 0 if the table is full.
func (t *textTable) number(s string) (n uint64, added bool) {
	if n, ok := t.numbers[s]; ok {
		return n, false
	}
	return t.add(s)
}

// numberBytes is number for bytes that are not a string yet.
func (t *textTable) numberBytes(s []byte) (n uint64, added bool) {
	if n, ok := t.numbers[string(s)]; ok {
		return n, false
	}
	return t.add(string(s))
}

func (t *textTable) add(s string) (n uint64, added bool) {
	if len(t.list) == maxTexts || t.bytes+len(s) > maxTextBytes {
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

// A repeats recognizes strings that it has seen before, so that only those that repeat are interned. It remembers one
// hash per slot: a string whose slot another one has taken since counts as new, which costs a few bytes and nothing
// else.
type repeats [1 << 14]uint32

// seen reports whether s was passed to it recently.
func (r *repeats) seen(s []byte) bool {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a: the output must not depend on a random seed
	hash := uint64(offset)
	for _, c := range s {
		hash = (hash ^ uint64(c)) * prime
	}
	hash ^= hash >> 32
	slot := &r[hash%uint64(len(r))]
	tag := uint32(hash>>14) | 1 // never 0, which is an empty slot
	if *slot == tag {
		return true
	}
	*slot = tag
	return false
}
