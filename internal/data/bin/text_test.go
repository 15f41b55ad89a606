package bin_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"unicode/utf16"

	"github.com/ntconv/ntconv/internal/data/bin"
)

// TestDecodeUTF16 compares the result with the standard library for strings of all shapes.
func TestDecodeUTF16(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	shapes := []func() uint16{
		func() uint16 { return uint16(r.IntN(0x80)) },
		func() uint16 { return uint16(r.IntN(0x800)) },
		func() uint16 { return uint16(0xd7f0 + r.IntN(0x820)) },
		func() uint16 { return uint16(r.Uint32()) },
	}
	for range 5000 {
		units := make([]uint16, r.IntN(40))
		var b []byte
		for i := range units {
			units[i] = shapes[min(r.IntN(8), 3)]()
			b = binary.LittleEndian.AppendUint16(b, units[i])
		}
		want := "before" + string(utf16.Decode(units))
		if got := string(bin.DecodeUTF16([]byte("before"), b)); got != want {
			t.Fatalf("% x: %q, want %q", b, got, want)
		}
		if got := string(bin.DecodeUTF16([]byte("before"), append(b, 'x'))); got != want {
			t.Fatalf("% x and an odd byte: %q, want %q", b, got, want)
		}
	}
}

// TestCutUTF16 compares the result with a search unit by unit, for bytes with many zeros.
func TestCutUTF16(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	alphabet := []byte{0, 0, 1, 2, 0x80, 0xff}
	for range 20000 {
		b := make([]byte, r.IntN(40))
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		end := -1
		for i := 0; i+2 <= len(b) && end < 0; i += 2 {
			if b[i] == 0 && b[i+1] == 0 {
				end = i
			}
		}
		text, rest, ok := bin.CutUTF16(b)
		if ok != (end >= 0) || ok && (!bytes.Equal(text, b[:end]) || !bytes.Equal(rest, b[end+2:])) || !ok && len(text) != len(b) {
			t.Fatalf("% x: % x, % x, %t, want a cut at %d", b, text, rest, ok, end)
		}
	}
}
