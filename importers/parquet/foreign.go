package parquet

import (
	"fmt"
	"io"
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/tables/parquetreader"
)

// A foreign converts the rows of foreign tables to events in time order.
type foreign struct {
	f     *files
	o     *Options
	info  ntconv.Info
	roles *roles
	// time, duration and end are the columns with these roles; nil if there is none.
	time, duration, end *timeColumn
	fields              []int // columns of the payload
	sample              bool  // events are stack samples
	seen                timeScan

	owners owners
	stacks callStacks
	types  rowTypes
	reader rowReader
	sorter *rowSorter // nil if the rows are sorted
	stops  stops
	next   *rowEvent // read but not delivered, because ends of earlier rows precede it
	cache  stringCache
	json   []byte

	current rowEvent
	event   ntconv.Event
}

// A rowEvent is the event for a row, or for its begin if the row has a duration.
type rowEvent struct {
	time, end int64 // nanoseconds since 1970-01-01; end is set if the row has a duration
	row       int64 // number of the row in all tables
	types     *rowType
	lane      *lane
	cpu       int32
	stack     *ntconv.Stack
	ids       spanIDs
	payload   []byte
}

// spanIDs holds the trace ID and span ID of a row; zero means none.
type spanIDs struct {
	trace [16]byte
	span  [8]byte
}

// newForeign returns a source over foreign tables. It compares the columns of all files and reads all times, because
// the unit, the order and the start of the clock depend on them.
func newForeign(f *files) (*foreign, error) {
	s := &foreign{f: f, o: f.o, owners: newOwners(), stacks: newCallStacks(f.o), cache: stringCache{}}
	first, err := f.file(f.names[0])
	if err != nil {
		return nil, err
	}
	columns := fileColumns(first)
	for _, table := range f.names[1:] {
		file, err := f.file(table)
		if err != nil {
			return nil, err
		}
		if d := differentColumns(columns, fileColumns(file)); d != "" {
			return nil, &ntconv.AdviceError{
				Err:    fmt.Errorf("tables %s and %s: %w: %s", f.names[0], table, ntconv.ErrUnsupported, d),
				Advice: "name a file, or a directory of files with equal columns",
			}
		}
	}
	if s.roles, err = newRoles(columns, f.o.Map); err != nil {
		return nil, err
	}
	s.time = s.timeOf(roleTime)
	if err := s.scan(); err != nil {
		return nil, err
	}
	if s.time.unit == 0 {
		s.time.unit = 1
	}
	s.duration, s.end = s.timeOf(roleDuration), s.timeOf(roleEnd)
	s.sample = s.roles.of(roleStack) != nil || f.o.Map[roleValue] != ""
	s.payloadFields()
	s.types = newRowTypes(s)
	s.info = nanosInfo(s.seen.first)
	s.stops.limit = f.o.Limits.Open
	if !s.seen.sorted {
		s.sorter = newRowSorter(s)
	}
	if f.o.Mapped != nil {
		f.o.Mapped(s.roles.mapping())
	}
	return s, nil
}

// differentColumns describes how the columns of two files differ, or returns "" if they are equal.
func differentColumns(a, b []fileColumn) string {
	if len(a) != len(b) {
		return fmt.Sprintf("%d and %d columns", len(a), len(b))
	}
	for i := range a {
		if a[i].name != b[i].name || a[i].TypeName() != b[i].TypeName() || a[i].MaxRepetition != b[i].MaxRepetition ||
			a[i].Unit != b[i].Unit {
			return fmt.Sprintf("column %d is %s (%s) and %s (%s)", i+1, a[i].name, a[i].TypeName(), b[i].name, b[i].TypeName())
		}
	}
	return ""
}

// payloadFields selects the columns that become fields: all columns that no other part of an event contains.
func (s *foreign) payloadFields() {
	elsewhere := map[int]bool{}
	for _, role := range []string{roleTime, roleName, roleProvider, rolePID, roleTID, roleProcess, roleThread, roleCPU, roleStack, roleTraceID, roleSpanID} {
		if i, ok := s.roles.at[role]; ok {
			elsewhere[i] = true
		}
	}
	if i, ok := s.roles.at[roleValue]; ok && s.sample {
		elsewhere[i] = true
	}
	for i := range s.roles.columns {
		if !elsewhere[i] && !s.roles.columns[i].hidden {
			s.fields = append(s.fields, i)
		}
	}
}

func (s *foreign) Info() *ntconv.Info { return &s.info }

// close removes the temporary file.
func (s *foreign) close() error {
	if s.sorter == nil {
		return nil
	}
	return s.sorter.spool.Close()
}

func (s *foreign) Next() (*ntconv.Event, error) {
	return &s.event, s.deliver()
}

