package where

import (
	"cmp"
	"slices"
	"strings"
)

// maxWord is the maximum number of bytes of a word for which Nearest looks for names.
const maxWord = 64

// Nearest returns at most n of the names, those first that differ from a word in the fewest letters, regardless of
// case. Names that differ in more than a quarter of the letters are omitted. The result has no duplicates.
func Nearest(word string, names []string, n int) (nearest []string) {
	if len(word) < 3 || len(word) > maxWord {
		return nil // a few letters are near to anything
	}
	type near struct {
		name     string
		distance int
	}
	var all []near
	want, most := strings.ToLower(word), max(1, len(word)/4)
	for _, name := range names {
		if len(name) > len(want)+most || len(name)+most < len(want) {
			continue
		}
		if d := Distance(strings.ToLower(name), want); d <= most {
			all = append(all, near{name, d})
		}
	}
	slices.SortFunc(all, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	for _, a := range all {
		if len(nearest) < n && !slices.Contains(nearest, a.name) {
			nearest = append(nearest, a.name)
		}
	}
	return nearest
}

// Distance returns the number of edits that turn a into b: a byte inserted, deleted or replaced, or two neighbors
// exchanged (optimal string alignment).
func Distance(a, b string) int {
	two, one, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		two, one, row = one, row, two
		row[0] = i + 1
		for j := range len(b) {
			replaced := one[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(replaced, row[j]+1, one[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], two[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
