package eventtext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/eventgen"
	"github.com/ntconv/ntconv/ntconvtest"
	"pgregory.net/rapid"
)

var everything = Options{Hex: true, CRC: true, Stacks: true}

// checkLine fails unless line is a line of one JSON object in valid UTF-8, without duplicate names in any object.
func checkLine(t interface{ Fatalf(string, ...any) }, line []byte) {
	if !bytes.HasSuffix(line, []byte("}\n")) || bytes.Count(line, []byte("\n")) != 1 {
		t.Fatalf("not one line: %q", line)
	}
	d := jsontext.NewDecoder(bytes.NewReader(line)) // its default refuses both
	if err := d.SkipValue(); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	if _, err := d.ReadToken(); err != io.EOF {
		t.Fatalf("more than one value: %s", line)
	}
	var m map[string]any
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
}

func TestAnyEventIsValidJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := eventgen.Traces().Draw(t, "trace")
		p := New(tr.Info.Clock, everything)
		for _, e := range tr.Events {
			if e.Kind == ntconv.KindEvent {
				checkLine(t, p.AppendJSON(nil, e))
			}
		}
	})
}

// No contents of a trace can break a line or send a command to the terminal.
func TestTextIsPrintable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := eventgen.Traces().Draw(t, "trace")
		p := New(tr.Info.Clock, everything)
		for _, e := range tr.Events {
			text := p.AppendText(nil, e)
			if e.Kind == ntconv.KindEvent && !bytes.HasPrefix(text, []byte("+")) && !bytes.HasPrefix(text, []byte("-")) {
				t.Fatalf("no time: %q", text)
			}
			for line := range strings.Lines(string(text)) {
				if i := strings.IndexFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
					t.Fatalf("character %q in %q", line[i:], line)
				}
			}
		}
	})
}

// A Printer retains nothing of a borrowed event, and earlier events do not affect a line.
func TestPrinterIsStateless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := eventgen.Traces().Draw(t, "trace")
		p := New(tr.Info.Clock, everything)
		for e, err := range ntconv.Events(ntconvtest.Poison(tr.Source())) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind != ntconv.KindEvent {
				continue
			}
			if a, b := p.AppendJSON(nil, e), New(tr.Info.Clock, everything).AppendJSON(nil, e); !bytes.Equal(a, b) {
				t.Fatalf("%s after others, %s alone", a, b)
			}
			if a, b := p.AppendText(nil, e), New(tr.Info.Clock, everything).AppendText(nil, e); !bytes.Equal(a, b) {
				t.Fatalf("%s after others, %s alone", a, b)
			}
		}
	})
}

// eventOf returns an event with a payload of the fields' values.
func eventOf(t *testing.T, fields []ntconv.Field, values ...ntconv.Value) *ntconv.Event {
	t.Helper()
	payload, err := ntconv.AppendFields(nil, fields, values, 8)
	if err != nil {
		t.Fatal(err)
	}
	return &ntconv.Event{
		Type:    &ntconv.Type{Provider: "P", ID: 1, Name: "E", Fields: fields},
		Thread:  &ntconv.Thread{TID: 7, Process: &ntconv.Process{PID: 6, PointerSize: 8}},
		CPU:     ntconv.CPUUnknown,
		Payload: payload,
	}
}

func field(name string, code ntconv.TypeCode) ntconv.Field {
	return ntconv.Field{Name: name, Type: ntconv.FieldType{Code: code}}
}

// payloadOf returns the text of the payload in the event's JSON.
func payloadOf(t *testing.T, e *ntconv.Event) string {
	t.Helper()
	line := New(ntconv.Clock{Freq: 1e9}, Options{}).AppendJSON(nil, e)
	checkLine(t, line)
	var m struct{ Payload json.RawMessage }
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatal(err)
	}
	return string(m.Payload)
}

// CPU numbers go up to 4,294,967,294.
func TestLargeProcessorNumbers(t *testing.T) {
	e := eventOf(t, nil)
	p := New(ntconv.Clock{Freq: 1e9}, Options{})
	for cpu, want := range map[int32]string{0: "0", math.MaxInt32: "2147483647", math.MinInt32: "2147483648", -2: "4294967294", ntconv.CPUUnknown: ""} {
		e.CPU = cpu
		text, line := string(p.AppendText(nil, e)), string(p.AppendJSON(nil, e))
		if want == "" {
			if strings.Contains(text, "cpu") || strings.Contains(line, "cpu") {
				t.Errorf("an unknown processor: %s%s", text, line)
			}
		} else if !strings.Contains(text, "  cpu"+want+"  ") || !strings.Contains(line, `"cpu":`+want+",") {
			t.Errorf("processor %s: %s%s", want, text, line)
		}
	}
}

