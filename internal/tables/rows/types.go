package rows

import (
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/payload"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/schema"
)

// A typeRow is an event type and the number and size of its events.
type typeRow struct {
	typ           *ntconv.Type
	id            int32
	schema        *schema.Schema // for the type's own version
	events, bytes int64          // bytes of payloads
}

// An eventKind holds what the events of one type and version share. A label may override the version of a type.
type eventKind struct {
	row             *typeRow
	version         uint8
	schema          *schema.Schema
	provider, event string // as the columns contain them
}

// A typeTable numbers event types. Their rows are written at the end, when their events are counted.
type typeTable struct {
	schemas schema.Table
	rows    []*typeRow
	known   map[*ntconv.Type]*typeRow
	kinds   map[*schema.Schema]*eventKind
	recent  [recentTypes]*eventKind // cache by ID, because event types alternate
}

// recentTypes must be a power of 2.
const recentTypes = 256

func newTypeTable() *typeTable {
	return &typeTable{known: make(map[*ntconv.Type]*typeRow), kinds: make(map[*schema.Schema]*eventKind)}
}

// of returns the row of a type. A new type gets the next number.
func (t *typeTable) of(typ *ntconv.Type) *typeRow {
	row := t.known[typ]
	if row == nil {
		row = &typeRow{typ: typ, id: int32(len(t.rows) + 1), schema: t.schemas.Of(&ntconv.Event{Type: typ})}
		t.known[typ] = row
		t.rows = append(t.rows, row)
	}
	return row
}

// kind returns the eventKind of an event, whose type must not be nil.
func (t *typeTable) kind(e *ntconv.Event) *eventKind {
	version := e.Version()
	slot := &t.recent[e.Type.ID%recentTypes]
	if k := *slot; k != nil && k.row.typ == e.Type && k.version == version {
		return k
	}
	s := t.schemas.Of(e)
	k := t.kinds[s]
	if k == nil {
		k = &eventKind{row: t.of(e.Type), version: version, schema: s, provider: valid(s.Provider), event: eventName(s)}
		t.kinds[s] = k
	}
	*slot = k
	return k
}

// eventName returns the name of an event, or its number if it has no name.
func eventName(s *schema.Schema) string {
	if s.Name == "" {
		return strconv.FormatUint(uint64(s.ID), 10)
	}
	return valid(s.Name)
}

// write writes the rows of all types. typed maps types to their typed tables; payloads must have encoded the payloads
// of all events, because it knows their layouts.
func (t *typeTable) write(rows *table[tables.EventType], typed map[*ntconv.Type]string, payloads *payload.Encoder) {
	for _, r := range t.rows {
		typ, s, row := r.typ, r.schema, rows.row()
		row.TypeID, row.Provider, row.Number, row.Event, row.Version = r.id, valid(typ.Provider), int64(typ.ID), eventName(s), int32(typ.Version)
		if !typ.GUID.IsZero() {
			row.ProviderGUID = typ.GUID.String()
		}
		row.Task, row.Opcode, row.OpcodeName = valid(s.Task), int32(s.Opcode), schema.OpcodeName(s.Opcode)
		row.Level, row.Keywords = int32(typ.Level), int64(typ.Keywords)
		row.KeywordNames = valid(string(schema.AppendKeywords(nil, typ.Provider, typ.Keywords)))
		for i := range s.Fields {
			row.Fields = append(
				row.Fields,
				tables.FieldDescription{Name: valid(s.Fields[i].Name), Type: typeText(&s.Fields[i].Type)},
			)
		}
		row.TypedTable, row.EventCount, row.PayloadBytes = typed[typ], r.events, r.bytes
		row.Message, row.Description, row.RecordedName = valid(typ.Message), valid(typ.Description), valid(typ.Name)
		opcode := int32(typ.Opcode)
		row.RecordedOpcode, row.HasOpcode = &opcode, typ.HasOpcode
		row.RecordedFields = string(tables.AppendFields(nil, typ.Fields))
		if fields, ok := payloads.Layout(s); ok {
			if layout := string(tables.AppendFields(nil, fields)); layout != row.RecordedFields {
				row.Layout = layout
			}
		}
		row.Extra, row.OptionalExtra = typ.Extra, typ.OptionalExtra
	}
}

// typeText returns a human-readable field type.
func typeText(t *ntconv.FieldType) string {
	if t == nil {
		return "?"
	}
	switch t.Code {
	case ntconv.TypeObject:
		s := "object<"
		for i := range t.Fields {
			if i > 0 {
				s += ", "
			}
			s += valid(t.Fields[i].Name) + " " + typeText(&t.Fields[i].Type)
		}
		return s + ">"
	case ntconv.TypeArray, ntconv.TypeFixedArray, ntconv.TypeRelLoc, ntconv.TypeDataLoc, ntconv.TypeCounted:
		return "list<" + typeText(t.Elem) + ">"
	}
	return t.Code.String()
}
