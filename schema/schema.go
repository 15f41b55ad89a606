package schema

import (
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
)

// A Schema describes the events of one type and version. It is immutable: do not change its members. It is safe for
// concurrent use.
type Schema struct {
	Provider string
	ID       uint32
	Version  uint8
	// Name is the name in the metadata, or else the symbol in the runtime's manifest without its version suffix
	// (GCAllocationTick for GCAllocationTick_V4). It is empty if there is neither.
	Name string
	// Task groups related events. It is the task in the runtime's manifest, or else the name without a suffix Start or
	// Stop.
	Task string
	// Opcode is the opcode in the metadata, or else the one in the manifest, because traces do not record opcodes of
	// runtime events. OpcodeOf also considers the labels of an event.
	Opcode   uint8
	Level    uint8  // 1 critical to 5 verbose, 0 always
	Keywords uint64 // AppendKeywords returns their names
	// Fields are the fields of the payload in order. The data of a GCDynamicEvent, whose fields depend on a name in the
	// payload, is one field of bytes; Values decodes it.
	Fields []ntconv.Field

	typ       *ntconv.Type
	layout    *clr.Layout // nil if the tables do not contain the event
	decoding  decoding
	ambiguous bool // bool and decimal fields may be shorter than declared, see Event.Fields
	begins    []*Pair
	ends      []*Pair
}

// A decoding states how the fields of a payload are decoded.
type decoding uint8

const (
	decodeFields   decoding = iota // with Schema.Fields
	decodeOptional                 // with Schema.Fields, but an empty payload has no values
	decodeDynamic                  // with Schema.Fields, followed by the fields inside the data
)

// gcDynamicEvent is the ID of the runtime event that wraps events of the garbage collector.
const gcDynamicEvent = 39

// newSchema returns the schema of events with a type and version, without pairs.
func newSchema(t *ntconv.Type, version uint8) *Schema {
	s := &Schema{
		Provider: t.Provider, ID: t.ID, Version: version, Name: t.Name, Opcode: t.Opcode, Level: t.Level, Keywords: t.Keywords,
		Fields: t.Fields, typ: t, layout: clr.LayoutOf(t, version),
	}
	s.chooseFields()
	if l := s.layout; l != nil {
		if s.Name == "" {
			s.Name = l.Name()
		}
		if s.Opcode == 0 && !t.HasOpcode {
			s.Opcode = l.Opcode
		}
		if s.Level == 0 && s.Keywords == 0 {
			s.Level, s.Keywords = l.Level, l.Keywords
		}
	}
	if s.layout != nil && clr.IsRuntime(s.Provider) {
		s.Task = s.layout.Task
	} else {
		s.Task, _ = cutPhase(s.Name)
	}
	return s
}

// chooseFields sets Fields, decoding and ambiguous by the rules in the package comment.
func (s *Schema) chooseFields() {
	native := clr.IsRuntime(s.Provider)
	l, declared := s.layout, s.Fields
	switch {
	case l != nil && (len(declared) == 0 || s.Provider == clr.UniversalSystem || native && isPrefix(declared, l.Fields)):
		s.Fields = l.Fields
		switch {
		case s.Provider == clr.Runtime && s.ID == gcDynamicEvent:
			s.decoding = decodeDynamic
		case !native:
			s.decoding = decodeOptional
		}
	case s.Provider == clr.UniversalSystem || s.Provider == clr.UniversalEvents:
		s.Fields = countedStrings(declared)
	case isTracepoint(declared):
		s.Fields = append(
			declared[:len(commonFields):len(commonFields)],
			ntconv.Field{Name: "data", Type: ntconv.FieldType{Code: ntconv.TypeRest}},
		)
	default:
		s.ambiguous = hasCode(declared, ntconv.TypeBool32, ntconv.TypeDecimal)
	}
}

// isPrefix reports whether the names of declared fields are those of a layout or of its beginning, as in a described
// file.
func isPrefix(declared, layout []ntconv.Field) bool {
	if len(declared) > len(layout) {
		return false
	}
	for i := range declared {
		if declared[i].Name != layout[i].Name {
			return false
		}
	}
	return true
}

