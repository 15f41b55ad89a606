package parquet

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/glob"
)

// defaultTypedRows is the number of events from which a type has a typed table by default. Below it a query over the
// JSON of the events takes as long as opening one more file, and a file of one row has 10 KB of statistics and
// metadata.
const defaultTypedRows = 1000

// Words of Options.Typed that are not names of events.
const (
	typedAll  = "all"
	typedNone = "none"
)

// A typedChoice says which events have a typed table.
type typedChoice struct {
	rows     int64 // events that a table needs
	none     bool
	patterns []string // nil for every event
	matched  []bool   // patterns that match an event with fields
}

var errTypedNone = errors.New("typed tables: none excludes all other choices; omit none or the others")

// newTypedChoice reads Options.Typed, whose elements may be lists that are separated by commas.
func newTypedChoice(o *Options) (c typedChoice, err error) {
	for _, list := range o.Typed {
		for name := range strings.SplitSeq(list, ",") {
			if name = strings.TrimSpace(name); name == "" {
				return c, fmt.Errorf("typed tables: %q has an empty name; name an event, all or none", list)
			}
			c.patterns = append(c.patterns, name)
		}
	}
	switch {
	case slices.Contains(c.patterns, typedNone):
		if len(c.patterns) > 1 {
			return c, errTypedNone
		}
		c.none = true
	case slices.Contains(c.patterns, typedAll):
		c.patterns, c.rows = nil, 1
	case o.TypedRows < 0:
		return c, fmt.Errorf("typed tables: %d rows; want at least 1, or 0 for the default", o.TypedRows)
	case len(c.patterns) > 0:
		c.rows = 1
	case o.TypedRows > 0:
		c.rows = o.TypedRows
	default:
		c.rows = defaultTypedRows
	}
	c.matched = make([]bool, len(c.patterns))
	return c, nil
}

// has reports whether events of that provider, name and number have a typed table if there are enough of them.
func (c *typedChoice) has(provider, name, number string) bool {
	if c.none {
		return false
	}
	found := c.patterns == nil
	for i, pattern := range c.patterns {
		if glob.MatchEvent(pattern, provider, name, number) {
			c.matched[i], found = true, true
		}
	}
	return found
}

// unmatched returns the patterns for which has was true for no event.
func (c *typedChoice) unmatched() (list []string) {
	for i, pattern := range c.patterns {
		if !c.none && !c.matched[i] {
			list = append(list, pattern)
		}
	}
	return list
}
