package parquet

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ntconv/ntconv/internal/tables/parquetreader"
)

// A Mapping assigns columns of foreign tables to roles, by the name of the role: {"time": "ts", "duration": "dur:us"}.
// A colon and a unit may follow the column: ns, us, ms or s for times and durations that are numbers, and any unit of
// profile.proto for value. An empty column leaves the role without a column.
//
// The roles are:
//
//	time         when the event happened or began: a timestamp, a date, a number, or text as RFC 3339 spells it
//	duration     how long it took. A row with a duration becomes two events, NAMEStart and NAMEStop
//	end          when it ended, in place of the duration
//	name         name of the event; without it events have the name of the table
//	provider     name of the provider; without it category is used, and then the name of the table
//	category     a group of events
//	pid, tid     IDs of the process and the thread
//	process, thread  their names
//	cpu          number of the CPU
//	stack        call stack: a list of names, innermost frame first, or text in the form of folded stacks
//	value        what a sample of a stack weighs; without it each weighs 1
//	trace_id, span_id  IDs in hexadecimal
//
// All other columns become fields of the payload, as do the columns of duration, end, category and value (unless value
// is the weight of a sample). A field has the type of its column. A group of columns has one field per column, named
// outer.inner. A list or map becomes a string of JSON. A column that is NULL is not a field of the event, so events
// with different NULL columns have different types.
type Mapping map[string]string

// Roles returns the names of all roles in the order of the documentation.
func Roles() []string {
	return []string{
		roleTime, roleDuration, roleEnd, roleName, roleProvider, roleCategory, rolePID, roleTID, roleProcess, roleThread, roleCPU, roleStack, roleValue,
		roleTraceID, roleSpanID,
	}
}

// Names of the roles.
const (
	roleTime     = "time"
	roleDuration = "duration"
	roleEnd      = "end"
	roleName     = "name"
	roleProvider = "provider"
	roleCategory = "category"
	rolePID      = "pid"
	roleTID      = "tid"
	roleProcess  = "process"
	roleThread   = "thread"
	roleCPU      = "cpu"
	roleStack    = "stack"
	roleValue    = "value"
	roleTraceID  = "trace_id"
	roleSpanID   = "span_id"
)

// A MappingError reports that a Mapping does not fit the columns of a file.
type MappingError struct {
	Role, Column string   // may be empty
	Text         string   // the reason
	Columns      []string // names and types of the file's columns; may be empty
}

func (e *MappingError) Error() string {
	s := ""
	if e.Role != "" {
		s = e.Role + "=" + cmp.Or(e.Column, "COLUMN") + ": "
	}
	s += e.Text
	if len(e.Columns) > 0 {
		s += "; columns: " + strings.Join(e.Columns, ", ")
	}
	return s
}

// roles holds the columns that have roles, and their units.
type roles struct {
	columns []fileColumn
	at      map[string]int
	unit    map[string]string
}

// of returns the column of a role, or nil if no column has the role.
func (r *roles) of(role string) *fileColumn {
	i, ok := r.at[role]
	if !ok {
		return nil
	}
	return &r.columns[i]
}

// newRoles applies a mapping to the columns of a file, and guesses the roles that the mapping does not mention.
func newRoles(columns []fileColumn, m Mapping) (*roles, error) {
	r := &roles{columns: columns, at: map[string]int{}, unit: map[string]string{}}
	for _, role := range slices.Sorted(maps.Keys(m)) {
		if err := r.assign(role, m[role]); err != nil {
			return nil, err
		}
	}
	for _, g := range guesses {
		_, explicit := m[g.role]
		if !explicit && (g.role != roleEnd || r.of(roleDuration) == nil) &&
			(g.role != roleValue || r.of(roleStack) != nil) {
			r.guess(g)
		}
	}
	if _, explicit := m[roleTime]; !explicit && r.of(roleTime) == nil {
		for i := range columns { // with any name
			if k := columns[i].Logical; !r.taken(i) && !columns[i].repeated() &&
				(k == parquetreader.Timestamp || columns[i].Physical == parquetreader.Int96) {
				r.at[roleTime] = i
				break
			}
		}
	}
	if r.of(roleTime) == nil {
		return nil, &MappingError{
			Role:    roleTime,
			Column:  m[roleTime],
			Text:    "no column is known to hold the time of the rows, and each event needs one",
			Columns: r.list(),
		}
	}
	return r, nil
}

// assign assigns a role to the column that the user names. An empty name leaves the role without a column.
func (r *roles) assign(role, value string) error {
	if !slices.Contains(Roles(), role) {
		return &MappingError{Role: role, Column: value, Text: "unknown role; want one of " + strings.Join(Roles(), ", ")}
	}
	if value == "" {
		return nil
	}
	i := r.find(value)
	if i < 0 {
		if at := strings.LastIndexByte(value, ':'); at >= 0 {
			i, r.unit[role] = r.find(value[:at]), value[at+1:]
		}
	}
	if i < 0 {
		return &MappingError{Role: role, Column: value, Text: "the file has no such column", Columns: r.list()}
	}
	c := &r.columns[i]
	if unit, ok := r.unit[role]; ok && role != roleValue && unitOf(unit) == 0 {
		return &MappingError{Role: role, Column: value, Text: "unknown unit " + unit + "; want ns, us, ms or s"}
	}
	if !fits(role, c) {
		return &MappingError{Role: role, Column: value, Text: fmt.Sprintf("a column of type %s cannot have this role", c.TypeName())}
	}
	r.at[role] = i
	return nil
}

