package selection

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/select/where"
)

// A Moment is a point in time as users specify it: a date and time, or an offset from the start of the trace or, if it
// is negative, from its end. The zero Moment is unset.
type Moment struct {
	kind momentKind
	wall time.Time
	dist time.Duration
}

type momentKind uint8

const (
	momentNone momentKind = iota
	momentWall
	momentStart // dist after the tick at which the trace's clock was read
	momentEnd   // dist before the last event; dist is not positive
)

// ParseMoment parses a date and time as where.ParseDate does, or an offset such as "1.5s" or "-200ms". "-0s" is the end
// of the trace.
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

// FromEnd returns the moment at the offset d, which is not positive, from the last event.
func FromEnd(d time.Duration) Moment { return Moment{kind: momentEnd, dist: d} }

// OnWall returns the moment of a date and time.
func OnWall(t time.Time) Moment { return Moment{kind: momentWall, wall: t} }

// FromEnd reports whether the moment depends on the end of the trace.
func (m Moment) FromEnd() bool { return m.kind == momentEnd }

// before reports whether m precedes other in every trace.
func (m Moment) before(other Moment) bool {
	return m.kind == other.kind &&
		(m.kind == momentWall && m.wall.Before(other.wall) || m.kind != momentWall && m.dist < other.dist)
}

// ticks returns the first tick at or after m. last is the time of the last event. It fails for a date if the trace has
// no wall-clock time.
func (m Moment) ticks(c ntconv.Clock, last ntconv.Ticks) (ntconv.Ticks, error) {
	switch m.kind {
	case momentWall:
		if c.Wall.IsZero() {
			return 0, fmt.Errorf("time %s: the trace has no wall-clock time; give a duration from its start, such as 1.5s",
				m.wall.Format(time.RFC3339Nano))
		}
		return c.TicksOf(m.wall), nil
	case momentEnd:
		return c.TicksAt(time.Duration(c.Nanos(last)) + m.dist), nil
	}
	return c.TicksAt(m.dist), nil
}

// String returns m in a form that ParseMoment accepts, or "" if m is unset.
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
