package selection

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/select/where"
)

// maxNames bounds the names that are kept for hints.
const maxNames = 10_000

// A matchList records which values of a flag have matched, and for names what they could have matched.
type matchList struct {
	flag    string
	values  []string
	matched []bool
	seen    map[string]bool // names in the trace, nil for numbers
	what    string          // what has these names, if remarks list them: processes, threads
}

func newMatchList(flag string, values []string, named bool) matchList {
	l := matchList{flag: flag, values: values, matched: make([]bool, len(values))}
	if named {
		l.seen = make(map[string]bool)
	}
	return l
}

// numbers returns the values of a flag as strings.
func numbers(values []uint64) (list []string) {
	for _, n := range values {
		list = append(list, strconv.FormatUint(n, 10))
	}
	return list
}

// see notes a name in the trace.
func (l *matchList) see(name string) {
	if len(l.seen) < maxNames {
		l.seen[name] = true
	}
}

// matchNumber reports whether one of the numbers, the values of the flag, is n.
func (l *matchList) matchNumber(numbers []uint64, n uint64) bool {
	i := slices.Index(numbers, n)
	if i < 0 {
		return false
	}
	l.matched[i] = true
	return true
}

// match returns whether a value matches, and records all values that do.
func (l *matchList) match(matches func(value string) bool) (some bool) {
	for i, v := range l.values {
		if matches(v) {
			l.matched[i], some = true, true
		}
	}
	return some
}

// maxListed is the maximum number of names that a remark lists.
const maxListed = 10

// notes returns a remark for each value that matched nothing. A single value that matched nothing leaves nothing
// selected, which the user sees; there is a remark only if the trace has similar names, or if the flag lists all names.
func (l *matchList) notes() (notes []string) {
	for i, v := range l.values {
		if l.matched[i] || strings.HasPrefix(v, "!") {
			continue
		}
		similar := where.Nearest(v, slices.Collect(maps.Keys(l.seen)), 3)
		switch {
		case len(similar) > 0:
			notes = append(notes, "no event matches --"+l.flag+" "+v+"; similar: "+strings.Join(similar, ", "))
		case l.what != "":
			notes = append(notes, "no event matches --"+l.flag+" "+v+"; "+l.list())
		case len(l.values) > 1:
			notes = append(notes, "no event matches --"+l.flag+" "+v)
		}
	}
	return notes
}

// list returns the names in the trace.
func (l *matchList) list() string {
	names := slices.Sorted(maps.Keys(l.seen))
	if len(names) == 0 {
		return "the trace has no names of " + l.what
	}
	more := ""
	if n := len(names) - maxListed; n > 0 {
		names, more = names[:maxListed], " and "+strconv.Itoa(n)+" more"
	}
	return l.what + " in the trace: " + strings.Join(names, ", ") + more
}