func TestFieldNamesThatRepeat(t *testing.T) {
	inner := ntconv.Field{Name: "a", Type: ntconv.FieldType{Code: ntconv.TypeObject, Fields: []ntconv.Field{
		field("x", ntconv.TypeUint8), field("x", ntconv.TypeUint8),
	}}}
	fields := []ntconv.Field{
		field("a", ntconv.TypeUint8), field("a_3", ntconv.TypeUint8), field("a", ntconv.TypeUint8), inner, field("a_4", ntconv.TypeUint8),
	}
	n := ntconv.UintValue
	e := eventOf(t, fields, n(1), n(2), n(3), ntconv.ObjectValue(n(4), n(5)), n(6))
	want := `{"a":1,"a_3":2,"a_4":3,"a_5":{"x":4,"x_2":5},"a_4_5":6}`
	if got := payloadOf(t, e); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestValues(t *testing.T) {
	strings := ntconv.Field{Name: "s", Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &ntconv.FieldType{Code: ntconv.TypeUTF16String}}}
	octets := ntconv.Field{Name: "b", Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &ntconv.FieldType{Code: ntconv.TypeUint8}}}
	str := ntconv.StringValue
	for _, c := range []struct {
		field ntconv.Field
		value ntconv.Value
		want  string
	}{
		{field("n", ntconv.TypeInt64), ntconv.IntValue(math.MinInt64), `{"n":-9223372036854775808}`},
		{field("n", ntconv.TypePointer), ntconv.UintValue(math.MaxUint64), `{"n":18446744073709551615}`},
		{field("f", ntconv.TypeFloat32), ntconv.FloatValue(float64(float32(0.1))), `{"f":0.1}`},
		{field("f", ntconv.TypeFloat64), ntconv.FloatValue(math.NaN()), `{"f":"NaN"}`},
		{field("f", ntconv.TypeFloat64), ntconv.FloatValue(math.Inf(1)), `{"f":"Infinity"}`},
		{field("f", ntconv.TypeFloat64), ntconv.FloatValue(math.Inf(-1)), `{"f":"-Infinity"}`},
		{field("t", ntconv.TypeBool32), ntconv.BoolValue(true), `{"t":true}`},
		{field("s", ntconv.TypeUTF16String), str("a\"\\\x01\u2028\U0001f600"), `{"s":"a\"\\\u0001\u2028` + "\U0001f600" + `"}`},
		{strings, ntconv.ListValue(str("x"), str("")), `{"s":["x",""]}`},
		{strings, ntconv.ListValue(), `{"s":[]}`},
		{octets, ntconv.BytesValue([]byte{1, 0xff}), `{"b":"hex:01ff"}`},
		{octets, ntconv.BytesValue(nil), `{"b":"hex:"}`},
	} {
		if got := payloadOf(t, eventOf(t, []ntconv.Field{c.field}, c.value)); got != c.want {
			t.Errorf("%v: got %s, want %s", c.field.Type.Code, got, c.want)
		}
	}
}

