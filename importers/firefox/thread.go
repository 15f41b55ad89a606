package firefox

import (
	"fmt"
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/events/owner"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// A thread is an element of the member threads. readThread converts its columns to records and then drops them.
type thread struct {
	number  uint32
	thread  *ntconv.Thread
	tables  *tables
	first   int64 // time of its first sample or marker
	last    int64
	pid     string
	samples sampleTable
	// Lowest and highest string index that names a marker, and the position of the markers, for checkMarkers.
	markerLow, markerName int32
	markerPlace           jsonio.Place

	js      sampleTable
	native  sampleTable
	markers markerTable
}

// A sampleTable is a table of samples or allocations.
type sampleTable struct {
	table
	stack      []int32
	time       []int64
	deltas     []jsonio.Decimal
	weight     []jsonio.Decimal
	duration   []jsonio.Decimal // name of weight before version 29
	cpu        []jsonio.Decimal
	weightType string
}

var threadMembers = append(tableMembers[:len(tableMembers):len(tableMembers)],
	"name", "processName", "processType", "pid", "tid", "samples", "markers", "jsAllocations", "nativeAllocations", "libs")

// readThread reads a thread and converts its samples and markers to records, once all of its members are known: their
// order is arbitrary. Then it drops the columns and returns the memory charged for them.
func (f *file) readThread() error {
	t := &thread{tables: new(tables), first: math.MaxInt64, last: math.MinInt64}
	var s stackColumns
	var o ownerFields
	err := f.Object(threadMembers, func(i int) (err error) {
		switch {
		case i < len(tableMembers):
			err = f.readTables(t.tables, &s, i)
		default:
			err = f.readThreadMember(t, &o, threadMembers[i])
		}
		return err
	})
	if err != nil {
		return err
	}
	t.thread = f.owners.thread(&o, f.meta.product)
	p := t.thread.Process
	name := owner.Name{Process: p.Name, Thread: t.thread.Name, PID: int64(p.PID), TID: int64(t.thread.TID)}
	if t.number, err = f.b.AddThread(t.thread, name.Labels()); err != nil {
		return f.Fail(f.Place(), err)
	}
	t.pid = o.pid
	if err := f.addLocations(t.tables); err != nil {
		return err
	}
	if err := f.finishThreadTables(t, &s); err != nil {
		return err
	}
	if err := f.move(t); err != nil {
		return err
	}
	for _, add := range []func(*thread) error{f.addSamples, f.addJSAllocations, f.addNativeAllocations, f.addMarkers} {
		if err := add(t); err != nil {
			return err
		}
	}
	used := t.samples.bytes + t.js.bytes + t.native.bytes + t.markers.bytes
	t.samples, t.js, t.native, t.markers = sampleTable{}, sampleTable{}, sampleTable{}, markerTable{}
	f.threads = append(f.threads, t)
	return f.charged(nil, -int(used))
}

func (f *file) readThreadMember(t *thread, o *ownerFields, name string) (err error) {
	switch name {
	case "name":
		o.name, err = f.String()
	case "processName":
		o.process, err = f.String()
	case "processType":
		o.processType, err = f.String()
	case "pid":
		o.pid, err = f.String()
	case "tid":
		o.tid, err = f.String()
	case "samples":
		err = f.readSamples(&t.samples)
	case "jsAllocations":
		err = f.readSamples(&t.js)
	case "nativeAllocations":
		err = f.readSamples(&t.native)
	case "libs": // before version 41
		err = f.readLibs(&t.tables.libs)
	default:
		err = f.readMarkers(&t.markers)
	}
	return err
}

// readSamples reads a table of samples or allocations. Its times may be absolute or differences.
func (f *file) readSamples(s *sampleTable) (err error) {
	s.table, err = f.readTable([]column{
		{name: "stack", ints: &s.stack}, {name: "time", times: &s.time}, {name: "timeDeltas", exact: &s.deltas}, {name: "weight", exact: &s.weight},
		{name: "duration", exact: &s.duration}, {name: "threadCPUDelta", exact: &s.cpu}, {name: "weightType", text: &s.weightType},
	})
	if err != nil || s.rows == 0 {
		return err
	}
	if s.weight == nil {
		s.weight = s.duration
	}
	if s.time == nil {
		if s.deltas == nil {
			return f.Corrupt("the table has neither time nor timeDeltas")
		}
		if s.time, err = f.accumulate(s.deltas); err != nil {
			return err
		}
	}
	if s.stack == nil {
		return f.Corrupt("the table has no column stack")
	}
	return nil
}

// accumulate returns times from their differences in milliseconds. It adds them in picoseconds, so that rounding errors
// do not accumulate.
func (f *file) accumulate(deltas []jsonio.Decimal) ([]int64, error) {
	times := make([]int64, len(deltas))
	sum := int64(0)
	for i, d := range deltas {
		n, _, ok := d.Scale(9)
		if !ok || n > 0 && sum > math.MaxInt64-n || n < 0 && sum < math.MinInt64-n {
			return nil, f.Corrupt("row %d of timeDeltas is out of range", i)
		}
		sum += n
		times[i] = jsonio.Decimal{Mantissa: sum, Exponent: -3}.Nearest()
	}
	return times, f.charged(nil, 8*len(times))
}

// finishThreadTables finishes the tables of a thread that has its own stack table.
func (f *file) finishThreadTables(t *thread, s *stackColumns) error {
	if !t.tables.hasStacks {
		return nil
	}
	f.ownTables = true
	if f.lateStacks >= 0 || f.shared != nil && f.shared.hasStacks {
		return f.mixed()
	}
	return f.finishTables(t.tables, s)
}

// node returns the node of a stack index. The stack belongs to the table of the thread or to the shared table. If the
// shared table follows later, its stacks will be the first nodes, because no thread has a table of its own.
func (f *file) node(t *thread, what string, row int, index int32, p jsonio.Place) (imported.Node, error) {
	if index == none || index == -1 {
		return imported.NoStack, nil
	}
	tables := t.tables
	if !tables.hasStacks {
		tables = f.shared
	}
	if tables == nil || !tables.hasStacks {
		if f.ownTables {
			return 0, f.mixed()
		}
		if int64(index) > f.lateStacks {
			f.lateStacks, f.latePlace = int64(index), p
		}
		return imported.Node(index) + 1, nil
	}
	if index < 0 || int(index) >= tables.stacks {
		return 0, f.Fail(p, fmt.Errorf("%w: row %d of %s has stack %d; stackTable has %d", ntconv.ErrCorrupt, row, what, index, tables.stacks))
	}
	return tables.base + imported.Node(index), nil
}

// addSamples adds the samples of a thread.
func (f *file) addSamples(t *thread) error {
	s := &t.samples
	if s.rows == 0 {
		return nil
	}
	weigh, err := f.weighing(s)
	if err != nil {
		return err
	}
	cpu := -1
	if len(s.cpu) > 0 {
		if cpu, err = f.column(f.meta.cpu); err != nil {
			return err
		}
	}
	var values []imported.Value
	for i := range s.rows {
		if values, err = weigh(values[:0], i); err != nil {
			return err
		}
		if cpu >= 0 && i > 0 { // the first value has no start time
			n, _, ok := s.cpu[i].Scale(0)
			if scale := f.meta.cpuScale; !ok || n > math.MaxInt64/scale || n < math.MinInt64/scale {
				return f.Fail(s.place, fmt.Errorf("%w: row %d of threadCPUDelta is out of range", ntconv.ErrCorrupt, i))
			}
			values = append(values, imported.Value{Column: cpu, N: n * f.meta.cpuScale})
		}
		if err := f.addSample(t, s, "samples", i, values); err != nil {
			return err
		}
	}
	return nil
}

// addSample adds row i of a table.
func (f *file) addSample(t *thread, s *sampleTable, what string, i int, values []imported.Value) error {
	node, err := f.node(t, what, i, s.stack[i], s.place)
	if err != nil {
		return err
	}
	at := s.time[i]
	switch {
	case f.meta.timeless:
		at = 0
	case at == noTime:
		return f.Fail(s.place, fmt.Errorf("%w: row %d of %s has no time", ntconv.ErrCorrupt, i, what))
	}
	t.first, t.last = min(t.first, at), max(t.last, at)
	if err := f.b.Sample(at, t.number, node, values); err != nil {
		return f.Fail(s.place, err)
	}
	return nil
}

// weighing returns a function that appends the values of row i of a sample table.
func (f *file) weighing(s *sampleTable) (func(to []imported.Value, i int) ([]imported.Value, error), error) {
	digits, main := 0, samplesType
	switch s.weightType {
	case "tracing-ms":
		digits, main = 6, timeType
	case "bytes":
		main = bytesType
	case "samples", "":
	default:
		return nil, f.Fail(s.place, fmt.Errorf("%w: weightType %q", ntconv.ErrUnsupported, s.weightType))
	}
	column, err := f.column(main)
	if err != nil {
		return nil, err
	}
	time, interval := -1, f.meta.interval
	if main == samplesType && interval > 0 && !f.meta.timeless {
		if time, err = f.column(timeType); err != nil {
			return nil, err
		}
	}
	return func(to []imported.Value, i int) ([]imported.Value, error) {
		weight := jsonio.Decimal{Mantissa: 1}
		if len(s.weight) > 0 {
			weight = s.weight[i]
		}
		n, exact, ok := weight.Scale(digits)
		if !ok || time >= 0 && (n > math.MaxInt64/interval || n < math.MinInt64/interval) {
			return nil, f.Fail(s.place, fmt.Errorf("%w: row %d of weight is out of range", ntconv.ErrCorrupt, i))
		}
		if !exact && digits == 0 {
			f.report.Note(ntconv.CodeNotCarried, 1, s.place.Offset, "weights were rounded to integers")
		}
		to = append(to, imported.Value{Column: column, N: n})
		if time >= 0 {
			to = append(to, imported.Value{Column: time, N: n * interval})
		}
		return to, nil
	}, nil
}

func (f *file) column(t imported.ValueType) (int, error) {
	n, err := f.b.Column(t)
	if err != nil {
		return 0, f.Fail(f.Place(), err)
	}
	return n, nil
}

func (f *file) addJSAllocations(t *thread) error {
	return f.addAllocations(t, &t.js, "jsAllocations", jsObjectsType, jsSpaceType, jsSpaceType)
}

// addNativeAllocations adds allocations, and freed memory as another sample type: both are sampled independently of
// each other, so their sum has no meaning.
func (f *file) addNativeAllocations(t *thread) error {
	return f.addAllocations(t, &t.native, "nativeAllocations", nativeObjectsType, nativeSpaceType, nativeFreedType)
}

// addAllocations adds the rows of an allocation table. A positive weight is an allocated size, a negative weight a
// freed size.
func (f *file) addAllocations(t *thread, s *sampleTable, what string, objects, space, freed imported.ValueType) error {
	for i := range s.rows {
		size := int64(0)
		if len(s.weight) > 0 {
			n, _, ok := s.weight[i].Scale(0)
			if !ok {
				return f.Fail(s.place, fmt.Errorf("%w: row %d of weight is out of range", ntconv.ErrCorrupt, i))
			}
			size = n
		}
		values := []imported.Value{{N: 1}, {N: size}}
		types := []imported.ValueType{objects, space}
		if size < 0 {
			values, types = []imported.Value{{N: -size}}, []imported.ValueType{freed}
		}
		for k := range values {
			var err error
			if values[k].Column, err = f.column(types[k]); err != nil {
				return err
			}
		}
		if err := f.addSample(t, s, what, i, values); err != nil {
			return err
		}
	}
	return nil
}
