package parquet

import (
	"cmp"
	"errors"
	"io"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/rows"
	"github.com/ntconv/ntconv/internal/tables/typedtable"
	"github.com/ntconv/ntconv/schema"
)

// typed writes a table with one column per field for each frequent event. It is known only at the end of a trace which
// events are frequent and which versions of them occur, so typed spills the events by table and writes the tables in
// Close.
type typed struct {
	files   *files
	report  *ntconv.Report
	choice  typedChoice
	spill   typedSpill
	record  record
	tables  []*typedTable
	byEvent map[typedName]*typedTable
	// variants caches the table of each schema; last and lastRef hold the latest lookup.

	variants map[*schema.Schema]variantRef
	last     *schema.Schema
	lastRef  variantRef

	// Close sets the number of written tables, their names by type, and the elements of Options.Typed that match no event.
	written   int
	names     map[*ntconv.Type]string
	unmatched []string
}

var _ rows.TypedPart = (*typed)(nil)

// A typedName identifies a typed table, which all versions of an event share.
type typedName struct{ provider, event string }

// A typedTable holds the events of one name.
type typedTable struct {
	name     typedName
	events   *chunks
	variants []variant
	count    int64
	nanos    int64       // ts_ns of the latest event
	unsorted bool        // an event is earlier than the previous event
	flags    recordFlags // flags that any record has
	// Close sets the name of the table, and with Options.Uniform, what is known of the event.
	table string
	known *typedtable.Table

	// What the table omits. The goroutine that writes the table counts it, and Close reports it in the order of the
	// tables, because a Report keeps the first detail.
	failed  int64 // payloads that cannot be decoded
	err     error // error of the first of them
	dropped int   // fields without a column
}

// A variant is a schema of a table's events: a version of the event, or a type that differs in another way.
type variant struct {
	schema *schema.Schema
	typ    *ntconv.Type
	count  int64 // number of events
	bytes  int64 // of their payloads
}

// A variantRef refers to a variant of a table. table is nil for events without a typed table.
type variantRef struct {
	table   *typedTable
	variant int
}

// newTyped returns the part of a Sink that writes typed tables.
func newTyped(f *files, o *Options) (*typed, error) {
	choice, err := newTypedChoice(o)
	if err != nil {
		return nil, err
	}
	choice.none = choice.none || o.Tables != nil && !slices.Contains(o.Tables, Typed)
	return &typed{
		files: f, report: o.Report, choice: choice, spill: typedSpill{dir: o.TempDir, max: o.MaxTemp, limit: spillBytes},
		byEvent: make(map[typedName]*typedTable), variants: make(map[*schema.Schema]variantRef),
	}, nil
}

// Watch implements rows.Part.
func (t *typed) Watch(*ntconv.Event) {}

// Write spills an event as a record of its table. The payload is decoded in Close, when the columns are known.
func (t *typed) Write(e *ntconv.Event, it *rows.Item) error {
	if t.choice.none {
		return nil
	}
	if it.Schema != t.last {
		t.last, t.lastRef = it.Schema, t.variantOf(e, it.Schema)
	}
	table := t.lastRef.table
	if table == nil {
		return nil
	}
	r := &t.record
	r.variant, r.flags, r.payload = t.lastRef.variant, 0, e.Payload
	r.fixed = fixedValues{
		valueID: it.ID, valueNanos: it.Nanos, valueProcess: int64(it.Process), valueThread: int64(it.Thread), valuePID: it.PID, valueTID: it.TID,
		valueCPU: int64(e.CPU), valueStack: it.Stack,
	}
	if e.PointerSize() == 4 {
		r.flags = recordPointer4
	}
	if e.Labels != nil {
		r.setLabels(e.Labels)
	}
	table.unsorted = table.unsorted || table.count > 0 && it.Nanos < table.nanos
	table.nanos = it.Nanos
	table.flags |= r.flags
	table.count++
	v := &table.variants[t.lastRef.variant]
	v.count++
	v.bytes += int64(len(e.Payload))
	return t.spill.add(table.events, r)
}

