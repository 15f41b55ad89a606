package tables

import (
	"reflect"
	"strings"
)

// Version is the version of the schema. Every file states it in its metadata under VersionKey.
const (
	Version    = 1
	VersionKey = "ntconv.schema"
	TableKey   = "ntconv.table" // value: the name of the table
)

// A Table describes a table of the schema.
type Table struct {
	Name string // name of the table, and of the file without its extension
	Doc  string // a sentence about its rows
	Row  reflect.Type
	// Sort is the column by which the rows are sorted, and "" if they are not sorted.
	Sort string
}

// All returns the fixed tables in the order of the documentation. It does not include typed tables, which have one
// column per field of an event.
func All() []Table {
	return []Table{
		{"trace_info", "The recording: one row.", reflect.TypeFor[TraceInfo](), ""},
		{"attributes", "Keys and values that describe the trace, processes, threads and event types.", reflect.TypeFor[Attribute](), ""},
		{"processes", "Processes.", reflect.TypeFor[Process](), "process_id"},
		{"threads", "Threads.", reflect.TypeFor[Thread](), "thread_id"},
		{"modules", "Files in the address space of processes.", reflect.TypeFor[Module](), "module_id"},
		{"event_types", "Types of events.", reflect.TypeFor[EventType](), "type_id"},
		{"events", "Events: every event of the trace.", reflect.TypeFor[Event](), "ts_ns"},
		{"losses", "Events that the recorder did not record.", reflect.TypeFor[Loss](), "ts_ns"},
		{"marks", "Elements between events: sequence points, ends of threads, definitions.", reflect.TypeFor[Mark](), "event_id"},
		{"stacks", "Distinct call stacks.", reflect.TypeFor[Stack](), "stack_id"},
		{"frames", "Distinct entries of call stacks.", reflect.TypeFor[Frame](), "frame_id"},
		{"labels", "Labels of events, one row per label of a list.", reflect.TypeFor[Label](), "label_list_id"},
		{"samples", "Samples of profiles with their weights.", reflect.TypeFor[Sample](), "ts_ns"},
		{"spans", "Spans.", reflect.TypeFor[Span](), "ts_ns"},
		{"intervals", "Intervals of the runtime: garbage collections, compilations, waits.", reflect.TypeFor[Interval](), "ts_ns"},
		{"logs", "Log records: messages of Microsoft.Extensions.Logging, and imported records.", reflect.TypeFor[Log](), "ts_ns"},
		{"counters", "Values of counters and instruments.", reflect.TypeFor[Counter](), "ts_ns"},
	}
}

// Single returns the table that --single writes.
func Single() Table {
	return Table{"single", "Events with all names: every event of the trace.", reflect.TypeFor[SingleEvent](), "ts_ns"}
}

// Of returns the table of All, or Single, whose rows have type T. It panics for any other type, because that is a bug
// in the caller.
func Of[T any]() Table {
	t := reflect.TypeFor[T]()
	for _, table := range append(All(), Single()) {
		if table.Row == t {
			return table
		}
	}
	panic("no table has rows of type " + t.String())
}

// A Column describes a column of a table.
type Column struct {
	Name string
	Doc  string
	// Type is a display name of the type: "int64", "timestamp", "list<int32>".
	Type string
	// Optional means that the column can be NULL.
	Optional bool
	// Ref is the column that this column refers to, as "table.column", and "" if it refers to none.
	Ref string
	// Bloom means that the column has a bloom filter.
	Bloom bool
}

// Columns returns the columns of a row type in order.
func Columns(row reflect.Type) []Column {
	var list []Column
	for i := range row.NumField() {
		f := row.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("parquet"), ",")
		ref := f.Tag.Get("ref")
		if ref != "" && !strings.Contains(ref, ".") {
			ref += "." + keyOf(ref, name)
		}
		list = append(list, Column{
			Name: name, Doc: f.Tag.Get("doc"), Type: typeName(f.Type, options), Optional: strings.Contains(options, "optional"),
			Ref: ref, Bloom: f.Tag.Get("bloom") != "",
		})
	}
	return list
}

// keyOf returns the column of a table that another column refers to: the column of the same name, except for event_id,
// because the table events does not define all event IDs.
func keyOf(table, column string) string {
	if table == "events" {
		return "event_id"
	}
	return column
}

// typeName returns the display name of a column type. It panics for types that some readers do not support, because
// that is a bug in the schema.
func typeName(t reflect.Type, options string) string {
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem(), options)
	case reflect.Int64:
		if strings.Contains(options, "timestamp(microsecond)") {
			return "timestamp"
		}
		return "int64"
	case reflect.Int32:
		return "int32"
	case reflect.Float64:
		return "double"
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Map:
		return "map<" + typeName(t.Key(), "") + ", " + typeName(t.Elem(), "") + ">"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "list<" + typeName(t.Elem(), "") + ">"
	case reflect.Struct:
		var members []string
		for _, c := range Columns(t) {
			members = append(members, c.Name+" "+c.Type)
		}
		return "struct<" + strings.Join(members, ", ") + ">"
	}
	panic("tables have no columns of type " + t.String())
}
