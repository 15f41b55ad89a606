package parquet

import (
	"math"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/wallclock"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/parquetreader"
)

// columnAt returns the index of the column with this name that is not nested, or -1.
func columnAt(f *parquetreader.File, name string) int {
	return slices.IndexFunc(f.Columns(), func(c parquetreader.Column) bool { return len(c.Path) == 1 && c.Path[0] == name })
}

func hasColumn(f *parquetreader.File, name string) bool { return columnAt(f, name) >= 0 }

// isEventFile reports whether a file has the columns that files of --single and the table events share.
func isEventFile(f *parquetreader.File) bool {
	for _, name := range []string{"event_id", "ts_ns", "pid", "tid", "provider", "event", "payload"} {
		if !hasColumn(f, name) {
			return false
		}
	}
	return true
}

// A single converts the rows of one file of events, which has names in place of definitions.
type single struct {
	o      *Options
	info   ntconv.Info
	rows   *rows[tables.SingleEvent]
	owners owners
	stacks callStacks
	types  jsonTypes

	labelKey [4]string
	labels   *ntconv.Labels
	event    ntconv.Event
	payload  []byte
}

// newSingle returns a source over one file of events. Unsorted rows are sorted, after which new sequence
// numbers are assigned.
func newSingle(f *files) (ntconv.Source, error) {
	s := &single{o: f.o, owners: newOwners(), stacks: newCallStacks(f.o), types: newJSONTypes(f.o)}
	var err error
	if s.rows, err = newRows[tables.SingleEvent](f, f.names[0]); err != nil {
		return nil, err
	}
	first, sorted, err := f.times(f.names[0])
	if err != nil {
		return nil, err
	}
	s.info = nanosInfo(first)
	if !sorted {
		return &numbered{Source: byTime(s, f.o.Report), seq: map[*ntconv.Thread]uint32{}}, nil
	}
	return s, nil
}

// times returns the earliest time of a table of events, 0 if the table is empty, and whether its rows are in time
// order. Rows that a query has written and those of a trace in file order may be unsorted.
func (f *files) times(table string) (first int64, sorted bool, err error) {
	file, err := f.file(table)
	if err != nil {
		return 0, false, err
	}
	last, any, sorted := int64(math.MinInt64), false, true
	err = eachInt(file, columnAt(file, "ts_ns"), func(at int64) bool {
		if !any {
			first, any = at, true
		}
		sorted = sorted && at >= last
		first, last = min(first, at), at
		return true
	})
	if err != nil {
		return 0, false, inTable(table, err)
	}
	return first, sorted, nil
}

// A numbered source assigns sequence numbers per thread, for events that have been sorted.
type numbered struct {
	ntconv.Source
	seq map[*ntconv.Thread]uint32
}

func (n *numbered) Next() (*ntconv.Event, error) {
	e, err := n.Source.Next()
	if err == nil {
		n.seq[e.Thread]++
		e.Seq = n.seq[e.Thread]
	}
	return e, err
}

// byTime returns a source that sorts the events between two sequence points by time, as far as they fit into its
// window.
func byTime(src ntconv.Source, report *ntconv.Report) ntconv.Source {
	return spool.NewSorted(src, &spool.SortOptions{Events: 2 << 20, Bytes: 256 << 20, Report: report})
}

// nanosInfo returns the Info of a source whose ticks are nanoseconds since 1970.
func nanosInfo(first int64) ntconv.Info {
	return ntconv.Info{Format: "parquet", PointerSize: 8, Clock: wallclock.Unix(first)}
}

func (s *single) Info() *ntconv.Info { return &s.info }

func (s *single) Next() (*ntconv.Event, error) {
	row, err := s.rows.head()
	if err == nil {
		err = s.fill(row)
		s.rows.skip()
	}
	return &s.event, err
}

// fill sets s.event to the event of a row.
func (s *single) fill(row *tables.SingleEvent) (err error) {
	lane := s.owners.lane(ownerKey{pid: row.PID, tid: row.TID, process: row.Process, thread: row.Thread})
	lane.seq++
	s.event = ntconv.Event{
		Kind: ntconv.KindEvent, CPU: row.CPU, Seq: lane.seq, Time: ntconv.Ticks(row.TSNanos), Offset: -1, Thread: lane.Thread, Capture: lane.Thread,
		Labels: s.labelsOf(row),
	}
	e := &s.event
	if e.Stack, err = s.stacks.stack(row.Stack); err != nil {
		return err
	}
	e.Type, s.payload, err = s.types.event(s.payload[:0], row)
	e.Payload = s.payload
	return err
}

// labelsOf returns the labels of a row. It reuses the latest list, because consecutive events often have equal labels.
func (s *single) labelsOf(row *tables.SingleEvent) *ntconv.Labels {
	key := [4]string{row.ActivityID, row.RelatedActivityID, row.TraceID, row.SpanID}
	if key == s.labelKey {
		return s.labels
	}
	var list []ntconv.Label
	for i, kind := range [...]ntconv.LabelKind{ntconv.LabelActivityID, ntconv.LabelRelatedActivityID, ntconv.LabelTraceID, ntconv.LabelSpanID} {
		if key[i] == "" {
			continue
		}
		if id, ok := parseID(key[i]); ok {
			list = append(list, ntconv.Label{Kind: kind, ID: id})
		} else {
			s.o.Report.Note(ntconv.CodeRepaired, 1, -1, "IDs that are not hexadecimal were omitted")
		}
	}
	s.labelKey, s.labels = key, nil
	if len(list) > 0 {
		s.labels = ntconv.NewLabels(list)
	}
	return s.labels
}
