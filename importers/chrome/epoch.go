package chrome

import (
	"bytes"
	"strconv"
	"time"

	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/events/wallclock"
)

// An epoch holds what a file states about the time of its recording.
type epoch struct {
	start int64     // nanoseconds since 1970 at ts 0
	known bool      // start is set
	begin time.Time // start of the recording; zero if unknown
}

// maxWall is the maximum distance of a file's start from 1970 in nanoseconds: the time of its first event must fit into
// 64 bits.
const maxWall = chromeevent.MaxNanos

// learn evaluates a member of the outermost object.
func (e *epoch) learn(name string, value []byte) {
	switch name {
	case "beginningOfTime": // from clang
		e.state(unquoted(value), time.Microsecond)
	case "baseTimeNanoseconds": // from PyTorch and VizTracer
		e.state(unquoted(value), time.Nanosecond)
	case "metadata", "otherData":
		e.learnMembers(value)
	}
}

// state sets the time at ts 0, a positive number of units since 1970, unless it is known.
func (e *epoch) state(number []byte, unit time.Duration) {
	n, err := strconv.ParseInt(string(number), 10, 64)
	if err == nil && !e.known && n > 0 && n <= maxWall/int64(unit) {
		e.start, e.known = n*int64(unit), true
	}
}

// learnMembers evaluates the members of an object of metadata.
func (e *epoch) learnMembers(value []byte) {
	for name, v := range jsonio.EachMember(value) {
		text := string(unquoted(v))
		switch string(name) {
		case `"ntconv.trace_start_unix_ns"`:
			if n, err := strconv.ParseInt(text, 10, 64); err == nil && -maxWall <= n && n <= maxWall {
				e.start, e.known = n, true
			}
		case `"profile_start_ts"`: // from Bazel
			e.state([]byte(text), time.Millisecond)
		case `"startTime"`, `"trace-capture-datetime"`: // from DevTools and Chrome
			for _, layout := range [...]string{time.RFC3339Nano, "2006-1-2 15:04:05"} {
				if t, err := time.Parse(layout, text); err == nil &&
					maxWall/int64(time.Second) >= max(t.Unix(), -t.Unix()) {
					e.begin = t
				}
			}
		}
	}
}

// wall returns the wall-clock time of the file's first tick, or the zero Time if it is unknown. Files of PyTorch state
// nothing, but their clock is the time since 1970.
func (e *epoch) wall(first int64) time.Time {
	switch {
	case e.known:
		return time.Unix(0, e.start+first).UTC()
	case !e.begin.IsZero():
		return e.begin.UTC()
	case wallclock.IsDate(first):
		return time.Unix(0, first).UTC()
	}
	return time.Time{}
}

// isNumber reports whether a JSON value is a number.
func isNumber(value []byte) bool {
	return len(value) > 0 && (value[0] == '-' || value[0] >= '0' && value[0] <= '9')
}

// isNull reports whether a JSON value is absent or null.
func isNull(value []byte) bool { return len(value) == 0 || bytes.Equal(value, []byte("null")) }
