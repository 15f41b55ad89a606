package chrome

import (
	"bytes"
	"strconv"
	"time"

	"github.com/ntconv/ntconv/internal/chromeevent"
	"github.com/ntconv/ntconv/internal/jsonscan"
)

// An epoch is what a file says about when it was recorded.
type epoch struct {
	start int64     // nanoseconds since 1970 at ts 0
	known bool      // start is
	begin time.Time // when the recording began, zero if unknown
}

// maxWall is how far from 1970 a file can begin, in nanoseconds: the time of its first event must fit into 64 bits.
const maxWall = chromeevent.MaxNanos

// learn takes what a member of the outermost object says.
func (e *epoch) learn(name string, value []byte) {
	if name == "beginningOfTime" { // of clang, in microseconds
		if n, err := strconv.ParseInt(string(unquoted(value)), 10, 64); err == nil && !e.known && n > 0 &&
			n <= maxWall/int64(time.Microsecond) {
			e.start, e.known = n*int64(time.Microsecond), true
		}
		return
	}
	if name != "metadata" && name != "otherData" {
		return
	}
	members := jsonscan.MembersOf(value)
	for {
		name, v, ok := members.Next()
		if !ok {
			return
		}
		text := string(unquoted(v))
		switch string(name) {
		case `"ntconv.trace_start_unix_ns"`:
			if n, err := strconv.ParseInt(text, 10, 64); err == nil && -maxWall <= n && n <= maxWall {
				e.start, e.known = n, true
			}
		case `"profile_start_ts"`: // of Bazel
			if n, err := strconv.ParseInt(text, 10, 64); err == nil && !e.known && n > 0 &&
				n <= maxWall/int64(time.Millisecond) {
				e.start, e.known = n*int64(time.Millisecond), true
			}
		case `"startTime"`, `"trace-capture-datetime"`: // of DevTools and of Chrome
			for _, layout := range [...]string{time.RFC3339Nano, "2006-1-2 15:04:05"} {
				if t, err := time.Parse(layout, text); err == nil &&
					maxWall/int64(time.Second) >= max(t.Unix(), -t.Unix()) {
					e.begin = t
				}
			}
		}
	}
}

// wall returns the time at the first tick of the file. Most files do not state a date; their clock counts from 1970
// then, and this breaks no rule of the format.
func (e *epoch) wall(first int64) time.Time {
	switch {
	case e.known:
		return time.Unix(0, e.start+first).UTC()
	case !e.begin.IsZero():
		return e.begin.UTC()
	}
	return time.Unix(0, first).UTC()
}

// isNumber reports whether a value in JSON is a number.
func isNumber(value []byte) bool {
	return len(value) > 0 && (value[0] == '-' || value[0] >= '0' && value[0] <= '9')
}

// isNull reports whether a value is absent or null.
func isNull(value []byte) bool { return len(value) == 0 || bytes.Equal(value, []byte("null")) }
