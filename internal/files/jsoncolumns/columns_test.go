package jsoncolumns_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/files/jsoncolumns"
	"github.com/ntconv/ntconv/internal/files/spool"
)

// Columns that are filled at the same time are each written whole, in the order of their keys, regardless of length.
func TestColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	set := jsoncolumns.NewSet(&spool.Options{Dir: t.TempDir(), Memory: 64 << 10})
	columns, want := make([]*jsoncolumns.Column, 200), make([][]int64, 200)
	for _, i := range rng.Perm(len(columns)) {
		columns[i] = set.Column(spool.Key{Time: int64(i / 7), Rank: int64(i % 7)})
	}
	for range 300_000 {
		i := min(rng.IntN(len(columns)), rng.IntN(len(columns))) // some are short
		n := rng.Int64N(1 << 40)
		columns[i].Int(n)
		want[i] = append(want[i], n)
	}
	var out bytes.Buffer
	w := jsoncolumns.NewWriter(&out)
	w.Text("[")
	for i, c := range columns {
		if i > 0 {
			w.Text(",")
		}
		w.Column(c)
	}
	w.Text("]")
	if err := errors.Join(w.Flush(), set.Err(), set.Close(), set.Close()); err != nil {
		t.Fatal(err)
	}
	var got [][]int64
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if !slices.Equal(got[i], want[i]) || columns[i].Len != len(want[i]) {
			t.Fatalf("column %d: got %d values, want %d", i, len(got[i]), len(want[i]))
		}
	}
}

// Adding a value to a column causes no allocation once the buffers have grown.
func TestAllocations(t *testing.T) {
	set := jsoncolumns.NewSet(nil)
	c := set.Column(spool.Key{})
	for range 10_000 {
		c.Int(1 << 40)
	}
	if n := testing.AllocsPerRun(100, func() { c.Int(1 << 40) }); n != 0 {
		t.Errorf("%v allocations per value", n)
	}
}

func TestStrings(t *testing.T) {
	for in, want := range map[string]string{"a\"b\\\n\x00é": "a\"b\\\n\x00é", "a\xff\xc3b": "a\ufffd\ufffdb", "\xed\xa0\x80": "\ufffd\ufffd\ufffd"} {
		quoted, exact := jsonio.AppendString(nil, in)
		var got string
		if err := json.Unmarshal(quoted, &got); err != nil || got != want || exact != (in == want) {
			t.Errorf("%q: %s is %q, exact %v, error %v", in, quoted, got, exact, err)
		}
	}
}

var errFull = errors.New("disk full")

type failing struct{ left int }

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// Flush returns an error of the output.
func TestErrors(t *testing.T) {
	for _, left := range []int{0, 70_000} {
		set := jsoncolumns.NewSet(nil)
		c := set.Column(spool.Key{})
		for i := range 50_000 {
			c.Int(int64(i))
		}
		w := jsoncolumns.NewWriter(&failing{left})
		w.Column(c)
		w.String("end")
		if err := w.Flush(); !errors.Is(err, errFull) {
			t.Errorf("room for %d bytes: error %v", left, err)
		}
	}
}
