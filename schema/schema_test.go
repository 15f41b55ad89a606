package schema

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
)

// TestManifestOpcodes checks opcodes that are stated only by the runtime's ETW manifest, not by its EventPipe sources.
func TestManifestOpcodes(t *testing.T) {
	for id, want := range map[uint32]uint8{90: 11, 146: 103, 160: 33, 209: 209, 292: 11, 296: 15} {
		e := &ntconv.Event{Type: &ntconv.Type{Provider: clr.Runtime, ID: id}}
		if s := of(e); s.Opcode != want || s.OpcodeOf(e) != want || s.Name == "" {
			t.Errorf("event %d %s: opcode %d, want %d", id, s.Name, s.Opcode, want)
		}
	}
}

func TestOpcodeOf(t *testing.T) {
	label := func(n int64) *ntconv.Labels {
		return ntconv.NewLabels([]ntconv.Label{{Kind: ntconv.LabelOpcode, Num: n}})
	}
	for _, c := range []struct {
		typ    ntconv.Type
		labels *ntconv.Labels
		want   uint8
	}{
		{ntconv.Type{Provider: clr.Runtime, ID: 2}, nil, 2},
		{ntconv.Type{Provider: clr.Runtime, ID: 2}, label(8), 8},
		{ntconv.Type{Provider: clr.Runtime, ID: 2}, label(0), 0},
		{ntconv.Type{Provider: clr.Runtime, ID: 2}, ntconv.NewLabels([]ntconv.Label{{Kind: ntconv.LabelVersion, Num: 1}}), 2},
		{ntconv.Type{Provider: clr.Runtime, ID: 2, Opcode: 7}, nil, 7},
		{ntconv.Type{Provider: clr.Runtime, ID: 2, HasOpcode: true}, nil, 0},
		{ntconv.Type{Provider: "Shop", ID: 2, Opcode: 7}, label(8), 8},
		{ntconv.Type{Provider: "Shop", ID: 2}, nil, 0},
		{ntconv.Type{Provider: "System.Net.Http", ID: 9, Name: "RequestStop"}, nil, 2},
	} {
		e := &ntconv.Event{Type: &c.typ, Labels: c.labels}
		if got := of(e).OpcodeOf(e); got != c.want {
			t.Errorf("%+v %v: %d, want %d", c.typ, c.labels.List(), got, c.want)
		}
	}
	for n, want := range map[uint8]string{0: "Info", 1: "Start", 2: "Stop", 9: "Send", 10: "", 240: "Receive", 255: ""} {
		if got := OpcodeName(n); got != want {
			t.Errorf("opcode %d: %q, want %q", n, got, want)
		}
	}
}

func TestSchemaMembers(t *testing.T) {
	for _, c := range []struct {
		typ        ntconv.Type
		name, task string
		level      uint8
		keywords   string
	}{
		{ntconv.Type{Provider: clr.Runtime, ID: 10, Version: 4, Level: 5, Keywords: 1}, "GCAllocationTick", "GarbageCollection", 5, "GCKeyword"},
		{ntconv.Type{Provider: clr.Runtime, ID: 81, Version: 2}, "ContentionStart", "Contention", 4, "ContentionKeyword"},
		{ntconv.Type{Provider: "Shop", ID: 1, Name: "OrderStart", Keywords: 6}, "OrderStart", "Order", 0, "0x6"},
		{ntconv.Type{Provider: "Shop", ID: 1, Name: "Stop"}, "Stop", "Stop", 0, ""},
		{ntconv.Type{Provider: "Shop", ID: 1}, "", "", 0, ""},
	} {
		s := of(&ntconv.Event{Type: &c.typ})
		if s.Name != c.name || s.Task != c.task || s.Level != c.level || string(AppendKeywords(nil, s.Provider, s.Keywords)) != c.keywords {
			t.Errorf("%+v: %s of task %s, level %d, keywords %#x", c.typ, s.Name, s.Task, s.Level, s.Keywords)
		}
	}
	start := of(&ntconv.Event{Type: &ntconv.Type{Provider: clr.Runtime, ID: 1, Version: 2}})
	if got := start.ValueName("Type", 1); got != "BackgroundGC" || !start.HasValueNames("Type") || start.HasValueNames("Count") {
		t.Errorf("type 1 is called %q", got)
	}
}

// TestTable checks that equal types and versions share one schema, and that items without a type have an empty one.
func TestTable(t *testing.T) {
	var table Table
	gc := &ntconv.Type{Provider: clr.Runtime, ID: 2}
	first := &ntconv.Event{Type: gc}
	second := &ntconv.Event{Type: gc, Labels: ntconv.NewLabels([]ntconv.Label{{Kind: ntconv.LabelVersion, Num: 1}})}
	a, b := table.Of(first), table.Of(second)
	if a == b || len(a.Fields) != 2 || len(b.Fields) != 3 || table.Of(first) != a || table.Of(second) != b {
		t.Errorf("%v %v", a, b)
	}
	for _, e := range []*ntconv.Event{{Kind: ntconv.KindMark}, {Kind: ntconv.KindLost}, {Kind: ntconv.KindOpaque, Payload: []byte{1}}, {}} {
		s := table.Of(e)
		if s == nil || s.Name != "" || s.Fields != nil || s.OpcodeOf(e) != 0 || s.ValueName("x", 1) != "" || s.EndedBy() != nil {
			t.Fatalf("%v: %v", e.Kind, s)
		}
		for f := range s.Values(e) {
			t.Errorf("%v has a field %s", e.Kind, f.Name)
		}
		p, missing := s.Project("x")
		var v [1]ntconv.Value
		if p.Read(e, v[:]); len(missing) != 1 || v[0].Kind() != ntconv.ValueNull {
			t.Errorf("%v: %v", e.Kind, v)
		}
	}
	if s := table.Of(&ntconv.Event{Kind: ntconv.KindDefine, Type: gc}); s != a {
		t.Error("a declared type has another schema than its events")
	}
	if n := testing.AllocsPerRun(100, func() { table.Of(first); table.Of(second) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzValues asserts that decoding any payload with any schema of the tables terminates, and that a projection agrees.
func FuzzValues(f *testing.F) {
	for _, e := range sampleEvents(f) {
		f.Add(e.Type.Provider, e.Type.ID, e.Type.Name, e.Type.Version, false, e.Payload)
		f.Add(e.Type.Provider, e.Type.ID, e.Type.Name, e.Type.Version, true, e.Payload[:len(e.Payload)/2])
	}
	f.Fuzz(func(t *testing.T, provider string, id uint32, name string, version uint8, narrow bool, payload []byte) {
		e := &ntconv.Event{Type: &ntconv.Type{Provider: provider, ID: id, Name: name, Version: version}, Payload: payload}
		if narrow {
			e.Thread = &ntconv.Thread{Process: &ntconv.Process{PointerSize: 4}}
		}
		s := of(e)
		n, failed := 0, false
		for f, v := range s.Values(e) {
			if n++; n <= len(s.Fields) && failed && v.Kind() != ntconv.ValueError {
				t.Fatalf("%s: %v after an error", f.Name, v)
			}
			failed = failed || v.Kind() == ntconv.ValueError
		}
		if failed && n < len(s.Fields) {
			t.Fatalf("%d values of %d fields after an error", n, len(s.Fields))
		}
		checkProjection(t, s, e)
	})
}