// find returns the index of the column with this name, or -1.
func (r *roles) find(name string) int {
	return slices.IndexFunc(r.columns, func(c fileColumn) bool { return c.name == name })
}

func (r *roles) taken(i int) bool {
	for _, at := range r.at {
		if at == i {
			return true
		}
	}
	return false
}

// list returns the names and types of all columns that are not hidden.
func (r *roles) list() (names []string) {
	for i := range r.columns {
		if r.columns[i].hidden {
			continue
		}
		names = append(names, r.columns[i].name+" ("+r.columns[i].TypeName()+")")
	}
	return names
}

// mapping returns the roles as a Mapping.
func (r *roles) mapping() Mapping {
	m := Mapping{}
	for role, i := range r.at {
		m[role] = r.columns[i].name
		if unit := r.unit[role]; unit != "" {
			m[role] += ":" + unit
		}
	}
	return m
}

// A guess lists the names of columns that usually have a role, the best name first.
type guess struct {
	role  string
	names []string
}

// guesses are in lower case. For times and durations, a column name may have a unit as its suffix.
var guesses = []guess{
	{
		roleTime,
		[]string{
			"ts_ns",
			"time_ns",
			"time",
			"ts",
			"timestamp",
			"@timestamp",
			"event_time",
			"eventtime",
			"start",
			"start_time",
			"starttime",
			"start_ts",
			"begin",
			"datetime",
			"time_unix",
			"date",
		},
	},
	{roleDuration, []string{"duration", "dur", "elapsed", "latency"}},
	{roleEnd, []string{"end", "end_time", "endtime", "end_ts", "finish", "stop"}},
	{roleName, []string{"name", "event", "event_name", "eventname", "span_name", "spanname", "operation", "operation_name", "operationname", "action"}},
	{roleProvider, []string{"provider", "provider_name", "source", "logger"}},
	{roleCategory, []string{"category", "cat"}},
	{rolePID, []string{"pid", "process_id", "processid"}},
	{roleTID, []string{"tid", "thread_id", "threadid", "utid"}},
	{roleProcess, []string{"process", "process_name", "processname"}},
	{roleThread, []string{"thread", "thread_name", "threadname"}},
	{roleCPU, []string{"cpu", "cpu_id", "processor"}},
	{roleStack, []string{"stack", "callstack", "call_stack", "stacktrace", "stack_trace", "backtrace"}},
	{roleValue, []string{"value", "weight", "count", "samples"}},
	{roleTraceID, []string{"trace_id", "traceid"}},
	{roleSpanID, []string{"span_id", "spanid"}},
}

// guess assigns a role to the first column that has one of the names.
func (r *roles) guess(g guess) {
	timed := isTimed(g.role)
	for _, name := range g.names {
		for i := range r.columns {
			c := &r.columns[i]
			have := strings.ToLower(c.name)
			unit := ""
			if timed && have != name {
				if base, suffix, ok := cutUnit(have); ok {
					have, unit = base, suffix
				}
			}
			if have != name || r.taken(i) || !fits(g.role, c) || timed && c.isText() && g.role == roleDuration {
				continue
			}
			r.at[g.role] = i
			if unit != "" && c.isNumeric() {
				r.unit[g.role] = unit
			}
			return
		}
	}
}

func isTimed(role string) bool { return role == roleTime || role == roleDuration || role == roleEnd }

// fits reports whether a column can have a role.
func fits(role string, c *fileColumn) bool {
	if c.repeated() {
		return role == roleStack && c.MaxRepetition == 1 && c.isText()
	}
	switch role {
	case roleTime, roleEnd:
		return c.isTime() || c.isNumeric() || c.isText()
	case roleDuration:
		return c.isNumeric() || c.Logical == parquetreader.Time
	case rolePID, roleTID, roleCPU:
		return c.isNumeric() && c.kind != kindFloat
	case roleValue:
		return c.isNumeric()
	case roleTraceID, roleSpanID:
		return c.isText() || c.kind == kindBytes
	}
	return c.isText()
}

// unitOf returns the length of a unit in nanoseconds, or 0 if the unit is unknown.
func unitOf(unit string) int64 {
	switch strings.ToLower(unit) {
	case "ns", "nanos", "nanoseconds":
		return 1
	case "us", "µs", "micros", "microseconds":
		return int64(time.Microsecond)
	case "ms", "millis", "milliseconds":
		return int64(time.Millisecond)
	case "s", "sec", "secs", "seconds":
		return int64(time.Second)
	}
	return 0
}

// cutUnit splits the unit off a column name such as start_ms.
func cutUnit(name string) (base, unit string, ok bool) {
	at := strings.LastIndexByte(name, '_')
	if at <= 0 || unitOf(name[at+1:]) == 0 {
		return name, "", false
	}
	return name[:at], name[at+1:], true
}
