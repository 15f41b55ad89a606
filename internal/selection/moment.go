package selection

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/where"
)

// A Moment is a place in time as a user says it: a date and time, or a distance from the start of the trace or, if it
// is negative, from its end. The zero Moment says nothing.
type Moment struct {
	kind momentKind
	wall time.Time
	dist time.Duration
}

type momentKind uint8

const (
	momentNone momentKind = iota
	momentWall
	momentStart // dist behind the tick at which the trace's clock was read
	momentEnd   // dist, which is not positive, before the last event
)

// ParseMoment reads a date and time as where.ParseDate does, "1.5s" or "-200ms". "-0s" is the end of the trace.
func ParseMoment(s string) (Moment, error) {
	if d, err := time.ParseDuration(s); err == nil {
		if strings.HasPrefix(s, "-") {
			return Moment{kind: momentEnd, dist: d}, nil
		}
		return Moment{kind: momentStart, dist: d}, nil
	}
	t, err := where.ParseDate(s)
	if err != nil {
		return Moment{}, errors.New("want a duration such as 1.5s (from the start), -200ms (from the end), " +
			"or a date and time such as 2026-11-21T06:52:53.5Z")
	}
	return Moment{kind: momentWall, wall: t}, nil
}

// FromStart returns the moment d after the start of the trace.
func FromStart(d time.Duration) Moment { return Moment{kind: momentStart, dist: d} }

// FromEnd returns the moment at the distance d, which is not positive, from the last event.
func FromEnd(d time.Duration) Moment { return Moment{kind: momentEnd, dist: d} }

// OnWall returns the moment of a date and time.
func OnWall(t time.Time) Moment { return Moment{kind: momentWall, wall: t} }

// Wall returns the date and time of a moment, and false if it is stated otherwise.
func (m Moment) Wall() (time.Time, bool) { return m.wall, m.kind == momentWall }

// Distance returns the distance from the start or the end of the trace.
func (m Moment) Distance() time.Duration { return m.dist }

// FromEnd reports whether the moment is known only when the end of the trace is.
func (m Moment) FromEnd() bool { return m.kind == momentEnd }

// before reports whether the moment lies before another one in every trace.
func (m Moment) before(other Moment) bool {
	return m.kind == other.kind &&
		(m.kind == momentWall && m.wall.Before(other.wall) || m.kind != momentWall && m.dist < other.dist)
}

// ticks returns the first tick at or after the moment. last is the time of the last event.
func (m Moment) ticks(c ntconv.Clock, last ntconv.Ticks) (ntconv.Ticks, error) {
	switch m.kind {
	case momentWall:
		if c.Wall.IsZero() {
			return 0, fmt.Errorf(
				"time %s: the trace does not say what its clock showed; give a duration from its start, such as 1.5s",
				m.wall.Format(time.RFC3339Nano),
			)
		}
		return c.TicksOf(m.wall), nil
	case momentEnd:
		return c.TicksAt(time.Duration(c.Nanos(last)) + m.dist), nil
	}
	return c.TicksAt(m.dist), nil
}

// String returns a text that ParseMoment reads.
func (m Moment) String() string {
	switch {
	case m.kind == momentNone:
		return ""
	case m.kind == momentWall:
		return m.wall.Format(time.RFC3339Nano)
	case m.kind == momentEnd && m.dist == 0:
		return "-0s"
	}
	return m.dist.String()
}
