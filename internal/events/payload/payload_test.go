package payload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/layout"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/eventgen"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/schema"
)

// traces returns the traces of testdata and, unless -short is set, those of the reference data.
func traces(t testing.TB) []corpus.File {
	files := corpus.Traces(t)
	if _, err := corpus.Find("data"); err == nil && !testing.Short() {
		files = append(files, corpus.SharedTraces(t)...)
	}
	return files
}

// eachEvent calls f for the events of a trace, up to its end or the first error.
func eachEvent(data []byte, f func(*ntconv.Event)) {
	src, err := reader.New(bytes.NewReader(data), nil)
	if err != nil {
		return
	}
	for e, err := range ntconv.Events(src) {
		if err != nil {
			return
		}
		if e.Kind == ntconv.KindEvent {
			f(e)
		}
	}
}

// checkAppend checks the contract of Encoder.Append for an event, and returns the results of Append.
func checkAppend(t testing.TB, enc *Encoder, decoders map[any]*Decoder, e *ntconv.Event, s *schema.Schema) (text []byte, exact bool) {
	t.Helper()
	text, exact = enc.Append(nil, e, s)
	if len(text) > 0 && !json.Valid(text) {
		t.Fatalf("%s %s: not JSON: %.300s", s.Provider, s.Name, text)
	}
	if (len(text) == 0) != (len(e.Payload) == 0) {
		t.Fatalf("%s %s: %q for %d bytes", s.Provider, s.Name, text, len(e.Payload))
	}
	fields, ok := enc.Layout(s)
	if !ok && exact && len(text) > 0 {
		t.Fatalf("%s %s: exact without a layout", s.Provider, s.Name)
	}
	if !exact {
		return text, exact
	}
	key := [2]any{s, e.PointerSize()}
	if decoders[key] == nil {
		decoders[key] = NewDecoder(fields, e.PointerSize())
	}
	back, err := decoders[key].Append([]byte("before"), text)
	if err != nil || string(back) != "before"+string(e.Payload) {
		t.Fatalf("%s %s: exact, but %s\nis    %x (%v)\nnot   %x", s.Provider, s.Name, text, back[len("before"):], err, e.Payload)
	}
	return text, exact
}

// same compares parsed JSON with a value, independently of the code under test.
func same(x any, t *ntconv.FieldType, v ntconv.Value) bool {
	switch v.Kind() {
	case ntconv.ValueNull:
		return x == nil
	case ntconv.ValueBool:
		return x == v.Bool()
	case ntconv.ValueInt, ntconv.ValueUint:
		return fmt.Sprint(x) == v.String()
	case ntconv.ValueFloat:
		if n, ok := x.(json.Number); ok {
			f, err := strconv.ParseFloat(n.String(), 64)
			return err == nil && (f == v.Float() || t.Code == ntconv.TypeFloat32 && float32(f) == float32(v.Float()))
		}
		return fmt.Sprint(x) == map[bool]string{true: "NaN"}[v.Float() != v.Float()] || math.IsInf(v.Float(), 0) && strings.HasSuffix(fmt.Sprint(x), "Infinity")
	case ntconv.ValueString, ntconv.ValueGUID:
		return x == v.String()
	case ntconv.ValueBytes:
		return x == fmt.Sprintf("hex:%x", v.Bytes())
	case ntconv.ValueTime:
		if at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(x)); err == nil {
			return at.Equal(v.Time())
		}
		return v.FileTime() > maxTime
	case ntconv.ValueList:
		list, ok := x.([]any)
		i := 0
		for m := range v.Elems() {
			ok = ok && i < len(list) && same(list[i], t.Elem, m)
			i++
		}
		return ok && i == len(list)
	case ntconv.ValueObject:
		members, ok := x.(map[string]any)
		for f, m := range v.Fields() {
			if f.Type.Code != ntconv.TypePad64 && uniqueNames(t.Fields) {
				ok = ok && same(members[f.Name], &f.Type, m)
			}
		}
		return ok
	}
	object, ok := x.(map[string]any)
	return ok && object["error"] == strings.ToValidUTF8(v.Err().Error(), "\ufffd")
}

