package schema

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/eventgen"
	"github.com/ntconv/ntconv/reader"
)

func names(fields []ntconv.Field) (all []string) {
	for _, f := range fields {
		if f.Name != "" {
			all = append(all, f.Name)
		}
	}
	return all
}

// checkProjection compares Values with projections of all fields, of each single field and of every second field.
func checkProjection(t *testing.T, s *Schema, e *ntconv.Event) (values int) {
	t.Helper()
	want := map[string]string{}
	for f, v := range s.Values(e) {
		if _, ok := want[f.Name]; !ok {
			want[f.Name] = f.Name + "=" + show(v)
		}
	}
	all := names(s.Fields)
	choices := [][]string{all, slices.Clone(all)}
	slices.Reverse(choices[1])
	for i := range all {
		choices = append(choices, all[i:i+1], []string{all[len(all)-1], all[i], "no such field", all[i]})
	}
	for _, choice := range choices {
		p, _ := s.Project(choice...)
		dst := make([]ntconv.Value, len(choice))
		p.Read(e, dst)
		for i, name := range choice {
			w, ok := want[name]
			if !ok { // a path without a field, or a managed event without a payload
				w = name + "=null"
			}
			if got := name + "=" + show(dst[i]); got != w {
				t.Fatalf("%s %s, projection of %q: %.300s, want %.300s", s.Provider, s.Name, choice, got, w)
			}
			values++
		}
	}
	return values
}

// TestProjectionIsIteration truncates payloads at every byte.
func TestProjectionIsIteration(t *testing.T) {
	for _, e := range sampleEvents(t) {
		s := of(e)
		whole := e.Payload
		for n := range len(whole) + 1 {
			if len(whole) > 300 && n%7 > 0 && n < len(whole) {
				continue
			}
			e.Payload = whole[:n]
			checkProjection(t, s, e)
			e.Thread = &ntconv.Thread{Process: &ntconv.Process{PointerSize: 4}}
			checkProjection(t, s, e)
			e.Thread = nil
		}
	}
}

// TestProjectionOfAnyLayout covers locations, counts and nested objects before and after the requested fields.
func TestProjectionOfAnyLayout(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fields := eventgen.Fields(eventgen.AllCodes).Draw(rt, "fields")
		for i := range fields {
			fields[i].Name = fmt.Sprint("f", i)
		}
		ptr := rapid.SampledFrom([]int{4, 8}).Draw(rt, "pointer size")
		payload, err := ntconv.AppendFields(nil, fields, eventgen.Values(fields, ptr).Draw(rt, "values"), ptr)
		if err != nil || len(fields) == 0 {
			return
		}
		payload = payload[:rapid.IntRange(0, len(payload)).Draw(rt, "cut")]
		if rapid.Bool().Draw(rt, "damage") && len(payload) > 0 {
			payload[rapid.IntRange(0, len(payload)-1).Draw(rt, "at")] ^= 0x41
		}
		e := &ntconv.Event{Type: &ntconv.Type{Provider: "Shop", Fields: fields}, Payload: payload}
		e.Thread = &ntconv.Thread{Process: &ntconv.Process{PointerSize: uint8(ptr)}}
		checkProjection(t, of(e), e)
	})
}

// TestProjectionOfTraces checks the first events of every type in real traces.
func TestProjectionOfTraces(t *testing.T) {
	events, values := 0, 0
	for _, f := range append(corpus.SharedTraces(t), corpus.Traces(t)...) {
		src, err := reader.New(bytes.NewReader(f.Data), nil)
		if err != nil {
			continue
		}
		var table Table
		seen := map[*Schema]int{}
		for e, err := range ntconv.Events(src) {
			if err != nil {
				break
			}
			s := table.Of(e)
			if seen[s]++; e.Kind == ntconv.KindEvent && seen[s] <= 3 {
				events++
				values += checkProjection(t, s, e)
			}
		}
	}
	t.Log(events, "events", values, "values")
	if values < 10000 {
		t.Errorf("%d values compared", values)
	}
}

func TestPaths(t *testing.T) {
	u32, text := ntconv.FieldType{Code: ntconv.TypeUint32}, ntconv.FieldType{Code: ntconv.TypeUTF16String}
	object := func(fields ...ntconv.Field) ntconv.FieldType {
		return ntconv.FieldType{Code: ntconv.TypeObject, Fields: fields}
	}
	pair := object(ntconv.Field{Name: "Key", Type: u32}, ntconv.Field{Name: "Value", Type: u32})
	typ := &ntconv.Type{Provider: "Shop", Name: "E", Fields: []ntconv.Field{
		{Name: "A", Type: u32}, {Name: "O", Type: object(ntconv.Field{Name: "S", Type: text}, ntconv.Field{Name: "M.N", Type: u32}, ntconv.Field{Name: "P", Type: pair})},
		{Name: "", Type: object(ntconv.Field{Name: "Mean", Type: u32})}, {Name: "L", Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &pair}}, {Name: "x.y", Type: u32},
	}}
	u := func(n uint64) ntconv.Value { return ntconv.UintValue(n) }
	payload, err := ntconv.AppendFields(nil, typ.Fields, []ntconv.Value{
		u(1), ntconv.ObjectValue(ntconv.StringValue("s"), u(2), ntconv.ObjectValue(u(3), u(4))), ntconv.ObjectValue(u(5)),
		ntconv.ListValue(ntconv.ObjectValue(u(6), u(7)), ntconv.ObjectValue(u(8), u(9))), u(10),
	}, 8)
	if err != nil {
		t.Fatal(err)
	}
	e := &ntconv.Event{Type: typ, Payload: payload}
	s := of(e)
	for path, want := range map[string]string{
		"A": "1", "O.S": `"s"`, "O.M.N": "2", "O.P.Value": "4", "Mean": "5", "x.y": "10", "L": "[{Key=6 Value=7} {Key=8 Value=9}]",
		"L.Value": "[{Key=6 Value=7} {Key=8 Value=9}]", "O.P": "{Key=3 Value=4}",
	} {
		p, missing := s.Project("x.y", "O.P.Key", path)
		var dst [3]ntconv.Value
		if p.Read(e, dst[:]); show(dst[2]) != want || len(missing) > 0 || show(dst[0]) != "10" || show(dst[1]) != "3" {
			t.Errorf("%s: %v, missing %q, want %s", path, dst, missing, want)
		}
		if m := fmt.Sprint(p.Members(2)); (path == "L.Value") != (m == "[1]") {
			t.Errorf("%s: members %s", path, m)
		}
	}
	p, missing := s.Project("a", "O.X", "A.B", "L.Value.X", "O.S")
	if want := []string{"a", "O.X", "A.B", "L.Value.X"}; !slices.Equal(missing, want) {
		t.Errorf("missing %q, want %q", missing, want)
	}
	var dst [5]ntconv.Value
	if p.Read(e, dst[:]); dst[0].Kind() != ntconv.ValueNull || dst[4].String() != "s" {
		t.Errorf("%v", dst)
	}
	for path, want := range map[string]string{"a": "A", "o.p.value": "O.P.Value", "MEAN": "Mean", "z": ""} {
		if got := s.Similar(ParsePath(path)); want != "" && fmt.Sprint(got) != fmt.Sprint(ParsePath(want)) || want == "" && got != nil {
			t.Errorf("similar to %s: %q, want %q", path, got, want)
		}
	}
}
