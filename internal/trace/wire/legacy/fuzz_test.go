package legacy_test

import (
	"testing"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/testing/wiretest"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/internal/trace/wire/legacy"
)

// FuzzRows checks that every row of versions 3 to 5 is read without a panic and is unchanged by writing.
func FuzzRows(f *testing.F) {
	o := legacy.Object{Private: true, Name: "SPBlock", Version: 2, MinReader: 2, Size: 12}
	f.Add(legacy.AppendObject(nil, &o, 0))
	int32s := wire.Type{Code: wire.TypeArray, Elem: &wire.Type{Code: wire.TypeInt32}}
	object := wire.Type{Code: wire.TypeObject, Fields: []wire.Field{{Name: "x", Type: *int32s.Elem}}}
	f.Add(legacy.AppendMetadata(nil, &legacy.Metadata{Has: 7, V1: []wire.Field{{Name: "o", Type: object}}, V2: []wire.Field{{Name: "a", Type: int32s}, {Type: object}}}))
	f.Add(legacy.AppendSequencePoint(nil, &wire.SequencePoint{Threads: []wire.ThreadSeq{{Thread: 1, Sequence: 2}}}))
	f.Add(legacy.AppendEventV3(nil, &legacy.EventV3{Payload: []byte("payload"), Stack: []byte("stack")}, 0))
	f.Fuzz(func(t *testing.T, in []byte) {
		wiretest.CheckStable(t, in, legacy.ParseObject, wiretest.Infallible(func(dst []byte, o *legacy.Object) []byte { return legacy.AppendObject(dst, o, 0) }))
		wiretest.CheckStable(t, in, legacy.ParseTrace, wiretest.Infallible(legacy.AppendTrace))
		wiretest.CheckStable(t, in, func(c *bin.Cursor) (wire.SequencePoint, error) { return legacy.ParseSequencePoint(c, nil) },
			wiretest.Infallible(legacy.AppendSequencePoint))
		wiretest.CheckStable(t, in, func(c *bin.Cursor) (legacy.Metadata, error) { return legacy.ParseMetadata(c, wire.Limits{}) },
			wiretest.Infallible(legacy.AppendMetadata))
		wiretest.CheckStable(t, in, legacy.ParseEventV3,
			wiretest.Infallible(func(dst []byte, e *legacy.EventV3) []byte { return legacy.AppendEventV3(dst, e, 0) }))
	})
}

// FuzzCompressed checks that the decoder of compressed headers, CompressedError and the encoder agree, and that the
// decoder for previews differs only in the CPU.
func FuzzCompressed(f *testing.F) {
	f.Add([]byte("\xff\x81\x01\x04\x02\x03\x05\x06\xe8\x070123456789abcdef0123456789abcdef\x0a"))
	f.Add([]byte("\xc6\xff\xff\xff\xff\x0f\x00\xff\xff\xff\xff\x0f\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		compressed.CheckAny(t, in, func(b []byte, prev *wire.EventHeader, h wire.EventHeader) {
			if h.Flags&wire.HasCapture != 0 {
				checkPreview(t, b, prev, h)
			}
		})
	})
}

// checkPreview writes and reads a header without the CPU number.
func checkPreview(t *testing.T, b []byte, prev *wire.EventHeader, h wire.EventHeader) {
	preview := legacy.AppendPreRelease(nil, prev, &h, h.Flags)
	if cpu := bin.AppendVaruint(nil, uint64(h.CPU)); len(preview) != len(b)-len(cpu) {
		t.Fatalf("%x without the CPU number is %x", b, preview)
	}
	got := *prev
	h.CPU = wire.NoCPU
	if n := legacy.ParsePreRelease(preview, &got); n != len(preview) || got != h {
		t.Fatalf("%x reads as %d\n%+v, want\n%+v", preview, n, got, h)
	}
}
