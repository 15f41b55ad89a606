package profilediff

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/ntconv/ntconv/internal/data/message"
)

// quantity returns a value with its unit, which may be that of a counter or of a profile and is untrusted.
func quantity(x float64, unit string) string {
	return message.Quantity(x, shorten(unit, len("microseconds")))
}

// signed returns a change with a sign.
func signed(x float64, unit string) string {
	text := quantity(x, unit)
	if x > 0 {
		return "+" + text
	}
	return text
}

// percent returns the relative change: "new" or "gone" if one side is 0.
func (d *Change) percent() string {
	switch {
	case d.Percent == nil && d.After != 0:
		return "new"
	case d.Percent == nil:
		return ""
	case d.After == 0:
		return "gone"
	case math.Abs(*d.Percent) >= 999.5:
		return fmt.Sprintf("x%s", message.Number(d.After/d.Before))
	}
	return fmt.Sprintf("%+.*f%%", decimals(*d.Percent), *d.Percent)
}

// points returns the change of a share in percentage points.
func points(d *Change) string { return fmt.Sprintf("%+.2f pp", d.Change) }

// margin returns the 95% confidence interval of the relative change, such as " ±12%", "" if unknown.
func (d *Change) margin() string {
	if d.Margin == nil || d.Before == 0 {
		return ""
	}
	x := 100 * *d.Margin / math.Abs(d.Before)
	return fmt.Sprintf(" ±%.*f%%", decimals(x), x)
}

// decimals returns the number of decimals of a percentage.
func decimals(x float64) int {
	if math.Abs(x) < 9.95 {
		return 1
	}
	return 0
}

// mark returns "*" for a significant change.
func (d *Change) mark() string {
	if d.Significant {
		return "*"
	}
	return ""
}

// per returns what values are divided by, such as " per request".
func (c *Comparison) per() string {
	if c.Per == "" {
		return ""
	}
	return " per " + c.Per
}

// ownPercent returns the relative change of the function's own value. A value that is 0 on one side makes no function
// new.
func (f *Function) ownPercent() string {
	if f.Status == statusCommon && (f.Self.Before == 0 || f.Self.After == 0) {
		return ""
	}
	return f.Self.percent()
}

// shorten returns a name with at most n characters, without its middle if it has more.
func shorten(name string, n int) string {
	name = message.Line(name)
	if utf8.RuneCountInString(name) <= n {
		return name
	}
	runes := []rune(name)
	head := (n - 1) / 2
	return string(runes[:head]) + "…" + string(runes[len(runes)-(n-1-head):])
}

// pad returns text with spaces before it, up to n characters.
func pad(text string, n int) string {
	return strings.Repeat(" ", max(0, n-utf8.RuneCountInString(text))) + text
}

// padRight returns text with spaces after it, up to n characters.
func padRight(text string, n int) string {
	return text + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(text)))
}
