package command

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/parquet-go/parquet-go"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/select/selection"
	"github.com/ntconv/ntconv/internal/select/where"
	"github.com/ntconv/ntconv/internal/span"
	otlpstored "github.com/ntconv/ntconv/internal/span/stored"
)

// A vocabulary holds the names that outputs give a value: outputs by value and name.
type vocabulary map[string]map[string][]string

// add records that an output shows a value under a name. The $ of expressions, which separates properties from fields
// of the payload, is not part of a name.
func (v vocabulary) add(output, name, value string) {
	name = strings.TrimPrefix(name, "$")
	if v[value] == nil {
		v[value] = map[string][]string{}
	}
	if !slices.Contains(v[value][name], output) {
		v[value][name] = append(v[value][name], output)
	}
}

// json records all members of JSON values.
func (v vocabulary) json(output string, x any) {
	switch x := x.(type) {
	case map[string]any:
		for name, member := range x {
			switch member.(type) {
			case map[string]any, []any, nil:
				v.json(output, member)
			default:
				v.add(output, name, fmt.Sprint(member))
			}
		}
	case []any:
		for _, elem := range x {
			v.json(output, elem)
		}
	}
}

func asObject(x any) map[string]any {
	m, _ := x.(map[string]any)
	return m
}

func decodeJSON(t *testing.T, b []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var list []any
	for d.More() {
		var x any
		must(t, d.Decode(&x))
		list = append(list, x)
	}
	return list
}

// members returns all values of the members of JSON objects with a name, at any depth.
func members(x any, name string) (list []any) {
	switch x := x.(type) {
	case map[string]any:
		for k, m := range x {
			if k == name {
				list = append(list, m)
			} else {
				list = append(list, members(m, name)...)
			}
		}
	case []any:
		for _, e := range x {
			list = append(list, members(e, name)...)
		}
	}
	return list
}

// otlp records the members of spans in OTLP/JSON, in snake case as in all other outputs, and their attributes.
func (v vocabulary) otlp(x any) {
	snake := func(s string) string {
		var b strings.Builder
		for _, c := range s {
			if c >= 'A' && c <= 'Z' {
				b.WriteByte('_')
				c += 'a' - 'A'
			}
			b.WriteRune(c)
		}
		return b.String()
	}
	for _, spans := range members(x, "spans") {
		for _, s := range spans.([]any) {
			for name, member := range s.(map[string]any) {
				if _, nested := member.([]any); !nested {
					v.add("otlp", snake(name), fmt.Sprint(member))
				}
			}
			for _, list := range members(s, "attributes") {
				for _, a := range list.([]any) {
					a := a.(map[string]any)
					for _, value := range a["value"].(map[string]any) {
						v.add("otlp", a["key"].(string), fmt.Sprint(value))
					}
				}
			}
		}
	}
}

// parquet records all columns of a table, and the members of its maps and of JSON in its columns.
func (v vocabulary) parquet(t *testing.T, path string) {
	t.Helper()
	b := contentAt(t, path)
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	must(t, err)
	output, columns := "parquet "+filepath.Base(path), f.Schema().Columns()
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		buffer := make([]parquet.Row, 16)
		for {
			n, err := rows.ReadRows(buffer)
			for _, row := range buffer[:n] {
				var keys []string
				var kind, key string // of a label
				for _, value := range row {
					c := columns[value.Column()]
					switch last := c[len(c)-1]; {
					case value.IsNull():
					case output == "parquet labels.parquet" && last == "kind":
						kind = value.String()
					case output == "parquet labels.parquet" && last == "key":
						key = value.String()
					case output == "parquet labels.parquet" && last == "value":
						v.add(output, cmp.Or(key, kind), value.String())
					case last == "subject": // the value of a label of the sample, whichever its key is
					case strings.HasPrefix(last, "recorded_"): // what the trace states, regardless of what ntconv knows
					case last == "key" && len(c) > 1:
						keys = append(keys, value.String())
					case last == "value" && len(c) > 1:
						v.add(output, keys[0], value.String())
						keys = keys[1:]
					case last == "events" || last == "links":
						v.json(output, decodeJSON(t, value.ByteArray()))
					default:
						v.add(output, last, value.String())
					}
				}
			}
			if err != nil || n == 0 {
				break
			}
		}
	}
}

