package chromeevent

import (
	"cmp"
	"encoding/binary"
	"strings"

	"github.com/ntconv/ntconv"
)

// Limits of the types that an Encoder creates.
const (
	maxTypes      = 4096
	maxShapes     = 64   // with the same phase, category and name
	maxSignature  = 8192 // bytes; a signature contains all names, which must fit into a row of metadata
	maxTypeName   = 1024 // bytes of a category or a name
	firstTypeID   = 100_000
	reservedTypes = 512 // part of maxTypes for events with args as JSON, and again for generic events
)

// A shape is the type of all events with the same signature.
type shape struct {
	typ        *ntconv.Type
	floats     []bool // by slot: the value, of classNumber, is a float64
	duplicates bool   // an object has two members with the same name: describe the event again with unique
}

// A family is the set of shapes to which maxShapes applies.
type family struct{ phase, category, name string }

// shapes holds the types that an Encoder has created.
type shapes struct {
	bySignature map[string]*shape
	families    map[family]int
	types       int
}

// head begins the signature of an event whose type states category and name.
func (d *description) head(e *Event, absent Member) {
	for _, s := range [...]string{e.Phase, e.Category, e.Name} {
		d.sig = binary.AppendUvarint(d.sig, uint64(len(s)))
		d.sig = append(d.sig, s...)
	}
	d.sig = append(d.sig, byte(absent))
}

// body returns a signature without its head.
func body(sig []byte) []byte {
	for range 3 {
		n, k := binary.Uvarint(sig)
		sig = sig[k+int(n):]
	}
	return sig[1:]
}

// absentOf returns the absent members among those whose absence the type states.
func absentOf(e *Event) Member {
	absent := ^e.Has & (HasName | HasCategory | HasTime)
	if e.TopLevel {
		absent |= topLevel
	}
	return absent
}

// topLevel represents Event.TopLevel in the absent members of a type.
const topLevel Member = 0x80

// absentNames lists the names of members in attrAbsent.
var absentNames = [...]struct {
	member Member
	name   string
}{{HasName, "name"}, {HasCategory, "cat"}, {HasTime, "ts"}, {topLevel, "event"}}

// find returns the shape of a description, and creates it if necessary. It returns nil if that would exceed a limit. e
// contains the names of the type.
func (s *shapes) find(d *description, e *Event, limit int) *shape {
	if found := s.bySignature[string(d.sig)]; found != nil {
		return found
	}
	key := family{e.Phase, e.Category, e.Name}
	if s.types >= limit || len(d.sig) > maxSignature ||
		limit == maxTypes-2*reservedTypes && s.families[key] >= maxShapes {
		return nil
	}
	sh := &shape{floats: make([]bool, slots(d.leaves))}
	sh.mark(d.leaves, true)
	t, unique := s.newType(d.sig, e, sh.floats)
	if sh.typ = t; !unique && !d.unique {
		sh.typ, sh.duplicates = nil, true
	}
	if s.bySignature == nil {
		s.bySignature, s.families = map[string]*shape{}, map[family]int{}
	}
	s.families[key]++
	s.bySignature[string(d.sig)] = sh
	return sh
}

// slots returns the number of values, where an array is one value.
func slots(leaves []leaf) (n int) {
	for i := 0; i < len(leaves); i++ {
		n++
		i += leaves[i].count
	}
	return n
}

// mark reports whether a value is floating-point in a slot that the shape treats as integer. If set is true, it changes
// these slots.
func (sh *shape) mark(leaves []leaf, set bool) (changed bool) {
	for i, slot := 0, 0; i < len(leaves); slot++ {
		for range leaves[i].count + 1 {
			if l := &leaves[i]; l.class == classNumber && !l.integer && !sh.floats[slot] {
				sh.floats[slot], changed = set, true
			}
			i++
		}
	}
	return changed
}

// newType creates the type of a signature. unique is false if two members of an object have the same name.
func (s *shapes) newType(sig []byte, e *Event, floats []bool) (t *ntconv.Type, unique bool) {
	t = &ntconv.Type{Provider: noProvider, ID: uint32(firstTypeID + s.types), Name: cmp.Or(strings.TrimPrefix(e.Phase, phaseField), "event")}
	s.types++
	b := fieldBuilder{sig: body(sig), floats: floats}
	t.Fields = b.event()
	absent := Member(sig[len(sig)-len(body(sig))-1])
	add := func(key, value string) { t.Attrs = append(t.Attrs, ntconv.Attr{Key: key, Value: value}) }
	add(attrPhase, e.Phase)
	add(attrLayout, b.layout.String())
	if absent&HasCategory == 0 {
		if t.Provider = e.Category; !isFree(e.Category) {
			t.Provider = noProvider + "/" + e.Category
			add(attrCategory, e.Category)
		}
	}
	if absent&HasName == 0 {
		if t.Name = e.Name; e.Name == "" {
			t.Name = cmp.Or(e.Phase, "event")
			add(attrName, e.Name)
		}
	}
	var list []string
	for _, a := range absentNames {
		if absent&a.member != 0 {
			list = append(list, a.name)
		}
	}
	if list != nil {
		add(attrAbsent, strings.Join(list, ","))
	}
	return t, !b.duplicates
}

// isFree reports whether a category can be the provider of a type. It excludes prefixes of providers that give their
// events a special meaning.
func isFree(category string) bool {
	for _, prefix := range [...]string{"Microsoft", "System.", "Universal.", "ntconv", "otlp", noProvider} {
		if len(category) >= len(prefix) && strings.EqualFold(category[:len(prefix)], prefix) {
			return false
		}
	}
	return category != ""
}
