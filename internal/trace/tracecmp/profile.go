package tracecmp

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// A profile holds the total of each distinct sample of two sources, for Options.Profiles. Functions, mappings, threads
// and types have numbers by content, across both sources, so that the key of a sample is short.
type profile struct {
	c *comparer

	functions contents[ntconv.Function, ntconv.Function]
	mappings  contents[ntconv.Mapping, ntconv.Mapping]
	threads   contents[ntconv.Thread, string]
	processes contents[ntconv.Process, string]
	types     contents[ntconv.Type, string]
	columns   map[*ntconv.Type]int // number of sample types; absent for events that are not samples

	ofSide  [2][]*ntconv.Type             // types of each source in the order of first use or declaration
	owners  [2]map[uint64]*ntconv.Process // processes by number
	samples map[string]*total
	order   []*total
	key     []byte
	values  []int64
}

// A total is the sum of the events with equal content in each source.
type total struct {
	sums   [2][]int64 // one per sample type; for other events, their number
	typ    *ntconv.Type
	places [2]Place // position of the first event
}

// contents assigns numbers to values by their content K, from 1. It caches pointers, so that the content is read once.
type contents[T any, K comparable] struct {
	byPointer map[*T]uint64
	byContent map[K]uint64
}

// number returns the number of v, or 0 for nil. It calls content once per pointer.
func (c *contents[T, K]) number(v *T, content func(*T) K) uint64 {
	if v == nil {
		return 0
	}
	n, known := c.byPointer[v]
	if known {
		return n
	}
	if c.byPointer == nil {
		c.byPointer, c.byContent = map[*T]uint64{}, map[K]uint64{}
	}
	k := content(v)
	if n, known = c.byContent[k]; !known {
		n = uint64(len(c.byContent)) + 1
		c.byContent[k] = n
	}
	c.byPointer[v] = n
	return n
}

// profiles compares two sources as profiles. It returns the number of distinct samples that are equal.
func (c *comparer) profiles(a, b ntconv.Source) (equal int64, err error) {
	p := &profile{
		c: c, columns: map[*ntconv.Type]int{}, samples: map[string]*total{},
		owners: [2]map[uint64]*ntconv.Process{{}, {}},
	}
	for side, src := range []ntconv.Source{a, b} {
		if err := p.read(src, side); err != nil {
			return 0, err
		}
	}
	if d := p.equalTypes(); d != nil {
		return 0, d
	}
	if d := p.equalMappings(); d != nil {
		return 0, d
	}
	return p.equalTotals()
}

// read adds up the samples of a source.
func (p *profile) read(src ntconv.Source, side int) error {
	for {
		e, err := src.Next()
		switch {
		case err == io.EOF || err != nil && p.c.opts.Errors:
			return nil
		case err != nil:
			return fmt.Errorf("%s profile, after event %d: %w", [...]string{"first", "second"}[side], p.c.n[side], err)
		case e.Kind == ntconv.KindDefine:
			if e.Type != nil && !p.c.opts.Definitions {
				p.typ(e.Type, side)
			}
		case e.Kind == ntconv.KindMark || e.Kind == ntconv.KindLost && p.c.opts.Lost:
		default:
			if e.Kind == ntconv.KindEvent {
				p.c.n[side]++
			}
			p.add(e, side)
		}
	}
}

// typ returns the number of a type and records that a source has the type.
func (p *profile) typ(t *ntconv.Type, side int) uint64 {
	if _, known := p.types.byPointer[t]; !known && t != nil {
		p.ofSide[side] = append(p.ofSide[side], t)
		if c := imported.ColumnsOf(t); c != nil {
			p.columns[t] = len(c.Types)
		}
	}
	return p.types.number(t, func(t *ntconv.Type) string { return string(appendType(nil, withoutUnit(t))) })
}

// withoutUnit returns a copy of t without the unit of the weight, which an importer chooses by the values of single
// samples.
func withoutUnit(t *ntconv.Type) *ntconv.Type {
	return &ntconv.Type{
		Provider: t.Provider, GUID: t.GUID, ID: t.ID, Name: t.Name, Version: t.Version, Level: t.Level,
		Opcode: t.Opcode, HasOpcode: t.HasOpcode, Keywords: t.Keywords, Fields: t.Fields, Message: t.Message,
		Description: t.Description, Extra: t.Extra, OptionalExtra: t.OptionalExtra,
		Attrs: slices.DeleteFunc(slices.Clone(t.Attrs), func(a ntconv.Attr) bool { return a.Key == imported.AttrWeightUnit }),
	}
}

