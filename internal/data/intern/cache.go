package intern

// A Cache holds the values of recent keys. The caller supplies a hash, which may be weak: the cache spreads neighboring
// hashes. Each hash has one entry, so a new key evicts the previous key of the entry. NewCache returns an empty cache;
// the zero Cache is not usable.
type Cache[K comparable, V any] struct {
	entries []cached[K, V]
	shift   uint8
}

type cached[K comparable, V any] struct {
	key   K
	value V
	used  bool
}

// spread is 2^64 divided by the golden ratio. The products of neighboring hashes are far apart.
const spread = 0x9e3779b97f4a7c15

// NewCache returns a cache of 1<<bits entries. The first Put allocates them.
func NewCache[K comparable, V any](bits uint8) Cache[K, V] { return Cache[K, V]{shift: 64 - bits} }

// Get returns the value of a key, or nil if the cache does not have it. The pointer is valid until the next Put.
func (c *Cache[K, V]) Get(hash uint64, k *K) *V {
	at := hash * spread >> c.shift
	if at >= uint64(len(c.entries)) {
		return nil
	}
	if e := &c.entries[at]; e.used && e.key == *k {
		return &e.value
	}
	return nil
}

// Put stores the value of a key that Get has not found.
func (c *Cache[K, V]) Put(hash uint64, k *K, v V) {
	if c.entries == nil {
		c.entries = make([]cached[K, V], 1<<(64-c.shift))
	}
	c.entries[hash*spread>>c.shift] = cached[K, V]{*k, v, true}
}
