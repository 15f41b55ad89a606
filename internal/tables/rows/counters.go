package rows

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/tables"
)

// counters writes the table counters.
type counters struct {
	rows   *table[tables.Counter]
	reader *recording.CounterReader
	it     *Item                         // item of the event that is being read
	emit   func(*recording.CounterValue) // p.add, bound once so that calls do not allocate
}

func newCounters(s *Sink) (Part, error) {
	rows, err := newTable[tables.Counter](s.out)
	if err != nil {
		return nil, err
	}
	if rows.discard {
		return omitted{}, nil
	}
	p := &counters{rows: rows, reader: recording.NewCounterReader()}
	p.emit = p.add
	return p, nil
}

func (p *counters) Watch(*ntconv.Event) {}

func (p *counters) Write(e *ntconv.Event, it *Item) error {
	p.it = it
	p.reader.Read(e, p.emit)
	return nil
}

// add appends a row for a counter value. If several tags have the same key, it keeps the first.
func (p *counters) add(v *recording.CounterValue) {
	row := p.rows.row()
	*row = tables.Counter{
		EventID: p.it.ID, TS: p.it.Micros, TSNanos: p.it.Nanos, ProcessID: p.it.Process, PID: p.it.PID,
		Provider: valid(
			v.Provider,
		), Name: valid(v.Name), DisplayName: valid(v.DisplayName), Unit: valid(v.Unit), Kind: v.Kind,
		Statistic: v.Statistic, IntervalSecs: v.Interval,
	}
	if v.OK {
		number := v.Value
		row.Value = &number
	}
	if len(v.Tags) > 0 {
		row.Tags = make(map[string]string, len(v.Tags))
		for _, tag := range v.Tags {
			if _, taken := row.Tags[valid(tag.Key)]; !taken {
				row.Tags[valid(tag.Key)] = valid(tag.Value)
				p.rows.hold(tagBytes + len(tag.Key) + len(tag.Value))
			}
		}
	}
}

// tagBytes is the memory of an element of a tag map without its strings, in bytes.
const tagBytes = 48

func (p *counters) Close() error { return p.rows.close() }
func (p *counters) Abort() error { return nil }
