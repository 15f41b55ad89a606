package chrome

import (
	"slices"

	"github.com/ntconv/ntconv/internal/timeline"
)

// A nodeSet is a set of nodes of the stack tree. A set that contains a node also contains its callers, so addStack can
// stop at the first known node. The set is a paged bitmap and needs one bit per node of the pages in use.
type nodeSet struct{ pages [][]uint64 }

const (
	pageWords = 64
	pageNodes = pageWords * 64
)

// add adds a node and reports whether it is new.
func (s *nodeSet) add(n timeline.Node) bool {
	page := int(n / pageNodes)
	if page >= len(s.pages) {
		s.pages = append(s.pages, make([][]uint64, page+1-len(s.pages))...)
	}
	if s.pages[page] == nil {
		s.pages[page] = make([]uint64, pageWords)
	}
	word, bit := &s.pages[page][n%pageNodes/64], uint64(1)<<(n%64)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}

// empty reports whether the set has no node.
func (s *nodeSet) empty() bool { return len(s.pages) == 0 }

// addStack adds a node and its callers, and appends those that are new, callers first.
func (s *nodeSet) addStack(t timeline.Trace, n timeline.Node, dst []timeline.Node) []timeline.Node {
	start := len(dst)
	for n != timeline.NoStack && s.add(n) {
		dst = append(dst, n)
		n, _ = t.Node(n)
	}
	slices.Reverse(dst[start:])
	return dst
}

// all returns the nodes in ascending order. Callers have smaller numbers, so they precede their callees.
func (s *nodeSet) all() func(yield func(timeline.Node) bool) {
	return func(yield func(timeline.Node) bool) {
		for p, page := range s.pages {
			for w, word := range page {
				for bit := 0; word != 0; bit, word = bit+1, word>>1 {
					if word&1 != 0 && !yield(timeline.Node(p*pageNodes+w*64+bit)) {
						return
					}
				}
			}
		}
	}
}