// pprof records the labels of samples.
func (v vocabulary) pprof(p *profile.Profile) {
	for _, s := range p.Sample {
		for name, values := range s.Label {
			v.add("pprof", name, values[0])
		}
		for name, values := range s.NumLabel {
			v.add("pprof", name, fmt.Sprint(values[0]))
		}
	}
}

// scan converts an input to all formats and records what they show. kinds are the kinds of profiles to write.
func (v vocabulary) scan(t *testing.T, input string, kinds ...string) {
	t.Helper()
	dir := t.TempDir()
	out := func(args ...string) []byte {
		t.Helper()
		r := invoke(t, dir, nil, args...)
		if r.code != 0 {
			t.Fatalf("%v: code %d: %s", args, r.code, r.stderr)
		}
		return []byte(r.stdout)
	}
	info := decodeJSON(t, out("info", "--json", "-q", input))
	v.json("info", members(members(info, "providers"), "types"))
	for _, list := range members(info, "kinds") {
		for _, k := range list.([]any) {
			k := k.(map[string]any)
			for _, name := range members(k["parts"], "name") {
				v.add("info", fmt.Sprint(k["parts_by"]), fmt.Sprint(name))
			}
		}
	}
	fields := map[string]bool{} // of payloads; outputs show payloads as recorded
	for _, line := range decodeJSON(t, out("print", "--json", "-q", input)).([]any) {
		line := line.(map[string]any)
		for name := range asObject(line["payload"]) {
			fields[name] = line["provider"] != otlpstored.Provider // the payload of an imported span is the span
		}
		delete(line, "payload")
		v.json("print", line)
	}
	by := slices.DeleteFunc(where.OperandNames(), func(name string) bool { return name == "$time" })
	v.json("stats", members(decodeJSON(t, out("print", "--stats", "--json", "-q", "--by", strings.Join(by, ","), input)), "by"))
	withoutFields := func(x any) any {
		maps.DeleteFunc(asObject(x), func(name string, _ any) bool { return fields[name] })
		return x
	}
	for _, args := range members(decodeJSON(t, out("to", "chrome", "-q", "-o", "-", input)), "args") {
		v.json("chrome", withoutFields(args))
	}
	for _, table := range members(decodeJSON(t, out("to", "firefox", "-q", "-o", "-", input)), "markers") {
		for _, list := range members(table, "data") {
			for _, data := range list.([]any) {
				v.json("firefox", withoutFields(data))
			}
		}
	}
	if r := invoke(t, dir, nil, "to", "otlp", "--spans", "all", "-q", "-o", "spans.jsonl", input); r.code == 0 {
		v.otlp(decodeJSON(t, contentAt(t, filepath.Join(dir, "spans.jsonl"))))
	}
	out("to", "parquet", "-q", "--kind", "all", "-o", "tables/", input)
	for _, table := range []string{"events", "event_types", "threads", "processes", "labels", "samples", "spans", "intervals"} {
		v.parquet(t, filepath.Join(dir, "tables", table+".parquet"))
	}
	for _, kind := range kinds {
		p, err := profile.ParseData(out("to", "pprof", "-q", "--kind", kind, "-o", "-", input))
		must(t, err)
		v.pprof(p)
	}
}

// check fails for each value that does not have exactly one name, or that fewer outputs show. counts are numbers of
// outputs by value.
func (v vocabulary) check(t *testing.T, counts map[string]int) {
	t.Helper()
	for value, want := range counts {
		got := 0
		for _, outputs := range v[value] {
			got += len(outputs)
		}
		if len(v[value]) != 1 || got < want {
			t.Errorf("%s: names and outputs are %v; want one name in %d outputs", value, v[value], want)
		}
	}
}