// add adds an event to the total of its content.
func (p *profile) add(e *ntconv.Event, side int) {
	key := append(p.key[:0], byte(e.Kind))
	key = binary.AppendUvarint(key, p.typ(e.Type, side))
	key = p.appendThread(key, e.Thread, side)
	key = p.appendThread(key, e.Capture, side)
	key = binary.AppendVarint(key, int64(e.CPU))
	key = p.appendStack(key, e.Stack)
	key = appendLabels(key, e.Labels)
	values, rest := p.valuesOf(e)
	key = appendString(binary.AppendUvarint(key, uint64(len(values))), rest)
	if e.Kind == ntconv.KindOpaque {
		key = binary.AppendUvarint(key, uint64(e.Seq))
	}
	p.key = key
	t := p.samples[string(key)]
	if t == nil {
		t = &total{typ: e.Type}
		p.samples[string(key)], p.order = t, append(p.order, t)
	}
	if t.sums[side] == nil {
		t.sums[side] = make([]int64, len(values))
		t.places[side] = Place{Event: p.c.n[side], Offset: e.Offset, Item: describeSample(e)}
	}
	for i, v := range values {
		t.sums[side][i] += v
	}
}

// valuesOf returns the values of a sample, one per sample type, and the rest of the payload after them. It ignores the
// weight before them, which is computed from the values. An event that is not a sample has the value 1 (a loss, the
// number of events), and its whole payload is content.
func (p *profile) valuesOf(e *ntconv.Event) (values []int64, rest []byte) {
	values, rest = p.values[:0], e.Payload
	if n := p.columns[e.Type]; n > 0 && e.Kind == ntconv.KindEvent {
		_, size := binary.Uvarint(rest)
		for ; n > 0 && size > 0; n-- {
			var v int64
			rest = rest[size:]
			v, size = binary.Varint(rest)
			values = append(values, v)
		}
		if p.values = values; size > 0 {
			return values, rest[size:]
		}
		values, rest = values[:0], e.Payload
	}
	if e.Kind == ntconv.KindLost {
		return append(values, int64(e.Lost)), rest
	}
	return append(values, 1), rest
}

// appendThread appends the numbers of a thread and its process. equalMappings compares the mappings of the process.
func (p *profile) appendThread(dst []byte, t *ntconv.Thread, side int) []byte {
	if t == nil {
		return append(dst, 0, 0)
	}
	dst = binary.AppendUvarint(dst, p.threads.number(t, func(t *ntconv.Thread) string { return string(appendThread(nil, t)) }))
	process := p.processes.number(t.Process, func(q *ntconv.Process) string {
		return string(appendProcess(nil, q, p.c.machine[side]))
	})
	if p.owners[side][process] == nil {
		p.owners[side][process] = t.Process
	}
	return binary.AppendUvarint(dst, process)
}

// appendStack appends a stack, with the numbers of functions and mappings.
func (p *profile) appendStack(dst []byte, s *ntconv.Stack) []byte {
	v := content(s)
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(len(v.PCs))), uint64(len(v.Frames)))
	for _, pc := range v.PCs {
		dst = binary.AppendUvarint(dst, pc)
	}
	for i := range v.Frames {
		f := &v.Frames[i]
		dst = binary.AppendUvarint(dst, f.PC)
		if p.c.opts.Frames {
			continue
		}
		dst = binary.AppendUvarint(dst, p.functions.number(f.Func, func(f *ntconv.Function) ntconv.Function { return *f }))
		dst = binary.AppendUvarint(dst, p.mappings.number(f.Mapping, func(m *ntconv.Mapping) ntconv.Mapping { return *m }))
		dst = append(binary.AppendVarint(binary.AppendVarint(dst, int64(f.Line)), int64(f.Column)), byte(f.Flags))
	}
	return dst
}

// appendLabels appends labels sorted by key, because profiles do not keep their order. Labels with equal keys stay in
// order.
func appendLabels(dst []byte, l *ntconv.Labels) []byte {
	list := l.List()
	byKey := func(a, b ntconv.Label) int {
		if a.Kind != b.Kind {
			return int(a.Kind) - int(b.Kind)
		}
		return strings.Compare(a.Key, b.Key)
	}
	if !slices.IsSortedFunc(list, byKey) {
		list = slices.Clone(list)
		slices.SortStableFunc(list, byKey)
	}
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for i := range list {
		x := &list[i]
		dst = appendString(appendString(appendString(append(dst, byte(x.Kind)), x.Key), x.Str), x.Unit)
		dst = append(binary.AppendVarint(dst, x.Num), x.ID[:]...)
	}
	return dst
}

