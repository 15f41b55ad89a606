package schema

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
)

// latest returns the schema of the latest version of an event in the tables.
func latest(t *testing.T, table *Table, provider, name string) *Schema {
	t.Helper()
	for id := range uint32(400) {
		if l := clr.Lookup(provider, id, 255); l != nil && l.Name() == name {
			typ := &ntconv.Type{Provider: provider, ID: id, Version: l.Version}
			if !clr.IsRuntime(provider) {
				typ.Name = name
			}
			return table.Of(&ntconv.Event{Type: typ})
		}
	}
	t.Errorf("%s has no event %s", provider, name)
	return empty
}

// TestKnownPairs checks that the events of every pair exist, that their schemas have the pair, and that they have its
// key.
func TestKnownPairs(t *testing.T) {
	var table Table
	for _, o := range operation.All() {
		if o.Begin == "" {
			continue
		}
		p := table.pair(Pair{Provider: o.Provider, Name: o.Pair, Begin: o.Begin, End: o.End, Key: Key(o.Key), Field: o.Field})
		begin := latest(t, &table, o.Provider, o.Begin)
		if !slices.Contains(begin.EndedBy(), p) {
			t.Errorf("%s does not begin %v", o.Begin, p)
		}
		ends := []*Schema{begin}
		for _, name := range o.End {
			if name == "" {
				continue
			}
			end := latest(t, &table, o.Provider, name)
			if !slices.Contains(end.Ends(), p) {
				t.Errorf("%s does not end %v", name, p)
			}
			ends = append(ends, end)
		}
		for _, s := range ends {
			if p.Field != "" && s.Lookup(Path{p.Field}) == nil {
				t.Errorf("%s has no field %s", s.Name, p.Field)
			}
		}
		if (p.Key == KeyField || p.Key == KeyThreadField) != (p.Field != "") {
			t.Errorf("%v: key and field disagree", p)
		}
	}
}

func TestSourcePairs(t *testing.T) {
	var table Table
	stated := func(name string, opcode uint8) *ntconv.Type {
		return &ntconv.Type{Provider: "Shop", Name: name, Opcode: opcode, HasOpcode: true}
	}
	for _, c := range []struct {
		typ         *ntconv.Type
		begin, ends string // name of the pair
	}{
		{&ntconv.Type{Provider: "Shop", Name: "OrderStart"}, "Order", ""},
		{&ntconv.Type{Provider: "Shop", Name: "OrderStop"}, "", "Order"},
		{&ntconv.Type{Provider: "System.Net.Http", Name: "RequestStart"}, "Request", ""},
		{&ntconv.Type{Provider: "System.Net.Http", Name: "RequestStop"}, "", "Request"},
		{&ntconv.Type{Provider: "System.Net.Http", Name: "RequestFailed"}, "", ""},
		{stated("OrderStart", 1), "Order", ""}, {stated("OrderStop", 2), "", "Order"}, {stated("OrderStart", 0), "", ""}, {stated("OrderStart", 9), "", ""},
		{stated("Order", 1), "Order", ""}, {stated("Order", 2), "", "Order"}, {stated("OrderBegin", 1), "Order", ""}, {stated("OrderEnd", 2), "", "Order"},
		{stated("Order", 0), "", ""}, {stated("", 1), "", ""}, {&ntconv.Type{Provider: "Shop", Name: "Start"}, "", ""},
		{&ntconv.Type{Provider: clr.Runtime, ID: 60}, "", ""}, // has opcode 1 but reports a count of threads
	} {
		s := table.Of(&ntconv.Event{Type: c.typ})
		begin, end := "", ""
		for _, p := range s.EndedBy() {
			begin = p.Name
		}
		for _, p := range s.Ends() {
			end = p.Name
		}
		if begin != c.begin || end != c.ends {
			t.Errorf("%s opcode %d: begins %q, ends %q, want %q, %q", c.typ.Name, c.typ.Opcode, begin, end, c.begin, c.ends)
		}
	}
	start, stop := table.Of(&ntconv.Event{Type: stated("OrderStart", 1)}), table.Of(&ntconv.Event{Type: stated("OrderStop", 2)})
	if start.EndedBy()[0] != stop.Ends()[0] {
		t.Error("start and stop have two pairs")
	}
}

// A matching pairs the events of a trace in the way of a consumer.
type matching struct {
	table  Table
	fields map[*Pair]map[*Schema]*Projection
	open   map[PairKey]int
	begins map[string]int
	ended  map[string]int
}

func (m *matching) key(p *Pair, s *Schema, e *ntconv.Event) (PairKey, bool) {
	var v [1]ntconv.Value
	if p.Key == KeyField {
		if m.fields[p] == nil {
			m.fields[p] = map[*Schema]*Projection{}
		}
		if m.fields[p][s] == nil {
			m.fields[p][s], _ = s.Project(p.Field)
		}
		m.fields[p][s].Read(e, v[:])
	}
	return p.KeyOf(e, v[0])
}

func (m *matching) see(e *ntconv.Event) {
	s := m.table.Of(e)
	for _, p := range s.Ends() {
		if k, ok := m.key(p, s, e); ok && m.open[k] > 0 {
			m.open[k]--
			m.ended[p.Name]++
		}
	}
	for _, p := range s.EndedBy() {
		if k, ok := m.key(p, s, e); ok {
			m.open[k]++
			m.begins[p.Name]++
		}
	}
}

func matchTrace(t *testing.T, f corpus.File) *matching {
	t.Helper()
	src, err := reader.New(bytes.NewReader(f.Data), nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &matching{fields: map[*Pair]map[*Schema]*Projection{}, open: map[PairKey]int{}, begins: map[string]int{}, ended: map[string]int{}}
	for e, err := range ntconv.Events(src) {
		if err != nil {
			break
		}
		if e.Kind == ntconv.KindEvent {
			m.see(e)
		}
	}
	return m
}

// TestPairsOfTraces checks that nearly all intervals that begin in a trace also end in it.
func TestPairsOfTraces(t *testing.T) {
	begins, ended := map[string]int{}, map[string]int{}
	for _, f := range corpus.SharedTraces(t) {
		m := matchTrace(t, f)
		for name, n := range m.begins {
			begins[name] += n
			ended[name] += m.ended[name]
		}
	}
	for name, atLeast := range map[string]int{
		"GC": 40, "Suspension": 5000, "GCSuspendEE": 5000, "GCRestartEE": 5000, "GCFinalizers": 40, "Exception": 1000, "ExceptionCatch": 1000,
		"Contention": 200, "MethodJitting": 500, "TypeLoad": 1000, "AssemblyLoad": 200, "WaitHandleWait": 20, "ThreadCreation": 1000,
		"Task": 10, "TaskWait": 10, "TaskQueue": 10, "TraceOperation": 20, "Request": 10, "Activity": 100, "RundownEnd": 10,
	} {
		if n := begins[name]; corpus.Nightly() && n < atLeast || ended[name]*10 < n*9 { // other tests read a part of the traces
			t.Errorf("%s: %d of %d ended, want 90%% of at least %d", name, ended[name], n, atLeast)
		}
	}
	t.Log(ended, begins)
}
