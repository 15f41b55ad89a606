package profilediff

import (
	"cmp"
	"regexp"
	"slices"
	"sync"
)

// ordinals matches the numbers in names of compiler-generated functions: those of C# in metadata (<M>b__4_0,
// <>c__DisplayClass8_0, <M>g__Local|8_1, <M>d__12) and as ntconv displays them (M.lambda_0), and those of Go
// (main.f.func1.2). They change when code before them in the file or method changes.
var ordinals = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`((?:\b[bd]|DisplayClass)__?|DisplayClass|\.lambda_|g__\w+\||\.func)\d+(?:[._]\d+)*`)
})

// withoutOrdinals returns a name without the numbers that the compiler chose. Functions that differ in nothing else may
// be the same one in different versions of a program.
func withoutOrdinals(name string) string { return ordinals().ReplaceAllString(name, "${1}*") }

// A pair is a function in both recordings. One of them is nil if the function is new or gone.
type pair struct {
	name          string
	renamed       string // name in the first recording if it differs
	before, after *function
}

// isPlaceholder reports whether a pair represents frames without a symbol that only one recording has. Such a pair is
// not a function that is new or gone: the other recording may have names for the same code.
func (p *pair) isPlaceholder() bool {
	return p.before == nil && p.after.unresolved || p.after == nil && p.before.unresolved
}

// match returns the functions of two recordings as pairs. Functions with equal names are one. Of the others, those with
// names that are equal without ordinals are pairs in the order of their ordinals if both recordings have equally many
// of them: the compiler numbers functions in the order of the source. If the numbers differ, it is unknown which is
// which, and they are new and gone.
func match(before, after map[string]*function) []pair {
	var pairs []pair
	gone, added := map[string][]*function{}, map[string][]*function{}
	for name, b := range before {
		if a := after[name]; a != nil {
			pairs = append(pairs, pair{name: name, before: b, after: a})
			continue
		}
		key := withoutOrdinals(name)
		gone[key] = append(gone[key], b)
	}
	for name, a := range after {
		if before[name] == nil {
			key := withoutOrdinals(name)
			added[key] = append(added[key], a)
		}
	}
	byName := func(a, b *function) int {
		return cmp.Or(cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.name, b.name)) // 9 before 10
	}
	for key, list := range gone {
		same := added[key]
		if len(same) != len(list) {
			for _, b := range list {
				pairs = append(pairs, pair{name: b.name, before: b})
			}
			continue
		}
		slices.SortFunc(list, byName)
		slices.SortFunc(same, byName)
		for i := range list {
			pairs = append(pairs, pair{name: same[i].name, renamed: list[i].name, before: list[i], after: same[i]})
		}
		delete(added, key)
	}
	for _, list := range added {
		for _, a := range list {
			pairs = append(pairs, pair{name: a.name, after: a})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.renamed, b.renamed)) })
	return pairs
}
