package overview

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
)

// Limits of the counters of a trace. Further time series are only counted.
const (
	maxCounters     = 10_000
	maxCounterBytes = 4 << 20
)

// A Counter is the last value of a time series of a counter.
type Counter struct {
	Provider    string `json:"provider"`
	Name        string `json:"name"`
	DisplayName string `json:"display_name,omitempty"`
	Unit        string `json:"unit,omitempty"`
	Kind        string `json:"kind"`
	Tags        string `json:"tags,omitempty"` // key=value, separated by commas
	// PID is that of the process, 0 if unknown.
	PID uint64 `json:"pid,omitempty"`
	// Values are the statistics of the last interval with a measurement, by name: mean, sum, total, last, p95.
	Values map[string]float64 `json:"values"`
	// RateScale is the number of seconds to which viewers scale the increments of a counter, 0 if unknown.
	RateScale float64 `json:"rate_scale,omitempty"`

	at       ntconv.Ticks
	interval float64 // seconds
}

type counterKey struct {
	process              *ntconv.Process
	provider, name, tags string
}

// counters holds the last values of all counters.
type counters struct {
	reader  *recording.CounterReader
	rows    map[counterKey]*Counter
	bytes   int
	more    int64 // values of time series beyond the limits
	usage   usage
	event   *ntconv.Event
	scratch strings.Builder
}

// A usage is CPU use over time as a counter states it, in hundredths of a percent of all CPUs.
type usage struct{ sums, counts series }

func newCounters() *counters {
	return &counters{reader: recording.NewCounterReader(), rows: map[counterKey]*Counter{}}
}

// add reads an event, which it borrows.
func (c *counters) add(e *ntconv.Event) {
	c.event = e
	c.reader.Read(e, c.value)
	c.event = nil
}

func (c *counters) value(v *recording.CounterValue) {
	if !v.OK || math.IsNaN(v.Value) || math.IsInf(v.Value, 0) || v.Statistic == recording.StatisticCount && v.Value == 0 {
		return // the last interval with a measurement is shown
	}
	e := c.event
	if v.Provider == "System.Runtime" && v.Name == "cpu-usage" && v.Statistic == recording.StatisticMean &&
		v.Value >= 0 && v.Value <= 100 {
		c.usage.sums.add(e.Time, int64(v.Value*100))
		c.usage.counts.add(e.Time, 1)
	}
	key := counterKey{provider: v.Provider, name: v.Name, tags: c.tags(v.Tags)}
	if e.Thread != nil {
		key.process = e.Thread.Process
	}
	row := c.rows[key]
	if row == nil {
		size := len(key.provider) + len(key.name) + len(key.tags)
		if len(c.rows) >= maxCounters || c.bytes+size > maxCounterBytes {
			c.more++
			return
		}
		c.bytes += size
		row = &Counter{
			Provider: v.Provider, Name: v.Name, DisplayName: v.DisplayName, Unit: v.Unit, Kind: v.Kind, Tags: key.tags,
			RateScale: v.RateScale, at: e.Time, Values: map[string]float64{},
		}
		if key.process != nil {
			row.PID = key.process.PID
		}
		c.rows[key] = row
	}
	if e.Time < row.at {
		return
	}
	if e.Time > row.at {
		clear(row.Values)
		row.at = e.Time
	}
	row.interval = v.Interval
	if len(row.Values) < 32 {
		row.Values[v.Statistic] = v.Value
	}
}

// tags returns tags as one string.
func (c *counters) tags(list []recording.CounterTag) string {
	if len(list) == 0 {
		return ""
	}
	c.scratch.Reset()
	for i, t := range list {
		if i > 0 {
			c.scratch.WriteByte(',')
		}
		c.scratch.WriteString(t.Key)
		c.scratch.WriteByte('=')
		c.scratch.WriteString(t.Value)
	}
	return c.scratch.String()
}

// list returns all counters by provider and name.
func (c *counters) list() []Counter {
	list := make([]Counter, 0, len(c.rows))
	for _, row := range c.rows {
		list = append(list, *row)
	}
	slices.SortFunc(list, func(a, b Counter) int {
		return cmp.Or(
			cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Name, b.Name), cmp.Compare(a.PID, b.PID),
			cmp.Compare(a.Tags, b.Tags), cmp.Compare(a.at, b.at),
		)
	})
	return list
}
