package tracecmp

// An alike caches pairs of pointers whose content is equal, so that long content that many events share is compared
// once.
type alike[T any] struct {
	last  [2]*T
	known map[*T]*T
}

const (
	// maxShort is the number of elements up to which content is not cached.
	maxShort = 16
	// maxAlike bounds the cached pairs, because their pointers keep the content in memory.
	maxAlike = 1 << 16
)

// has reports whether a and b are known to be equal.
func (p *alike[T]) has(a, b *T) bool {
	if a == p.last[0] && b == p.last[1] {
		return true
	}
	if a == nil || b == nil || p.known[a] != b {
		return false
	}
	p.last = [2]*T{a, b}
	return true
}

// add records that a and b, with n elements each, are equal. It discards all pairs when it has maxAlike.
func (p *alike[T]) add(a, b *T, n int) {
	p.last = [2]*T{a, b}
	if n <= maxShort || a == nil || b == nil {
		return
	}
	if p.known == nil || len(p.known) >= maxAlike {
		p.known = map[*T]*T{}
	}
	p.known[a] = b
}