func TestPayloadThatEndsEarly(t *testing.T) {
	e := eventOf(t, []ntconv.Field{field("a", ntconv.TypeUint32), field("b", ntconv.TypeUint32), field("c", ntconv.TypeUint32)},
		ntconv.UintValue(1), ntconv.UintValue(2), ntconv.UintValue(3))
	e.Payload = e.Payload[:4]
	if got, want := payloadOf(t, e), `{"a":1}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	e.Payload = e.Payload[:3]
	var m map[string]map[string]string
	if err := json.Unmarshal([]byte(payloadOf(t, e)), &m); err != nil || m["a"]["error"] == "" {
		t.Errorf("no error in %v, %v", m, err)
	}
}

func TestLabels(t *testing.T) {
	e := eventOf(t, nil)
	span := [16]byte{1, 2, 3, 4, 5, 6, 7, 8}
	e.Labels = ntconv.NewLabels([]ntconv.Label{
		{Kind: ntconv.LabelActivityID, ID: [16]byte{15: 1}},
		{Kind: ntconv.LabelRelatedActivityID}, // all zero: no ID
		{Kind: ntconv.LabelTraceID, ID: [16]byte{0: 0xab}},
		{Kind: ntconv.LabelSpanID, ID: span},
		{Kind: ntconv.LabelString, Key: "k", Str: "v"},
		{Kind: ntconv.LabelString, Key: "Error", Str: "Expected actual values"},
		{Kind: ntconv.LabelInt, Key: "n", Num: -1},
		{Kind: ntconv.LabelInt, Key: "k", Num: 2, Unit: "bytes"},
		{Kind: ntconv.LabelOpcode, Num: 9},
		{Kind: ntconv.LabelKeywords, Num: -1},
	})
	line := New(ntconv.Clock{Freq: 1e9}, Options{}).AppendJSON(nil, e)
	checkLine(t, line)
	want := `{"ticks":0,"pid":6,"tid":7,"provider":"P","id":1,"version":0,"event":"E","opcode":9,"level":0,"keywords":"0xffffffffffffffff",` +
		`"activity_id":"00000000-0000-0000-0000-000000000001","trace_id":"ab000000000000000000000000000000","span_id":"0102030405060708",` +
		`"labels":{"k":["v",{"value":2,"unit":"bytes"}],"n":-1},"size":0}` + "\n"
	if string(line) != want {
		t.Errorf("got  %s\nwant %s", line, want)
	}
}

// A label list as large as a block takes linear time; quadratic time would be minutes.
func TestManyLabels(t *testing.T) {
	list := make([]ntconv.Label, 300_000)
	for i := range list {
		list[i] = ntconv.Label{Kind: ntconv.LabelInt, Key: fmt.Sprint("k", i/2), Num: int64(i)}
	}
	e := eventOf(t, nil)
	e.Labels = ntconv.NewLabels(list)
	line := New(ntconv.Clock{Freq: 1e9}, Options{}).AppendJSON(nil, e)
	if n := bytes.Count(line, []byte("[")); n != len(list)/2 {
		t.Errorf("%d lists, want %d", n, len(list)/2)
	}
}

// namer names every address by its number; one address has only a placeholder name.
type namer struct{ ntconv.Namer }

const nameless = 0x29

func (namer) AppendFrames(dst []ntconv.Frame, _ *ntconv.Process, s *ntconv.Stack, _ ntconv.Ticks) []ntconv.Frame {
	for _, pc := range s.PCs {
		if pc == nameless {
			dst = append(dst, ntconv.Frame{
				PC: pc, Func: &ntconv.Function{Name: "lib+0x29"}, Mapping: &ntconv.Mapping{File: `C:\dir\lib.dll`}, Flags: ntconv.FrameUnresolved,
			})
			continue
		}
		dst = append(dst, ntconv.Frame{
			PC: pc, Func: &ntconv.Function{Name: fmt.Sprintf("f%x", pc)}, Mapping: &ntconv.Mapping{File: `C:\dir\lib.dll`},
		})
	}
	return dst
}

func TestStacks(t *testing.T) {
	e := eventOf(t, nil)
	e.Stack = &ntconv.Stack{PCs: []uint64{0x1a, 0x2b}}
	for _, c := range []struct {
		opts       Options
		json, text string
	}{
		{Options{}, `"size":0}`, "P/E\n"},
		{Options{Stacks: true}, `"stack":["1a","2b"]}`, "    1a\n    2b\n"},
		{Options{Stacks: true, Namer: namer{}}, `"stack":[["1a","lib","f1a"],["2b","lib","f2b"]]}`, "    1a lib!f1a\n    2b lib!f2b\n"},
	} {
		p := New(ntconv.Clock{Freq: 1e9}, c.opts)
		if line := string(p.AppendJSON(nil, e)); !strings.HasSuffix(line, c.json+"\n") {
			t.Errorf("got %s, want %s at the end", line, c.json)
		}
		if text := string(p.AppendText(nil, e)); !strings.HasSuffix(text, c.text) {
			t.Errorf("got %s, want %s at the end", text, c.text)
		}
	}
}

// A placeholder name begins with the module, which is not repeated before it.
func TestStandInNamesItsModuleOnce(t *testing.T) {
	e := eventOf(t, nil)
	e.Stack = &ntconv.Stack{PCs: []uint64{nameless, 0x1a}}
	p := New(ntconv.Clock{Freq: 1e9}, Options{Stacks: true, Namer: namer{}})
	if text, want := string(p.AppendText(nil, e)), "\n    29 lib+0x29\n    1a lib!f1a\n"; !strings.HasSuffix(text, want) {
		t.Errorf("got %s, want %s at the end", text, want)
	}
}

func TestSeconds(t *testing.T) {
	p := New(ntconv.Clock{Freq: 1e9, Tick: 5}, Options{})
	for ticks, want := range map[ntconv.Ticks]string{
		5: "+0.000000000s", 6: "+0.000000001s", 4: "-0.000000001s", 1_000_000_005: "+1.000000000s", -12_345_678_995: "-12.345679000s",
		5 + 100_000_000: "+0.100000000s", math.MinInt64: "-9223372036.854775808s",
	} {
		if got := string(p.appendSeconds(nil, ticks)); got != want {
			t.Errorf("%d: %s, want %s", ticks, got, want)
		}
	}
}

// A line of an event with a known type causes no allocation.
func TestAllocations(t *testing.T) {
	fields := []ntconv.Field{field("n", ntconv.TypeUint32), field("s", ntconv.TypeUTF16String), field("g", ntconv.TypeGUID), field("f", ntconv.TypeFloat64)}
	e := eventOf(t, fields, ntconv.UintValue(1), ntconv.StringValue("text"), ntconv.GUIDValue(ntconv.GUID{1}), ntconv.FloatValue(1.5))
	e.Stack = &ntconv.Stack{PCs: []uint64{1, 2, 3}}
	e.Labels = ntconv.NewLabels([]ntconv.Label{{Kind: ntconv.LabelString, Key: "k", Str: "v"}})
	p := New(ntconv.Clock{Freq: 1e9}, everything)
	var buf []byte
	if n := testing.AllocsPerRun(100, func() { buf = p.AppendJSON(buf[:0], e) }); n > 0 {
		t.Errorf("JSON: %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { buf = p.AppendText(buf[:0], e) }); n > 0 {
		t.Errorf("text: %v allocations", n)
	}
}