func uniqueNames(fields []ntconv.Field) bool {
	seen := map[string]bool{}
	for i := range fields {
		name := strings.ToValidUTF8(fields[i].Name, "\ufffd")
		if seen[name] || name != fields[i].Name || strings.Contains(name, "_") {
			return false
		}
		seen[name] = true
	}
	return true
}

// checkValues compares JSON with the values of the schema.
func checkValues(t testing.TB, text []byte, e *ntconv.Event, s *schema.Schema) {
	t.Helper()
	if len(text) == 0 {
		return
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var members map[string]any
	if err := d.Decode(&members); err != nil {
		t.Fatal(err)
	}
	count, unique := 0, uniqueNames(s.Fields)
	for f, v := range s.Values(e) {
		if f.Type.Code == ntconv.TypePad64 {
			continue
		}
		count++
		if unique && !same(members[f.Name], &f.Type, v) && count <= len(s.Fields) {
			t.Fatalf("%s %s: field %s is %v: %.500s", s.Provider, s.Name, f.Name, v, text)
		}
	}
	if count != len(members) {
		t.Fatalf("%s %s: %d fields, %d members: %.500s", s.Provider, s.Name, count, len(members), text)
	}
}

func TestTraces(t *testing.T) {
	total, restored := 0, 0
	for _, f := range traces(t) {
		var table schema.Table
		var enc Encoder
		decoders := map[any]*Decoder{}
		seen := map[*schema.Schema]int{}
		events, exact := 0, 0
		inexact := map[string]int{}
		eachEvent(f.Data, func(e *ntconv.Event) {
			s := table.Of(e)
			text, ok := checkAppend(t, &enc, decoders, e, s)
			if seen[s]++; seen[s] < 100 || seen[s]%64 == 0 {
				checkValues(t, text, e, s)
			}
			events++
			if ok {
				exact++
			} else {
				inexact[s.Provider+" "+s.Name+" "+strconv.Itoa(int(s.ID))]++
			}
		})
		total, restored = total+events, restored+exact
		if exact < events {
			t.Logf("%s: %d of %d events are exact, not %v", f.Name, exact, events, inexact)
		}
	}
	t.Logf("%d of %d events are exact", restored, total)
	if restored < total*9/10 {
		t.Error("too few")
	}
}

// anyEvent generates an event of any layout, sometimes with a payload that does not fit the layout.
func anyEvent(rt *rapid.T) *ntconv.Event {
	codes := rapid.SampledFrom([]eventgen.Codes{eventgen.AllCodes, eventgen.WireCodes}).Draw(rt, "codes")
	fields := eventgen.Fields(codes).Draw(rt, "fields")
	ptr := rapid.SampledFrom([]int{4, 8}).Draw(rt, "pointer size")
	payload, err := ntconv.AppendFields(nil, fields, eventgen.Values(fields, ptr).Draw(rt, "values"), ptr)
	if err != nil {
		rt.Skip(err)
	}
	switch rapid.IntRange(0, 3).Draw(rt, "what") {
	case 0:
		payload = payload[:rapid.IntRange(0, len(payload)).Draw(rt, "cut")]
	case 1:
		if len(payload) > 0 {
			payload[rapid.IntRange(0, len(payload)-1).Draw(rt, "at")] ^= rapid.Byte().Draw(rt, "by")
		}
	}
	e := &ntconv.Event{Type: &ntconv.Type{Provider: "Shop", Name: "E", ID: 1, Fields: fields}, Payload: payload}
	e.Thread = &ntconv.Thread{Process: &ntconv.Process{PointerSize: uint8(ptr)}}
	return e
}

func TestAnyLayout(t *testing.T) {
	events, restored, fast := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		e := anyEvent(rt)
		var table schema.Table
		s := table.Of(e)
		var enc Encoder
		text, exact := checkAppend(t, &enc, map[any]*Decoder{}, e, s)
		checkValues(t, text, e, s)
		checkProgram(t, Compile(s), e, s)
		if events++; exact {
			restored++
		}
		if p := enc.recent[s.ID%recentPrograms]; p != nil && len(text) > 0 {
			if p.wide.Plain {
				fast++
			}
			p.wide.Plain = false
			if slow, slowExact := enc.Append(nil, e, s); string(slow) != string(text) || exact && !slowExact {
				rt.Fatalf("fast path %s %v, slow path %s %v", text, exact, slow, slowExact)
			}
		}
	})
	t.Logf("%d of %d exact, %d plain", restored, events, fast)
}

