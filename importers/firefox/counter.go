package firefox

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
)

// A counter is an element of the member counters.
type counter struct {
	name, category, pid string
	mainThread          int64 // index of a thread; -1 if unknown
	accumulates         bool  // the file contains differences; events contain their running total
	thread              *ntconv.Thread
}

// counterTable holds the samples of a counter.
type counterTable struct {
	table
	time   []int64
	deltas []jsonio.Decimal
	count  []jsonio.Decimal
	number []jsonio.Decimal
}

var counterMembers = []string{"name", "category", "pid", "mainThreadIndex", "samples", "sampleGroups", "display"}

// readCounter reads a counter and adds the records of its samples.
func (f *file) readCounter() error {
	c := &counter{mainThread: -1}
	var tables []*counterTable
	err := f.Object(counterMembers, func(i int) (err error) {
		switch i {
		case 0:
			c.name, err = f.String()
		case 1:
			c.category, err = f.String()
		case 2:
			c.pid, err = f.String()
		case 3:
			c.mainThread, err = f.Index(-1, math.MaxInt32, -1)
		case 4:
			t := new(counterTable)
			tables = append(tables, t)
			err = f.readCounterTable(t)
		case 5:
			tables, err = f.readGroups(tables)
		default:
			err = f.Object([]string{"graphType"}, func(int) error {
				kind, err := f.String()
				c.accumulates = kind == "line-accumulated"
				return err
			})
		}
		return err
	})
	if err != nil {
		return err
	}
	c.accumulates = c.accumulates || c.category == "Memory" // before version 62, which states it in display
	for _, t := range tables {
		if err := f.addCounter(c, t); err != nil {
			return err
		}
	}
	f.counters = append(f.counters, c)
	return f.charged(nil, 4*stringBytes+len(c.name)+len(c.category))
}

// readGroups reads the member sampleGroups of versions before 48: an object, or a list of objects since version 26.
func (f *file) readGroups(tables []*counterTable) ([]*counterTable, error) {
	group := func(int) error {
		return f.Object([]string{"samples"}, func(int) error {
			t := new(counterTable)
			tables = append(tables, t)
			return f.readCounterTable(t)
		})
	}
	var err error
	if f.Kind() == '[' {
		err = f.Array(group)
	} else {
		err = group(0)
	}
	return tables, err
}

// readCounterTable reads a sample table of a counter. Its times may be absolute or differences.
func (f *file) readCounterTable(t *counterTable) (err error) {
	t.table, err = f.readTable([]column{
		{name: "time", times: &t.time}, {name: "timeDeltas", exact: &t.deltas}, {name: "count", exact: &t.count}, {name: "number", exact: &t.number},
	})
	if err != nil || t.rows == 0 {
		return err
	}
	if t.time == nil {
		if t.time, err = f.accumulate(t.deltas); err != nil {
			return err
		}
	}
	if len(t.time) == 0 || len(t.count) == 0 {
		return f.Corrupt("the table has no times or no column count")
	}
	return nil
}

// addCounter adds records for the samples of a counter.
func (f *file) addCounter(c *counter, t *counterTable) error {
	sum := 0.0
	for i := range t.rows {
		at := t.time[i]
		if f.meta != nil && f.meta.timeless {
			at = 0
		}
		if at == noTime {
			return f.Fail(t.place, fmt.Errorf("%w: row %d of a counter has no time", ntconv.ErrCorrupt, i))
		}
		value := t.count[i].Float()
		if c.accumulates {
			if i == 0 && value == 0 && t.rows > 1 && t.time[1] == at { // the base that exporters/firefox writes
				continue
			}
			sum += value
			value = sum
		}
		b := append(f.scratch[:0], recordCounter)
		b = binary.AppendUvarint(b, uint64(len(f.counters)))
		b = appendNumber(append(b, `{"value":`...), value)
		if len(t.number) > 0 {
			b = appendNumber(append(b, `,"number":`...), t.number[i].Float())
		}
		f.scratch = append(b, '}')
		if err := f.b.Record(at, f.scratch); err != nil {
			return f.Fail(t.place, err)
		}
	}
	return f.charged(nil, -int(t.bytes))
}

// appendNumber appends a number as JSON, or null if it is not finite.
func appendNumber(dst []byte, v float64) []byte {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return append(dst, "null"...)
	}
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return strconv.AppendInt(dst, int64(v), 10)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

// counter sets e to the event of a counter record.
func (e *events) counter(b []byte) {
	n, size := binary.Uvarint(b)
	c := e.f.counters[n]
	if c.thread == nil {
		c.thread = e.f.counterThread(c)
	}
	e.like.Thread = c.thread
	e.e.Phase, e.e.Name, e.e.Category = chromeevent.PhaseCounter, c.name, c.category
	if e.e.Category == "" {
		e.e.Category = "firefox"
	}
	e.args = append(e.args[:0], b[size:]...)
	e.e.Args = e.args
}

// counterThread returns the thread for the events of a counter: the main thread of its process.
func (f *file) counterThread(c *counter) *ntconv.Thread {
	if c.mainThread >= 0 && c.mainThread < int64(len(f.threads)) {
		return f.threads[c.mainThread].thread
	}
	for _, t := range f.threads {
		if t.pid == c.pid {
			return t.thread
		}
	}
	return f.owners.thread(&ownerFields{pid: c.pid}, f.meta.product)
}
