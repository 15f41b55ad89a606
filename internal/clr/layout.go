package clr

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

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
	field  string
	bits   bool // the values are bit sets
	values []namedValue
}

type namedValue struct {
	value uint64
	name  string
}

// newFieldMap parses a line of mapText.
func newFieldMap(field, line string) fieldMap {
	m := fieldMap{field: field, bits: line[0] == '|'}
	for value, name := range pairs(line[1:], 10) {
		m.values = append(m.values, namedValue{value, name})
	}
	return m
}

// Name returns the symbol without its version suffix: GCAllocationTick for GCAllocationTick_V4.
func (l *Layout) Name() string { return l.name }

// MapName returns the name of a field's value, or "" if the field or the value has no name. For a bit set, it joins the
// names of the bits with | and appends the bits without a name in hexadecimal. Only joining allocates.
func (l *Layout) MapName(field string, value uint64) string {
	for i := range l.maps {
		if m := &l.maps[i]; m.field == field {
			return m.name(value)
		}
	}
	return ""
}

// HasMap reports whether the values of a field have names.
func (l *Layout) HasMap(field string) bool {
	return slices.ContainsFunc(l.maps, func(m fieldMap) bool { return m.field == field })
}

func (m *fieldMap) name(value uint64) (names string) {
	for i := range m.values {
		switch v := &m.values[i]; {
		case v.value == value:
			return join(names, v.name)
		case m.bits && v.value != 0 && value&v.value == v.value:
			names = join(names, v.name)
			value &^= v.value // not 0, because that would be the case above
		}
	}
	if value != 0 && names != "" {
		names = join(names, "0x"+strconv.FormatUint(value, 16))
	}
	return names
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "|" + b
}

// pairs iterates over a list of number=name; with numbers in the given base.
func pairs(text string, base int) func(func(uint64, string) bool) {
	return func(yield func(uint64, string) bool) {
		for text != "" {
			var pair string
			pair, text, _ = strings.Cut(text, ";")
			number, name, _ := strings.Cut(pair, "=")
			n, _ := strconv.ParseUint(number, base, 64)
			if !yield(n, name) {
				return
			}
		}
	}
}

// A provider is a range of events in index.
type provider struct {
	name, guid  string
	native      bool // part of the runtime: no names and no fields in a trace, fixed IDs
	first, last int  // in index
	maps        int  // index of its first line in mapText
}

// An entry holds what the tables contain about an event without parsing its text.
type entry struct {
	keywords      uint64
	pos           uint32 // byte offset of its line in layoutText
	id            uint16
	version       uint8
	opcode, level uint8
}

// layouts caches the layouts of index. A trace uses a few dozen of them, so each is created on demand.
var layouts [len(index)]atomic.Pointer[Layout]

// Lookup returns the layout of an event, or nil if the event is unknown. If the version is unknown, it returns the next
// lower version, because new versions only append fields, or else the next higher one. Only the first call for a layout
// allocates.
func Lookup(provider string, id uint32, version uint8) *Layout {
	p := providerIndex(provider)
	if p < 0 {
		return nil
	}
	return lookup(p, id, version)
}

func lookup(p int, id uint32, version uint8) *Layout {
	of := index[providers[p].first:providers[p].last]
	i, found := slices.BinarySearchFunc(of, id<<8|uint32(version), func(e entry, key uint32) int {
		return cmp.Compare(uint32(e.id)<<8|uint32(e.version), key)
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
	return load(p, providers[p].first+i)
}

// lookupName returns the layout of an event by name, regardless of its ID. It chooses the version as Lookup does.
func lookupName(p int, name string, version uint8) *Layout {
	best := -1
	for i := providers[p].first; i < providers[p].last; i++ {
		rest, ok := strings.CutPrefix(layoutText[index[i].pos:], name)
		if ok && strings.HasPrefix(rest, "\t") && (best < 0 || index[i].version <= version) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return load(p, best)
}

// load returns layout i of index, which belongs to provider p. If two goroutines create the same layout, both use the
// first one stored.
func load(p, i int) *Layout {
	if l := layouts[i].Load(); l != nil {
		return l
	}
	layouts[i].CompareAndSwap(nil, parseLayout(p, &index[i]))
	return layouts[i].Load()
}

func parseLayout(p int, e *entry) *Layout {
	line, _, _ := strings.Cut(layoutText[e.pos:], "\n")
	symbol, line, _ := strings.Cut(line, "\t")
	task, fields, _ := strings.Cut(line, "\t")
	l := &Layout{
		Provider: providers[p].name, ID: uint32(e.id), Version: e.version, Symbol: symbol, Task: task,
		Opcode: e.opcode, Level: e.level, Keywords: e.keywords, name: unversioned(symbol),
	}
	ps := layoutParser{text: fields, maps: providers[p].maps, l: l}
	l.Fields = ps.fields()
	return l
}

// unversioned removes the suffix _V and digits.
func unversioned(symbol string) string {
	head := strings.TrimRight(symbol, "0123456789")
	if base, ok := strings.CutSuffix(head, "_V"); ok && len(head) < len(symbol) {
		return base
	}
	return symbol
}
