package diagsource

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// parseTimeSpan parses the text of a TimeSpan, [-][days.]hh:mm:ss[.fffffff], and returns ticks of 100 ns.
func parseTimeSpan(text string) (int64, bool) {
	text, negative := strings.CutPrefix(text, "-")
	days := int64(0)
	if before, after, ok := strings.Cut(text, "."); ok && !strings.Contains(before, ":") {
		var valid bool
		if days, valid = digits(before, 8); !valid {
			return 0, false
		}
		text = after
	}
	if len(text) < len("hh:mm:ss") || text[2] != ':' || text[5] != ':' {
		return 0, false
	}
	h, ok1 := digits(text[:2], 2)
	m, ok2 := digits(text[3:5], 2)
	s, ok3 := digits(text[6:8], 2)
	n, ok4 := fraction(text[8:])
	if !ok1 || !ok2 || !ok3 || !ok4 || days > math.MaxInt64/(24*3600*ticksPerSecond)-1 {
		return 0, false
	}
	n += (((days*24+h)*60+m)*60 + s) * ticksPerSecond
	if negative {
		n = -n
	}
	return n, true
}

// fraction parses a fraction of a second, a point and 1 to 7 digits, and returns ticks of 100 ns. "" is 0.
func fraction(text string) (int64, bool) {
	if text == "" {
		return 0, true
	}
	n, ok := digits(text[1:], 7)
	if !ok || text[0] != '.' {
		return 0, false
	}
	for range 8 - len(text) {
		n *= 10
	}
	return n, true
}

// digits parses a number of 1 to limit decimal digits.
func digits(text string, limit int) (n int64, ok bool) {
	for i := range len(text) {
		d := text[i] - '0'
		if d > 9 {
			return 0, false
		}
		n = n*10 + int64(d)
	}
	return n, 0 < len(text) && len(text) <= limit
}

// parseMillis parses a number of milliseconds and returns ticks of 100 ns.
func parseMillis(text string) (int64, bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(math.Abs(f) < 1e14) {
		return 0, false
	}
	return int64(math.Round(f * 1e4)), true
}

// parseTimestamp parses a DateTimeOffset in round-trip format, yyyy-MM-ddTHH:mm:ss.fffffff+hh:mm, and returns
// nanoseconds since 1970-01-01 UTC.
func parseTimestamp(text string) (int64, bool) {
	const date, zone = len("yyyy-MM-ddTHH:mm:ss"), len("+hh:mm")
	if len(text) < date {
		return 0, false
	}
	end := len(text)
	offset := int64(0)
	if strings.HasSuffix(text, "Z") {
		end--
	} else if end -= zone; end >= date {
		h, ok1 := digits(text[end+1:end+3], 2)
		m, ok2 := digits(text[end+4:], 2)
		if !ok1 || !ok2 || text[end+3] != ':' || text[end] != '+' && text[end] != '-' {
			return 0, false
		}
		if offset = h*3600 + m*60; text[end] == '-' {
			offset = -offset
		}
	}
	if end < date || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':' {
		return 0, false
	}
	var part [6]int
	for i, at := range [...][2]int{{0, 4}, {5, 7}, {8, 10}, {11, 13}, {14, 16}, {17, 19}} {
		n, ok := digits(text[at[0]:at[1]], 4)
		if !ok {
			return 0, false
		}
		part[i] = int(n)
	}
	ticks, ok := fraction(text[date:end])
	if !ok || part[0] < 1678 || part[0] > 2261 {
		return 0, false
	}
	when := time.Date(part[0], time.Month(part[1]), part[2], part[3], part[4], part[5], 0, time.UTC)
	year, month, day := when.Date()
	hour, minute, second := when.Clock()
	if [...]int{year, int(month), day, hour, minute, second} != part {
		return 0, false // a part is out of range
	}
	return (when.Unix()-offset)*int64(time.Second) + ticks*100, true
}