// equalTypes compares the types of both profiles.
func (p *profile) equalTypes() *Difference {
	var numbers [2]map[uint64]bool
	for side, list := range p.ofSide {
		numbers[side] = map[uint64]bool{}
		for _, t := range list {
			numbers[side][p.types.byPointer[t]] = true
		}
	}
	var only [2]*ntconv.Type
	for side, list := range p.ofSide {
		i := slices.IndexFunc(list, func(t *ntconv.Type) bool { return !numbers[1-side][p.types.byPointer[t]] })
		if i >= 0 {
			only[side] = list[i]
		}
	}
	if only[0] != nil && only[1] != nil {
		return equalTypes(withoutUnit(only[0]), withoutUnit(only[1])).in("type")
	}
	for side, t := range only {
		if t != nil {
			d := differUnused("type", [...]string{"first", "second"}[side], *t)
			n := p.types.byPointer[t]
			d.Unused = !slices.ContainsFunc(p.order, func(s *total) bool { return p.types.byPointer[s.typ] == n })
			return d
		}
	}
	return nil
}

// equalMappings compares the mappings of processes that both profiles have, regardless of their order. The flag
// MappingMain, not the order, identifies the mapping of the program.
func (p *profile) equalMappings() *Difference {
	for n := range uint64(len(p.processes.byContent) + 1) {
		a, b := p.owners[0][n], p.owners[1][n]
		if a == nil || b == nil || p.c.opts.Frames || p.c.sameMappings[pairOf(a.Mappings, b.Mappings)] {
			continue
		}
		d := p.missing(a.Mappings, b.Mappings, "first")
		if d == nil {
			d = p.missing(b.Mappings, a.Mappings, "second")
		}
		if d != nil {
			return d.in("process %s", processText(a))
		}
		p.c.keepEqual(a.Mappings, b.Mappings)
	}
	return nil
}

// missing returns the first mapping of a that b lacks. name is that of the profile of a.
func (p *profile) missing(a, b []*ntconv.Mapping, name string) *Difference {
	has := map[ntconv.Mapping]bool{}
	for _, m := range b {
		has[content(m)] = true
	}
	for _, m := range a {
		if !has[content(m)] {
			return differf("only the %s has mapping %s", name, mappingText(m))
		}
	}
	return nil
}

// equalTotals compares the totals in the order of the first samples. A sample that one profile lacks has the values 0.
func (p *profile) equalTotals() (equal int64, err error) {
	var first *Difference
	for _, t := range p.order {
		d := t.difference()
		if d == nil {
			equal++
		} else if first == nil {
			first = d
		}
	}
	if first == nil {
		return equal, nil
	}
	return equal, first.in("%d of %d distinct samples", int64(len(p.order))-equal, len(p.order))
}

// difference returns the first difference between the totals, or nil.
func (t *total) difference() *Difference {
	for i := range max(len(t.sums[0]), len(t.sums[1])) {
		var v [2]int64
		for side, sums := range t.sums {
			if len(sums) > 0 {
				v[side] = sums[i]
			}
		}
		if v[0] == v[1] {
			continue
		}
		d := differ("total of "+t.column(i), v[0], v[1])
		d.At = t.places
		return d
	}
	return nil
}

// column returns the name of the sample type i, or "events".
func (t *total) column(i int) string {
	if t.typ != nil {
		if c := imported.ColumnsOf(t.typ); c != nil && i < len(c.Types) {
			return fmt.Sprintf("%v/%v", word(c.Types[i].Type), word(c.Types[i].Unit))
		}
	}
	return "events"
}

// describeSample returns a sample on one line.
func describeSample(e *ntconv.Event) string {
	if e.Kind != ntconv.KindEvent {
		return describe(e)
	}
	var s strings.Builder
	s.WriteString("sample")
	if e.Thread != nil {
		fmt.Fprintf(&s, " of thread %s", threadText(e.Thread))
	}
	v := content(e.Stack)
	switch n := max(len(v.Frames), len(v.PCs)); {
	case n == 0:
		s.WriteString(", no stack")
	case len(v.Frames) > 0 && v.Frames[0].Func != nil:
		fmt.Fprintf(&s, ", %d frames, leaf %v", n, word(v.Frames[0].Func.Name))
	case len(v.Frames) > 0:
		fmt.Fprintf(&s, ", %d frames, leaf %v", n, address(v.Frames[0].PC))
	default:
		fmt.Fprintf(&s, ", %d frames, leaf %v", n, address(v.PCs[0]))
	}
	for i := range e.Labels.List() {
		if fmt.Fprintf(&s, ", %s", labelText(&e.Labels.List()[i])); s.Len() > maxShown {
			return s.String()[:maxShown] + "..."
		}
	}
	return s.String()
}
