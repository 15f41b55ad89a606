package selection

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/data/message"
)

// shownNames is the maximum number of names or values in a message.
const shownNames = 5

// Notes returns what the user should know about the conditions after Learn, one string per line: the number of selected
// intervals, or what the trace has if none was selected.
func (f *DuringFilter) Notes() (notes []string) {
	for _, g := range f.groups {
		if g.values == nil { // Learn was not called
			continue
		}
		text := "--" + DuringFlag + ": "
		switch all := g.name(g.total); {
		case g.total == 0:
			text += "the trace has no " + cmp.Or(g.plural, g.noun+"s") + "; " + f.others() + g.record
		case g.picked > 0:
			text += fmt.Sprintf("%s of %s selected", message.Group(g.picked), all)
		default:
			text += fmt.Sprintf("none of %s matches%s", all, g.known())
		}
		notes = append(notes, text)
		if parts := f.parts(g); parts > 0 {
			notes = append(notes, g.name(parts)+" ignored because the begin or the end is not in the trace")
		}
		if g.windows != nil && g.windows.Skipped() > 0 {
			notes = append(notes, g.name(g.windows.Skipped())+" ignored because the thread is unknown")
		}
		if g.picked > 0 && g.index != nil && g.index.Evicted() > 0 {
			notes = append(notes, message.Count(g.index.Evicted(), "span")+" ended early because too many were open")
		}
	}
	return notes
}

// name returns a number of intervals of the kind as text.
func (g *group) name(n int64) string { return message.Count(n, g.noun, cmp.Or(g.plural, g.noun+"s")) }

// known returns the values of the first property in the trace, the most frequent ones first.
func (g *group) known() string {
	if len(g.values) == 0 {
		return ""
	}
	return "; " + g.tallied + "s: " + list(g.values, "more "+g.tallied)
}

// list returns the most frequent keys with their counts. more names the others.
func list(counts map[string]int64, more string) string {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var has []string
	for _, key := range keys[:min(len(keys), shownNames)] {
		has = append(has, fmt.Sprintf("%q (%s)", key, message.Group(counts[key])))
	}
	if n := len(keys) - shownNames; n > 0 {
		has = append(has, message.Count(int64(n), more))
	}
	return strings.Join(has, ", ")
}

// others returns the pairs that the trace has, with a final separator, or "" if it has none or no condition asks for
// pairs.
func (f *DuringFilter) others() string {
	counts := map[string]int64{}
	for _, c := range f.pairs {
		if c.Begins > 0 {
			counts[c.Pair.Name] += c.Begins
		}
	}
	if len(counts) == 0 {
		return ""
	}
	return "its pairs: " + list(counts, "more name") + "; "
}

// parts returns the number of incomplete intervals that may be of the kind: those of the pairs of selected intervals, or
// of all pairs of the kind if none was selected.
func (f *DuringFilter) parts(g *group) (n int64) {
	for _, c := range f.pairs {
		if g.wants != nil && g.wants(c.Of) && (g.pairs[c.Pair] || len(g.pairs) == 0) {
			n += c.Parts
		}
	}
	return n
}
