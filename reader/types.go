package reader

import (
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/internal/trace/wire/legacy"
)

// A typeTable maps metadata IDs to types.
type typeTable struct {
	current intern.IDs[*ntconv.Type]
	list    []*ntconv.Type // types of all definitions since the last flush
	keys    []string       // row content of each entry of list
	ids     []uint32       // metadata ID of each entry of list
	bytes   int            // estimated memory of the table
	retired retired[ntconv.Type]
	unknown map[uint32]*ntconv.Type // placeholders for IDs without a definition
}

// near returns the type with this metadata ID, or nil if the lookup needs find. It is small enough to be inlined into
// the fast paths.
func (t *typeTable) near(id uint32) *ntconv.Type { return t.current.Near(uint64(id)) }

// find returns the type with this metadata ID, or nil.
func (t *typeTable) find(id uint32) *ntconv.Type { return t.current.Get(uint64(id)) }

// set assigns a type to an ID.
func (t *typeTable) set(id uint32, typ *ntconv.Type, key string) {
	t.current.Set(uint64(id), typ)
	t.list, t.keys, t.ids = append(t.list, typ), append(t.keys, key), append(t.ids, id)
}

// placeholder returns the type that represents an ID without a definition.
func (t *typeTable) placeholder(id uint32) *ntconv.Type {
	typ := t.unknown[id]
	if typ == nil {
		if t.unknown == nil || len(t.unknown) >= 4096 {
			t.unknown = map[uint32]*ntconv.Type{}
		}
		typ = &ntconv.Type{ID: id, Description: fmt.Sprintf("undefined metadata ID %d", id)}
		t.unknown[id] = typ
	}
	return typ
}

// flush deletes all IDs and moves their types to retired.
func (t *typeTable) flush() {
	for i, typ := range t.list {
		t.retired.put(t.keys[i], uint64(t.ids[i]), typ)
	}
	t.current = intern.IDs[*ntconv.Type]{}
	t.list, t.keys, t.ids, t.bytes = nil, nil, nil, 0
}

// defineType defines the type of a metadata ID. It queues the definition, unless key is that of a type that was
// flushed: then the type is the same one. key is the content of the row.
func (r *Reader) defineType(id uint32, key string, make func() *ntconv.Type, offset int64) error {
	t := &r.types
	if len(t.list) >= r.limits.Types {
		return r.exceeded(offset, "metadata",
			ntconv.LimitError{Limit: LimitTypes, Value: int64(r.limits.Types), Asked: int64(len(t.list)) + 1})
	}
	if t.find(id) != nil {
		err := fmt.Errorf("metadata ID %d is already in use", id)
		if err := r.tolerate(ntconv.CodeRedefined, offset, "metadata", err); err != nil {
			return err
		}
	}
	typ := t.retired.take(key, uint64(id), r.byNtconv)
	if typ == nil {
		typ = make()
		r.queueDefine(ntconv.Event{Type: typ, Offset: offset})
	}
	t.set(id, typ, key)
	t.bytes += typeBytes + 2*len(key) + fieldsBytes(typ.Fields)
	if typ.Provider == universalSystem && r.opts.LabelNumbers == LabelsAuto && !r.byNtconv {
		r.unsigned = true
	}
	return nil
}

// universalSystem is the provider of machine-wide traces, see LabelsAuto.
const universalSystem = "Universal.System"

// metadataBlock reads the rows of a version 6 metadata block.
func (r *Reader) metadataBlock(b *block) error {
	c := b.cursor()
	if _, err := wire.ParseMetadataHeader(&c); err != nil {
		return r.blockError(b, err)
	}
	for c.Len() > 0 {
		at := c.Offset()
		rest := c.Len()
		if b.partial && !rowComplete(b.body[len(b.body)-rest:]) {
			return nil
		}
		m, err := wire.ParseMetadata(&c, r.wireLimits())
		if c.Err() != nil {
			return r.blockError(b, c.Err())
		}
		if err != nil {
			if err := r.rowError(err); err != nil {
				return err
			}
		}
		id := m.ID
		m.ID, m.Has = 0, m.Meaningful()
		key, kerr := wire.AppendMetadata(nil, &m)
		if kerr != nil {
			key = b.body[len(b.body)-rest : len(b.body)-c.Len()]
		}
		if err := r.defineType(id, string(key), func() *ntconv.Type { return newType(&m) }, at); err != nil {
			return err
		}
	}
	return nil
}

// rowComplete reports whether b holds a complete row that starts with its 16-bit size.
func rowComplete(b []byte) bool {
	return len(b) >= 2 && len(b)-2 >= int(b[0])|int(b[1])<<8
}

func (r *Reader) wireLimits() wire.Limits {
	return wire.Limits{Depth: r.limits.FieldDepth, Fields: r.limits.Fields, Name: r.limits.Name}
}

// newType converts a version 6 metadata row.
func newType(m *wire.Metadata) *ntconv.Type {
	t := &ntconv.Type{
		Provider: m.Provider, ID: m.EventID, Name: m.Name, Fields: newFields(m.Fields),
		Opcode: m.Opcode, HasOpcode: m.Has.Has(wire.OptOpcode),
		Keywords: m.Keywords, Level: m.Level, Version: m.Version,
		GUID: ntconv.GUID(m.ProviderGUID), Message: m.Message, Description: m.Description, Attrs: newAttrs(m.KeyValues),
	}
	t.Extra, t.OptionalExtra = clone(m.Extra), clone(m.OptionalExtra)
	return t
}

func newAttrs(kvs []wire.KeyValue) ntconv.Attrs {
	var out ntconv.Attrs
	for _, kv := range kvs {
		out = append(out, ntconv.Attr{Key: kv.Key, Value: kv.Value})
	}
	return out
}

func newFields(in []wire.Field) []ntconv.Field {
	if len(in) == 0 {
		return nil
	}
	out := make([]ntconv.Field, len(in))
	for i := range in {
		out[i] = ntconv.Field{Name: in[i].Name, Extra: clone(in[i].Extra)}
		if !in[i].Opaque {
			out[i].Type = newFieldType(&in[i].Type)
		}
	}
	return out
}

func newFieldType(t *wire.Type) ntconv.FieldType {
	out := ntconv.FieldType{Code: ntconv.TypeCode(t.Code), Count: t.Count, Fields: newFields(t.Fields)}
	if t.Elem != nil {
		elem := newFieldType(t.Elem)
		out.Elem = &elem
	}
	return out
}

func clone(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return append([]byte(nil), b...)
}

// legacyMetadata defines a type from a metadata row of versions 3 to 5.
func (r *Reader) legacyMetadata(row []byte, offset int64) error {
	c := bin.New(row, offset)
	m, err := legacy.ParseMetadata(&c, r.wireLimits())
	if err != nil {
		if err := r.fieldError(err); err != nil {
			return err
		}
	}
	return r.defineType(m.ID, string(row), func() *ntconv.Type { return newLegacyType(&m) }, offset)
}

func newLegacyType(m *legacy.Metadata) *ntconv.Type {
	return &ntconv.Type{
		Provider: m.Provider, ID: m.EventID, Name: m.Name, Fields: newFields(m.Fields()),
		Opcode: m.Opcode, HasOpcode: m.Has&legacy.HasOpcode != 0, Keywords: m.Keywords,
		Level: uint8(m.Level), Version: uint8(m.Version), Extra: clone(m.Extra),
	}
}
