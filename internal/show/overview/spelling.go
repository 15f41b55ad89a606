package overview

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/events/recording"
)

// bars are the heights of a sparkline above zero.
var bars = []rune("▁▂▃▄▅▆▇█")

// sparkline returns one character per value. Heights are proportional to top, and values beyond it are full. A space is
// zero, a dot unknown.
func sparkline(values []float64, top float64) string {
	var b strings.Builder
	for _, v := range values {
		switch {
		case v < 0:
			b.WriteByte('.')
		case v == 0 || top <= 0:
			b.WriteByte(' ')
		default:
			b.WriteRune(bars[min(int(min(v/top, 1)*float64(len(bars))), len(bars)-1)])
		}
	}
	return b.String()
}

// typicalTop returns the top of a sparkline in which few columns are full: four times the median of the values that are
// not zero, or else the largest value. The events that .NET writes when a program ends would hide all others otherwise.
func typicalTop(values []float64) float64 {
	var list []float64
	for _, v := range values {
		if v > 0 {
			list = append(list, v)
		}
	}
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return min(list[len(list)-1], 4*list[len(list)/2])
}

// quantity returns a value with its unit.
func quantity(n int64, unit string) string { return message.Quantity(float64(n), unit) }

// duration returns nanoseconds as a duration.
func duration(nanos int64) string { return message.Duration(time.Duration(nanos)) }

// percent returns a share with two digits.
func percent(share float64) string {
	switch p := 100 * share; {
	case p == 0 || p >= 9.95:
		return fmt.Sprintf("%.0f%%", p)
	case p >= 0.095:
		return fmt.Sprintf("%.1f%%", p)
	default:
		return fmt.Sprintf("%.2g%%", p)
	}
}

// number returns a number with about four digits, and all digits before the point.
func number(x float64) string {
	switch a := math.Abs(x); {
	case a >= 1e15:
		return strconv.FormatFloat(x, 'g', 4, 64)
	case a >= 1000 || x == math.Trunc(x):
		return message.Group(int64(math.Round(x)))
	case a >= 0.1:
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// isZero reports whether all last values are 0, except for the number of measurements.
func (c Counter) isZero() bool {
	for name, v := range c.Values {
		if v != 0 && name != recording.StatisticCount {
			return false
		}
	}
	return true
}

// text returns the name of a counter with its last value.
func (c *Counter) text() string {
	name := c.Name
	if c.Tags != "" {
		name += "{" + c.Tags + "}"
	}
	unit := c.unit()
	v := c.Values
	first := func(names ...string) string {
		for _, n := range names {
			if x, ok := v[n]; ok {
				return number(x)
			}
		}
		return "?"
	}
	switch c.Kind {
	case recording.KindSum, recording.KindCounter:
		if total, ok := v[recording.StatisticTotal]; ok {
			return name + " " + number(total) + unit + " in total"
		}
		x, ok := v[recording.StatisticSum]
		if !ok {
			x = v[recording.StatisticRate]
		}
		if c.interval > 0 {
			return name + " " + number(x/c.interval) + unit + "/s"
		}
		return name + " +" + number(x) + unit
	case recording.KindHistogram:
		return fmt.Sprintf("%s p50 %s%s, p95 %s%s", name, first("p50"), unit, first("p95"), unit)
	}
	return name + " " + first(recording.StatisticMean, recording.StatisticLast, recording.StatisticTotal, recording.StatisticRate) + unit
}

// unit returns the unit with a space before it.
func (c *Counter) unit() string {
	switch c.Unit {
	case "":
		return ""
	case "%":
		return "%"
	}
	return " " + c.Unit
}
