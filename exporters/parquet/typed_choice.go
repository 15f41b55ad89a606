package parquet

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/select/where"
	"github.com/ntconv/ntconv/internal/tables/typedtable"
)

// defaultTypedRows is the default of Options.TypedRows. With fewer events, a query over the JSON of the table events
// takes no longer than opening one more file, and even a file with one row has 10 KB of statistics and metadata.
const defaultTypedRows = 1000

// A typedChoice states which events have a typed table.
type typedChoice struct {
	rows     int64 // minimum number of events
	none     bool
	uniform  bool     // Options.Uniform
	patterns []string // of Options.Typed
	all      bool     // every event
	matched  []bool   // patterns that match an event with fields, by index
}

var errTypedNone = errors.New("typed tables: none excludes all other choices; omit none or the others")

// newTypedChoice parses Options.Typed, whose elements may be comma-separated lists.
func newTypedChoice(o *Options) (c typedChoice, err error) {
	for _, list := range o.Typed {
		for name := range strings.SplitSeq(list, ",") {
			if name = strings.TrimSpace(name); name == "" {
				return c, fmt.Errorf("typed tables: %q has an empty name; name an event, all or none", list)
			}
			c.patterns = append(c.patterns, name)
		}
	}
	c.uniform = o.Uniform
	switch {
	case slices.Contains(c.patterns, typedtable.None):
		if len(c.patterns) > 1 {
			return c, errTypedNone
		}
		c.none = true
	case slices.Contains(c.patterns, typedtable.All):
		c.patterns, c.all, c.rows = nil, true, 1
	case o.TypedRows < 0:
		return c, fmt.Errorf("typed tables: %d rows; want at least 1, or 0 for the default", o.TypedRows)
	case len(c.patterns) > 0 || o.Uniform:
		c.rows = 1
	default:
		c.all, c.rows = true, cmp.Or(o.TypedRows, defaultTypedRows)
	}
	c.matched = make([]bool, len(c.patterns))
	return c, nil
}

// has reports whether events with this provider, name and number get a typed table if there are enough of them. It
// records the patterns that match.
func (c *typedChoice) has(provider, name, number string) bool {
	if c.none {
		return false
	}
	found := c.all || c.uniform && typedtable.Of(provider, name) != nil
	for i, pattern := range c.patterns {
		if where.MatchEvent(pattern, provider, name, number) {
			c.matched[i], found = true, true
		}
	}
	return found
}

// unmatched returns the patterns that matched no event.
func (c *typedChoice) unmatched() (list []string) {
	for i, pattern := range c.patterns {
		if !c.none && !c.matched[i] {
			list = append(list, pattern)
		}
	}
	return list
}
