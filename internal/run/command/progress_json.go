package command

import (
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
)

// A progressRecord is a line of --progress json. docs/usage.md describes it; members may be added, but not changed.
type progressRecord struct {
	Progress string         `json:"progress"` // the phase; the first member, by which a program recognizes the line
	Input    string         `json:"input,omitempty"`
	Read     int64          `json:"read_bytes"`
	Total    int64          `json:"total_bytes,omitempty"`
	Events   int64          `json:"events"`
	Rate     int64          `json:"bytes_per_second"`
	Elapsed  float64        `json:"elapsed_seconds"`
	Inputs   *inputProgress `json:"inputs,omitempty"`
	Detail   string         `json:"detail,omitempty"`
	Done     bool           `json:"done"`
}

// An inputProgress is an inputCount at a time.
type inputProgress struct {
	Total  int64 `json:"total"`
	Done   int64 `json:"done"`
	Failed int64 `json:"failed"`
}

// showProgressJSON prints the progress of a phase as lines of JSON: one when it begins, one per interval, and one with
// the final values when stop is called.
func (a *app) showProgressJSON(m *progressPhase) (stop func()) {
	start, first := time.Now(), a.events.Load()
	rate := progressLine{start: start}
	show := func(now time.Time, done bool) {
		r := progressRecord{
			Progress: m.name, Input: m.input, Read: m.read(), Total: max(0, m.size), Events: a.events.Load() - first, Done: done,
			Elapsed: float64(now.Sub(start).Milliseconds()) / 1000,
		}
		r.Rate = rate.rate(r.Read, now)
		if m.detail != nil {
			r.Detail = m.detail()
		}
		if m.inputs != nil {
			r.Inputs = &inputProgress{m.inputs.total, m.inputs.done.Load(), m.inputs.failed.Load()}
		}
		line, err := json.Marshal(&r)
		if err != nil {
			panic(err) // a record has no values that JSON cannot represent
		}
		a.printLine(string(message.JSON(line)) + "\n")
	}
	show(start, false)
	return tick(progressEvery, func(now time.Time) { show(now, false) }, func() { show(time.Now(), true) })
}

// guard wraps the source of every pass: it enforces the memory limit, and counts events for --progress json.
func (a *app) guard(src ntconv.Source) ntconv.Source {
	src = a.memory.Watch(src)
	if a.countsEvents() {
		src = &countedSource{Source: src, total: a.events}
	}
	return src
}

// countsEvents reports whether the progress of the run states events.
func (a *app) countsEvents() bool { return a.progressForm == progressJSON || a.counted }

// countInterval is the number of events after which a countedSource publishes its count: publishing each event would be
// slower.
const countInterval = 256

// A countedSource counts the events of a source for the progress.
type countedSource struct {
	ntconv.Source
	total *atomic.Int64
	count int64 // not yet published
}

// Next implements ntconv.Source.
func (c *countedSource) Next() (*ntconv.Event, error) {
	e, err := c.Source.Next()
	if err == nil && e.Kind == ntconv.KindEvent {
		c.count++
	}
	if err != nil || c.count >= countInterval {
		c.total.Add(c.count)
		c.count = 0
	}
	return e, err
}
