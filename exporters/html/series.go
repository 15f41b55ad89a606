package html

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/rows"
	"github.com/ntconv/ntconv/schema"
)

const (
	maxValues = 1 << 20 // values of counters on a page
	maxSeries = 1 << 14 // series of counters
	maxLosses = 1 << 16 // rows of losses
)

// series holds the values of counters, or of the heap. It is used by one goroutine.
type series struct {
	ids     map[seriesKey]int32
	list    []seriesKey
	values  []seriesValue
	every   int64 // values are kept if their number in the series is a multiple
	counts  []int64
	max     int   // maxValues, except in tests
	omitted int64 // values
}

// A seriesKey has everything in which series differ. process is a row of processes from 1, 0 if unknown.
type seriesKey struct {
	process                                               int32
	provider, name, title, unit, kind, statistic, tagText string
}

// A seriesValue is a value of a series.
type seriesValue struct {
	time   int64 // nanoseconds since 1970
	value  float64
	series int32
	number int64 // in the series
}

func newSeries() *series {
	return &series{ids: make(map[seriesKey]int32), every: 1, max: maxValues}
}

// addCounter adds a row of the table counters.
func (s *series) addCounter(row *tables.Counter) {
	if row.Value == nil {
		return
	}
	s.add(seriesKey{
		row.ProcessID, row.Provider, row.Name, row.DisplayName, row.Unit, row.Kind, row.Statistic, tagText(row.Tags),
	}, row.TSNanos, *row.Value)
}

// tagText returns tags as text, sorted by key.
func tagText(tags map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		parts = append(parts, key+"="+tags[key])
	}
	return strings.Join(parts, ", ")
}

func (s *series) add(key seriesKey, at int64, value float64) {
	id, ok := s.ids[key]
	if !ok {
		if len(s.list) >= maxSeries {
			s.omitted++
			return
		}
		id = int32(len(s.list))
		for _, p := range []*string{&key.provider, &key.name, &key.title, &key.unit, &key.kind, &key.statistic, &key.tagText} {
			*p = strings.Clone(*p)
		}
		s.ids[key], s.list, s.counts = id, append(s.list, key), append(s.counts, 0)
	}
	number := s.counts[id]
	s.counts[id]++
	if number%s.every != 0 {
		s.omitted++
		return
	}
	s.values = append(s.values, seriesValue{at, value, id, number})
	if len(s.values) > s.max {
		s.thin()
	}
}

// thin omits every second value of each series.
func (s *series) thin() {
	before := len(s.values)
	s.every *= 2
	s.values = slices.DeleteFunc(s.values, func(v seriesValue) bool { return v.number%s.every != 0 })
	s.omitted += int64(before - len(s.values))
}

// losses holds the losses of the recorder. It is used by one goroutine.
type losses struct {
	rows  []loss
	total int64
}

// A loss states that events were lost. thread is a row of threads from 1, 0 if unknown or if there are several.
type loss struct {
	time   int64 // nanoseconds since 1970
	lost   int64
	thread int32
}

// add adds a row of the table losses. If there are too many, it adds up neighbors.
func (l *losses) add(row *tables.Loss) {
	l.total = bin.AddClamped(l.total, row.Lost)
	l.rows = append(l.rows, loss{row.TSNanos, row.Lost, row.ThreadID})
	if len(l.rows) < maxLosses {
		return
	}
	for i := range maxLosses / 2 {
		a, b := l.rows[2*i], l.rows[2*i+1]
		if a.lost = bin.AddClamped(a.lost, b.lost); a.thread != b.thread {
			a.thread = 0
		}
		l.rows[i] = a
	}
	l.rows = l.rows[:maxLosses/2]
}

// A heapReader reads the size of the heap after collections, and what survived them, from events GCHeapStats.
type heapReader struct {
	schemas schema.Table
	last    *ntconv.Type
	fields  *schema.Projection // nil if last is another event
	values  []ntconv.Value     // sizes of generations, then what each promoted
}

// heapStats is the number of the event GCHeapStats, which the runtime writes after each collection.
const heapStats = 4

// generations is the number of generations in the newest version of GCHeapStats. Older versions have fewer.
const generations = 5

// read returns the size of the heap and of promoted objects in bytes that an event states, and false if it states none.
func (r *heapReader) read(e *ntconv.Event) (heap, promoted int64, ok bool) {
	if e.Type == nil || e.Type.ID != heapStats || e.Type.Provider != clr.Runtime {
		return 0, 0, false
	}
	if e.Type != r.last {
		r.project(e)
	}
	if r.fields == nil {
		return 0, 0, false
	}
	r.fields.Read(e, r.values)
	for i, v := range r.values {
		if v.Kind() != ntconv.ValueInt && v.Kind() != ntconv.ValueUint {
			return 0, 0, false
		}
		if i < len(r.values)/2 {
			heap = bin.AddClamped(heap, v.Int())
		} else {
			promoted = bin.AddClamped(promoted, v.Int())
		}
	}
	return heap, promoted, true
}

// project finds the fields of a type.
func (r *heapReader) project(e *ntconv.Event) {
	r.last, r.fields = e.Type, nil
	s := r.schemas.Of(e)
	has := func(name string) bool {
		return slices.ContainsFunc(s.Fields, func(f ntconv.Field) bool { return f.Name == name })
	}
	var sizes, promoted []string
	for i := range generations {
		size, survived := fmt.Sprint("GenerationSize", i), fmt.Sprint("TotalPromotedSize", i)
		if has(size) && has(survived) {
			sizes, promoted = append(sizes, size), append(promoted, survived)
		}
	}
	if len(sizes) > 0 {
		r.fields, _ = s.Project(append(sizes, promoted...)...)
		r.values = make([]ntconv.Value, 2*len(sizes))
	}
}

// collectionSeries is a series of the garbage collections of a process.
func collectionSeries(process int32, name, title string) seriesKey {
	return seriesKey{process: process, provider: "ntconv", name: name, title: title, unit: "bytes", kind: "gauge"}
}

// addHeap adds the sizes in bytes that an event states.
func (s *series) addHeap(of *rows.Sink, e *ntconv.Event, heap, promoted int64) {
	process, at := of.Place(e)
	s.add(collectionSeries(process, "heap-after-gc", "Heap after collections"), at, float64(heap))
	s.add(collectionSeries(process, "promoted-by-gc", "Promoted by collections"), at, float64(promoted))
}
