package symbol

import (
	"fmt"

	"github.com/ntconv/ntconv"
)

// Definitions are events of ntconv's own provider. They follow the Universal.System events that Synthesize writes and
// hold what those cannot, so that frames round-trip exactly:
//
//	Mapping  the mapping in the source that the mapping ID represents, if any: real addresses, build ID and flags
//	Frame    the frame that an address of a stack represents: original address and flags, line, column, function. It
//	         repeats the name of the symbol, because the parts of a merged trace may use the same symbol IDs. If one
//	         address represents several frames, Inner is the number of the preceding ones, inlined into it
//
// The fields use only types that recorders write, variable-length integers and counted UTF-8: a reader that does not
// know a type code rejects the whole file, as dotnet-trace 10.0.7 does for TypeBool8.
const (
	definitionProvider = "ntconv"
	mappingDefinition  = "Mapping"
	frameDefinition    = "Frame"
)

func field(name string, code ntconv.TypeCode) ntconv.Field {
	return ntconv.Field{Name: name, Type: ntconv.FieldType{Code: code}}
}

// textField returns a field of UTF-8 after a 16-bit count.
func textField(name string) ntconv.Field {
	return ntconv.Field{
		Name: name,
		Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &ntconv.FieldType{Code: ntconv.TypeUTF8Unit}},
	}
}

func mappingDefinitionType() *ntconv.Type {
	return &ntconv.Type{Provider: definitionProvider, ID: 1, Name: mappingDefinition, Fields: []ntconv.Field{
		field("Id", ntconv.TypeVarUint), field("Known", ntconv.TypeVarUint),
		field("Start", ntconv.TypeVarUint), field("Limit", ntconv.TypeVarUint), field("Offset", ntconv.TypeVarUint),
		textField("File"), textField("BuildID"), field("Flags", ntconv.TypeVarUint),
	}}
}

func frameDefinitionType() *ntconv.Type {
	return &ntconv.Type{Provider: definitionProvider, ID: 2, Name: frameDefinition, Fields: []ntconv.Field{
		field("Address", ntconv.TypeVarUint), field("PC", ntconv.TypeVarUint), field("Flags", ntconv.TypeVarUint),
		field("Line", ntconv.TypeVarInt), field("Column", ntconv.TypeVarInt),
		field("Named", ntconv.TypeVarUint), field("StartLine", ntconv.TypeVarInt),
		textField("Name"), textField("SystemName"), textField("File"), field("Inner", ntconv.TypeVarUint),
	}}
}

// Bounds on the memory that a few bytes of a trace can cause. Compilers inline at most some dozens of functions at one
// address.
const (
	maxInlined           = 1 << 10 // frames of one address, and also of one stack regardless of its depth
	maxInlinedPerAddress = 8       // added to maxInlined for each address of a stack
)

// maxInlinedOf returns how many inlined functions a stack with the given number of addresses may have.
func maxInlinedOf(addresses int) int { return maxInlined + maxInlinedPerAddress*addresses }

// omittedName is the name of the frame that replaces omitted inlined functions.
const omittedName = "[inlined functions omitted]"

// omitInlined returns the frame that replaces the functions inlined at pc. It counts each address once.
func (t *Table) omitInlined(d *definition, pc uint64) ntconv.Frame {
	if !d.omitted {
		d.omitted = true
		t.omitted++
	}
	return ntconv.Frame{
		Func:  t.function(ntconv.Function{Name: omittedName}),
		PC:    pc,
		Flags: d.last.frame.Flags | ntconv.FrameInlined,
	}
}

// ReportOmitted adds to r the number of addresses whose inlined functions AppendFrames has omitted so far because a
// stack had too many of them. r may be nil.
func (t *Table) ReportOmitted(r *ntconv.Report) {
	r.Note(ntconv.CodeNotCarried, uint64(t.omitted), -1, fmt.Sprintf(
		"inlined functions of addresses were omitted from stacks that have more than %d of them, and %d per address",
		maxInlined,
		maxInlinedPerAddress,
	))
}

// A definition is the content of a Frame event. The definitions of one address form a list from the leaf outwards; the
// table points to the leaf, which also describes the list.
type definition struct {
	frame    ntconv.Frame // Func and Mapping are set by restore
	fn       ntconv.Function
	hasFunc  bool
	complete bool        // frame is final: its mapping had a definition
	omitted  bool        // leaf only: AppendFrames replaced the list in some stack
	outer    *definition // the frame at the same address that this one is inlined into, or nil
	last     *definition // leaf only: the outermost frame
	more     uint64      // leaf only: number of further frames
}

