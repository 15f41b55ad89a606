package scrub

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/data/message"
)

// place returns the place of a row for display.
func (r *Row) place() string {
	if r.Provider == "" && r.Event == "" {
		return r.Field
	}
	return r.Provider + "/" + r.Event + "." + r.Field
}

// WriteText writes a table: the number of replaced texts, of all texts, the class, the action and the place. Examples
// follow their row. Rows in which nothing is replaced come last: these texts are kept.
func (r *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%10s %10s  %-14s %-8s %s\n", "replaced", "texts", "class", "action", "field")
	for i := range r.Rows {
		row := &r.Rows[i]
		fmt.Fprintf(&b, "%10s %10s  %-14s %-8s %s\n", message.Group(row.Changed), message.Group(row.Texts),
			row.Class, row.Action, message.Visible(row.place()))
		for _, e := range row.Examples {
			fmt.Fprintf(&b, "%24s%s -> %s\n", "", strconv.Quote(e.Before), strconv.Quote(e.After))
		}
	}
	fmt.Fprintf(&b, "%s of %s would be replaced", message.Group(r.Changed), message.Count(r.Texts, "text"))
	if r.Dropped > 0 {
		fmt.Fprintf(&b, ", %s dropped", message.Count(r.Dropped, "event"))
	}
	b.WriteString(".\n")
	for _, rule := range r.Unmatched {
		fmt.Fprintf(&b, "A rule of the policy matches nothing: %s\n", message.Visible(rule))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes the result as one JSON object on one line.
func (r *Result) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(r)
}
