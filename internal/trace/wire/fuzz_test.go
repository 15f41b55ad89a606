package wire_test

import (
	"bytes"
	"testing"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/testing/wiretest"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// FuzzRows checks that every row of version 6 is read without a panic and is unchanged by writing.
func FuzzRows(f *testing.F) {
	tr := wire.Trace{KeyValues: []wire.KeyValue{{Key: "k", Value: "v"}}}
	f.Add(wire.AppendTrace(nil, &tr))
	f.Add(row("\x01\x00\x0f\x00\x01o\x01\x02\x00\x03\x00\x01x\x05\x03\x00\x01y\x06", "\x08\x04\x06\x01k\x01v", "extra"))
	f.Add([]byte("\x0b\x00\x05\x03\x07\x01\x01n\x04\x01k\x01v"))
	f.Add([]byte("\x85\x01k\x01v"))
	f.Add([]byte("\x14\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		wiretest.CheckStable(t, in, wire.ParseTrace, wiretest.Infallible(wire.AppendTrace))
		wiretest.CheckStable(t, in, func(c *bin.Cursor) (wire.Metadata, error) { return wire.ParseMetadata(c, wire.Limits{}) }, wire.AppendMetadata)
		wiretest.CheckStable(t, in, wire.ParseThread, wire.AppendThread)
		wiretest.CheckStable(t, in, wire.ParseEventBlockHeader, wiretest.Infallible(wire.AppendEventBlockHeader))
		wiretest.CheckStable(t, in, func(c *bin.Cursor) (wire.SequencePoint, error) { return wire.ParseSequencePoint(c, nil) }, wiretest.Infallible(wire.AppendSequencePoint))
		for _, unsigned := range []bool{false, true} {
			wiretest.CheckStable(t, in, func(c *bin.Cursor) ([]wire.Label, error) { return wire.ParseLabels(c, nil, unsigned) },
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
		compressed.CheckAny(t, in, func(b []byte, prev *wire.EventHeader, h wire.EventHeader) {
			short, again := wire.AppendCompressed(nil, prev, &h), *prev
			if m := again.ParseCompressed(short); m != len(short) || m > len(b) {
				t.Fatalf("%x written as %x", b, short)
			}
			if again.Flags = h.Flags; again != h {
				t.Fatalf("%x reads as\n%+v\n%x reads as\n%+v", b, h, short, again)
			}
		})
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
