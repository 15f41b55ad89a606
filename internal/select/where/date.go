package where

import (
	"strings"
	"time"
)

// ParseDate parses a date and time: in RFC 3339, in the format of ntconv info ("2026-11-21 06:52:53.217 UTC"), or
// without a time zone, which means UTC. Errors are those of time.Parse.
func ParseDate(s string) (time.Time, error) {
	const day = len("2006-01-02")
	t, utc := strings.CutSuffix(s, " UTC")
	if len(t) > day && t[day] == ' ' {
		t = t[:day] + "T" + t[day+1:]
	}
	if !utc {
		if date, err := time.Parse(time.RFC3339Nano, t); err == nil {
			return date, nil
		}
	}
	return time.Parse("2006-01-02T15:04:05", t) // a fraction may follow the seconds
}
