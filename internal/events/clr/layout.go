package clr

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
)

// A Layout describes one version of one event. Layouts are shared and must not be modified: equal arguments of [Lookup]
// return the same pointer.
type Layout struct {
	Provider      string
	ID            uint32
	Version       uint8
	Symbol        string // as in the manifest; most versions after the first have a suffix: GCStart_V2
	Task          string
	Opcode, Level uint8
	Keywords      uint64
	Fields        []ntconv.Field

	name string
	maps []fieldMap
}

// A fieldMap names the values of a field. The list includes nested fields, because no event has two fields with the
// same name and different maps.
type fieldMap struct {
	field string
	valueMap
}

// A valueMap names values, or bits of values.
type valueMap struct {
	isBits bool
	values []namedValue
}

type namedValue struct {
	value uint64
	name  string
}

// newValueMap parses a list of number=name; with spaces before all but the first.
func newValueMap(isBits bool, list string) valueMap {
	m := valueMap{isBits: isBits}
	for pair := range strings.SplitSeq(list, ";") {
		number, name, _ := strings.Cut(strings.TrimPrefix(pair, " "), "=")
		n, _ := strconv.ParseUint(number, 10, 64)
		m.values = append(m.values, namedValue{n, name})
	}
	return m
}

func (m *valueMap) nameOf(value uint64) (names string) {
	for i := range m.values {
		switch v := &m.values[i]; {
		case v.value == value:
			return join(names, v.name)
		case m.isBits && v.value != 0 && value&v.value == v.value:
			names = join(names, v.name)
			value &^= v.value // not 0, because that would be the case above
		}
	}
	if value != 0 && names != "" {
		names = join(names, "0x"+strconv.FormatUint(value, 16))
	}
	return names
}

// Name returns the symbol without its version suffix: GCAllocationTick for GCAllocationTick_V4.
func (l *Layout) Name() string { return l.name }

// MapName returns the name of a field's value, or "" if the field or the value has no name. For a bit set, it joins the
// names of the bits with | and appends the bits without a name in hexadecimal. Only joining allocates.
func (l *Layout) MapName(field string, value uint64) string {
	for i := range l.maps {
		if m := &l.maps[i]; m.field == field {
			return m.nameOf(value)
		}
	}
	return ""
}

// HasMap reports whether the values of a field have names.
func (l *Layout) HasMap(field string) bool {
	return slices.ContainsFunc(l.maps, func(m fieldMap) bool { return m.field == field })
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "|" + b
}

// Lookup returns the layout of an event, or nil if the event is unknown. If the version is unknown, it returns the next
// lower version, because new versions only append fields, or else the next higher one. Only the first call for a layout
// allocates.
func Lookup(provider string, id uint32, version uint8) *Layout {
	return providerOf(provider).lookup(id, version)
}

func (p *provider) lookup(id uint32, version uint8) *Layout {
	of := p.all()
	i, found := slices.BinarySearchFunc(of, id<<8|uint32(version), func(e *entry, key uint32) int {
		return cmp.Compare(e.key(), key)
	})
	if id > 0xffff {
		return nil
	}
	if !found && i > 0 && uint32(of[i-1].id) == id {
		i--
	}
	if i == len(of) || uint32(of[i].id) != id {
		return nil
	}
	return p.load(of[i])
}

// lookupName returns the layout of an event by name, regardless of its ID. It chooses the version as Lookup does.
func (p *provider) lookupName(name string, version uint8) *Layout {
	var best *entry
	for _, e := range p.all() {
		if e.symbol == name && (best == nil || e.version <= version) {
			best = e
		}
	}
	if best == nil {
		return nil
	}
	return p.load(best)
}

// unversioned removes the suffix _V and digits.
func unversioned(symbol string) string {
	head := strings.TrimRight(symbol, "0123456789")
	if base, ok := strings.CutSuffix(head, "_V"); ok && len(head) < len(symbol) {
		return base
	}
	return symbol
}
