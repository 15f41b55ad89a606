package where

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
)

func columns(t testing.TB, text string) *Columns {
	t.Helper()
	list, err := ParseOperands(text)
	if err != nil {
		t.Fatal(err)
	}
	return NewColumns(ntconv.Clock{Freq: 1e9}, list)
}

// valuesOf returns the values of column i as text with their kinds.
func valuesOf(c *Columns, i int) (list []string) {
	c.Each(i, func(v ntconv.Value) { list = append(list, v.Kind().String()+" "+v.String()) })
	return list
}

// Columns have the values that comparisons see: of fields, members, all elements of lists, and properties.
func TestColumns(t *testing.T) {
	e := everything(t)
	for text, want := range map[string]string{
		"I": "int -5", "U": "uint 18446744073709551615", "D": "float 2.5", "B": "bool true", "G": "guid " + guid,
		"T": "time 2026-11-21T06:00:00Z", `"with spaces"`: "uint 7", "a.b": "int 1", "a.c.d.e": "string deep", "a.c": "object object",
		"Pairs.Key": "string x,string y", "Pairs.Value": "int 10,int 20", "Pairs": "object object,object object", "Numbers": "int 1,int -3",
		"NaN": "float NaN", "Late": "", "Nothing": "", "a.x": "", "Pairs.x": "",
		"$time": "int 1500000000", "$tid": "uint 7", "$pid": "uint 5", "$cpu": "uint 3", "$provider": "string My.Provider",
		"$event": "string Everything", "$level": "uint 2", "$opcode": "uint 9", "$keywords": "uint 9223372036854775809", "$id": "uint 12",
		"$version": "uint 2", "$activity_id": "guid " + guid, "$related_activity_id": "",
		"$trace_id": "bytes abcd0000000000000000000000000000", "$span_id": "bytes ef00000000000000",
		"$label.n": "int 42", "$label.http.method": "string GET", "$label.m": "",
	} {
		c := columns(t, text)
		for range 2 {
			c.Read(e)
			if got := strings.Join(valuesOf(c, 0), ","); got != want {
				t.Errorf("%s: got %q, want %q", text, got, want)
			}
		}
		x := matcher(t, "has("+text+")")
		if x.Match(e) != (want != "") {
			t.Errorf("has(%s) is %t", text, want == "")
		}
	}
}

// Several operands are independent of each other, also if they share a field.
func TestColumnsTogether(t *testing.T) {
	texts := []string{"Pairs.Value", "$tid", "I", "a.c.d.e", "I", "$activity_id", "Pairs.Key", "Late", "$trace_id"}
	c := columns(t, strings.Join(texts, " ,"))
	e := everything(t)
	c.Read(e)
	for i, text := range texts {
		alone := columns(t, text)
		alone.Read(e)
		if got, want := valuesOf(c, i), valuesOf(alone, 0); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, alone %q", text, got, want)
		}
	}
	bare := &ntconv.Event{CPU: ntconv.CPUUnknown, Type: &ntconv.Type{}, Thread: &ntconv.Thread{TID: ntconv.TIDUnknown}}
	c.Read(bare)
	for i, text := range texts {
		if got := valuesOf(c, i); got != nil {
			t.Errorf("%s: got %q of an event without it", text, got)
		}
	}
}

// For every event of real traces, a number of a column passes the comparison with itself, and an event without a value
// fails has.
func TestColumnsAgreeWithMatcher(t *testing.T) {
	for name, text := range map[string]string{
		"counters": "Payload.Mean", "alloc-verbose": "AllocationAmount64", "jit": "MethodSize", "gcdump": "Values.TypeID", "exceptions": "ExceptionFlags",
	} {
		src, err := reader.New(strings.NewReader(string(corpus.Trace(t, name).Data)), nil)
		if err != nil {
			t.Fatal(err)
		}
		c, has := columns(t, text), matcher(t, "has("+text+")")
		found, absent, compared := 0, 0, map[string]bool{}
		for e := range ntconv.Events(src) {
			if e == nil || e.Kind != ntconv.KindEvent {
				continue
			}
			c.Read(e)
			values := 0
			c.Each(0, func(v ntconv.Value) {
				values++
				if text := text + " == " + v.String(); !compared[text] && len(compared) < 50 {
					compared[text] = true
					if !matcher(t, text).Match(e) {
						t.Errorf("%s is false for the event that has the value", text)
					}
				}
			})
			if has.Match(e) != (values > 0) {
				t.Errorf("%s: %d values, has is %t", text, values, values == 0)
			}
			if values > 0 {
				found++
			} else {
				absent++
			}
		}
		if found == 0 || absent == 0 {
			t.Errorf("%s of %s: %d events have it, %d do not", text, name, found, absent)
		}
	}
}

