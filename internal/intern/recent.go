package intern

// recent is how many keys a Recent remembers: threads of a process take turns in few.
const recent = 4

// Recent remembers the values of the last keys: pointers, usually, that repeat in turns. Looking one up is cheaper than looking at
// what it points to, or than a map. The zero key is never found.
type Recent[K comparable, V any] struct {
	// keys are in the order of Put, the last one first. A hit moves nothing: keys in turns keep their places, so that the branches of
	// Get are predictable.
	keys   [recent]K
	values [recent]V
}

// Get returns the value of a key if it is one of the last.
func (r *Recent[K, V]) Get(k K) (v V, ok bool) {
	var none K
	for i := range r.keys {
		if r.keys[i] == k {
			return r.values[i], k != none
		}
	}
	return v, false
}

// Put remembers the value of a key that Get has not found, in place of the oldest.
func (r *Recent[K, V]) Put(k K, v V) {
	copy(r.keys[1:], r.keys[:])
	copy(r.values[1:], r.values[:])
	r.keys[0], r.values[0] = k, v
}

// Reset discards all keys.
func (r *Recent[K, V]) Reset() { *r = Recent[K, V]{} }
