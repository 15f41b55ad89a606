// Package unixtime decides whether nanoseconds since 1970 are a date.
package unixtime

import "time"

// The first seconds of the years that bound plausible dates of recordings.
var (
	year1971 = time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	year2000 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	year2100 = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
)

// IsDate reports whether nanoseconds of an unknown clock are the time since 1970: they are in the years 2000 to 2099. A
// clock that counts from the start of a machine or of a recording does not get there.
func IsDate(nanos int64) bool { return year2000 <= nanos && nanos < year2100 }

// IsUndated reports whether a time in nanoseconds since 1970 is that of a recording without a date. Formats that cannot
// express this store the time since the start of the recording, which is in 1970.
func IsUndated(nanos int64) bool { return nanos < year1971 }