func TestColumnsNames(t *testing.T) {
	src, err := reader.New(strings.NewReader(string(corpus.Trace(t, "alloc-verbose").Data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := columns(t, "AllocationKind,allocationkind,AlocationKind,Unlike,$label.x,$tid,TypeName")
	names := map[string]int{}
	for e := range ntconv.Events(src) {
		if e == nil || e.Kind != ntconv.KindEvent {
			continue
		}
		c.Read(e)
		c.Each(0, func(v ntconv.Value) { names[c.ValueName(0, v)]++ })
		c.Each(6, func(v ntconv.Value) {
			want := "TypeName is a string in Microsoft-Windows-DotNETRuntime/" + c.last.schema.Name
			if got := c.Is(6, v); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	if names["Small"] != 47 || names["Large"] != 15 || len(names) != 2 {
		t.Errorf("names: %v", names)
	}
	for i, want := range []string{
		"",
		"no event has a field allocationkind, but there is AllocationKind",
		"no event has a field AlocationKind, but there is AllocationKind",
		"no event has a field Unlike",
		"no event has a label x",
		"",
		"",
	} {
		if got := c.NoField(i); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestParseOperands(t *testing.T) {
	for text, want := range map[string]string{
		"a": "a", " a , $tid,b.c": "a,$tid,b.c", `"a,b",$label.x.y`: `"a,b",$label."x.y"`, `"in".x`: `"in".x`,
	} {
		list, err := ParseOperands(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		for _, o := range list {
			got = append(got, o.String())
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%s: got %q", text, got)
		}
	}
	for text, want := range map[string]string{
		"":           "position 1: want a field such as Size or a property such as $time, got the end",
		"a,":         "position 3: want a field such as Size or a property such as $time, got the end",
		"a b":        `position 3: want a comma before the next field, got "b"`,
		"a,$tidd":    "position 3: unknown property $tidd; available: $time",
		"$label":     "position 7: want . and a key after $label, got the end",
		"a == 1":     `position 3: want a comma before the next field, got "=="`,
		"5":          "position 1: want a field or a property on the left",
		"$proces":    "position 1: unknown property $proces; available: $time",
		`a,"b`:       `position 3: missing " at the end of the string`,
		"a." + "\n#": "position 4: unexpected '#'",
	} {
		_, err := ParseOperands(text)
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// Names of processes and threads are operands, but not part of an expression. Every proposed operand is one.
func TestOperandNames(t *testing.T) {
	for _, name := range OperandNames() {
		list, err := ParseOperands(name)
		if err != nil || len(list) != 1 || list[0].String() != name {
			t.Errorf("%s: %v, %v", name, list, err)
			continue
		}
		_, err = Parse("has(" + name + ")")
		if owner := list[0].Owner() != OwnerNone; (err != nil) != owner || owner != (name == "$process" || name == "$thread") {
			t.Errorf("%s: owner %d, %v", name, list[0].Owner(), err)
		}
	}
}

// Operands in canonical form are operands again, and no text panics.
func FuzzParseOperands(f *testing.F) {
	for _, s := range []string{"a,b.c", `"a b".c,$time`, "$label.a.b", "$label.", "a,,b", `"\xff"`, "in", "has(a)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseOperands(text)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Pos < 0 || e.Pos > len(text) || e.Error() == "" {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		for _, o := range list {
			again, err := ParseOperands(o.String())
			if err != nil && len(o.String()) <= maxText {
				t.Fatalf("%q: printed as %s, which is rejected: %v", text, o, err)
			}
			if err == nil && (len(again) != 1 || again[0].t.attr != o.t.attr || !slices.Equal(again[0].t.path, o.t.path)) {
				t.Fatalf("%q: printed as %s, read as %v", text, o, again)
			}
		}
	})
}

// Reading columns does not allocate, whatever they are.
func TestColumnsAllocations(t *testing.T) {
	e := everything(t)
	c := columns(t, "I,S,Pairs.Value,$tid,$provider,$activity_id,$trace_id,$label.n,a.c.d.e,$time")
	sum := uint64(0)
	use := func(v ntconv.Value) { sum += v.Uint() }
	if n := testing.AllocsPerRun(100, func() {
		c.Read(e)
		for i := range c.operands {
			c.Each(i, use)
		}
	}); n != 0 {
		t.Errorf("%v allocations per event", n)
	}
}
