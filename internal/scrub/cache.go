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
		g.last, g.current = g.current, make(map[K]V)
	}
	g.current[k] = v
}

// A stringCache is generations with bytes as keys. A hit in the current generation does not allocate.
type stringCache[V any] struct {
	generations[string, V]
}

func (c *stringCache[V]) get(k []byte) (v V, ok bool) {
	if v, ok = c.current[string(k)]; ok {
		return v, true
	}
	if v, ok = c.last[string(k)]; ok {
		c.put(k, v)
	}
	return v, ok
}

func (c *stringCache[V]) put(k []byte, v V) { c.generations.put(string(k), v) }
