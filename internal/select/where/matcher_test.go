package where

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
)

func f(name string, code ntconv.TypeCode) ntconv.Field {
	return ntconv.Field{Name: name, Type: ntconv.FieldType{Code: code}}
}

func listOf(name string, elem ntconv.FieldType) ntconv.Field {
	return ntconv.Field{Name: name, Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &elem}}
}

func objectOf(fields ...ntconv.Field) ntconv.FieldType {
	return ntconv.FieldType{Code: ntconv.TypeObject, Fields: fields}
}

const guid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"

// everything returns an event with a field of each kind.
func everything(t testing.TB) *ntconv.Event {
	t.Helper()
	id, err := ntconv.ParseGUID(guid)
	if err != nil {
		t.Fatal(err)
	}
	pair := objectOf(f("Key", ntconv.TypeUTF16String), f("Value", ntconv.TypeInt32))
	fields := []ntconv.Field{
		f("I", ntconv.TypeInt32), f("U", ntconv.TypeUint64), f("D", ntconv.TypeFloat64), f("S", ntconv.TypeUTF16String), f("B", ntconv.TypeBool8),
		f("G", ntconv.TypeGUID), f("T", ntconv.TypeDateTime), f("with spaces", ntconv.TypeUint8), f("a.b", ntconv.TypeInt8),
		{Name: "a", Type: objectOf(f("b", ntconv.TypeInt8), ntconv.Field{Name: "c", Type: objectOf(f("d.e", ntconv.TypeUTF16String))})},
		listOf("Pairs", pair), listOf("Numbers", ntconv.FieldType{Code: ntconv.TypeInt16}), listOf("Bytes", ntconv.FieldType{Code: ntconv.TypeUint8}),
		f("NaN", ntconv.TypeFloat64), f("Late", ntconv.TypeInt32),
	}
	values := []ntconv.Value{
		ntconv.IntValue(-5), ntconv.UintValue(math.MaxUint64), ntconv.FloatValue(2.5), ntconv.StringValue("Grüße\n, Welt"), ntconv.BoolValue(true),
		ntconv.GUIDValue(id), ntconv.TimeValue(time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)), ntconv.UintValue(7), ntconv.IntValue(1),
		ntconv.ObjectValue(ntconv.IntValue(2), ntconv.ObjectValue(ntconv.StringValue("deep"))),
		ntconv.ListValue(ntconv.ObjectValue(ntconv.StringValue("x"), ntconv.IntValue(10)), ntconv.ObjectValue(ntconv.StringValue("y"), ntconv.IntValue(20))),
		ntconv.ListValue(ntconv.IntValue(1), ntconv.IntValue(-3)), ntconv.BytesValue([]byte{1}), ntconv.FloatValue(math.NaN()),
	}
	e := &ntconv.Event{
		Time: 1_500_000_000, CPU: 3, Seq: 1,
		Type:   &ntconv.Type{Provider: "My.Provider", Name: "Everything", ID: 12, Version: 2, Level: 4, Opcode: 9, Keywords: 0x8000000000000001, Fields: fields},
		Thread: &ntconv.Thread{TID: 7, Process: &ntconv.Process{PID: 5}},
		Labels: ntconv.NewLabels([]ntconv.Label{
			{Kind: ntconv.LabelInt, Key: "n", Num: -1}, {Kind: ntconv.LabelString, Key: "http.method", Str: "GET"}, {Kind: ntconv.LabelInt, Key: "n", Num: 42},
			{Kind: ntconv.LabelActivityID, ID: id}, {Kind: ntconv.LabelTraceID, ID: [16]byte{0xab, 0xcd}}, {Kind: ntconv.LabelSpanID, ID: [16]byte{0xef}},
			{Kind: ntconv.LabelLevel, Num: 2},
		}),
	}
	for i, v := range values {
		if e.Payload, err = ntconv.AppendValue(e.Payload, &fields[i], v, 8); err != nil {
			t.Fatal(fields[i].Name, err)
		}
	}
	return e
}

