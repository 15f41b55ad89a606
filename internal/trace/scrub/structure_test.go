package scrub_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/eventgen"
	"github.com/ntconv/ntconv/internal/trace/scrub"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/schema"
	"pgregory.net/rapid"
)

var key = []byte("0123456789abcdef")

// traces returns the traces of the module and those of the reference data.
func traces(t *testing.T) []corpus.File {
	t.Helper()
	list := corpus.Traces(t)
	if _, err := corpus.Find("data"); err != nil || testing.Short() {
		return list
	}
	return append(list, corpus.SharedTraces(t)...)
}

// A scrubbed trace has the events of the original with the same times, threads, stacks, numbers and sizes; only texts
// and bytes that are not decoded differ. A second run with the same key yields the same.
func TestStructureOfEveryTrace(t *testing.T) {
	for _, f := range traces(t) {
		t.Run(f.Name, func(t *testing.T) {
			compare(t, func(scrubs bool) ntconv.Source {
				src, err := reader.New(bytes.NewReader(f.Data), nil)
				if err != nil {
					t.Fatal(err)
				}
				return wrap(t, src, scrubs)
			})
		})
	}
}

// The same holds for generated traces with all type codes.
func TestStructureOfGeneratedTraces(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		tr := eventgen.Traces().Draw(r, "trace")
		compare(t, func(scrubs bool) ntconv.Source {
			return wrap(t, ntconvtest.Poison(ntconvtest.NewSource(tr.Info, tr.Events...)), scrubs)
		})
	})
}

func wrap(t *testing.T, src ntconv.Source, scrubs bool) ntconv.Source {
	t.Helper()
	if !scrubs {
		return src
	}
	s, err := scrub.New(scrub.Options{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return s.Source(src)
}

// compare reads a trace, and twice its scrubbed form.
func compare(t *testing.T, open func(scrubs bool) ntconv.Source) {
	t.Helper()
	before, after, again := open(false), open(true), open(true)
	var a, b schema.Table
	for n := 0; ; n++ {
		x, xerr := before.Next()
		y, yerr := after.Next()
		z, zerr := again.Next()
		if (xerr == nil) != (yerr == nil) || (xerr == nil) != (zerr == nil) {
			t.Fatalf("event %d: errors %v, %v and %v", n, xerr, yerr, zerr)
		}
		if xerr != nil {
			if !errors.Is(xerr, io.EOF) && xerr.Error() != yerr.Error() {
				t.Errorf("errors %v and %v", xerr, yerr)
			}
			return
		}
		if !bytes.Equal(y.Payload, z.Payload) {
			t.Fatalf("event %d: another run with the same key yields another payload", n)
		}
		if err := sameShape(x, y); err != nil {
			t.Fatalf("event %d: %v", n, err)
		}
		if x.Type != nil && !strings.ContainsAny(x.Type.Provider+x.Type.Name, `/\`) && (x.Type.Provider != y.Type.Provider || x.Type.Name != y.Type.Name) {
			t.Fatalf("event %d: the names of %s/%s are replaced", n, x.Type.Provider, x.Type.Name)
		}
		if x.Kind == ntconv.KindEvent {
			if err := sameValues(a.Of(x), b.Of(y), x, y); err != nil {
				t.Fatalf("event %d: %s/%s: %v", n, a.Of(x).Provider, a.Of(x).Name, err)
			}
		}
	}
}

// sameShape compares what is not text.
func sameShape(x, y *ntconv.Event) error {
	shape := func(e *ntconv.Event) string {
		s := fmt.Sprint(e.Kind, e.Flags, e.CPU, e.Seq, e.Lost, e.Time, e.Offset, len(e.Payload), e.Stack, e.Labels == nil, len(e.Labels.List()))
		if t := e.Type; t != nil {
			s += fmt.Sprint(len(t.Provider), t.ID, len(t.Name), t.Version, t.Level, t.Opcode, t.Keywords, len(t.Fields), len(t.Attrs))
		}
		for _, t := range []*ntconv.Thread{e.Thread, e.Capture} {
			if t != nil {
				s += fmt.Sprint(t.TID, len(t.Name), len(t.Attrs), t.Process == nil)
			}
			if t != nil && t.Process != nil {
				s += fmt.Sprint(t.Process.PID, t.Process.PointerSize, len(t.Process.Name), len(t.Process.Host))
			}
		}
		if e.Mark != nil {
			s += fmt.Sprint(e.Mark.Kind, e.Mark.Flags, len(e.Mark.Threads))
		}
		return s
	}
	if a, b := shape(x), shape(y); a != b {
		return fmt.Errorf("%s became %s", a, b)
	}
	return nil
}

// sameValues compares the fields of payloads: numbers are equal, texts have equal lengths.
func sameValues(a, b *schema.Schema, x, y *ntconv.Event) error {
	var list []ntconv.Value
	for _, v := range a.Values(x) {
		list = append(list, v)
	}
	i := 0
	for f, v := range b.Values(y) {
		if i >= len(list) {
			return fmt.Errorf("field %s is new", f.Name)
		}
		if err := sameValue(list[i], v); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		i++
	}
	return nil
}

func sameValue(v, w ntconv.Value) error {
	if v.Kind() == ntconv.ValueError {
		return nil
	}
	if v.Kind() != w.Kind() {
		return fmt.Errorf("%v became %v", v.Kind(), w.Kind())
	}
	switch v.Kind() {
	case ntconv.ValueString:
		if s, r := v.String(), w.String(); utf8.RuneCountInString(s) != utf8.RuneCountInString(r) || len(s) != len(r) && !strings.ContainsRune(s, utf8.RuneError) {
			return fmt.Errorf("%q became %q", s, r)
		}
	case ntconv.ValueBytes, ntconv.ValueList, ntconv.ValueObject:
		return nil // of TestPlantedSecrets; their size follows from that of the payload
	default:
		if v.String() != w.String() {
			return fmt.Errorf("%v became %v", v, w)
		}
	}
	return nil
}

// Members that are missing in the payload of an older version, of a fixed size or not, do not affect those before them.
func TestMissingMembers(t *testing.T) {
	text, number := ntconv.FieldType{Code: ntconv.TypeUTF16String}, ntconv.FieldType{Code: ntconv.TypeUint16}
	fixed := ntconv.FieldType{Code: ntconv.TypeObject, Fields: []ntconv.Field{{Name: "a", Type: number}, {Name: "b", Type: number}}}
	typ := &ntconv.Type{Provider: "Shop", ID: 1, Name: "Paid", Fields: []ntconv.Field{
		{Name: "o", Type: ntconv.FieldType{Code: ntconv.TypeObject, Fields: []ntconv.Field{{Name: "s", Type: text}, {Name: "f", Type: fixed}}}},
		{Name: "n", Type: number},
	}}
	for _, rest := range []string{"", "\x07\x00", "\x07\x00\x08\x00", "\x07\x00\x08\x00\x09\x00"} {
		e := &ntconv.Event{Type: typ, Payload: []byte("S\x00e\x00c\x00r\x00e\x00t\x00\x00\x00" + rest)}
		got, err := wrap(t, ntconvtest.NewSource(&ntconv.Info{}, e), true).Next()
		if err != nil {
			t.Fatal(err)
		}
		if string(got.Payload[14:]) != rest || bytes.Equal(got.Payload[:12], e.Payload[:12]) || bytes.Contains(got.Payload[:12], []byte("\x00\x00")) {
			t.Errorf("% x became % x", e.Payload, got.Payload)
		}
	}
}
