package ntconv

import (
	"encoding/hex"
	"slices"
	"strconv"
)

// LabelKind is the kind of a Label. Its values are those of nettrace (nettrace-v6, "LabelListBlock").
type LabelKind uint8

const (
	LabelActivityID        LabelKind = 1  // ID
	LabelRelatedActivityID LabelKind = 2  // ID
	LabelTraceID           LabelKind = 3  // ID: the 16 bytes of a W3C trace ID in order
	LabelSpanID            LabelKind = 4  // ID: the 8 bytes of a W3C span ID in order, then zeros
	LabelString            LabelKind = 5  // Key and Str
	LabelInt               LabelKind = 6  // Key and Num, with an optional Unit
	LabelOpcode            LabelKind = 7  // Num; overrides the type's
	LabelKeywords          LabelKind = 8  // Num as unsigned bits; overrides the type's
	LabelLevel             LabelKind = 9  // Num; overrides the type's
	LabelVersion           LabelKind = 10 // Num; overrides the type's
)

var labelKindNames = []string{
	"none",
	"activity_id",
	"related_activity_id",
	"trace_id",
	"span_id",
	"string",
	"int",
	"opcode",
	"keywords",
	"level",
	"version",
}

// String returns the kind's name in lower case. Outputs use it as the name of an ID.
func (k LabelKind) String() string { return nameOf(labelKindNames, int(k)) }

// A Label is a property of an event in addition to its payload. Kind determines the members in use.
type Label struct {
	Kind           LabelKind
	Key, Str, Unit string
	Num            int64
	ID             [16]byte
}

// Name returns the name that outputs give the label: its Key, or the name of its kind if such labels have no key.
func (l *Label) Name() string {
	if l.Kind == LabelString || l.Kind == LabelInt {
		return l.Key
	}
	return l.Kind.String()
}

// IsID reports whether the label is an ID of an activity, a trace or a span.
func (l *Label) IsID() bool { return l.Kind >= LabelActivityID && l.Kind <= LabelSpanID }

// AppendText appends the value of the label as text and returns the extended slice: an activity ID as a GUID, a trace
// ID or span ID in hexadecimal digits, a string unchanged, and a number in decimal digits without its unit.
func (l *Label) AppendText(dst []byte) []byte {
	switch l.Kind {
	case LabelActivityID, LabelRelatedActivityID:
		return GUID(l.ID).Append(dst)
	case LabelTraceID:
		return hex.AppendEncode(dst, l.ID[:])
	case LabelSpanID:
		return hex.AppendEncode(dst, l.ID[:8])
	case LabelString:
		return append(dst, l.Str...)
	case LabelKeywords:
		return strconv.AppendUint(dst, uint64(l.Num), 10)
	}
	return strconv.AppendInt(dst, l.Num, 10)
}

// Labels are the labels of an event in the order of the input. They are immutable. NewLabels builds them; the zero
// value and nil are empty lists. Events with equal labels may have different pointers, so sinks compare the content.
type Labels struct {
	list []Label

	overrides              uint8
	opcode, level, version uint8
	keywords               uint64
}

// List returns the labels in the order of the input. The slice is shared and read-only. It is nil if l is nil.
func (l *Labels) List() []Label {
	if l == nil {
		return nil
	}
	return l.list
}

const (
	overrideOpcode = 1 << iota
	overrideLevel
	overrideVersion
	overrideKeywords
)

// NewLabels returns labels that own list. If several labels override the same property of the type, the last one wins,
// even if its value is 0.
func NewLabels(list []Label) *Labels {
	l := &Labels{list: list}
	for i := range list {
		switch n := list[i].Num; list[i].Kind {
		case LabelOpcode:
			l.overrides, l.opcode = l.overrides|overrideOpcode, uint8(n)
		case LabelLevel:
			l.overrides, l.level = l.overrides|overrideLevel, uint8(n)
		case LabelVersion:
			l.overrides, l.version = l.overrides|overrideVersion, uint8(n)
		case LabelKeywords:
			l.overrides, l.keywords = l.overrides|overrideKeywords, uint64(n)
		}
	}
	return l
}

// Find returns the last label of a kind, or nil if there is none or l is nil.
func (l *Labels) Find(kind LabelKind) *Label {
	if l == nil {
		return nil
	}
	for i := len(l.list) - 1; i >= 0; i-- {
		if l.list[i].Kind == kind {
			return &l.list[i]
		}
	}
	return nil
}

// ID returns the ID of the last label of a kind. It returns false if there is none or if the ID is zero.
func (l *Labels) ID(kind LabelKind) ([16]byte, bool) {
	if p := l.Find(kind); p != nil && p.ID != [16]byte{} {
		return p.ID, true
	}
	return [16]byte{}, false
}

// Equal reports whether two lists have the same labels in the same order. nil equals an empty list.
func (l *Labels) Equal(m *Labels) bool {
	return l == m || slices.Equal(l.List(), m.List())
}
