package tables

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
)

// randomFields returns fields of all type codes, including codes without a name.
func randomFields(r *rand.Rand, depth int) (fields []ntconv.Field) {
	for range 1 + r.IntN(6) {
		f := ntconv.Field{Name: []string{"", "a", "Größe \"x\" <&>", "line\nbreak\x00", "\U0001F600"}[r.IntN(5)], Type: randomType(r, depth)}
		if r.IntN(4) == 0 {
			f.Extra = []byte{byte(r.Uint32()), 0}
		}
		fields = append(fields, f)
	}
	return fields
}

func randomType(r *rand.Rand, depth int) ntconv.FieldType {
	t := ntconv.FieldType{Code: ntconv.TypeCode(r.Uint32())}
	if r.IntN(3) == 0 {
		t.Count = uint16(r.Uint32())
	}
	if depth > 0 && r.IntN(2) == 0 {
		elem := randomType(r, depth-1)
		t.Elem = &elem
	}
	if depth > 0 && r.IntN(2) == 0 {
		t.Fields = randomFields(r, depth-1)
	}
	return t
}

func TestFieldsAreRestored(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[ntconv.TypeCode]bool{}
	for range 2000 {
		want := randomFields(r, 4)
		for i := range want {
			seen[want[i].Type.Code] = true
		}
		text := AppendFields(nil, want)
		if !json.Valid(text) {
			t.Fatalf("not JSON: %s", text)
		}
		got, err := ParseFields(string(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: got %+v, want %+v", text, got, want)
		}
	}
	if len(seen) != 256 {
		t.Errorf("%d type codes were tested, want all 256", len(seen))
	}
}

func TestNoFieldsIsEmpty(t *testing.T) {
	if text := AppendFields(nil, nil); len(text) != 0 {
		t.Errorf("no fields give %q", text)
	}
	if fields, err := ParseFields(""); fields != nil || err != nil {
		t.Errorf("no text gives %v, %v", fields, err)
	}
}

func TestMalformedFieldsAreErrors(t *testing.T) {
	for _, text := range []string{
		"[", "{}", "[1]", `[{"name":"a","type":"nothing"}]`, `[{"name":"a","type":"int32","extra":"0"}]`, `[{"name":"a","type":"256"}]`,
		`[{"name":"a"}]`, `[] []`, `[{"name":"a","type":"int32","size":4}]`, `[{"name":"a","type":"fixedarray","count":65536}]`,
	} {
		if _, err := ParseFields(text); !errors.Is(err, ntconv.ErrCorrupt) {
			t.Errorf("%s: got %v, want ErrCorrupt", text, err)
		}
	}
	deep := strings.Repeat(`[{"name":"a","type":"object","fields":`, 1<<20)
	var limit *ntconv.LimitError
	if _, err := ParseFields(deep); !errors.As(err, &limit) {
		t.Errorf("deep nesting: got %v, want a LimitError", err)
	}
}

// FuzzParseFields: no input causes a panic, and accepted input round-trips.
func FuzzParseFields(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		f.Add(string(AppendFields(nil, randomFields(r, 2))))
	}
	f.Fuzz(func(t *testing.T, text string) {
		fields, err := ParseFields(text)
		if err != nil {
			return
		}
		again, err := ParseFields(string(AppendFields(nil, fields)))
		if err != nil || !reflect.DeepEqual(again, fields) {
			t.Fatalf("%q: got %+v (%v), want %+v", text, again, err, fields)
		}
	})
}