// A property of a span has one name in all outputs and in expressions. Each property has a value of its own here, so
// the test finds its names by its value.
func TestSpanVocabulary(t *testing.T) {
	const traceID, spanID, parentID = "5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174", "0123456789abcdef"
	input := write(t, t.TempDir(), "spans.jsonl", []byte(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"till"}}]},`+
		`"scopeSpans":[{"scope":{"name":"Shop.Scope","version":"7.7.7"},"spans":[{"traceId":"`+traceID+`","spanId":"`+spanID+`","parentSpanId":"`+parentID+
		`","traceState":"vendor=state","name":"GET /cart","kind":2,"startTimeUnixNano":"1700000000000000123","endTimeUnixNano":"1700000000000005678",`+
		`"attributes":[{"key":"cart.items","value":{"intValue":"4142"}}],"events":[{"timeUnixNano":"1700000000000001234","name":"paid"}],`+
		`"status":{"code":2,"message":"out of stock"}}]}]}]}`))
	v := vocabulary{}
	v.scan(t, input)
	s := &span.Span{Kind: span.KindServer, Scope: &span.Scope{Name: "Shop.Scope"}, Status: span.StatusError}
	for i, p := range selection.SpanSubject().Properties {
		if value := selection.SpanValue(s, i, ""); value.Kind() == ntconv.ValueString {
			v.add("expression", p.Name, value.String())
		}
	}
	s.Context, s.ParentID = span.Context{TraceID: span.TraceID{1}, ID: span.ID{2}}, span.ID{3}
	for i, p := range selection.SpanSubject().Properties {
		for id, text := range map[string]string{s.TraceID.String(): traceID, s.ID.String(): spanID, s.ParentID.String(): parentID} {
			if value := selection.SpanValue(s, i, ""); value.Kind() == ntconv.ValueString && value.String() == id {
				v.add("expression", p.Name, text)
			}
		}
	}
	v.check(t, map[string]int{
		traceID: 8, spanID: 8, parentID: 5, "server": 4, "Shop.Scope": 4, "error": 4, "out of stock": 3, "vendor=state": 4, "4142": 4,
		"1700000000000001234": 2, // of an event of the span
	})
}

// A property of an event has one name in all outputs and in expressions.
func TestEventVocabulary(t *testing.T) {
	typ := &ntconv.Type{
		Provider: "Shop-Provider", ID: 4242, Version: 77, Name: "CartStart", Opcode: 1, HasOpcode: true, Level: 5, Keywords: 0x7007,
		Fields: []ntconv.Field{{Name: "Items", Type: ntconv.FieldType{Code: ntconv.TypeInt32}}},
	}
	id := func(first byte) (id [16]byte) {
		for i := range id {
			id[i] = first + byte(i)
		}
		return id
	}
	spanID := id(0x40)
	clear(spanID[8:])
	labels := ntconv.NewLabels([]ntconv.Label{
		{Kind: ntconv.LabelActivityID, ID: id(0x10)}, {Kind: ntconv.LabelRelatedActivityID, ID: id(0x20)},
		{Kind: ntconv.LabelTraceID, ID: id(0x30)}, {Kind: ntconv.LabelSpanID, ID: spanID}, {Kind: ntconv.LabelString, Key: "tenant", Str: "blue"},
	})
	p := &ntconv.Process{PID: 4711, Name: "till-process", PointerSize: 8}
	th := &ntconv.Thread{TID: 31337, Name: "till-thread", Process: p}
	var events []*ntconv.Event
	for i := range 3 {
		events = append(events, &ntconv.Event{
			Time: ntconv.Ticks(1000 + i), Type: typ, Thread: th, Capture: th, CPU: 97, Seq: uint32(i + 1), Offset: -1, Labels: labels,
			Payload: []byte{1, 0, 0, 0}, Stack: &ntconv.Stack{PCs: []uint64{0x1000}},
		})
	}
	info := &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9, Wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, PointerSize: 8}
	v := vocabulary{}
	v.scan(t, writeTrace(t, "events.nettrace", info, events...), "events")
	v.check(t, map[string]int{
		"CartStart": 4, "4242": 4, "77": 3, "31337": 5, "97": 3,
		ntconv.GUID(id(0x10)).String(): 6, ntconv.GUID(id(0x20)).String(): 6, "303132333435363738393a3b3c3d3e3f": 7, "4041424344454647": 7,
	})
}

// A property of what the runtime did has one name in profiles, spans, timelines and tables.
func TestRuntimeVocabulary(t *testing.T) {
	for _, c := range []struct {
		trace  string
		kinds  []string
		counts map[string]int
	}{
		{"waits", []string{"contention", "wait"}, map[string]int{"139719648223672": 4}},
		{"alloc-verbose", []string{"gc"}, map[string]int{"gen0": 4, "NonConcurrentGC": 4}},
		{"exceptions", []string{"exceptions"}, map[string]int{"System.InvalidOperationException": 4, "Shop.StockException<int>": 5}},
	} {
		v := vocabulary{}
		v.scan(t, trace(t, c.trace), c.kinds...)
		v.check(t, c.counts)
	}
}
