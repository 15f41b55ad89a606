package eventtext

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ntconv/ntconv/internal/data/distribution"
	"github.com/ntconv/ntconv/internal/data/message"
)

// Text returns the table as aligned columns: numbers, then the values of the group, because these may be long. An
// estimate has a tilde before it. The text has no characters that a terminal could interpret.
func (t *Table) Text() []byte {
	head := []string{"events", "bytes"}
	if t.opts.Of != nil {
		head = append(head, t.valueColumns()...)
	}
	numbers := len(head)
	lines := [][]string{append(head, names(t.opts.By)...)}
	for _, r := range t.rows {
		line := t.numbers(r)
		for _, v := range r.values {
			line = append(line, v.shown())
		}
		lines = append(lines, line)
	}
	if t.more != nil {
		what := message.Count(int64(t.groups-len(t.rows)), "more group") + "; -n 0 prints all"
		lines = append(lines, append(t.numbers(t.more), what))
	}
	lines = append(lines, append(t.numbers(t.total), "total"))
	for _, line := range lines {
		for i := numbers; i < len(line); i++ {
			line[i] = message.Line(line[i])
		}
	}
	return align(lines, numbers)
}

// valueColumns returns the names of the columns that describe Options.Of.
func (t *Table) valueColumns() (list []string) {
	if t.partial {
		list = append(list, "values")
	}
	if !t.opts.Of.IsTime() {
		list = append(list, "sum")
	}
	list = append(list, "min", "mean")
	for _, p := range percents {
		list = append(list, "p"+strconv.FormatUint(p, 10))
	}
	return append(list, "max")
}

// numbers returns the text of a row's numbers.
func (t *Table) numbers(r *row) []string {
	line := []string{message.Group(r.events), message.Group(r.bytes)}
	if t.opts.Of == nil {
		return line
	}
	d := r.of
	if t.partial {
		line = append(line, message.Group(int64(d.Count())))
	}
	if d.Count() == 0 {
		for range len(t.valueColumns()) - len(line) + 2 {
			line = append(line, "-")
		}
		return line
	}
	show, showMean := shown, shownFloat
	if t.opts.Of.IsTime() {
		show, showMean = seconds, secondsOf
	} else {
		line = append(line, shownSum(d.Sum()))
	}
	line = append(line, show(d.Min()), showMean(d.Mean()))
	var quantiles [len(percents)]distribution.Number
	d.Quantiles(quantiles[:], percents[:]...)
	for _, q := range quantiles {
		text := show(q)
		if !d.IsExact() {
			text = "~" + text
		}
		line = append(line, text)
	}
	return append(line, show(d.Max()))
}

// seconds formats nanoseconds.
func seconds(n distribution.Number) string { return secondsOf(n.Float()) }

func secondsOf(nanos float64) string { return strconv.FormatFloat(nanos/1e9, 'f', 9, 64) + "s" }

func shownSum(s *distribution.Sum) string {
	if s.IsFloat() {
		return shownFloat(s.Float())
	}
	return message.GroupDigits(s.String())
}

// shown formats a number for display: integers completely, others with at least six significant digits.
func shown(n distribution.Number) string {
	if !n.IsFloat() {
		return message.GroupDigits(n.String())
	}
	return shownFloat(n.Float())
}

func shownFloat(f float64) string {
	magnitude := math.Abs(f)
	if magnitude != 0 && !(magnitude >= 1e-4 && magnitude < 1e15) { // or infinite
		return strings.Trim(strconv.FormatFloat(f, 'g', 6, 64), "+")
	}
	decimals := 5
	for limit := 10.; decimals > 0 && magnitude >= limit; limit *= 10 {
		decimals--
	}
	for limit := 1.; magnitude != 0 && magnitude < limit; limit /= 10 {
		decimals++
	}
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(f, 'f', decimals, 64), ".")
	whole = message.GroupDigits(whole)
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		return whole + "." + fraction
	}
	return whole
}

// shown returns a value for display, still untrusted. A string that could be mistaken for something else is quoted.
func (v value) shown() string {
	if v.form == formNone {
		return "(none)"
	}
	if v.form == formText && (v.text == "" || v.text == "(none)" || strings.TrimSpace(v.text) != v.text) {
		return strconv.Quote(v.text)
	}
	return v.text
}

// maxColumn is the maximum width of a column before the last one; longer values shift the rest of their line.
const maxColumn = 60

// align joins cells to lines. The first columns are aligned to the right, all others to the left.
func align(lines [][]string, right int) []byte {
	var widths []int
	for _, line := range lines {
		for i, cell := range line {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if n := utf8.RuneCountInString(cell); i < len(line)-1 && (n <= maxColumn || i < right) {
				widths[i] = max(widths[i], n)
			}
		}
	}
	var out bytes.Buffer
	for _, line := range lines {
		for i, cell := range line {
			if i > 0 {
				out.WriteString("  ")
			}
			switch {
			case i < right:
				fmt.Fprintf(&out, "%*s", widths[i], cell)
			case i < len(line)-1:
				fmt.Fprintf(&out, "%-*s", widths[i], cell)
			default:
				out.WriteString(cell)
			}
		}
		out.WriteByte('\n')
	}
	return out.Bytes()
}