// countedStrings returns the fields with each bare UTF-8 unit as a string with a 16-bit length (universal, 1.3).
func countedStrings(declared []ntconv.Field) []ntconv.Field {
	fields := make([]ntconv.Field, len(declared))
	for i, f := range declared {
		if fields[i] = f; f.Type.Code == ntconv.TypeUTF8Unit {
			fields[i].Type = ntconv.FieldType{
				Code: ntconv.TypeArray,
				Elem: &ntconv.FieldType{Code: ntconv.TypeUTF8Unit},
			}
		}
	}
	return fields
}

// commonFields are the fields at the start of each record in the Linux kernel's ring buffer. The offsets of the fields
// after them are unreliable (universal, 1.9).
var commonFields = [...]string{"common_type", "common_flags", "common_preempt_count", "common_pid"}

func isTracepoint(fields []ntconv.Field) bool {
	if len(fields) < len(commonFields) {
		return false
	}
	for i, name := range commonFields {
		if fields[i].Name != name {
			return false
		}
	}
	return true
}

// hasCode reports whether the fields, or the types nested in them, have one of the type codes.
func hasCode(fields []ntconv.Field, codes ...ntconv.TypeCode) bool {
	for i := range fields {
		for t := &fields[i].Type; t != nil; t = t.Elem {
			for _, c := range codes {
				if t.Code == c {
					return true
				}
			}
			if hasCode(t.Fields, codes...) {
				return true
			}
		}
	}
	return false
}

// cutPhase splits a name into a task and the suffix Start or Stop. phase is empty if the name has neither. .NET derives
// tasks and opcodes of event sources by this rule.
func cutPhase(name string) (task, phase string) {
	for _, phase := range [...]string{"Start", "Stop"} {
		if task, ok := strings.CutSuffix(name, phase); ok && task != "" {
			return task, phase
		}
	}
	return name, ""
}

// OpcodeOf returns the opcode of an event: the one in its labels, or else s.Opcode.
func (s *Schema) OpcodeOf(e *ntconv.Event) uint8 {
	if e.Labels != nil && e.Labels.Find(ntconv.LabelOpcode) != nil {
		return e.Opcode()
	}
	return s.Opcode
}

// opcodeNames lists the opcodes that all providers share (winmeta.xml). Providers define all other opcodes.
var opcodeNames = [...]string{
	"Info",
	"Start",
	"Stop",
	"DCStart",
	"DCStop",
	"Extension",
	"Reply",
	"Resume",
	"Suspend",
	"Send",
}

// OpcodeName returns the name of an opcode that all providers share, or "" for other opcodes.
func OpcodeName(opcode uint8) string {
	switch {
	case int(opcode) < len(opcodeNames):
		return opcodeNames[opcode]
	case opcode == 240:
		return "Receive"
	}
	return ""
}

// HasValueNames reports whether the runtime's manifest has names for values of the field.
func (s *Schema) HasValueNames(field string) bool { return s.layout != nil && s.layout.HasMap(field) }

// ValueName returns the name of a field's value in the runtime's manifest, or "" if there is none. The names of a bit
// set are joined by |, followed by all unnamed bits in hexadecimal. ValueName allocates only to join names.
func (s *Schema) ValueName(field string, value uint64) string {
	if s.layout == nil {
		return ""
	}
	return s.layout.MapName(field, value)
}

// AppendKeywords appends the names of the provider's keywords to dst, joined by |, followed by all unnamed bits in
// hexadecimal. It returns the extended slice, which is dst if keywords is 0.
func AppendKeywords(dst []byte, provider string, keywords uint64) []byte {
	return clr.AppendKeywords(dst, provider, keywords)
}

// ProviderGUID returns the ID of a provider: the fixed ID of well-known providers, or else the one that .NET derives
// from the name. The ID for an empty name is zero.
func ProviderGUID(name string) ntconv.GUID { return clr.ProviderGUID(name) }