// deliver sets s.event to the next event: the end of an earlier row that is due, or else the next row.
func (s *foreign) deliver() error {
	if s.next == nil {
		err := s.read(&s.current)
		if err == nil {
			s.next = &s.current
		} else if err != io.EOF || s.stops.empty() {
			return err
		}
	}
	if end := s.stops.due(s.next); end != nil {
		s.fill(end.time, end.typ, end.lane, end.labels)
		return nil
	}
	e := s.next
	s.next = nil
	s.fill(e.time, e.types.typ, e.lane, labelsOf(e))
	s.event.CPU, s.event.Stack, s.event.Payload = e.cpu, e.stack, e.payload
	if e.types.stop != nil {
		return s.stops.add(stop{time: e.end, row: e.row, typ: e.types.stop, lane: e.lane, labels: s.event.Labels})
	}
	return nil
}

// fill sets s.event to an event without payload.
func (s *foreign) fill(at int64, typ *ntconv.Type, lane *lane, labels *ntconv.Labels) {
	lane.seq++
	s.event = ntconv.Event{
		Kind: ntconv.KindEvent, CPU: ntconv.CPUUnknown, Seq: lane.seq, Time: ntconv.Ticks(at), Offset: -1,
		Type: typ, Thread: lane.Thread, Capture: lane.Thread, Labels: labels,
	}
}

// labelsOf returns the labels of a row, or nil if it has none. Both events of a row with a duration have an activity ID
// derived from the row number, because rows of a thread may overlap.
func labelsOf(e *rowEvent) *ntconv.Labels {
	var list []ntconv.Label
	if e.types.stop != nil {
		list = append(list, ntconv.Label{Kind: ntconv.LabelActivityID, ID: activityOf(e.row)})
	}
	if e.ids.trace != [16]byte{} {
		list = append(list, ntconv.Label{Kind: ntconv.LabelTraceID, ID: e.ids.trace})
	}
	if e.ids.span != [8]byte{} {
		label := ntconv.Label{Kind: ntconv.LabelSpanID}
		copy(label.ID[:], e.ids.span[:])
		list = append(list, label)
	}
	if list == nil {
		return nil
	}
	return ntconv.NewLabels(list)
}

// activityOf returns the activity ID of a row. Its last four bytes differ from the checksum that .NET computes from the
// others, so it is not mistaken for a path of activities.
func activityOf(row int64) (id [16]byte) {
	copy(id[:], "row\x00")
	bin.AppendU64(id[:4], uint64(row))
	copy(id[12:], "\xff\xff\xff\xff")
	return id
}

// read reads the next row in time order.
func (s *foreign) read(e *rowEvent) error {
	if s.sorter != nil {
		return s.sorter.read(e)
	}
	return s.readRow(e)
}

// readRow reads the next row of the tables that has a time. It skips and counts rows without a time.
func (s *foreign) readRow(e *rowEvent) error {
	for {
		if err := s.reader.next(s); err != nil {
			return err
		}
		ok, err := s.row(e)
		if err != nil {
			return inTable(s.reader.table, fmt.Errorf("row %d: %w", s.reader.number, err))
		}
		if ok {
			return nil
		}
		s.o.Report.Note(ntconv.CodeRowSkipped, 1, -1, fmt.Sprintf("table %s: row %d: column %s is not a time", s.reader.table, s.reader.number, s.time.name))
	}
}

// A rowReader reads the rows of all tables.
type rowReader struct {
	table  string
	tables int // number of tables opened so far
	r      *parquetreader.ColumnsReader
	batch  parquetreader.Columns
	at     int   // index of the row in batch
	number int64 // number of the row in its table, from 1
	total  int64 // number of the row in all tables
}

// next moves to the next row. It returns io.EOF after the last row of the last table.
func (r *rowReader) next(s *foreign) error {
	r.at++
	for r.r == nil || r.at >= r.batch.Rows {
		if r.r == nil {
			if r.tables == len(s.f.names) {
				return io.EOF
			}
			r.table = s.f.names[r.tables]
			file, err := s.f.file(r.table)
			if err != nil {
				return err
			}
			all := make([]int, len(s.roles.columns))
			for i := range all {
				all[i] = i
			}
			r.r, r.number = parquetreader.NewColumnsReader(file, all), 0
			r.tables++
		}
		err := r.r.Read(&r.batch, batchRows)
		r.at = 0
		if err == io.EOF {
			r.r = nil
			continue
		}
		if err != nil {
			return inTable(r.table, err)
		}
	}
	r.number++
	r.total++
	return nil
}

// value returns the value of a column that is not a list, and false if the value is NULL.
func (r *rowReader) value(column int) (parquetreader.Value, bool) {
	v := r.batch.Row(column, r.at)[0]
	return v, !v.IsNull()
}

// endOf returns the end of a row in nanoseconds since 1970-01-01, and false if the row has no duration.
func (s *foreign) endOf(start int64) (int64, bool) {
	if s.duration != nil {
		v, _ := s.reader.value(s.roles.at[roleDuration])
		if n, ok := s.duration.number(v); ok && n >= 0 {
			return bin.AddClamped(start, n), start+n != math.MaxInt64
		}
	}
	if s.end != nil {
		v, _ := s.reader.value(s.roles.at[roleEnd])
		if n, ok := s.end.at(v); ok && n >= start {
			return n, true
		}
	}
	return 0, false
}