func definitionLearner(typ *ntconv.Type) learner {
	if typ.Provider == definitionProvider {
		switch typ.Name {
		case mappingDefinition:
			return (*Table).learnMappingDefinition
		case frameDefinition:
			return (*Table).learnFrameDefinition
		}
	}
	return nil
}

// fields calls see for each field of a definition. It reports false, and notes the problem, if the payload is
// truncated.
func (t *Table) fields(e *ntconv.Event, see func(name string, v ntconv.Value)) bool {
	n := 0
	for f, v := range e.Fields() {
		if v.Kind() == ntconv.ValueError || v.Kind() == ntconv.ValueNull {
			n = 0
			break
		}
		see(f.Name, v)
		n++
	}
	if n == 0 || n < len(e.Type.Fields) {
		t.unreadable(e, e.Type.Name+" definition is truncated")
		return false
	}
	return true
}

func (t *Table) learnFrameDefinition(e *ntconv.Event) {
	d := new(definition)
	var address, inner uint64
	ok := t.fields(e, func(name string, v ntconv.Value) {
		switch name {
		case "Address":
			address = v.Uint()
		case "PC":
			d.frame.PC = v.Uint()
		case "Flags":
			d.frame.Flags = ntconv.FrameFlags(v.Uint())
		case "Line":
			d.frame.Line = int32(v.Int())
		case "Column":
			d.frame.Column = int32(v.Int())
		case "Named":
			d.hasFunc = v.Uint() != 0
		case "StartLine":
			d.fn.StartLine = int32(v.Int())
		case "Name":
			d.fn.Name = v.String()
		case "SystemName":
			d.fn.SystemName = v.String()
		case "File":
			d.fn.File = v.String()
		case "Inner":
			inner = v.Uint()
		}
	})
	if !ok {
		return
	}
	p := t.processOf(e)
	if inner > 0 {
		leaf := p.defined[address]
		if leaf == nil || inner != leaf.more+1 || inner >= maxInlined {
			t.unreadable(e, "Frame definition without the frames inlined into it")
			return
		}
		leaf.last.outer = d
		leaf.last, leaf.more = d, inner
		return
	}
	if p.defined == nil {
		p.defined = make(map[uint64]*definition)
	}
	d.last = d
	p.defined[address] = d
}

func (t *Table) learnMappingDefinition(e *ntconv.Event) {
	var m ntconv.Mapping
	var id uint64
	known := false
	ok := t.fields(e, func(name string, v ntconv.Value) {
		switch name {
		case "Id":
			id = v.Uint()
		case "Known":
			known = v.Uint() != 0
		case "Start":
			m.Start = v.Uint()
		case "Limit":
			m.Limit = v.Uint()
		case "Offset":
			m.Offset = v.Uint()
		case "File":
			m.File = v.String()
		case "BuildID":
			m.BuildID = v.String()
		case "Flags":
			m.Flags = ntconv.MappingFlags(v.Uint())
		}
	})
	if !ok {
		return
	}
	p := t.processOf(e)
	n := p.native.ids[mappingKey{p.host, id}].mapping
	if n == nil {
		t.unreadable(e, "Mapping definition of an unknown mapping")
		return
	}
	n.restored, n.shown = true, nil
	if known {
		n.shown = p.original(m)
	}
}

// original returns the unique mapping of p that equals m.
func (p *process) original(m ntconv.Mapping) *ntconv.Mapping {
	if p.originals == nil {
		p.originals = make(map[ntconv.Mapping]*ntconv.Mapping)
	}
	c := p.originals[m]
	if c == nil {
		c = new(ntconv.Mapping)
		*c = m
		p.originals[m] = c
	}
	return c
}

// restore returns the frame that d defines for the address pc of a synthesized stack. The result is cached in d once
// the mapping at pc has a definition; until then, later events may still change it.
func (t *Table) restore(p *process, pc uint64, at ntconv.Ticks, d *definition) ntconv.Frame {
	if d.complete {
		return d.frame
	}
	m := p.native.at(pc, at)
	d.frame.Mapping = t.show(m)
	d.complete = m != nil && m.restored
	if d.hasFunc {
		d.frame.Func = t.function(d.fn)
	}
	return d.frame
}
