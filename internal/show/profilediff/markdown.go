package profilediff

import (
	"fmt"
	"strings"

	"github.com/ntconv/ntconv/internal/data/message"
)

// Markdown returns the comparison in GitHub's Markdown, for a comment of a pull request: what is significant, and the
// rest in collapsed parts. Each list has at most count rows; 0 means all. Names come from untrusted inputs and are
// escaped, so that they become neither markup nor links nor mentions.
func (c *Comparison) Markdown(count int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n", plainText(c.Headline()))
	b.WriteString("| | input | total |\n|---|---|---|\n")
	for _, s := range []struct {
		name string
		side *Side
	}{{"before", &c.Before}, {"after", &c.After}} {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", s.name, code(s.side.Input), plainText(c.sideLine(s.side)))
	}
	fmt.Fprintf(&b, "\n%s.\n", plainText(c.totalLine()))
	for _, l := range c.lists(count) {
		if l.detail {
			fmt.Fprintf(&b, "\n<details><summary>%s (%d)</summary>\n", l.title, len(l.functions)+l.more)
		} else {
			fmt.Fprintf(&b, "\n#### %s\n", l.title)
		}
		c.functionsMarkdown(&b, l)
		if l.detail {
			b.WriteString("\n</details>\n")
		}
	}
	for _, s := range c.Sections {
		c.sectionMarkdown(&b, &s, count)
	}
	b.WriteString("\n")
	for _, r := range c.remarks() {
		fmt.Fprintf(&b, "%s\n", plainText(r))
	}
	b.WriteString("Values in bold are significant: of all of them, at most 5% are expected to be noise.\n")
	return b.String()
}

// functionsMarkdown appends a table of functions.
func (c *Comparison) functionsMarkdown(b *strings.Builder, l *list) {
	b.WriteString("\n| function | self | | total | | share |\n|---|---:|---:|---:|---:|---:|\n")
	for _, f := range l.functions {
		name := code(f.Name)
		if f.Renamed != "" {
			name += " (was " + code(f.Renamed) + ")"
		}
		share := &f.SelfShare
		if f.Self.Change == 0 {
			share = &f.TotalShare
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", name, plainText(signed(f.Self.Change, c.Unit)), f.Self.bold(f.ownPercent()),
			plainText(signed(f.Total.Change, c.Unit)), f.Total.bold(f.Total.percent()), share.bold(points(share)))
	}
	if l.more > 0 {
		fmt.Fprintf(b, "\n%d more.\n", l.more)
	}
}

// sectionMarkdown appends a section: collapsed, unless something in it is significant.
func (c *Comparison) sectionMarkdown(b *strings.Builder, s *Section, count int) {
	open := ""
	for i := range s.Rows {
		if s.Rows[i].Significant {
			open = " open"
		}
	}
	fmt.Fprintf(b, "\n<details%s><summary>%s</summary>\n\n| | before | after | change |\n|---|---:|---:|---:|\n", open, s.Name)
	more := 0
	for i := range s.Rows {
		if r := &s.Rows[i]; count == 0 || i < 2*count || r.Significant {
			fmt.Fprintf(b, "| %s | %s | %s | %s |\n", code(r.Name), plainText(quantity(r.Before, r.Unit)), plainText(quantity(r.After, r.Unit)), r.bold(r.percent()))
			continue
		}
		more++
	}
	if more > 0 {
		fmt.Fprintf(b, "\n%d more.\n", more)
	}
	b.WriteString("\n</details>\n")
}

// bold returns text, in bold if the change is significant.
func (d *Change) bold(text string) string {
	if d.Significant && text != "" {
		return "**" + plainText(text) + "**"
	}
	return plainText(text)
}

// code returns a name as code. The element, unlike backticks, can hold any character in a table, and GitHub makes no
// mentions and references in it.
func code(name string) string { return "<code>" + plainText(name) + "</code>" }

// plainText escapes the characters that have a meaning in Markdown or HTML as references: also a colon or a point that
// could be part of a link or of an emoji.
func plainText(text string) string {
	var b strings.Builder
	line := message.Line(text)
	for i, r := range line {
		if r < 0x80 && isMarkup(byte(r), line[i+1:]) {
			fmt.Fprintf(&b, "&#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isMarkup reports whether a character of a line may have a meaning. The line is never the first text of a line of the
// document.
func isMarkup(c byte, rest string) bool {
	switch c {
	case '.':
		return rest != "" && rest[0] != ' ' && (rest[0] < '0' || rest[0] > '9')
	case ':':
		return rest != "" && rest[0] != ' '
	}
	return strings.IndexByte("&<>\"'`*_{}[]()#!|~@\\^$", c) >= 0
}
