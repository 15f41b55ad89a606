package wire_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// stable checks that a row is the same after it is written and read again, and that errors have an offset inside the
// input.
func stable[T any](t *testing.T, in []byte, parse func(*bin.Cursor) (T, error), appendTo func([]byte, *T) ([]byte, error)) {
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

func infallible[T any](f func([]byte, *T) []byte) func([]byte, *T) ([]byte, error) {
	return func(dst []byte, v *T) ([]byte, error) { return f(dst, v), nil }
}

// FuzzRows checks that every row of version 6 is read without a panic and is unchanged by writing.
func FuzzRows(f *testing.F) {
	tr := wire.Trace{KeyValues: []wire.KeyValue{{Key: "k", Value: "v"}}}
	f.Add(wire.AppendTrace(nil, &tr))
	f.Add(row("\x01\x00\x0f\x00\x01o\x01\x02\x00\x03\x00\x01x\x05\x03\x00\x01y\x06", "\x08\x04\x06\x01k\x01v", "extra"))
	f.Add([]byte("\x0b\x00\x05\x03\x07\x01\x01n\x04\x01k\x01v"))
	f.Add([]byte("\x85\x01k\x01v"))
	f.Add([]byte("\x14\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		stable(t, in, wire.ParseTrace, infallible(wire.AppendTrace))
		stable(t, in, parseMetadata, wire.AppendMetadata)
		stable(t, in, wire.ParseThread, wire.AppendThread)
		stable(t, in, wire.ParseEventBlockHeader, infallible(wire.AppendEventBlockHeader))
		stable(t, in, func(c *bin.Cursor) (wire.SequencePoint, error) { return wire.ParseSequencePoint(c, nil) }, infallible(wire.AppendSequencePoint))
		for _, unsigned := range []bool{false, true} {
			stable(t, in, func(c *bin.Cursor) ([]wire.Label, error) { return wire.ParseLabels(c, nil, unsigned) },
				func(dst []byte, list *[]wire.Label) ([]byte, error) {
					return wire.AppendLabels(dst, *list, unsigned), nil
				})
		}
		labels, parsed := bin.New(in, 0), bin.New(in, 0)
		raw := wire.NextLabels(&labels)
		if _, err := wire.ParseLabels(&parsed, nil, false); (raw == nil) != (err != nil) || labels.Offset() != parsed.Offset() {
			t.Fatalf("labels %x: bytes %x, %v", in, raw, err)
		}
	})
}

// FuzzCompressed checks that the decoder of compressed headers, CompressedError and the encoder agree.
func FuzzCompressed(f *testing.F) {
	f.Add([]byte("\xdf\x81\x01\x04\x02\x03\x05\x06\xe8\x07\x09\x0a"))
	f.Add([]byte("\x02\xff\xff\xff\xff\x0f\x02\xff\xff\xff\xff\x0f\xfb\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var prev wire.EventHeader
		for len(in) > 0 {
			h := prev
			n := h.ParseCompressed(in)
			if err := wire.CompressedError(in, 0); (err == nil) != (n > 0) || n > len(in) {
				t.Fatalf("%x: length %d, %v", in, n, err)
			}
			if n <= 0 {
				return
			}
			// With the same fields, only numbers with redundant bytes get shorter.
			b := wire.AppendCompressedAs(nil, &prev, &h, h.Flags)
			again := prev
			if m := again.ParseCompressed(b); m != len(b) || m > n || again != h {
				t.Fatalf("%x reads as\n%+v\n%x reads as\n%+v", in[:n], h, b, again)
			}
			short := wire.AppendCompressed(nil, &prev, &h)
			again = prev
			if m := again.ParseCompressed(short); m != len(short) || m > n {
				t.Fatalf("%x written as %x", in[:n], short)
			}
			if again.Flags = h.Flags; again != h {
				t.Fatalf("%x reads as\n%+v\n%x reads as\n%+v", in[:n], h, short, again)
			}
			prev, in = h, in[n:]
		}
	})
}

// TestNoAmplification checks that corrupt sizes cause no allocation beyond the size of the input.
func TestNoAmplification(t *testing.T) {
	big := bytes.Repeat([]byte{0xff}, 1<<16)
	if n := testing.AllocsPerRun(1, func() {
		c := bin.New(big, 0)
		sp, err := wire.ParseSequencePoint(&c, nil)
		if err == nil || cap(sp.Threads) > len(big) {
			t.Errorf("%d threads, %v", cap(sp.Threads), err)
		}
		c = bin.New(big, 0)
		if tr, err := wire.ParseTrace(&c); err == nil && len(tr.KeyValues) != 0 {
			t.Errorf("%+v", tr)
		}
	}); n > 100 {
		t.Errorf("%v allocations", n)
	}
}
