package convert

import (
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/select/selection"
	"github.com/ntconv/ntconv/internal/span/active"
)

// openDuring is the part of a selection that depends on what was open when an event was recorded. It implements
// selection.During.
type openDuring struct{ *selection.DuringFilter }

// newDuring parses the expressions of Selection.During. It returns nil if there are none.
func newDuring(expressions []string) (*openDuring, error) {
	if len(expressions) == 0 {
		return nil, nil
	}
	var conditions []*selection.DuringCondition
	for _, text := range expressions {
		c, err := selection.ParseDuring(text)
		if err != nil {
			return nil, fmt.Errorf("Selection.During: %w", err)
		}
		conditions = append(conditions, c)
	}
	return &openDuring{selection.NewDuringFilter(conditions)}, nil
}

// Keep reports whether an event, which it borrows, was recorded during the intervals. Any evidence links it to spans.
func (d *openDuring) Keep(e *ntconv.Event) bool { return d.DuringFilter.Keep(e, active.All) }
