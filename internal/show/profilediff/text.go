package profilediff

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Widths of the columns of the text, which has at most 100 columns.
const (
	widthValue   = 10
	widthPercent = 7
	widthShare   = 8
	widthName    = 46
	widthRow     = 46
	widthTotal   = 14
)

// Text returns the comparison as text with at most 100 columns. Each list has at most count rows; 0 means all. Names
// are escaped for terminals.
func (c *Comparison) Text(count int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", c.Headline())
	fmt.Fprintf(&b, "Before: %s: %s\n", shorten(c.Before.Input, 50), c.sideLine(&c.Before))
	fmt.Fprintf(&b, "After:  %s: %s\n", shorten(c.After.Input, 50), c.sideLine(&c.After))
	fmt.Fprintf(&b, "%s\n", c.totalLine())
	for _, l := range c.lists(count) {
		fmt.Fprintf(&b, "\n%s\n", l.title)
		fmt.Fprintf(&b, "%s %s  %s %s  %s  function\n", pad("self", widthValue), pad("", widthPercent), pad("total", widthValue),
			pad("", widthPercent), pad("share", widthShare))
		for _, f := range l.functions {
			share := &f.SelfShare
			if f.Self.Change == 0 {
				share = &f.TotalShare
			}
			fmt.Fprintf(&b, "%s  %s  %s  %s\n", c.valueText(&f.Self, f.ownPercent()), c.valueText(&f.Total, f.Total.percent()),
				pad(points(share)+share.mark(), widthShare+1), shorten(f.Name, widthName))
			if f.Renamed != "" {
				fmt.Fprintf(&b, "%s was %s\n", pad("", 100-widthName-5), shorten(f.Renamed, widthName))
			}
		}
		if l.more > 0 {
			fmt.Fprintf(&b, "%s %d more; -n 0 lists all\n", pad("", 100-widthName-1), l.more)
		}
	}
	c.sectionsText(&b, count)
	b.WriteString("\n")
	for _, r := range c.remarks() {
		fmt.Fprintln(&b, wrap(r, 100))
	}
	fmt.Fprintln(&b, "* significant; at most 5% of such changes are expected to be noise. pp: percentage points.")
	return b.String()
}

// valueText returns a change in two columns.
func (c *Comparison) valueText(d *Change, percent string) string {
	if d.Before == 0 && d.After == 0 {
		return pad("-", widthValue) + pad("", widthPercent+1)
	}
	return pad(c.fitting(d.Change), widthValue) + pad(percent+d.mark(), widthPercent+1)
}

// fitting returns a change that fits in its column. Numbers are written with an exponent if they have too many digits.
func (c *Comparison) fitting(x float64) string {
	if text := signed(x, c.Unit); utf8.RuneCountInString(text) <= widthValue {
		return text
	}
	return fmt.Sprintf("%+.3g", x)
}

// sectionsText appends the totals of both traces.
func (c *Comparison) sectionsText(b *strings.Builder, count int) {
	for _, s := range c.Sections {
		fmt.Fprintf(b, "\n%s%s %s %s\n", padRight(s.Name, widthRow), pad("before", widthTotal), pad("after", widthTotal), pad("change", 9))
		more := 0
		for i := range s.Rows {
			if r := &s.Rows[i]; count == 0 || i < 2*count || r.Significant {
				fmt.Fprintf(b, "  %s%s %s %s\n", padRight(shorten(r.Name, widthRow-3), widthRow-2), pad(quantity(r.Before, r.Unit), widthTotal),
					pad(quantity(r.After, r.Unit), widthTotal), pad(r.percent(), 9)+r.mark())
				continue
			}
			more++
		}
		if more > 0 {
			fmt.Fprintf(b, "  %d more; -n 0 lists all\n", more)
		}
	}
}

// wrap breaks text into lines of at most n characters, between words.
func wrap(text string, n int) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		length := len([]rune(word))
		switch {
		case i == 0:
		case column+1+length > n:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += length
	}
	return b.String()
}
