package wallclock

import (
	"testing"
	"time"
)

func TestDates(t *testing.T) {
	for _, c := range []struct {
		at              time.Time
		isDate, undated bool
	}{
		{time.Unix(0, 0), false, true},
		{time.Date(1970, 12, 31, 23, 59, 59, 0, time.UTC), false, true},
		{time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC), false, false},
		{time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC), false, false},
		{time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), true, false},
		{time.Date(2099, 12, 31, 23, 59, 59, 0, time.UTC), true, false},
		{time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), false, false},
	} {
		if d, u := IsDate(c.at.UnixNano()), isUndated(c.at.UnixNano()); d != c.isDate || u != c.undated {
			t.Errorf("%v: a date %v, undated %v", c.at, d, u)
		}
	}
}
