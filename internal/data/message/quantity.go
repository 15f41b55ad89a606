package message

import (
	"math"
	"strconv"
	"time"
)

// Bytes formats a number of bytes with three digits, in units of 1024: 7.63 MiB.
func Bytes(n int64) string { return binary(float64(n)) }

// binary is Bytes for a mean or a rate.
func binary(v float64) string {
	units, i := [...]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}, 0
	for ; math.Abs(v) >= 999.5 && i < len(units)-1; i++ {
		v /= 1024
	}
	return Number(v) + " " + units[i]
}

// Duration formats a duration with three digits in the syntax of Go, which flags accept: 885µs, 7.04s. From one minute,
// it is rounded to 1 s: 2m30s.
func Duration(d time.Duration) string {
	unit := time.Duration(1)
	for d.Abs()/unit >= 1000 && d.Abs() < time.Minute {
		unit *= 10
	}
	if d.Abs() >= time.Minute {
		unit = time.Second
	}
	return d.Round(unit).String()
}

// Number formats a number with three digits, and all digits before the point: 27.1, 1,234. Integers have no point.
func Number(x float64) string {
	switch a := math.Abs(x); {
	case a >= 1e15:
		return strconv.FormatFloat(x, 'g', 3, 64)
	case a >= 999.5, x == math.Trunc(x):
		return Group(int64(math.Round(x)))
	case a >= 99.95:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(x, 'f', 1, 64)
	case a >= 0.01:
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}

// Quantity formats a value of a sample type: times as Duration, bytes as Bytes, and others as Number, with their unit
// unless they are counts. The unit is not escaped.
func Quantity(x float64, unit string) string {
	if nanos := map[string]float64{"nanoseconds": 1, "microseconds": 1e3, "milliseconds": 1e6, "seconds": 1e9}[unit]; nanos > 0 {
		if math.Abs(x) < (1<<63)/nanos {
			return Duration(time.Duration(math.Round(x * nanos)))
		}
		return Number(x*(nanos/1e9)) + "s"
	}
	switch unit {
	case "bytes":
		return binary(x)
	case "percent", "%":
		return Number(x) + "%"
	case "count", "":
		return Number(x)
	}
	return Number(x) + " " + unit
}
