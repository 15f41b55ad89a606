package payload

import "time"

// double.NaN and float.NaN of .NET, to which "NaN" is converted. Other NaNs have the same JSON and are not exact.
const (
	nan64 = 0xfff8_0000_0000_0000
	nan32 = 0xffc0_0000
)

const (
	// timeLayout has all digits of a time in units of 100 ns.
	timeLayout = `"2006-01-02T15:04:05.0000000Z"`
	// maxTime is the end of the year 9999, the last time that RFC 3339 can represent.
	maxTime = 2650467743999999999
	// epochSeconds is the number of seconds from 1601-01-01 to 1970-01-01.
	epochSeconds = 11644473600
)

// appendTime appends a time in units of 100 ns since 1601-01-01 UTC as a quoted string. It returns false if the string
// does not restore the time.
func appendTime(dst []byte, fileTime uint64) (_ []byte, exact bool) {
	n := int64(fileTime)
	return time.Unix(n/1e7-epochSeconds, n%1e7*100).UTC().AppendFormat(dst, timeLayout), fileTime <= maxTime
}
