package agreement

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Page is the table of intended differences in docs/agreement.md.
type Page struct {
	rows []*row
}

// A row allows the outputs that it lists to differ from all others, in the traces that it lists.
type row struct {
	facts   []string // statements; a trailing * matches any text
	outputs []string
	most    bound
	traces  []string // traces that differ
	others  bool     // others may differ, too
	line    int
	used    map[string]bool // names of traces
}

// A bound limits a difference: to number units, per item or per million of the value. The zero value is no limit.
type bound struct {
	number  float64
	perItem bool
	perMill bool
}

const pageHeader = "| facts | outputs | at most | traces | reason |"

// ParsePage reads the table of a page.
func ParsePage(markdown []byte) (*Page, error) {
	p := &Page{}
	in, line := false, 0
	for s := bufio.NewScanner(bytes.NewReader(markdown)); s.Scan(); {
		line++
		switch text := s.Text(); {
		case text == pageHeader:
			in = true
		case !in || strings.HasPrefix(text, "|---"):
		case !strings.HasPrefix(text, "|"):
			in = false
		default:
			r, err := parseRow(text)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", line, err)
			}
			r.line = line
			p.rows = append(p.rows, r)
		}
	}
	if len(p.rows) == 0 {
		return nil, fmt.Errorf("no table with the header %q", pageHeader)
	}
	return p, nil
}

func parseRow(text string) (*row, error) {
	cells := strings.Split(strings.Trim(text, "|"), "|")
	if len(cells) != 5 {
		return nil, fmt.Errorf("%d cells, want 5", len(cells))
	}
	r := &row{used: map[string]bool{}}
	r.facts, r.outputs = list(cells[0]), list(cells[1])
	traces, others := strings.CutSuffix(strings.TrimSpace(cells[3]), " and others")
	r.traces, r.others = list(traces), others
	var err error
	r.most, err = parseBound(strings.TrimSpace(cells[2]))
	return r, err
}

func list(cell string) []string {
	parts := strings.Split(strings.TrimSpace(cell), ",")
	for i := range parts {
		parts[i] = strings.Trim(strings.TrimSpace(parts[i]), "`")
	}
	return parts
}

var boundText = regexp.MustCompile(`^([0-9.]+) (ns|µs|byte|bytes|ppm)( per item)?$`)

func parseBound(s string) (b bound, err error) {
	if s == "" {
		return b, nil
	}
	m := boundText.FindStringSubmatch(s)
	if m == nil {
		return b, fmt.Errorf("bound %q: want a number, a unit and perhaps per item", s)
	}
	if b.number, err = strconv.ParseFloat(m[1], 64); err != nil {
		return b, err
	}
	if m[2] == "µs" {
		b.number *= 1000
	}
	b.perMill, b.perItem = m[2] == "ppm", m[3] != ""
	return b, nil
}

// allows reports whether a row permits the difference between two outputs.
func (p *Page) allows(trace, statement, a, b string, difference float64, items int64, value Value) bool {
	for _, r := range p.rows {
		if !r.others && !slices.Contains(r.traces, trace) || slices.Contains(r.outputs, a) == slices.Contains(r.outputs, b) || !slices.ContainsFunc(r.facts, func(f string) bool {
			prefix, any := strings.CutSuffix(f, "*")
			return f == statement || any && strings.HasPrefix(statement, prefix)
		}) {
			continue
		}
		if r.most.within(difference, items, value) {
			r.used[trace] = true
			return true
		}
	}
	return false
}

func (b bound) within(difference float64, items int64, value Value) bool {
	switch {
	case b.number == 0:
		return true
	case b.perMill:
		return difference <= b.number/1e6*max(1, value.distance(Value{}))
	case b.perItem:
		return difference <= b.number*float64(items)
	}
	return difference <= b.number
}

// Obsolete returns the rows that name a trace in which the outputs do not differ, although it was compared.
func (p *Page) Obsolete(compared map[string]bool) (lines []string) {
	for _, r := range p.rows {
		for _, trace := range r.traces {
			if compared[trace] && !r.used[trace] {
				lines = append(lines, fmt.Sprintf("line %d: %s of %s no longer differ in %s",
					r.line, strings.Join(r.facts, ", "), strings.Join(r.outputs, ", "), trace))
			}
		}
	}
	return lines
}
