package command

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ntconv/ntconv/internal/data/message"
)

// A lineStyle is how a part of a line looks.
type lineStyle uint8

const (
	stylePlain lineStyle = iota
	styleBold
	styleDim
	styleHeader // reverse
	styleNotice
)

// A styledText is a part of a line.
type styledText struct {
	text  string
	style lineStyle
}

// A screenLine is a line of a screen.
type screenLine []styledText

// String returns the text of the line.
func (l screenLine) String() string {
	var b strings.Builder
	for _, part := range l {
		b.WriteString(part.text)
	}
	return b.String()
}

func lineOf(style lineStyle, text string) screenLine { return screenLine{{text, style}} }

// A liveScreen is the contents of a screen and the meaning of keys. Its methods do not know a terminal.
type liveScreen interface {
	// refresh takes what is shown from the process. running is false when the session has ended.
	refresh(running bool)
	// draw returns the lines of a screen of a size.
	draw(width, height int) []screenLine
	// press handles a key: a character, or a name such as up, pgdn, enter, esc.
	press(key string)
	// isTyping reports whether characters are text, and no commands.
	isTyping() bool
}

// A scroller is the state of a list of rows that is longer than the screen, with a filter.
type scroller struct {
	offset int
	page   int // rows of the screen
	rows   int // after the filter
	filter string
	typing bool // keys are characters of the filter
	paused bool
}

// press handles the keys that lists have in common. It reports whether it did.
func (s *scroller) press(key string) bool {
	if s.typing {
		s.edit(key)
		return true
	}
	switch key {
	case "/":
		s.typing = true
	case "esc":
		s.filter = ""
	case "p", " ":
		s.paused = !s.paused
	case "up":
		s.offset--
	case "down":
		s.offset++
	case "pgup":
		s.offset -= s.page
	case "pgdn":
		s.offset += s.page
	case "home":
		s.offset = 0
	case "end":
		s.offset = s.rows
	default:
		return false
	}
	s.clamp()
	return true
}

func (s *scroller) isTyping() bool { return s.typing }

// edit handles a key while the filter is typed.
func (s *scroller) edit(key string) {
	s.offset = 0
	switch {
	case key == "enter":
		s.typing = false
	case key == "esc":
		s.typing, s.filter = false, ""
	case key == "backspace":
		if _, n := utf8.DecodeLastRuneInString(s.filter); n > 0 {
			s.filter = s.filter[:len(s.filter)-n]
		}
	case utf8.RuneCountInString(key) == 1:
		s.filter += key
	}
}

// fit sets the number of rows and how many of them a screen has, and returns those to show.
func (s *scroller) fit(rows, page int) (from, to int) {
	s.rows, s.page = rows, max(1, page)
	s.clamp()
	return s.offset, min(rows, s.offset+max(0, page))
}

func (s *scroller) clamp() { s.offset = max(0, min(s.offset, s.rows-s.page)) }

// state describes the filter, the pause and the position, for the line of keys.
func (s *scroller) state() (list []string) {
	if s.paused {
		list = append(list, "PAUSED")
	}
	if s.filter != "" && !s.typing {
		list = append(list, "filter: "+s.filter)
	}
	return list
}

// prompt returns the line in which the filter is typed.
func (s *scroller) prompt(width int) screenLine {
	return lineOf(styleNotice, fitText("/"+message.Line(s.filter)+"_", width))
}

// fitText returns one line of text that takes at most a number of columns: what does not fit is replaced by "…".
func fitText(text string, width int) string {
	text = message.Line(text)
	if textWidth(text) <= width {
		return text
	}
	n := 0
	for i, r := range text {
		if n += runeWidth(r); n > width-1 {
			return text[:i] + strings.Repeat("…", min(1, max(0, width)))
		}
	}
	return text
}

// textWidth returns the number of columns of a text on a screen.
func textWidth(text string) (n int) {
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

// wide are the ranges of characters that take two columns.
var wide = [][2]rune{
	{0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6},
	{0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
}

// runeWidth returns the number of columns of a character: none for marks that are put on the one before.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	for _, w := range wide {
		if r >= w[0] && r <= w[1] {
			return 2
		}
	}
	return 1
}

// padText returns text that takes exactly a number of columns.
func padText(text string, width int) string {
	text = fitText(text, width)
	return text + strings.Repeat(" ", max(0, width-textWidth(text)))
}

// rightText returns text at the right end of a number of columns.
func rightText(text string, width int) string {
	text = fitText(text, width)
	return strings.Repeat(" ", max(0, width-textWidth(text))) + text
}

// keysLine returns the line that says what keys do: as many as fit.
func keysLine(width int, keys ...string) screenLine {
	text := ""
	for _, k := range keys {
		next := text + k + "  "
		if textWidth(next) > width+2 {
			break
		}
		text = next
	}
	return lineOf(styleDim, fitText(strings.TrimRight(text, " "), width))
}

// wrapped returns text as lines of at most a number of columns.
func wrapped(style lineStyle, text string, width int) (lines []screenLine) {
	for line := range strings.Lines(reflow(text, max(20, width))) {
		lines = append(lines, lineOf(style, fitText(strings.TrimSuffix(line, "\n"), width)))
	}
	return lines
}

// screenOf returns the lines of a screen: a body that is cut or extended to the height, and the last line. Lines that do not fit
// the width are cut.
func screenOf(body []screenLine, last screenLine, width, height int) []screenLine {
	body = body[:min(len(body), max(0, height-1))]
	for len(body) < height-1 {
		body = append(body, nil)
	}
	for _, line := range body {
		left := width
		for i := range line {
			line[i].text = fitText(line[i].text, left)
			left = max(0, left-textWidth(line[i].text))
		}
	}
	return append(body, last)
}
