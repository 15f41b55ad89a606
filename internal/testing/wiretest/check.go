package wiretest

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// CheckPair checks the properties of a Parse and Append pair for a generated row: parsing the appended bytes yields the
// row and ends at their end, regardless of the bytes in tail after it, and no strict prefix parses as the same row.
// tail is empty for rows that extend to the end of their block.
func CheckPair[T any](t *rapid.T, name string, row T, encoded, tail []byte, parse func(*bin.Cursor) (T, error)) {
	t.Helper()
	const base = 1 << 33
	c := bin.New(append(bytes.Clone(encoded), tail...), base)
	got, err := parse(&c)
	if err != nil || !reflect.DeepEqual(got, row) {
		t.Fatalf("%s: %x parsed as\n%+v, %v; want\n%+v", name, encoded, got, err, row)
	}
	if c.Offset() != base+int64(len(encoded)) {
		t.Fatalf("%s of %d bytes: stopped at %d", name, len(encoded), c.Offset()-base)
	}
	if len(encoded) == 0 {
		return
	}
	cut := rapid.IntRange(0, len(encoded)-1).Draw(t, "cut")
	c = bin.New(encoded[:cut:cut], base)
	got, err = parse(&c)
	if err == nil && reflect.DeepEqual(got, row) {
		t.Fatalf("%s: the first %d of %d bytes parse as the whole row", name, cut, len(encoded))
	}
	if e := (*bin.Error)(nil); err != nil && (!errors.As(err, &e) || e.Offset < base || e.Offset > base+int64(cut)) {
		t.Fatalf("%s cut at %d: error without an offset: %v", name, cut, err)
	}
}

// CheckStable checks that a row in arbitrary bytes is the same after it is written and read again, and that errors have
// an offset inside the input.
func CheckStable[T any](t testing.TB, in []byte, parse func(*bin.Cursor) (T, error), appendTo func([]byte, *T) ([]byte, error)) {
	t.Helper()
	c := bin.New(in, 0)
	row, err := parse(&c)
	var e *bin.Error
	if err != nil && (!errors.As(err, &e) || e.Offset < 0 || e.Offset > int64(len(in))) {
		t.Fatalf("%x: error without an offset: %v", in, err)
	}
	if err != nil {
		return
	}
	b, err := appendTo(nil, &row)
	if errors.Is(err, bin.ErrLimit) {
		return // an invalid UTF-8 byte becomes three bytes
	}
	again := bin.New(b, 0)
	got, err2 := parse(&again)
	if err != nil || err2 != nil || !reflect.DeepEqual(got, row) || again.Len() != 0 {
		t.Fatalf("%x reads as\n%+v\n%x, %v, reads as\n%+v, %v", in, row, b, err, got, err2)
	}
}

// Infallible converts a function that appends a row for CheckStable.
func Infallible[T any](f func([]byte, *T) []byte) func([]byte, *T) ([]byte, error) {
	return func(dst []byte, v *T) ([]byte, error) { return f(dst, v), nil }
}

// A Compressed is an encoding of compressed event headers.
type Compressed struct {
	V6     bool
	Append func(dst []byte, prev, h *wire.EventHeader, flags uint8) []byte // flags are redundant fields
	Parse  func(b []byte, h *wire.EventHeader) int
	Error  func(b []byte, offset int64) error
}

// CheckRoundTrip checks that headers decode to the same events, with and without redundant fields, that the lengths add
// up, and that a header truncated anywhere is an error with a cause.
func (e *Compressed) CheckRoundTrip(t *rapid.T) {
	var prev, state wire.EventHeader
	for range rapid.IntRange(1, 20).Draw(t, "events") {
		h := Header(prev, e.V6).Draw(t, "header")
		b := e.Append(nil, &prev, &h, rapid.SampledFrom([]uint8{0, 0xff}).Draw(t, "redundant"))
		cut, last := rapid.IntRange(0, len(b)-1).Draw(t, "cut"), state
		if n := e.Parse(b[:cut], &last); n > 0 {
			t.Fatalf("%d of %d bytes decode to a header of %d", cut, len(b), n)
		}
		if err := e.Error(b[:cut], 5); !errors.Is(err, bin.ErrShort) {
			t.Fatalf("%d of %d bytes: %v", cut, len(b), err)
		}
		rest := rapid.SliceOfN(rapid.Byte(), 0, 80).Draw(t, "rest")
		if n := e.Parse(append(bytes.Clone(b), rest...), &state); n != len(b) {
			t.Fatalf("length %d of %x", n, b)
		}
		got := state
		got.Flags = h.Flags
		if got != h {
			t.Fatalf("%x decodes to\n%+v, want\n%+v", b, got, h)
		}
		prev = h
	}
}

// CheckAny checks that the decoder, Error and Append agree about arbitrary bytes. It calls each with every header, the
// header before it, and the bytes that Append makes of it.
func (e *Compressed) CheckAny(t testing.TB, in []byte, each func(b []byte, prev *wire.EventHeader, h wire.EventHeader)) {
	t.Helper()
	var prev wire.EventHeader
	for len(in) > 0 {
		h := prev
		n := e.Parse(in, &h)
		if err := e.Error(in, 0); (err == nil) != (n > 0) || n > len(in) {
			t.Fatalf("%x: length %d, %v", in, n, err)
		}
		if n <= 0 {
			return
		}
		// With the same fields, only numbers with redundant bytes get shorter.
		b := e.Append(nil, &prev, &h, h.Flags)
		again := prev
		if m := e.Parse(b, &again); m != len(b) || m > n || again != h {
			t.Fatalf("%x reads as\n%+v\n%x reads as\n%+v", in[:n], h, b, again)
		}
		each(b, &prev, h)
		prev, in = h, in[n:]
	}
}
