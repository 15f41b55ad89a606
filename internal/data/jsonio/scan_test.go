package jsonio_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ntconv/ntconv/internal/data/jsonio"
)

var inputs = []string{
	`{}`, `[]`, ` [ 1 , -2.5e+10 , "a\u00e4\n\"" , true , false , null ] `, `{"a":{"b":[{}]},"":0}`, `"\ud83d\ude00"`, `"\ud800"`, "\"\xff\"",
	`01`, `-`, `1.`, `1e`, `+1`, `.5`, `tru`, `nul`, `{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`, `[1 2]`, `{"a":1 "b":2}`, `{1:2}`, `"\x"`, `"\u12g4"`, "\"\n\"", `]`, `}`,
	`[}`, `{]`, `[{]`, ``, ` `, `1 2`, `{"a":1}}`, `-0`, `0.0e-0`, `[[[[[[`, `"abc`, `{"a":[1,{"b":"c\\"}]}`, "\x00", `'a'`, `[-]`,
}

// check compares Skip with encoding/json, and the iterators with the values that encoding/json decodes.
func check(t *testing.T, text []byte) {
	end, err := jsonio.Skip(text, 0)
	valid := err == nil && len(bytes.TrimSpace(text[end:])) == 0 && bytes.IndexFunc(text[end:], func(r rune) bool { return !strings.ContainsRune(" \t\r\n", r) }) < 0
	if want := json.Valid(text); valid != want && !errors.Is(err, jsonio.ErrDepth) {
		t.Fatalf("%q: end %d, %v; valid: %v", text, end, err, want)
	}
	var syntax *jsonio.SyntaxError
	switch {
	case errors.As(err, &syntax) && (syntax.Offset < 0 || syntax.Offset >= len(text)):
		t.Fatalf("%q: %v", text, err)
	case err == io.ErrUnexpectedEOF:
		if json.Valid(text) {
			t.Fatalf("%q: %v", text, err)
		}
	}
	if !valid {
		return
	}
	value := bytes.TrimSpace(text[:end])
	if jsonio.End(value, 0) != len(value) {
		t.Fatalf("%q: End is %d", value, jsonio.End(value, 0))
	}
	compare(t, value)
}

func compare(t *testing.T, value []byte) {
	switch value[0] {
	case '"':
		compareString(t, value)
	case '[':
		compareArray(t, value)
	case '{':
		compareObject(t, value)
	}
}

func decode(t *testing.T, text []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
}

func compareString(t *testing.T, value []byte) {
	var want, again string
	decode(t, value, &want)
	got, exact := jsonio.AppendUnquoted(nil, value)
	if exact && (string(got) != want || !utf8.Valid(got)) || jsonio.IsPlain(value[1:len(value)-1]) != !bytes.Contains(value, []byte(`\`)) {
		t.Fatalf("%q: %q, %v, want %q", value, got, exact, want)
	}
	if decode(t, jsonio.AppendQuoted(nil, got), &again); again != string(got) {
		t.Fatalf("%q: quoted %q is %q", value, got, again)
	}
}

func compareArray(t *testing.T, value []byte) {
	var want []json.RawMessage
	decode(t, value, &want)
	list := jsonio.ElementsOf(value)
	for i := 0; ; i++ {
		e, ok := list.Next()
		if !ok {
			if i != len(want) {
				t.Fatalf("%q: %d elements", value, i)
			}
			return
		}
		if i >= len(want) || !bytes.Equal(e, bytes.TrimSpace(want[i])) {
			t.Fatalf("%q: element %d is %q", value, i, e)
		}
		compare(t, e)
	}
}

func compareObject(t *testing.T, value []byte) {
	var want map[string]json.RawMessage
	decode(t, value, &want)
	last := map[string][]byte{}
	list := jsonio.MembersOf(value)
	for {
		name, v, ok := list.Next()
		if !ok {
			break
		}
		var text string
		decode(t, name, &text)
		last[text] = slices.Clone(v)
		compare(t, v)
	}
	if len(last) != len(want) {
		t.Fatalf("%q: members %q", value, last)
	}
	for name, v := range last {
		if !bytes.Equal(v, bytes.TrimSpace(want[name])) {
			t.Fatalf("%q: member %q is %q", value, name, v)
		}
	}
}

func TestScan(t *testing.T) {
	for _, text := range inputs {
		check(t, []byte(text))
	}
	for _, depth := range []int{jsonio.MaxDepth, jsonio.MaxDepth + 1} {
		text := strings.Repeat(`[{"a":`, depth/2) + strings.Repeat("[", depth%2) + "1" + strings.Repeat("]", depth%2) + strings.Repeat("}]", depth/2)
		if _, err := jsonio.Skip([]byte(text), 0); errors.Is(err, jsonio.ErrDepth) != (depth > jsonio.MaxDepth) {
			t.Errorf("depth %d: %v", depth, err)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, text := range inputs {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { check(t, text) })
}
