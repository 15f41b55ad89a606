package scrub

import (
	"encoding/json"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/schema"
)

// classesOf returns the classes of the default policy.
func classesOf(tb testing.TB) (*Policy, []*class) {
	p, err := NewPolicy(nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	var list []*class
	for _, name := range p.order {
		list = append(list, p.classes[name])
	}
	return p, list
}

// Every character of a text becomes one of the same size in each encoding, JSON remains JSON, and the same text has the
// same replacement.
func FuzzText(f *testing.F) {
	for _, s := range []string{
		`{"a\u0062":"C:\\x\u00e9 \ud83d\ude00","n":[-1.5e+10,0.25,true]}`, "/usr/lib/x.so?q=%C3%A9%41", "http://u:p@h.org:80/a?b#c",
		"10.1.2.3 127.0.0.1 1e5 0x7f", "[server.address, 10.1.2.3:80],[a, ::ffff:127.0.0.1]", "http://u:80@[2001:db8::5678]:80/ ::1",
		"InterNetworkV6:28:{0,80,0,0,0,0,0,0,0,0,0,0,0,0,0,0,255,255,10,1,2,3,0,0,0,0} InterNetwork:16:{0,80,10,1,2,3}", "[http.request.method, GET],[a, b]", "\xff\xfe\\", `"\u12`, "SELECT a FROM b", "{\\\xc3\xa9",
	} {
		for class := range 4 {
			f.Add(s, uint8(class*7))
		}
	}
	policy, classes := classesOf(f)
	t := newRewriter(policy, []byte("key"), true)
	f.Fuzz(func(tt *testing.T, s string, n uint8) {
		c := classes[int(n)%len(classes)]
		if c.action == actionZero {
			return
		}
		in := validUTF8([]byte(s))
		out := string(t.append(nil, in, c))
		a, b := []rune(string(in)), []rune(out)
		if len(a) != len(b) || len(in) != len(out) || !utf8.ValidString(out) {
			tt.Fatalf("%s: %q became %q", c.name, in, out)
		}
		for i := range a {
			if utf8.RuneLen(a[i]) != utf8.RuneLen(b[i]) || utf16.RuneLen(a[i]) != utf16.RuneLen(b[i]) || a[i] <= 0xff && b[i] > 0xff {
				tt.Fatalf("%s: character %d of %q became %q", c.name, i, in, out)
			}
		}
		if json.Valid(in) && looksLikeJSON(in) && c.action == actionReplace && !json.Valid([]byte(out)) {
			tt.Fatalf("%s: JSON %q became %q", c.name, in, out)
		}
		if again := string(t.append(nil, in, c)); again != out {
			tt.Fatalf("%s: %q became %q and %q", c.name, in, out, again)
		}
	})
}

// Any payload keeps its size, for any layout of up to eight fields, and the walker terminates within limits.
func FuzzPayload(f *testing.F) {
	f.Add([]byte{18, 19, 24, 25, 9, 23, 131, 132}, []byte("a\x00b\x00\x00\x00\x02\x00xy\x04\x00\x08\x00secret"))
	f.Add([]byte{25, 25, 25, 25}, []byte("\x00\x00\x10\x00\x00\x00\x10\x00\x00\x00\x10\x00\x00\x00\x10\x00"))
	f.Add([]byte{3, 15, 18}, []byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 65, 0, 0, 0})
	policy, _ := classesOf(f)
	words := newRewriter(policy, []byte("key"), false)
	f.Fuzz(func(t *testing.T, codes, payload []byte) {
		var fields []ntconv.Field
		for i, c := range codes[:min(len(codes), 8)] {
			elem := ntconv.FieldType{Code: ntconv.TypeCode(c>>3) | 16}
			fields = append(fields, ntconv.Field{Name: string(rune('a' + i)), Type: ntconv.FieldType{
				Code: ntconv.TypeCode(c), Elem: &elem, Count: uint16(c & 3), Fields: []ntconv.Field{{Name: "key", Type: elem}, {Name: "value", Type: elem}},
			}})
		}
		e := &ntconv.Event{Type: &ntconv.Type{Provider: "P", Name: "E", Fields: fields}, Payload: payload}
		tally := &tally{policy: policy}
		p := planner{policy, &tally.sites, make(map[string][]fieldRule), newNames(true)}
		w := walker{rewriter: words, tally: tally}
		if out := w.payload(p.plan(new(schema.Table).Of(e), e.Type, 8), payload); len(out) != len(payload) {
			t.Fatalf("%d bytes became %d", len(payload), len(out))
		}
	})
}

// A policy is read or rejected, and the default policy follows it.
func FuzzPolicy(f *testing.F) {
	f.Add("class a keep\nfield */*.x a\nkey attribute k a\nwords a b c*\nextension x\nprovider P drop\n")
	f.Fuzz(func(t *testing.T, s string) {
		p, err := NewPolicy([]string{"file"}, []string{s})
		if err == nil && p.class(classText) == nil {
			t.Fatal("the default policy is missing")
		}
	})
}
