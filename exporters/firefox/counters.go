package firefox

import (
	"math"
	"strconv"

	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/files/jsoncolumns"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/timeline"
)

// A counter is an element of the profile's counters. Its samples are differences, which the Firefox Profiler adds up.
type counter struct {
	track       *timeline.Track
	times, diff *jsoncolumns.Column
	value       float64 // the latest value, in the unit of the counter
	scale       float64 // factor from the unit of the trace
	unit        string  // bytes, or "" for other units
}

// counter adds a value of a counter, as the difference to the previous value. It omits and counts values that are not
// finite.
func (e *encoder) counter(i *timeline.Item) {
	if math.IsNaN(i.Value) || math.IsInf(i.Value, 0) {
		e.notNumbers++
		return
	}
	c := e.counters[i.Track]
	if c == nil {
		number := counterKeys + e.order.Of(i.Track)
		c = &counter{
			track: i.Track,
			times: e.set.Column(spool.Key{Time: number}),
			diff:  e.set.Column(spool.Key{Time: number, Rank: 1}),
		}
		c.unit, c.scale = counterUnit(i.Track.Unit)
		e.counters[i.Track] = c
		c.add(i.Time, 0) // the viewer ignores the first sample
	}
	value := i.Value * c.scale
	if math.IsInf(value, 0) {
		e.notNumbers++
		return
	}
	c.add(i.Time, value)
}

func (c *counter) add(at int64, value float64) {
	c.times.End(appendMillis(c.times.Begin(), at))
	c.diff.End(jsonio.AppendDouble(c.diff.Begin(), value-c.value))
	c.value = value
}

// counterUnit returns the Firefox Profiler's unit for a unit of the trace, and the factor for its values.
func counterUnit(unit string) (string, float64) {
	switch unit {
	case "B", "By", "bytes", "byte":
		return weightBytes, 1
	case "KB", "kB", "kBy":
		return weightBytes, 1e3
	case "MB", "MBy":
		return weightBytes, 1e6
	case "KiB", "KiBy":
		return weightBytes, 1 << 10
	case "MiB", "MiBy":
		return weightBytes, 1 << 20
	}
	return "", 1
}

// write writes the counter. index is the index of its process's first thread. Viewers of format version 62 and later
// read display, older viewers show only counters of the category Memory.
func (c *counter) write(w *jsoncolumns.Writer, index int) {
	category, color, format := "Counter", "teal", "number"
	if c.unit == weightBytes {
		category, color, format = "Memory", "orange", weightBytes
	}
	w.Text(`{"name":`)
	w.String(c.track.Name)
	w.Text(`,"category":"` + category + `","description":`)
	w.String(unitText(c.track.Unit))
	w.Text(`,"color":"` + color + `","pid":"` + pidOf(c.track) + `","mainThreadIndex":`)
	w.Int(int64(index))
	w.Text(`,"display":{"graphType":"line-accumulated","unit":"` + c.unit + `","color":"` + color +
		`","markerSchemaLocation":null,"sortWeight":50,"label":`)
	w.String(c.track.Name)
	w.Text(`,"tooltipRows":[{"type":"value","source":"accumulated","format":{"unit":"` + format + `"},"label":`)
	w.String(c.track.Name)
	w.Text(`}]},"samples":{"length":`)
	w.Int(int64(c.times.Len))
	w.Text(`,"time":`)
	w.Column(c.times)
	w.Text(`,"count":`)
	w.Column(c.diff)
	w.Text("}}")
}

func unitText(unit string) string {
	if unit == "" {
		return "value"
	}
	return unit
}

// pidOf returns the PID of the track's process, "0" if it has none.
func pidOf(t *timeline.Track) string {
	if t.Process == nil {
		return "0"
	}
	return strconv.FormatUint(uint64(t.Process.PID), 10)
}