// variantOf returns the table and variant of the events with a schema, and creates them if necessary.
func (t *typed) variantOf(e *ntconv.Event, s *schema.Schema) variantRef {
	ref, ok := t.variants[s]
	if ok {
		return ref
	}
	number := strconv.FormatUint(uint64(e.Type.ID), 10)
	if len(s.Fields) > 0 && t.choice.has(e.Type.Provider, s.Name, number) {
		ref = t.newVariant(typedName{e.Type.Provider, cmp.Or(s.Name, number)}, variant{schema: s, typ: e.Type})
	}
	t.variants[s] = ref
	return ref
}

// newVariant adds a variant to the table with this name, and adds the table if necessary.
func (t *typed) newVariant(name typedName, v variant) variantRef {
	table := t.byEvent[name]
	if table == nil {
		table = &typedTable{name: name, events: t.spill.list()}
		t.byEvent[name] = table
		t.tables = append(t.tables, table)
	}
	table.variants = append(table.variants, v)
	return variantRef{table, len(table.variants) - 1}
}

// Abort implements rows.Part.
func (t *typed) Abort() error { return t.spill.close() }

// Tables returns the names of the tables by type. It is complete after Close.
func (t *typed) Tables() map[*ntconv.Type]string { return t.names }

// Close writes the tables that have enough events.
func (t *typed) Close() error {
	var chosen []*typedTable
	for _, table := range t.tables {
		if table.count >= t.choice.rows {
			chosen = append(chosen, table)
		}
	}
	slices.SortFunc(chosen, func(a, b *typedTable) int {
		return cmp.Or(cmp.Compare(a.name.provider, b.name.provider), cmp.Compare(a.name.event, b.name.event))
	})
	var names tables.Names
	if t.choice.uniform {
		for _, known := range typedtable.Runtime() {
			names.Add(known.Name) // also if the trace has no such event: the name is the same in every trace
		}
	}
	t.names = make(map[*ntconv.Type]string)
	for _, table := range chosen {
		if table.known = t.known(table.name); table.known != nil {
			table.table = table.known.Name
		} else {
			table.table = names.Add(tables.TypedName(table.name.provider, table.name.event))
		}
		for _, v := range table.variants {
			t.names[v.typ] = table.table
		}
	}
	t.written, t.unmatched = len(chosen), t.choice.unmatched()
	err := t.writeAll(chosen)
	for _, table := range chosen {
		table.report(t.report)
	}
	return errors.Join(err, t.spill.close())
}

// known returns the table that all traces share for an event, nil if there is none.
func (t *typed) known(name typedName) *typedtable.Table {
	if !t.choice.uniform {
		return nil
	}
	return typedtable.Of(name.provider, name.event)
}

// writeAll writes the tables, two concurrently if there are several cores. It creates the files in the order of list.
func (t *typed) writeAll(list []*typedTable) error {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		first error
		slots = make(chan struct{}, min(2, runtime.GOMAXPROCS(0)))
	)
	fail := func(err error) bool {
		mu.Lock()
		defer mu.Unlock()
		first = cmp.Or(first, err)
		return first != nil
	}
	for _, table := range list {
		slots <- struct{}{}
		if fail(nil) {
			break
		}
		file, err := t.files.open(table.table)
		if fail(err) {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			fail(t.writeTable(table, file))
		})
	}
	wg.Wait()
	return first
}

// writeTable writes a table and closes its file.
func (t *typed) writeTable(table *typedTable, file io.WriteCloser) error {
	w, err := newTypedWriter(table, file)
	if err == nil {
		err = t.spill.each(table.events, w.chunk)
	}
	if err == nil {
		err = w.columns.Close()
	}
	*table.events = chunks{} // the records are written; release their memory
	return errors.Join(err, file.Close())
}

// A table has at most maxNulls cells per field value of its events, plus anyCells. Otherwise event types with the same
// name but different fields, or with many fields but no payload, would produce huge tables of NULLs. A payload has at
// most one value per byte; few values have none.
const (
	maxNulls = 32
	anyCells = 1 << 20
)

// maxColumns returns the maximum number of field columns of the table.
func (t *typedTable) maxColumns() int {
	if t.known != nil {
		return typedtable.MaxFields
	}
	cells := int64(anyCells)
	for _, v := range t.variants {
		cells += maxNulls * min(v.count*int64(len(v.schema.Fields)), v.bytes)
	}
	return int(min(cells/max(t.count, 1), typedtable.MaxFields))
}
