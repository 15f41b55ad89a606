package streameq

// alike remembers which pairs of pointers were found to be equal, so that long content that many events share is not
// compared for each of them.
type alike[T any] struct {
	last  [2]*T
	known map[*T]*T
}

const (
	// maxShort is the length of content that is not worth remembering.
	maxShort = 16
	// maxAlike bounds how many pairs are remembered, because their pointers keep the content in memory.
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

// add notes that a and b, of a content of n elements, are equal.
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
