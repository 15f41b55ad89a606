package chromeevent_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// ordered is a JSON value that preserves the order of members and the text of numbers.
func ordered(t testing.TB, text []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	v, err := orderedValue(dec)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func orderedValue(dec *json.Decoder) (any, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch v := tok.(type) {
	case json.Number:
		r, ok := new(big.Rat).SetString(v.String())
		if !ok {
			return nil, fmt.Errorf("number %s", v)
		}
		return r.String(), nil
	case json.Delim:
		list := []any{v.String()}
		for dec.More() {
			e, err := orderedValue(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, e)
		}
		_, err := dec.Token()
		return list, err
	}
	return tok, nil
}

// sorted returns the members of an object by name, with the values of equal names in order.
func sorted(object any) map[string][]any {
	m := map[string][]any{}
	list := object.([]any)[1:]
	for i := 0; i < len(list); i += 2 {
		name := list[i].(string)
		m[name] = append(m[name], list[i+1])
	}
	return m
}

// roundTrip converts an event to events of a trace and back. It returns the result and the events of the trace.
func roundTrip(t testing.TB, p *chromeevent.Parser, enc *chromeevent.Encoder, dec *chromeevent.Decoder, owners *chromeevent.Owners, text []byte) ([]byte, []*ntconv.Event) {
	t.Helper()
	if end, err := jsonio.Skip(text, 0); err != nil || end != len(text) {
		t.Fatalf("%s: %d, %v", text, end, err)
	}
	var e chromeevent.Event
	p.Parse(text, &e)
	thread := owners.Thread(e.PID, e.TID)
	like := ntconv.Event{Thread: thread, Capture: thread, CPU: ntconv.CPUUnknown, Offset: -1, Time: 1000}
	if e.Has&chromeevent.HasTime != 0 {
		like.Time = ntconv.Ticks(e.Time)
	}
	enc.Encode(&e, &like)
	var events []*ntconv.Event
	var out []byte
	for ev := enc.Next(); ev != nil; ev = enc.Next() {
		if len(ev.Payload) > 65_000 {
			t.Errorf("payload of %d bytes", len(ev.Payload))
		}
		if out != nil {
			t.Error("an event after the last one")
		}
		phase, ok := chromeevent.Of(ev.Type)
		if !ok || phase != "" && phase != e.Phase {
			t.Errorf("%s: phase %q, %v", text, phase, ok)
		}
		events = append(events, ev.Clone())
		if got, ok := dec.Decode(ev); ok {
			out = chromeevent.AppendJSON(nil, got)
		}
	}
	return out, events
}

func checkSame(t testing.TB, got, want []byte) {
	t.Helper()
	if got == nil {
		t.Errorf("%.300s: no event", want)
		return
	}
	if g, w := sorted(ordered(t, got)), sorted(ordered(t, want)); !reflect.DeepEqual(g, w) {
		t.Errorf("got  %.2000s\nwant %.2000s", got, want)
	}
}

// catalogue returns events of every phase and values of every kind.
func catalogue(tb testing.TB) []string {
	return strings.Split(strings.TrimSpace(string(corpus.Read(tb, "testdata/catalogue.jsonl"))), "\n")
}

func TestCatalogue(t *testing.T) {
	var p chromeevent.Parser
	var owners chromeevent.Owners
	enc, report := chromeevent.NewEncoder(), &ntconv.Report{}
	dec := chromeevent.NewDecoder(report)
	for range 2 { // the second pass uses existing types
		for _, text := range catalogue(t) {
			got, events := roundTrip(t, &p, enc, dec, &owners, []byte(text))
			checkSame(t, got, []byte(text))
			for _, e := range events {
				for f, v := range e.Fields() {
					if v.Kind() == ntconv.ValueError || v.Kind() == ntconv.ValueNull {
						t.Errorf("%s: field %s: %v", text, f.Name, v.Err())
					}
				}
			}
		}
	}
	if len(report.Entries()) > 0 || p.Rounded > 0 || p.Repaired > 0 {
		t.Error(report.Entries(), p.Rounded, p.Repaired)
	}
}

// TestLarge covers events that are too large for one payload, or have parts that are.
func TestLarge(t *testing.T) {
	var p chromeevent.Parser
	var owners chromeevent.Owners
	enc, report := chromeevent.NewEncoder(), &ntconv.Report{}
	dec := chromeevent.NewDecoder(report)
	long := strings.Repeat("ä", 100_000)
	for _, text := range []string{
		`{"name":"a","cat":"c","ph":"X","ts":1.5,"dur":2,"pid":1,"tid":2,"args":{"s":"` + long + `","n":[` + strings.Repeat("1,", 70_000) + `2]}}`,
		`{"name":"` + long + `","cat":"c","ph":"X","ts":1.5,"dur":2,"pid":1,"tid":2,"args":{}}`,
		`{"name":"` + long[:4000] + `","cat":"c","ph":"X","ts":1.5,"dur":2,"pid":1,"tid":2,"args":{}}`,
		`{"name":"a","cat":"c","ph":"b","id":"` + long + `","ts":1.5,"x":"` + long + `"}`,
		`{"name":"a","ph":"M","ts":1.5,"args":{` + strings.Repeat(`"k":1,`, 20_000) + `"l":2}}`,
	} {
		got, _ := roundTrip(t, &p, enc, dec, &owners, []byte(text))
		checkSame(t, got, []byte(text))
	}
	if len(report.Entries()) > 0 {
		t.Error(report.Entries())
	}
}

// TestTypesAreBounded encodes events with more names and shapes than the limit of types.
func TestTypesAreBounded(t *testing.T) {
	var p chromeevent.Parser
	var owners chromeevent.Owners
	enc, dec := chromeevent.NewEncoder(), chromeevent.NewDecoder(nil)
	types := map[*ntconv.Type]bool{}
	check := func(text string) {
		got, events := roundTrip(t, &p, enc, dec, &owners, []byte(text))
		checkSame(t, got, []byte(text))
		for _, e := range events {
			types[e.Type] = true
		}
	}
	for i := range 100 {
		check(fmt.Sprintf(`{"name":"shapes","ph":"X","ts":1,"dur":%d,"args":{"k%d":1}}`, i, i))
	}
	if len(types) > 65 {
		t.Errorf("%d types of one event", len(types))
	}
	long := strings.Repeat("x", 70_000)
	for i := range 6000 {
		check(fmt.Sprintf(`{"name":"n%d","cat":"c","ph":"X","ts":1,"dur":%d,"args":{"k":1}}`, i, i))
	}
	for i := range 600 {
		check(fmt.Sprintf(`{"name":"n%d","cat":"c","ph":"%d","ts":1,"args":{"k":1.5}}`, i, i))
		if i < 100 {
			check(fmt.Sprintf(`{"name":"m%d","cat":"c","ph":"i","ts":1,"args":{"k":%q}}`, i, long))
		}
	}
	if len(types) > 4096 {
		t.Errorf("%d types", len(types))
	}
}

// TestAllocations checks that events of known types are encoded and decoded without an allocation.
func TestAllocations(t *testing.T) {
	var p chromeevent.Parser
	var owners chromeevent.Owners
	enc, dec := chromeevent.NewEncoder(), chromeevent.NewDecoder(nil)
	for _, text := range catalogue(t)[:6] {
		var e chromeevent.Event
		var out []byte
		in := []byte(text)
		once := func() {
			p.Parse(in, &e)
			thread := owners.Thread(e.PID, e.TID)
			like := ntconv.Event{Thread: thread, Capture: thread, Time: ntconv.Ticks(e.Time)}
			enc.Encode(&e, &like)
			for ev := enc.Next(); ev != nil; ev = enc.Next() {
				if got, ok := dec.Decode(ev); ok {
					out = chromeevent.AppendJSON(out[:0], got)
				}
			}
		}
		once()
		if n := testing.AllocsPerRun(100, once); n > 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

// An event whose name or category is too long for a type, or has a character that no type may have, still has a duration
// and args as fields, and its names as fields, too. Types state the start of the names.
func TestLongNames(t *testing.T) {
	var p chromeevent.Parser
	var owners chromeevent.Owners
	enc, report := chromeevent.NewEncoder(), &ntconv.Report{}
	dec := chromeevent.NewDecoder(report)
	types := map[*ntconv.Type]bool{}
	long := "y" + strings.Repeat("ä", 900)
	for _, c := range []struct{ name, category, typeName, provider string }{
		{long, "c", long[:1023], "c"}, {long + "2", "c", long[:1023], "c"}, {"n", long, "n", long[:1023]}, {long, long, long[:1023], long[:1023]},
		{`a\u0000b`, "c", "a", "c"}, {`\u0000b`, "c", "X", "c"}, {long[:1023], "c", long[:1023], "c"},
	} {
		text := fmt.Sprintf(`{"name":"%s","cat":"%s","ph":"X","ts":1,"dur":2.5,"pid":1,"tid":2,"args":{"k":7}}`, c.name, c.category)
		got, events := roundTrip(t, &p, enc, dec, &owners, []byte(text))
		checkSame(t, got, []byte(text))
		e := events[0]
		types[e.Type] = true
		if e.Type.Name != c.typeName || e.Type.Provider != c.provider {
			t.Errorf("%.100s: the type is %.40s/%.40s", text, e.Type.Provider, e.Type.Name)
		}
		for field, want := range map[string]int64{"dur_ns": 2500, "k": 7} {
			if v, _ := e.Field(field); v.Kind() != ntconv.ValueInt || v.Int() != want {
				t.Errorf("%.100s: %s is %v, want %d", text, field, v, want)
			}
		}
	}
	if len(types) != 6 { // names with the same start have the same type
		t.Errorf("%d types, want 6", len(types))
	}
	if len(report.Entries()) > 0 {
		t.Error(report.Entries())
	}
}

// The generic type, which events have if there are too many other types, has the duration as a field.
func TestGenericDuration(t *testing.T) {
	var p chromeevent.Parser
	var owners chromeevent.Owners
	enc, dec := chromeevent.NewEncoder(), chromeevent.NewDecoder(nil)
	for i := range 5000 {
		text := fmt.Sprintf(`{"name":"n%d","ph":"X","ts":1,"dur":2.5,"tdur":%d}`, i, i)
		got, events := roundTrip(t, &p, enc, dec, &owners, []byte(text))
		if v, _ := events[0].Field("dur_ns"); v.Kind() != ntconv.ValueInt || v.Int() != 2500 {
			t.Fatalf("%s: dur_ns is %v", text, v)
		}
		checkSame(t, got, []byte(text))
	}
}
