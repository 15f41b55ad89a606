package symbol

import (
	"fmt"

	"github.com/ntconv/ntconv"
)

// Definitions are events of ntconv's own provider. They stand beside the Universal.System events that Synthesize makes
// and keep what those cannot say, so that a frame comes back from a file as it went in:
//
//	Mapping  what the mapping of that id was in the source, if anything: its real addresses, its build id, its flags
//	Frame    what is behind an address of a stack: the original address and flags, line, column, and the function. It has the
//	         name that the symbol has, too: symbols of a merged trace go by ids that both parts may have. Where one address
//	         stands for several frames, Inner counts those that came before: they are inlined into this one
//
// Their fields have types that recorders write, variable-length numbers and counted UTF-8, for no other reason than
// that a reader which does not know a type code refuses the whole file: dotnet-trace 10.0.7 does so with TypeBool8.
const (
	definitionProvider = "ntconv"
	mappingDefinition  = "Mapping"
	frameDefinition    = "Frame"
)

func field(name string, code ntconv.TypeCode) ntconv.Field {
	return ntconv.Field{Name: name, Type: ntconv.FieldType{Code: code}}
}

// textField is UTF-8 behind a 16-bit count.
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

// Bounds on what few bytes of a trace can become. The deepest inlining of compilers is some dozens of functions.
const (
	maxInlined           = 1 << 10 // frames of one address; and of those of a stack, whatever its depth
	maxInlinedPerAddress = 8       // in addition, on average over the addresses of a stack
)

// maxInlinedOf returns how many inlined functions a stack of so many addresses may have.
func maxInlinedOf(addresses int) int { return maxInlined + maxInlinedPerAddress*addresses }

// omittedName is the name of the frame that represents omitted ones.
const omittedName = "[inlined functions omitted]"

// omitInlined returns the frame that represents those that are inlined at an address, and counts the address, once.
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

// ReportOmitted counts the addresses whose inlined functions AppendFrames omitted from a stack, because it had too
// many.
func (t *Table) ReportOmitted(r *ntconv.Report) {
	r.Note(ntconv.CodeNotCarried, uint64(t.omitted), -1, fmt.Sprintf(
		"inlined functions of addresses were omitted from stacks that have more than %d of them, and %d per address",
		maxInlined,
		maxInlinedPerAddress,
	))
}

// A definition is what a Frame event said.
type definition struct {
	frame    ntconv.Frame // without Func and Mapping until complete
	fn       ntconv.Function
	named    bool
	complete bool
	omitted  bool        // of a first one: some stack does not show those that are inlined here
	outer    *definition // the frame that this one is inlined into, if it has the same address
	last     *definition // of a first one: the outermost
	more     uint64      // of a first one: how many there are beside it
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

// fields calls see with every field of a definition, and reports false if some are missing.
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
	if n == 0 {
		t.unreadable(e, e.Type.Name+" definition is cut off")
	}
	return n > 0
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
			d.named = v.Uint() != 0
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
			t.unreadable(e, "Frame definition without those that are inlined into it")
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
		t.unreadable(e, "Mapping definition of a mapping that is not there")
		return
	}
	n.restored, n.shown = true, nil
	if known {
		n.shown = p.original(m)
	}
}

// original returns the one mapping of that content.
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

// restore returns the frame that an address of a synthetic stack stands for.
func (t *Table) restore(p *process, pc uint64, at ntconv.Ticks, d *definition) ntconv.Frame {
	if d.complete {
		return d.frame
	}
	m := p.native.at(pc, at)
	d.frame.Mapping = t.show(m)
	d.complete = m != nil && m.restored
	if d.named {
		d.frame.Func = t.function(d.fn)
	}
	return d.frame
}
