package schema

import (
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
)

// A Schema describes the events of one type and version. It is immutable: callers must not change its members.
type Schema struct {
	Provider string
	ID       uint32
	Version  uint8
	// Name is the name in the metadata, or else the symbol of the runtime's manifest without its version suffix
	// (GCAllocationTick for GCAllocationTick_V4). It is empty if neither exists.
	Name string
	// Task groups events that belong together: the task of the runtime's manifest, or else the name without a suffix
	// Start or Stop.
	Task string
	// Opcode is the opcode in the metadata, or else the one of the manifest: traces do not record opcodes of runtime
	// events. OpcodeOf considers the labels of an event.
	Opcode   uint8
	Level    uint8  // 1 critical to 5 verbose, 0 always
	Keywords uint64 // AppendKeywords returns their names
	// Fields are the fields of the payload in order. The data of a GCDynamicEvent, whose fields depend on a name in the
	// payload, is one field of bytes here; Values decodes it.
	Fields []ntconv.Field

	typ       *ntconv.Type
	layout    *clr.Layout // nil if the tables do not have the event
	decoding  decoding
	ambiguous bool // bool and decimal fields may be narrower than declared, see Event.Fields
	begins    []*Pair
	ends      []*Pair
}

// decoding selects how the fields of a payload are found.
type decoding uint8

const (
	decodeFields   decoding = iota // by Schema.Fields
	decodeOptional                 // the same, but an empty payload has no values
	decodeDynamic                  // the same, and the fields inside the data follow
)

// gcDynamicEvent is the ID of the runtime event that wraps events of the garbage collector.
const gcDynamicEvent = 39

// newSchema returns the schema of a type's events with that version, without pairs.
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

// chooseFields sets the fields and how payloads are decoded by them, as the package comment says.
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

// isPrefix reports whether a description that a file can hold is that of a layout, or its beginning.
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

// countedStrings returns the fields with a bare UTF-8 unit as a string with a 16-bit count (universal, 1.3).
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

// commonFields begin each record of the Linux kernel's ring buffer. Positions of the fields after them cannot be
// trusted (universal, 1.9).
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

// hasCode reports whether a type code occurs in the fields or inside them.
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

// cutPhase splits a name into a task and the suffix Start or Stop, and returns an empty phase if the name has none.
// .NET derives tasks and opcodes of event sources by this rule.
func cutPhase(name string) (task, phase string) {
	for _, phase := range [...]string{"Start", "Stop"} {
		if task, ok := strings.CutSuffix(name, phase); ok && task != "" {
			return task, phase
		}
	}
	return name, ""
}

// OpcodeOf returns the opcode of an event: that of a label if the event has such a label, or else s.Opcode.
func (s *Schema) OpcodeOf(e *ntconv.Event) uint8 {
	if e.Labels != nil && e.Labels.Find(ntconv.LabelOpcode) != nil {
		return e.Opcode()
	}
	return s.Opcode
}

// opcodeNames are the opcodes that all providers share (winmeta.xml). Other opcodes are defined per provider.
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

// OpcodeName returns the name of an opcode that all providers share, and "" for others.
func OpcodeName(opcode uint8) string {
	switch {
	case int(opcode) < len(opcodeNames):
		return opcodeNames[opcode]
	case opcode == 240:
		return "Receive"
	}
	return ""
}

// HasValueNames reports whether values of a field have names in the runtime's manifest.
func (s *Schema) HasValueNames(field string) bool { return s.layout != nil && s.layout.HasMap(field) }

// ValueName returns the name that the runtime's manifest gives a value of a field, and "" if it gives none. The names
// of a bit set are joined by |, and bits without a name follow in hexadecimal. Only joining allocates.
func (s *Schema) ValueName(field string, value uint64) string {
	if s.layout == nil {
		return ""
	}
	return s.layout.MapName(field, value)
}

// AppendKeywords appends the names of the provider's keywords to dst, joined by |. Bits without a name are appended in
// hexadecimal; no bits append nothing.
func AppendKeywords(dst []byte, provider string, keywords uint64) []byte {
	return clr.AppendKeywords(dst, provider, keywords)
}

// ProviderGUID returns the ID of a provider: the fixed one of well-known providers, or else the one that .NET derives
// from the name. An empty name has the zero ID.
func ProviderGUID(name string) ntconv.GUID { return clr.ProviderGUID(name) }