func matcher(t testing.TB, text string) *Matcher {
	t.Helper()
	x, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	m, err := x.Bind(ntconv.Clock{Freq: 1e9, Wall: time.Date(2026, 11, 21, 6, 52, 53, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMatch(t *testing.T) {
	e := everything(t)
	for text, want := range map[string]bool{
		`I == -5`: true, `I != -5`: false, `I < -4`: true, `I <= -5`: true, `I > -5`: false, `I >= -5.5`: true, `I < -4.5`: true, `I in (1, -5)`: true, `I in (1, 2)`: false,
		`U == 18446744073709551615`: true, `U > -1`: true, `U < 1.8446744073709552e19`: true, `U == 0xffffffffffffffff`: true, `U < 1e300`: true,
		`I < 3`: true, `I > 3`: false, `I > -5.5`: true, `I > -1.8446744073709552e19`: true, `I < 1.8446744073709552e19`: true,
		`D < 2.75`: true, `D > 2.75`: false, `D == 2.5`: true, `D > 2`: true, `D < 3`: true, `D == 2`: false, `D != 2`: true,
		`S =~ "^Gr.*Welt$"`: false, `S =~ "(?s)^Gr"`: true, `S == "Gr"`: false, `S > "Gr"`: true, `S < "H"`: true, `S in ("a", 'b')`: false,
		`B == true`: true, `B == 1`: true, `B != false`: true, `B == false`: false, `B in (false, true)`: true,
		`G == "` + guid + `"`: true, `G == "{` + strings.ToUpper(guid) + `}"`: true, `G != "` + guid + `"`: false, `G =~ "^6ba7b810"`: true,
		`T == "2026-11-21T07:00:00+01:00"`: true, `T < "2026-11-21T06:00:00.5Z"`: true,
		`"with spaces" == 7`: true, `a.b == 1`: true, `"a.b" == 1`: true, `a.b == 2`: false, `a.c."d.e" == "deep"`: true, `a.c.d.e == "deep"`: true, `has(a.c)`: true,
		`has(a.x)`: false, `has(Pairs)`: true, `has(Pairs.Key)`: true, `Pairs.Key == "y"`: true, `Pairs.Value > 15`: true, `Pairs.Value > 20`: false,
		`Numbers == -3`: true, `Numbers == 5`: false, `Numbers != 1`: true, `has(Bytes)`: true,
		`NaN == 1`: false, `NaN != 1`: true, `NaN < 1`: false, `NaN >= 1`: false, `has(NaN)`: true,
		`has(Late)`: false, `Late == 0`: false, `Late != 0`: false, `!(Late == 0)`: true, `has(Nothing)`: false, `Nothing != 1`: false,
		`$time == 1.5s`: true, `$time > 1s && $time < 2s`: true, `$time in (1s, 1500ms)`: true, `$time < "2026-11-21T06:52:55Z"`: true, `$time > "2026-11-21T06:52:54.5Z"`: false,
		`$time >= "2026-11-21T06:52:54.5Z"`:      true,
		`$time >= "2026-11-21 06:52:54.500 UTC"`: true, `$time > "2026-11-21 06:52:54.5"`: false,
		`$tid == 7`: true, `$pid in (4, 5)`: true, `$cpu < 4`: true, `$provider == "My.Provider"`: true, `$provider =~ "^my"`: false, `$provider =~ "(?i)^my"`: true,
		`$event == "Everything"`: true, `$level == 2`: true, `$opcode == 9`: true, `$keywords == 0x8000000000000001`: true, `$id == 12`: true, `$version == 2`: true,
		`$size > 100`: true, `$size > 1000`: false, `has($tid)`: true, `has($related_activity_id)`: false,
		`$activity_id == "` + strings.ToUpper(guid) + `"`: true, `$trace_id == "ABCD0000000000000000000000000000"`: true, `$span_id =~ "^ef"`: true, `$trace_id != "x"`: true,
		`$label.n == 42`: true, `$label.n != "x"`: false, `$label.http.method == "GET"`: true, `$label."http.method" in ("PUT", "GET")`: true, `has($label.n)`: true, `has($label.m)`: false,
		`I == -5 && D == 2.5`: true, `I == -5 && D == 2`: false, `I == 0 || D == 2.5`: true, `!(I == 0) && !(D == 0)`: true, `I == 0 && (I == -5 || D == 2.5)`: false,
	} {
		m := matcher(t, text)
		for range 2 {
			if got := m.Match(e); got != want {
				t.Errorf("%s: %v", text, got)
			}
		}
	}
}

// A property that was not recorded has no value.
func TestMissingProperties(t *testing.T) {
	e := &ntconv.Event{CPU: ntconv.CPUUnknown, Type: &ntconv.Type{}, Thread: &ntconv.Thread{TID: ntconv.TIDUnknown}}
	for _, text := range []string{"$tid >= 0", "$pid >= 0", "$cpu >= -1", "has($tid)", "has($activity_id)", "$label.x != 1", "$span_id != ''"} {
		if matcher(t, text).Match(e) {
			t.Errorf("%s holds", text)
		}
	}
}

// A CPU number may use all 32 bits.
func TestLargeCPUNumbers(t *testing.T) {
	e := &ntconv.Event{CPU: -2, Type: &ntconv.Type{}}
	for text, want := range map[string]bool{"$cpu == 4294967294": true, "$cpu < 0": false, "$cpu > 2147483647": true} {
		if got := matcher(t, text).Match(e); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestDatesNeedAWallClock(t *testing.T) {
	x, err := Parse(`$time > "2026-11-21T06:52:55Z"`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Bind(ntconv.Clock{Freq: 1}); err == nil || !strings.Contains(err.Error(), "start date") {
		t.Errorf("got %v", err)
	}
}

// Notes reports the tests that no event could pass, and only these.
func TestNotes(t *testing.T) {
	e := everything(t)
	other := &ntconv.Event{Type: &ntconv.Type{Provider: "P", ID: 3, Fields: []ntconv.Field{f("I", ntconv.TypeUTF16String), f("S", ntconv.TypeInt32)}}, Thread: e.Thread}
	for text, want := range map[string][]string{
		`I == 5`:                {},
		`I == "x"`:              {}, // of the other type
		`I == true`:             {`I is a number in My.Provider/Everything; compare it with a number; further event types with such a mismatch: 1`},
		`Nothing == 1`:          {`no event has a field Nothing`},
		`a.x == 1 || I == 1`:    {`no event has a field a.x`},
		`BYTES == 1`:            {`no event has a field BYTES, but there is Bytes`},
		`A.B == 1`:              {`no event has a field A.B, but there is "a.b"`},
		`U == "x"`:              {`U is a number in My.Provider/Everything; compare it with a number`},
		`B =~ "x"`:              {`B is a Boolean in My.Provider/Everything; compare it with true or false`},
		`a == 1`:                {`a is an object in My.Provider/Everything; compare one of its members: a.NAME`},
		`Bytes == 1`:            {`Bytes is bytes in My.Provider/Everything; has(Bytes) tests whether it is present`},
		`has(X) && has(Y)`:      {`no event has a field X`, `no event has a field Y`},
		`G == "x" && T == "x"`:  {`G is an ID in My.Provider/Everything; compare it with an ID in quotes, by == or in: "00000000-0000-0000-0000-000000000000"`, `T is a date in My.Provider/Everything; compare it with a date in quotes: "2026-11-21T06:52:53.5Z"`},
		`$tid == 99`:            {},
		`U in ("x", 1)`:         {},
		`$label.nothing == "x"`: {},
	} {
		m := matcher(t, text)
		if len(m.Notes()) > 0 {
			t.Errorf("%s: notes before the first event: %q", text, m.Notes())
		}
		m.Match(e)
		m.Match(other)
		if got := m.Notes(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A label can override the version of an event's type, and thus its fields.
func TestVersionLabel(t *testing.T) {
	typ := &ntconv.Type{Provider: clr.Runtime, ID: 80, Version: 0} // ExceptionThrown, which has no fields in version 0
	old := &ntconv.Event{Type: typ, Thread: &ntconv.Thread{}}
	var payload []byte
	for _, v := range []string{"T", "M"} {
		payload, _ = ntconv.AppendValue(payload, &ntconv.Field{Type: ntconv.FieldType{Code: ntconv.TypeUTF16String}}, ntconv.StringValue(v), 8)
	}
	labeled := &ntconv.Event{Type: typ, Thread: old.Thread, Payload: payload, Labels: ntconv.NewLabels([]ntconv.Label{{Kind: ntconv.LabelVersion, Num: 1}})}
	m := matcher(t, `ExceptionMessage == "M" || $version == 0`)
	for range 2 {
		if !m.Match(old) || !m.Match(labeled) {
			t.Error("not matched")
		}
	}
}

func TestNoAllocationPerEvent(t *testing.T) {
	e := everything(t)
	runtime := &ntconv.Event{Type: &ntconv.Type{Provider: clr.SampleProfiler, ID: 0}, Thread: e.Thread, Payload: []byte{2, 0, 0, 0}}
	m := matcher(t, `(Type == "External" || Type == 7 || a.c."d.e" =~ "^zee") || Pairs.Key in ("q", "r") || G == "00000000-0000-0000-0000-000000000001" ||
		$activity_id == "x" || $trace_id == "x" || $label.http.method == "PUT" || $time > 2s || S == "x" || T < "2020-01-01T00:00:00Z" || $cpu == 99 || $event =~ "^x" ||
		D < 0 || Pairs.Value < 0 || has(None)`)
	if n := testing.AllocsPerRun(100, func() {
		if m.Match(e) || m.Match(runtime) {
			t.Error("matched")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
