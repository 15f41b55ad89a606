package intern

// A Heap is a binary heap. The zero value is empty; the first element is element 0, if there is one. Before must be a
// strict order of elements. It allocates only as it grows, unlike container/heap.
type Heap[T any, P interface {
	*T
	Before(*T) bool
}] []T

// Push adds an element.
func (h *Heap[T, P]) Push(v T) {
	*h = append(*h, v)
	a := *h
	for i := len(a) - 1; i > 0; {
		parent := (i - 1) / 2
		if !P(&a[i]).Before(&a[parent]) {
			break
		}
		a[i], a[parent] = a[parent], a[i]
		i = parent
	}
}

// Pop removes and returns the first element. The heap must not be empty.
func (h *Heap[T, P]) Pop() T {
	a := *h
	first, n := a[0], len(a)-1
	a[0] = a[n]
	clear(a[n:])
	a = a[:n]
	*h = a
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < n && P(&a[child+1]).Before(&a[child]) {
			child++
		}
		if child >= n || !P(&a[child]).Before(&a[i]) {
			return first
		}
		a[i], a[child] = a[child], a[i]
		i = child
	}
}
