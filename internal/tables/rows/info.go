package rows

import (
	"cmp"
	"math"
	"strconv"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/tables"
)

// writeAttributes writes the attributes of one owner.
func writeAttributes(rows *table[tables.Attribute], owner string, id int32, list ntconv.Attrs) {
	for i, a := range list {
		row := rows.row()
		row.Owner, row.OwnerID, row.Ordinal, row.Key, row.Value = owner, id, int32(i), valid(a.Key), valid(a.Value)
	}
}

// writeAllAttributes writes the table of attributes.
func (s *Sink) writeAllAttributes(rows *table[tables.Attribute]) {
	writeAttributes(rows, tables.OwnerTrace, 0, s.info.Attrs)
	for _, r := range s.owners.processes {
		writeAttributes(rows, tables.OwnerProcess, r.id, r.process.Attrs)
	}
	for _, r := range s.owners.threads {
		writeAttributes(rows, tables.OwnerThread, r.id, r.thread.Attrs)
	}
	for _, r := range s.types.rows {
		writeAttributes(rows, tables.OwnerType, r.id, r.typ.Attrs)
	}
}

// writeInfo writes the row of the table trace_info.
func (s *Sink) writeInfo(rows *table[tables.TraceInfo]) {
	c, row := &s.clock, rows.row()
	row.SchemaVersion, row.TraceUID = tables.Version, s.o.TraceUID
	row.SourceFile, row.Service = valid(s.o.Source), valid(s.o.Service)
	row.Format, row.Version = valid(s.info.Format), valid(s.o.Version)
	row.StartTS, row.StartNanos = c.at(c.Tick)
	row.EndTS = row.StartTS
	if begin, end, ok := s.recorded.Span(); ok {
		row.EndTS, _ = c.at(end)
		row.DurationNanos = c.Nanos(end) - c.Nanos(begin)
	}
	row.ClockFrequency, row.ClockTicks = c.Freq, int64(c.Tick)
	if !c.Wall.IsZero() {
		row.ClockWall = c.Wall.UTC().Format(time.RFC3339Nano)
	}
	row.PointerSize = int32(s.info.PointerSize)
	row.ProcessorCount = int32(min(s.number("HardwareThreadCount"), math.MaxInt32))
	row.SamplingInterval = s.number("ExpectedCPUSamplingRate")
	if p := s.owners.main(); p != nil {
		info := s.owners.info(p, s.namer)
		row.OS, row.Arch = valid(info.OS), valid(info.Arch)
		if service := info.Service(); service != recording.UnknownService {
			row.Service = cmp.Or(row.Service, valid(service))
		}
	}
	row.Aggregate, row.Ordered, row.Selection = s.info.Aggregate, s.out.ordered, s.o.Selection
	row.ProcessCount, row.EventCount, row.LostEvents = int32(len(s.owners.processes)), s.done.Events, s.lost
	row.SampleCount, row.SpanCount = s.done.Samples, s.done.Spans
	row.Incomplete = s.o.Report.Worst() == ntconv.SeverityError
}

// number returns an attribute of the trace as a number, or 0 if it is absent or not a number.
func (s *Sink) number(key string) int64 {
	text, _ := s.info.Attrs.Get(key)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
