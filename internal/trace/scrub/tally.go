package scrub

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/data/bin"
)

// A site is a place where texts occur: a field of an event, or a property such as the name of threads.
type site struct {
	Provider, Event, Field string
	rows                   []*Row // by class
}

// A Row counts the texts of one class at one place. Counts refer to occurrences, not to different texts.
type Row struct {
	Provider string `json:"provider,omitempty"` // empty for a property of the trace, its threads and its processes
	Event    string `json:"event,omitempty"`    // may be empty
	Field    string `json:"field"`
	Class    string `json:"class"`
	Action   string `json:"action"`
	Texts    int64  `json:"texts"`   // texts that are not empty, and fields of bytes
	Changed  int64  `json:"changed"` // texts and bytes that were replaced
	// Examples are different texts that were replaced. They are secrets.
	Examples []Example `json:"examples,omitempty"`
}

// An Example is a text and its replacement, both truncated.
type Example struct {
	Before string `json:"before"`
	After  string `json:"after"`
}

// A tally counts what a Scrubber does.
type tally struct {
	policy   *Policy
	sites    []*site
	examples int // maximum per row
	texts    int64
	changed  int64
	dropped  int64 // events
}

// row returns the row of a class at a place. Only the first call for them allocates.
func (t *tally) row(s *site, c *class) *Row {
	if s.rows == nil {
		s.rows = make([]*Row, len(t.policy.order))
	}
	r := s.rows[c.index]
	if r == nil {
		r = &Row{Provider: s.Provider, Event: s.Event, Field: s.Field, Class: c.name, Action: actionNames[c.action]}
		s.rows[c.index] = r
	}
	return r
}

// count counts a text or bytes.
func (t *tally) count(s *site, c *class, changed bool) *Row {
	r := t.row(s, c)
	r.Texts++
	t.texts++
	if changed {
		r.Changed++
		t.changed++
	}
	return r
}

// text counts a text in a payload, and records an example.
func (t *tally) text(s *site, c *class, before, after []byte, changed bool, enc encoding) {
	if len(before) == 0 {
		return
	}
	if r := t.count(s, c, changed); changed && len(r.Examples) < t.examples {
		t.example(r, decoded(before, enc), decoded(after, enc))
	}
}

// str counts a string outside of payloads and records an example.
func (t *tally) str(s *site, c *class, before, after string) {
	if before == "" {
		return
	}
	if r := t.count(s, c, before != after); before != after && len(r.Examples) < t.examples {
		t.example(r, before, after)
	}
}

// maxExample is the maximum length of an example in characters.
const maxExample = 120

func (t *tally) example(r *Row, before, after string) {
	e := Example{truncated(before), truncated(after)}
	if !slices.ContainsFunc(r.Examples, func(o Example) bool { return o.Before == e.Before }) {
		r.Examples = append(r.Examples, e)
	}
}

func truncated(s string) string {
	n := 0
	for i := range s {
		if n++; n > maxExample {
			return s[:i] + "..."
		}
	}
	return s
}

func decoded(raw []byte, enc encoding) string {
	switch enc {
	case encUTF16:
		return bin.UTF16String(raw)
	case encLatin1:
		runes := make([]rune, len(raw))
		for i, b := range raw {
			runes[i] = rune(b)
		}
		return string(runes)
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD")
}

// rows returns all rows with a text, those with the most changes first.
func (t *tally) rows() []Row {
	merged := make(map[[4]string]*Row)
	var out []*Row
	for _, s := range t.sites {
		for _, r := range s.rows {
			if r == nil || r.Texts == 0 {
				continue
			}
			k := [4]string{r.Provider, r.Event, r.Field, r.Class}
			if m := merged[k]; m != nil {
				m.Texts, m.Changed = m.Texts+r.Texts, m.Changed+r.Changed
				m.Examples = append(m.Examples, r.Examples...)
				m.Examples = m.Examples[:min(len(m.Examples), t.examples)]
				continue
			}
			c := *r
			c.Examples = slices.Clone(r.Examples)
			merged[k] = &c
			out = append(out, &c)
		}
	}
	slices.SortStableFunc(out, func(a, b *Row) int {
		return cmp.Or(cmp.Compare(b.Changed, a.Changed), cmp.Compare(a.Provider, b.Provider),
			cmp.Compare(a.Event, b.Event), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Class, b.Class))
	})
	rows := make([]Row, len(out))
	for i, r := range out {
		rows[i] = *r
	}
	return rows
}