// TestLayoutRestoresAll encodes several payloads of a type, some of them corrupt, and then restores those that were
// exact.
func TestLayoutRestoresAll(t *testing.T) {
	slim, wide := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		fields := eventgen.Fields(eventgen.WireCodes).Draw(rt, "fields")
		fields = append(fields, ntconv.Field{Name: "Flag", Type: ntconv.FieldType{Code: ntconv.TypeBool32}})
		typ := &ntconv.Type{Provider: "Shop", Name: "E", ID: 1, Fields: fields}
		var table schema.Table
		var enc Encoder
		var documents, payloads [][]byte
		for range rapid.IntRange(1, 4).Draw(rt, "events") {
			written := fields
			if rapid.Bool().Draw(rt, "narrow") {
				written = layout.Short(fields)
			}
			payload, err := ntconv.AppendFields(nil, written, eventgen.Values(written, 8).Draw(rt, "values"), 8)
			if err != nil {
				rt.Skip(err)
			}
			if rapid.IntRange(0, 3).Draw(rt, "what") == 0 {
				payload = payload[:rapid.IntRange(0, len(payload)).Draw(rt, "cut")]
			}
			e := &ntconv.Event{Type: typ, Payload: payload}
			text, exact := enc.Append(nil, e, table.Of(e))
			checkValues(t, text, e, table.Of(e))
			if exact {
				documents, payloads = append(documents, text), append(payloads, payload)
			}
		}
		layout, ok := enc.Layout(table.Of(&ntconv.Event{Type: typ}))
		d := NewDecoder(layout, 8)
		for i := range documents {
			back, err := d.Append(nil, documents[i])
			if !ok || err != nil || !bytes.Equal(back, payloads[i]) {
				rt.Fatalf("%s: %x (%v), not %x", documents[i], back, err, payloads[i])
			}
		}
		if len(documents) > 0 && layout[len(layout)-1].Type.Code == ntconv.TypeBool8 {
			slim++
		} else if len(documents) > 0 {
			wide++
		}
	})
	if !testing.Short() && (slim == 0 || wide == 0) { // a short test draws too few types
		t.Errorf("%d narrow and %d wide layouts", slim, wide)
	}
}

