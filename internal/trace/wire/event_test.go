package wire_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv/internal/testing/wiretest"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

var compressed = wiretest.Compressed{
	V6: true, Append: wire.AppendCompressedAs, Error: wire.CompressedError,
	Parse: func(b []byte, h *wire.EventHeader) int { return h.ParseCompressed(b) },
}

func TestCompressedRoundTrip(t *testing.T) { rapid.Check(t, compressed.CheckRoundTrip) }

// TestCompressedRules checks the bytes of headers and the inherited fields, which a round trip cannot check.
func TestCompressedRules(t *testing.T) {
	var h wire.EventHeader
	for _, step := range []struct {
		name, in string
		want     wire.EventHeader
	}{
		{"everything", "\xdf\x81\x01\x04\x02\x03\x05\x06\xe8\x07\x09\x0a",
			wire.EventHeader{Flags: 0xdf, Sorted: true, MetadataID: 129, Sequence: 5, CaptureThread: 2, CPU: 3, Thread: 5, StackID: 6, Time: 1000, LabelList: 9, PayloadSize: 10}},
		{"nothing", "\x00\x05",
			wire.EventHeader{MetadataID: 129, Sequence: 6, CaptureThread: 2, CPU: 3, Thread: 5, StackID: 6, Time: 1005, LabelList: 9, PayloadSize: 10}},
		{"back in time, no CPU", "\x02\xff\xff\xff\xff\x0f\x02\xff\xff\xff\xff\x0f\xfb\xff\xff\xff\xff\xff\xff\xff\xff\x01",
			wire.EventHeader{Flags: 2, MetadataID: 129, Sequence: 6, CaptureThread: 2, CPU: wire.NoCPU, Thread: 5, StackID: 6, Time: 1000, LabelList: 9, PayloadSize: 10}},
		{"bit 32 is ignored; metadata ID 0 counts", "\x21\x00\x00",
			wire.EventHeader{Flags: 0x21, Sequence: 7, CaptureThread: 2, CPU: wire.NoCPU, Thread: 5, StackID: 6, Time: 1000, LabelList: 9, PayloadSize: 10}},
	} {
		if n := h.ParseCompressed([]byte(step.in)); n != len(step.in) || h != step.want {
			t.Errorf("%s: length %d\n%+v, want\n%+v", step.name, n, h, step.want)
		}
	}
	var prev wire.EventHeader
	if got := wire.AppendCompressed(nil, &prev, &wire.EventHeader{Sequence: 1, Time: 3, Sorted: true}); string(got) != "\x40\x03" {
		t.Errorf("an event that only differs in time takes %x", got)
	}
}

func TestCompressedError(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "offset 0x64: Event/Flags: not enough bytes",
		"\x01\x80":                 "offset 0x65: Event/MetadataId: not enough bytes",
		"\x01\x80\x80\x80\x80\x80": "offset 0x65: Event/MetadataId: variable-length number too long: want at most 5 bytes",
		"\x82\x01\x02":             "offset 0x67: Event/ProcessorNumber: not enough bytes",
		"\x80\x01":                 "offset 0x66: Event/PayloadSize: not enough bytes",
		"\x00\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00": "offset 0x65: Event/TimeStamp: variable-length number too long: want at most 10 bytes",
	} {
		var h wire.EventHeader
		if n := h.ParseCompressed([]byte(in)); n > 0 {
			t.Errorf("%x: length %d", in, n)
		}
		if err := wire.CompressedError([]byte(in), 100); err == nil || err.Error() != want {
			t.Errorf("%x: %v, want %s", in, err, want)
		}
	}
}

func TestUncompressedRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := wiretest.Header(wire.EventHeader{}, true).Draw(t, "header")
		h.EventSize = rapid.Uint32().Draw(t, "event size")
		b := wire.AppendUncompressed(nil, &h)
		got := wiretest.Header(h, true).Draw(t, "state before")
		if n := got.ParseUncompressed(append(bytes.Clone(b), 1, 2)); n != len(b) || n != wire.UncompressedSize || got != h {
			t.Fatalf("length %d\n%+v, want\n%+v", n, got, h)
		}
		if n := got.ParseUncompressed(b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")]); n != 0 {
			t.Fatalf("cut header has length %d", n)
		}
	})
}
