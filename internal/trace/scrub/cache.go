package scrub

// generations is a cache of bounded size: it keeps the entries of the current and the previous generation.
type generations[K comparable, V any] struct {
	limit         int
	current, last map[K]V
}

func (g *generations[K, V]) get(k K) (v V, ok bool) {
	if v, ok = g.current[k]; ok {
		return v, true
	}
	if v, ok = g.last[k]; ok {
		g.put(k, v)
	}
	return v, ok
}

func (g *generations[K, V]) put(k K, v V) {
	if g.current == nil || len(g.current) >= g.limit {
		g.begin()
	}
	g.current[k] = v
}

// begin begins a generation.
func (g *generations[K, V]) begin() { g.last, g.current = g.current, make(map[K]V) }

// A stringCache is generations with bytes as keys, at most maxKeyBytes in a generation. A hit in the current generation
// does not allocate.
type stringCache[V any] struct {
	generations[string, V]
	size int // of the keys since a generation began because of them
}

// Bounds of the keys of a stringCache in bytes. Longer keys are not cached: a few of them, each different, would
// displace everything else.
const (
	maxKeyBytes = 4 << 20
	maxKey      = maxKeyBytes / 16
)

func (c *stringCache[V]) get(k []byte) (v V, ok bool) {
	if v, ok = c.current[string(k)]; ok {
		return v, true
	}
	if v, ok = c.last[string(k)]; ok {
		c.put(k, v)
	}
	return v, ok
}

func (c *stringCache[V]) put(k []byte, v V) {
	if len(k) > maxKey {
		return
	}
	if c.size += len(k); c.size > maxKeyBytes {
		c.size = len(k)
		c.begin()
	}
	c.generations.put(string(k), v)
}