// checkProgram compares cells with the values of the schema.
func checkProgram(t testing.TB, p *Program, e *ntconv.Event, s *schema.Schema) {
	t.Helper()
	cells := make([]Cell, len(s.Fields))
	for i := range cells {
		cells[i] = Cell{ntconv.ValueError, 77, []byte("rest of the event before")}
	}
	read, text, err := p.Read(cells, []byte("before"), e.Payload, e.PointerSize())
	if !bytes.HasPrefix(text, []byte("before")) {
		t.Fatalf("text %q", text)
	}
	i := 0
	var first error
	for f, v := range s.Values(e) {
		if i == len(cells) {
			break
		}
		c := cells[i]
		want := Cell{Kind: v.Kind()}
		switch v.Kind() {
		case ntconv.ValueString, ntconv.ValueGUID:
			want.Bytes = []byte(v.String())
		case ntconv.ValueBytes:
			want.Bytes = v.Bytes()
		case ntconv.ValueFloat:
			want.Bits = math.Float64bits(v.Float())
		case ntconv.ValueTime:
			want.Bits = v.FileTime()
		case ntconv.ValueBool:
			want.Bits = map[bool]uint64{true: 1}[v.Bool()]
		case ntconv.ValueError:
			if want.Kind = ntconv.ValueNull; first == nil {
				first = v.Err()
			}
		case ntconv.ValueList, ntconv.ValueObject:
			var parsed any
			d := json.NewDecoder(bytes.NewReader(p.AppendJSON(nil, i)))
			d.UseNumber()
			if d.Decode(&parsed) != nil || !same(parsed, &f.Type, v) {
				t.Fatalf("%s is %s", f.Name, p.AppendJSON(nil, i))
			}
		default:
			want.Bits = v.Uint()
		}
		if c.Kind != want.Kind || c.Bits != want.Bits || !bytes.Equal(c.Bytes, want.Bytes) {
			t.Fatalf("%s %s: cell of %s is %v, want %v", s.Provider, s.Name, f.Name, c, want)
		}
		i++
	}
	if i != len(read) {
		t.Fatalf("%s %s: %d cells, want %d", s.Provider, s.Name, len(read), i)
	}
	if fmt.Sprint(err) != fmt.Sprint(first) {
		t.Fatalf("error %v, want %v", err, first)
	}
}

func TestProgramOfTraces(t *testing.T) {
	for _, f := range corpus.Traces(t) {
		var table schema.Table
		programs := map[*schema.Schema]*Program{}
		eachEvent(f.Data, func(e *ntconv.Event) {
			s := table.Of(e)
			if programs[s] == nil {
				programs[s] = Compile(s)
			}
			checkProgram(t, programs[s], e, s)
			data := programs[s].AppendData(nil)
			if len(data) > 0 && (!s.IsDynamic() || !json.Valid(data)) {
				t.Fatalf("data %s", data)
			}
		})
	}
}

// TestMissingFieldsRoundTrip checks that the JSON of a payload that ends early has no fields after its end and restores
// the payload, whether or not the fields after the end need bytes.
func TestMissingFieldsRoundTrip(t *testing.T) {
	number := ntconv.FieldType{Code: ntconv.TypeInt32}
	fields := []ntconv.Field{{Name: "a", Type: number}}
	for range 4095 {
		fields = append(fields, ntconv.Field{Name: "b", Type: number})
	}
	fields = append(fields, ntconv.Field{Name: "c", Type: ntconv.FieldType{Code: ntconv.TypeRest}})
	typ := &ntconv.Type{Provider: "P", ID: 1, Name: "E", Fields: fields}
	var enc Encoder
	var table schema.Table
	d := NewDecoder(fields, 8)
	for n, want := range map[int]string{4: `{"a":7}`, 8: `{"a":7,"b":0}`} {
		e := &ntconv.Event{Type: typ, Payload: append([]byte{7}, make([]byte, n-1)...)}
		s := table.Of(e)
		text, exact := enc.Append(nil, e, s)
		if string(text) != want || !exact {
			t.Errorf("%d bytes: %s, exact %t; want %s", n, text, exact, want)
		}
		if b, err := d.Append(nil, text); err != nil || !bytes.Equal(b, e.Payload) || d.anyOrder {
			t.Errorf("%s restores %x, %v; searched for its members: %t", text, b, err, d.anyOrder)
		}
		cells, _, err := Compile(s).Read(make([]Cell, len(fields)), nil, e.Payload, 8)
		if len(cells) != n/4 || err != nil {
			t.Errorf("%d bytes: %d cells, %v", n, len(cells), err)
		}
	}
	for _, bad := range []string{`{"a":7,}`, `{,}`, `{"a":7`, `{"a":7}}`} {
		if b, err := d.Append(nil, []byte(bad)); err == nil {
			t.Errorf("%s restores %x", bad, b)
		}
	}
}
