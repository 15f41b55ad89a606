package parquet

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/events/payload"
	"github.com/ntconv/ntconv/internal/tables"
)

// definitions holds the rows that other rows of a trace refer to, by ID.
type definitions struct {
	f         *files
	info      tables.TraceInfo
	hasInfo   bool
	attrs     map[attrOwner][]tables.Attribute
	processes intern.IDs[*ntconv.Process]
	noProcess ntconv.Process // for threads whose process has no row, because sinks need a process
	threads   intern.IDs[*ntconv.Thread]
	modules   intern.IDs[*ntconv.Mapping]
	types     intern.IDs[*typeOf]
	memory    memory
}

// An attrOwner identifies an object with attributes.
type attrOwner struct {
	kind string
	id   int32
}

// A typeOf is an event type with the decoders for its payloads, by pointer size / 8.
type typeOf struct {
	*ntconv.Type
	unknown  bool // a placeholder without a row
	layout   []ntconv.Field
	decoders [2]*payload.Decoder
}

// rowBytes is the memory charged for a definition in addition to its strings, in bytes.
const rowBytes = 128

// read reads all tables of definitions except stacks, frames and labels.
func (d *definitions) read() error {
	d.attrs = map[attrOwner][]tables.Attribute{}
	d.memory.limit = d.f.o.Limits.TableBytes
	for _, read := range []func() error{
		func() error { return eachRow(d.f, d.addInfo) },
		d.checkEvents,
		func() error { return eachRow(d.f, d.addAttribute) },
		func() error { return eachRow(d.f, d.addProcess) },
		func() error { return eachRow(d.f, d.addModule) },
		func() error { return eachRow(d.f, d.addThread) },
		func() error { return eachRow(d.f, d.addType) },
	} {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// addInfo adds the row of trace_info. Several rows mean several traces, which is an error.
func (d *definitions) addInfo(row *tables.TraceInfo) error {
	if d.hasInfo {
		return inTable(tableInfo, fmt.Errorf("%w: more than one row; read one trace at a time", ntconv.ErrUnsupported))
	}
	d.info, d.hasInfo = *row, true
	if row.SchemaVersion > tables.Version { // other programs keep the column but not the metadata
		return inTable(tableInfo, checkVersion(strconv.Itoa(int(row.SchemaVersion))))
	}
	return nil
}

// checkEvents sets info.Selection if events are missing, because these may include symbols. It compares the number of
// rows: a copy by another program omits the metadata of ntconv, but must yield the same trace.
func (d *definitions) checkEvents() error {
	events, err := d.f.file(tableEvents)
	if err != nil {
		return err
	}
	complete := d.hasInfo && events.Rows() == d.info.EventCount
	if _, original := events.Metadata(tables.VersionKey); d.hasInfo && original && !complete {
		d.f.o.Report.Note(ntconv.CodeRepaired, 1, -1, fmt.Sprintf("trace_info counts %d events, the table events has %d rows", d.info.EventCount, events.Rows()))
	}
	if !complete {
		d.info.Selection = true
	}
	return nil
}

func (d *definitions) addAttribute(row *tables.Attribute) error {
	at := attrOwner{row.Owner, row.OwnerID}
	d.attrs[at] = append(d.attrs[at], *row)
	return d.memory.add(rowBytes + len(row.Key) + len(row.Value))
}

// attributes returns the attributes of an owner in their recorded order.
func (d *definitions) attributes(kind string, id int32) (attrs ntconv.Attrs) {
	list := d.attrs[attrOwner{kind, id}]
	slices.SortStableFunc(list, func(a, b tables.Attribute) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	for i := range list {
		attrs = append(attrs, ntconv.Attr{Key: list[i].Key, Value: list[i].Value})
	}
	return attrs
}

// addProcess adds a process. In a selection it uses the resolved name if the trace recorded none, because the events
// that state the name may be missing.
func (d *definitions) addProcess(row *tables.Process) error {
	p := &ntconv.Process{PID: uint64(row.PID), Host: row.Host, Name: row.RecordedName, Attrs: d.attributes(tables.OwnerProcess, row.ProcessID)}
	if row.PointerSize == 4 || row.PointerSize == 8 {
		p.PointerSize = uint8(row.PointerSize)
	}
	if p.Name == "" && d.info.Selection {
		p.Name = row.Name
	}
	define(d, &d.processes, row.ProcessID, p)
	return d.memory.add(rowBytes + len(row.Host) + len(p.Name))
}

// addModule adds a module, and appends it to the mappings of its process if the trace recorded it there.
func (d *definitions) addModule(row *tables.Module) error {
	m := &ntconv.Mapping{
		Start: uint64(row.Start), Limit: uint64(row.Limit), Offset: uint64(row.FileOffset), File: row.Path, BuildID: row.BuildID,
		Flags: ntconv.MappingFlags(row.Flags),
	}
	define(d, &d.modules, row.ModuleID, m)
	if p := d.processes.Get(id(row.ProcessID)); p != nil && row.Recorded {
		p.Mappings = append(p.Mappings, m)
	}
	return d.memory.add(rowBytes + len(row.Path) + len(row.BuildID))
}

// addThread adds a thread. A thread whose process has no row gets a placeholder process.
func (d *definitions) addThread(row *tables.Thread) error {
	t := &ntconv.Thread{TID: uint64(row.TID), Name: row.RecordedName, Attrs: d.attributes(tables.OwnerThread, row.ThreadID)}
	if t.Name == "" && d.info.Selection {
		t.Name = row.Name
	}
	if t.Process = d.processes.Get(id(row.ProcessID)); t.Process == nil {
		t.Process = &d.noProcess
	}
	if t.Process == &d.noProcess && row.ProcessID != 0 {
		d.f.o.Report.Note(ntconv.CodeRepaired, 1, -1, fmt.Sprintf("thread_id %d refers to process_id %d, which has no row", row.ThreadID, row.ProcessID))
	}
	define(d, &d.threads, row.ThreadID, t)
	return d.memory.add(rowBytes + len(t.Name))
}

func (d *definitions) addType(row *tables.EventType) error {
	t := &ntconv.Type{
		Provider: row.Provider, ID: uint32(row.Number), Name: row.RecordedName, Version: uint8(row.Version), Level: uint8(row.Level),
		HasOpcode: row.HasOpcode, Keywords: uint64(row.Keywords), Message: row.Message, Description: row.Description,
		Attrs: d.attributes(tables.OwnerType, row.TypeID), Extra: row.Extra, OptionalExtra: row.OptionalExtra,
	}
	if row.RecordedOpcode != nil {
		t.Opcode = uint8(*row.RecordedOpcode)
	}
	failed := func(column string, err error) error {
		return inTable(tableTypes, fmt.Errorf("column %s of type_id %d: %w", column, row.TypeID, err))
	}
	var err error
	if row.ProviderGUID != "" {
		if t.GUID, err = ntconv.ParseGUID(row.ProviderGUID); err != nil {
			return failed("provider_guid", fmt.Errorf("%w: %w", ntconv.ErrCorrupt, err))
		}
	}
	if t.Fields, err = tables.ParseFields(row.RecordedFields); err != nil {
		return failed("recorded_fields", err)
	}
	found := &typeOf{Type: t, layout: t.Fields}
	if row.Layout != "" {
		if found.layout, err = tables.ParseFields(row.Layout); err != nil {
			return failed("layout", err)
		}
	}
	define(d, &d.types, row.TypeID, found)
	// A parsed field needs more memory than its text.
	return d.memory.add(2*rowBytes + 8*(len(row.RecordedFields)+len(row.Layout)) + len(row.Message) + len(row.Description) + len(row.Extra) + len(row.OptionalExtra))
}

// id converts an ID of a row to a key. IDs of rows start at 1; negative IDs become large numbers.
func id(n int32) uint64 { return uint64(uint32(n)) }

// define sets the definition of an ID. If an ID has several definitions, the last one is used.
func define[T comparable](d *definitions, to *intern.IDs[T], n int32, v T) {
	var zero T
	if to.Set(id(n), v) != zero {
		d.f.o.Report.Add(ntconv.CodeRedefined, 1, -1)
	}
}

// Defaults for a trace without the corresponding information.
const (
	defaultFrequency   = int64(time.Second)
	defaultPointerSize = 8
)

// traceInfo returns the Info, and the nanoseconds from 1970-01-01 to Clock.Tick. Invalid values are reported
// (CodeBadHeader) and replaced by defaults.
func (d *definitions) traceInfo() (info ntconv.Info, start int64) {
	info = ntconv.Info{
		Format:      "parquet",
		PointerSize: defaultPointerSize,
		Attrs:       d.attributes(tables.OwnerTrace, 0),
		Clock:       ntconv.Clock{Freq: defaultFrequency},
	}
	if !d.hasInfo { // ticks are the nanoseconds of the column ts_ns
		info.Clock.Wall = time.Unix(0, 0).UTC()
		return info, 0
	}
	t := &d.info
	info.Aggregate = t.Aggregate
	info.Clock.Tick = ntconv.Ticks(t.ClockTicks)
	if t.PointerSize == 4 {
		info.PointerSize = 4
	}
	bad := func(column string, value any) {
		d.f.o.Report.Note(ntconv.CodeBadHeader, 1, -1, fmt.Sprintf("table %s: column %s: %v", tableInfo, column, value))
	}
	if info.Clock.Freq = t.ClockFrequency; info.Clock.Freq <= 0 {
		info.Clock.Freq = defaultFrequency
		bad("clock_frequency", t.ClockFrequency)
	}
	if t.ClockWall != "" {
		wall, err := time.Parse(time.RFC3339Nano, t.ClockWall)
		if info.Clock.Wall = wall.UTC(); err != nil || !time.Unix(0, wall.UnixNano()).Equal(wall) {
			info.Clock.Wall = time.Unix(0, t.StartNanos).UTC()
			bad("clock_wall", fmt.Sprintf("%q", t.ClockWall))
		}
	}
	return info, t.StartNanos
}
