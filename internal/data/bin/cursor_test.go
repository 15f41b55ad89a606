package bin_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv/internal/data/bin"
)

// A step reads one value and appends it again.
type step struct {
	name string
	copy func(c *bin.Cursor, dst []byte) []byte
}

var steps = []step{
	{"u8", func(c *bin.Cursor, d []byte) []byte { return append(d, c.U8()) }},
	{"u16", func(c *bin.Cursor, d []byte) []byte { return bin.AppendU16(d, c.U16()) }},
	{"u32", func(c *bin.Cursor, d []byte) []byte { return bin.AppendU32(d, c.U32()) }},
	{"u64", func(c *bin.Cursor, d []byte) []byte { return bin.AppendU64(d, c.U64()) }},
	{"i16", func(c *bin.Cursor, d []byte) []byte { return bin.AppendU16(d, uint16(c.I16())) }},
	{"i32", func(c *bin.Cursor, d []byte) []byte { return bin.AppendU32(d, uint32(c.I32())) }},
	{"i64", func(c *bin.Cursor, d []byte) []byte { return bin.AppendU64(d, uint64(c.I64())) }},
	{"guid", func(c *bin.Cursor, d []byte) []byte { id := c.GUID(); return append(d, id[:]...) }},
	{"bytes", func(c *bin.Cursor, d []byte) []byte { return append(d, c.Bytes(3)...) }},
	{"sub", func(c *bin.Cursor, d []byte) []byte { s := c.Sub(5); return append(d, s.Rest()...) }},
	{"rest", func(c *bin.Cursor, d []byte) []byte { return append(d, c.Rest()...) }},
}

// TestCopy checks that any sequence of fixed-size reads with the matching appends copies the input up to the first read
// that fails. That read fails with its own offset and name, and all later reads return zero.
func TestCopy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(rapid.Byte(), 0, 64).Draw(t, "in")
		base := rapid.Int64Range(0, 1<<40).Draw(t, "base")
		c := bin.New(in, base)
		var out []byte
		for c.Len() > 0 {
			s := rapid.SampledFrom(steps).Draw(t, "step")
			at, left, next := c.Offset(), c.Len(), s.copy(c.At(s.name), out)
			if c.Err() == nil {
				out = next
				if c.Offset()-at != int64(left-c.Len()) {
					t.Fatalf("%s: offset moved by %d, length by %d", s.name, c.Offset()-at, left-c.Len())
				}
				continue
			}
			var e *bin.Error
			if !errors.As(c.Err(), &e) || e.Offset != at || e.Where != s.name || !errors.Is(e, bin.ErrShort) {
				t.Fatalf("%s at %d: %v", s.name, at, c.Err())
			}
			for _, s := range steps {
				if b := s.copy(&c, nil); len(bytes.Trim(b, "\x00")) != 0 {
					t.Fatalf("%s after an error gives %x", s.name, b)
				}
			}
			if c.Err() != error(e) || c.Offset() != at || c.Len() != 0 {
				t.Fatalf("a later read changed the error to %v, the offset to %d", c.Err(), c.Offset())
			}
			return
		}
		if !bytes.Equal(in, out) {
			t.Fatalf("copied %x of %x", out, in)
		}
	})
}

// TestRoundTrip checks that each Append is the inverse of its getter, and that no strict prefix of its output can be
// read.
func TestRoundTrip(t *testing.T) {
	strs := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("aĀĠ\U0001F600\ufffd"))))
	rapid.Check(t, func(t *rapid.T) {
		u, i := rapid.Uint64().Draw(t, "u"), rapid.Int64().Draw(t, "i")
		s := strs.Draw(t, "s")
		z := strings.ReplaceAll(s, "\x00", "")
		for _, p := range []struct {
			name string
			b    []byte
			read func(*bin.Cursor) bool
		}{
			{"varuint64", bin.AppendVaruint(nil, u), func(c *bin.Cursor) bool { return c.Varuint64() == u }},
			{"varuint32", bin.AppendVaruint(nil, u>>32), func(c *bin.Cursor) bool { return c.Varuint32() == uint32(u>>32) }},
			{"varint64", bin.AppendVarint(nil, i), func(c *bin.Cursor) bool { return c.Varint64() == i }},
			{"string", bin.AppendString(nil, s), func(c *bin.Cursor) bool { return c.String() == s }},
			{"utf16z", bin.AppendUTF16Z(nil, z), func(c *bin.Cursor) bool { return c.UTF16Z() == z }},
		} {
			c := bin.New(p.b, 0)
			if !p.read(&c) || c.Err() != nil || c.Len() != 0 {
				t.Fatalf("%s: %x read back as another value, error %v, %d left", p.name, p.b, c.Err(), c.Len())
			}
			cut := bin.New(p.b[:rapid.IntRange(0, len(p.b)-1).Draw(t, "cut")], 7)
			p.read(&cut)
			if !errors.Is(cut.Err(), bin.ErrShort) || cut.Offset() != 7 {
				t.Fatalf("%s: prefix of %x gives %v at %d", p.name, p.b, cut.Err(), cut.Offset())
			}
		}
	})
}

// TestVaruintForms checks redundant bytes, dropped high bits and the limit on length, which the round trip cannot
// check.
func TestVaruintForms(t *testing.T) {
	ff := func(n int) string { return strings.Repeat("\xff", n) }
	for _, tt := range []struct {
		in   string
		bits int
		want uint64
		err  error
	}{
		{"\x80\x00", 32, 0, nil},
		{"\x81\x80\x80\x80\x00", 32, 1, nil},
		{"\xff\xff\xff\xff\x7f", 32, 1<<32 - 1, nil},
		{ff(5), 32, 0, bin.ErrOverflow},
		{"\x80\x80\x80\x80\x80\x00", 32, 0, bin.ErrOverflow},
		{ff(4), 32, 0, bin.ErrShort},
		{ff(9) + "\x7f", 64, 1<<64 - 1, nil},
		{ff(9) + "\x01", 64, 1<<64 - 1, nil},
		{ff(10), 64, 0, bin.ErrOverflow},
		{ff(10) + "\x00", 64, 0, bin.ErrOverflow},
		{ff(9), 64, 0, bin.ErrShort},
		{"", 64, 0, bin.ErrShort},
	} {
		c := bin.New([]byte(tt.in), 0)
		var got, fast uint64
		var end int
		if tt.bits == 32 {
			got = uint64(c.Varuint32())
			v, i := bin.Varuint32([]byte("\x00"+tt.in), 1)
			fast, end = uint64(v), i-1
		} else {
			got = c.Varuint64()
			fast, end = bin.Varuint([]byte("\x00"+tt.in), 1)
			end--
		}
		if got != tt.want || !errors.Is(c.Err(), tt.err) {
			t.Errorf("%x: %d, %v; want %d, %v", tt.in, got, c.Err(), tt.want, tt.err)
		}
		if wantEnd := int(c.Offset()); tt.err == nil && (fast != tt.want || end != wantEnd) {
			t.Errorf("%x: fast form gives %d and ends at %d, want %d at %d", tt.in, fast, end, tt.want, wantEnd)
		}
		if tt.err != nil && end != len(tt.in)+1 {
			t.Errorf("%x: fast form ends at %d, want %d", tt.in, end, len(tt.in)+1)
		}
	}
}

func TestText(t *testing.T) {
	utf16 := func(units ...uint16) (b []byte) {
		for _, u := range units {
			b = bin.AppendU16(b, u)
		}
		return b
	}
	for _, tt := range []struct {
		name string
		in   []byte
		want string
	}{
		{"NUL only in the low byte", utf16('A', 0x100, 'B', 0), "AĀB"},
		{"NUL bytes across units", utf16(0x41, 0x4100, 0x0041, 0), "A\u4100A"},
		{"pair", utf16(0xd83d, 0xde00, 0), "😀"},
		{"high surrogate alone", utf16(0xd83d, 'x', 0), "\ufffdx"},
		{"high surrogate at the end", utf16('x', 0xd83d, 0), "x\ufffd"},
		{"low surrogate alone", utf16(0xde00, 0xd83d, 0xde00, 0), "\ufffd😀"},
		{"U+FFFD itself", utf16(0xfffd, 0), "\ufffd"},
	} {
		c := bin.New(tt.in, 0)
		if got := c.UTF16Z(); got != tt.want || c.Len() != 0 || c.Err() != nil {
			t.Errorf("%s: %q with %d left, %v; want %q", tt.name, got, c.Len(), c.Err(), tt.want)
		}
	}
	c := bin.New(append(bin.AppendString(nil, "a\xff\xfeb"), 9), 0)
	if got := c.String(); got != "a\ufffdb" || c.U8() != 9 {
		t.Errorf("invalid UTF-8 reads as %q", got)
	}
	if got := bin.AppendUTF16Z(nil, "a\x00b"); !bytes.Equal(got, utf16('a', 0)) {
		t.Errorf("NUL within a string: %x", got)
	}
}

func TestLengths(t *testing.T) {
	for name, read := range map[string]func(*bin.Cursor){
		"negative count":        func(c *bin.Cursor) { c.Bytes(-1) },
		"negative skip":         func(c *bin.Cursor) { c.Skip(-5) },
		"negative sub":          func(c *bin.Cursor) { c.Sub(-5) },
		"string beyond the end": func(c *bin.Cursor) { _ = c.String() },
		"UTF-16 without NUL":    func(c *bin.Cursor) { c.UTF16Z() },
	} {
		c := bin.New([]byte{0xff, 0xff, 0xff, 0xff, 0x0f, 1, 1}, 100)
		read(c.At(name))
		var e *bin.Error
		if !errors.As(c.Err(), &e) || !errors.Is(e, bin.ErrShort) || e.Offset != 100 || e.Where != name {
			t.Errorf("%s: %v", name, c.Err())
		}
	}
}

// TestSub checks that an error in a row does not affect its block, but that a row that extends beyond the block fails
// both.
func TestSub(t *testing.T) {
	c := bin.New([]byte{1, 2, 3, 4}, 10)
	row := c.Sub(2)
	row.At("row").U32()
	if row.Err() == nil || c.Err() != nil || c.Offset() != 12 || c.U8() != 3 {
		t.Errorf("row %v, block %v at %d", row.Err(), c.Err(), c.Offset())
	}
	row = c.At("size").Sub(9)
	if row.Err() == nil || row.Err() != c.Err() || row.Len() != 0 || row.Offset() != 13 {
		t.Errorf("row %v, block %v", row.Err(), c.Err())
	}
}

func TestErrorText(t *testing.T) {
	c := bin.New(nil, 0x1a2b)
	c.At("PayloadSize").U32()
	if got, want := c.Err().Error(), "offset 0x1a2b: PayloadSize: not enough bytes"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	c.Fail("other", bin.ErrValue)
	if !errors.Is(c.Err(), bin.ErrShort) {
		t.Errorf("a later error replaced the first: %v", c.Err())
	}
	if got, want := (&bin.Error{Offset: 1, Err: bin.ErrLimit}).Error(), "offset 0x1: limit exceeded"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNoAllocation(t *testing.T) {
	b := bytes.Repeat([]byte{1, 0, 0, 0, 'a', 0, 0, 0}, 64)
	if n := testing.AllocsPerRun(100, func() {
		c := bin.New(b, 0)
		for c.Len() > 0 {
			c.At("number").U32()
			c.At("text").UTF16ZBytes()
		}
		if c.Err() != nil {
			t.Fatal(c.Err())
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzText checks that decoding yields valid UTF-8 and reads up to the terminator, and that the result round-trips.
func FuzzText(f *testing.F) {
	f.Add([]byte("a\x00\x3d\xd8\x00\xde\x00\x00"))
	f.Add([]byte("\x03\xff\xfea"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := bin.New(b, 0)
		if s := c.UTF16Z(); c.Err() == nil {
			again := bin.New(bin.AppendUTF16Z(nil, s), 0)
			if strings.ToValidUTF8(s, "") != s || again.UTF16Z() != s {
				t.Errorf("UTF-16 %x decodes to %q", b, s)
			}
		}
		c = bin.New(b, 0)
		if s := c.String(); c.Err() == nil {
			again := bin.New(bin.AppendString(nil, s), 0)
			if strings.ToValidUTF8(s, "") != s || again.String() != s {
				t.Errorf("UTF-8 %x decodes to %q", b, s)
			}
		}
	})
}

// TestVaruintShort compares numbers of up to four bytes with Varuint, and checks that longer ones are reported.
func TestVaruintShort(t *testing.T) {
	for n := range uint64(1 << 20) {
		v := n * n * 7 // up to 2^43
		if n < 1<<15 {
			v = n
		}
		b := append(bin.AppendVaruint([]byte{0xff}, v), 0xff, 0x7f, 0, 0x80)
		want, stop := bin.Varuint(b, 1)
		got, end := bin.VaruintShort(b, 1)
		if stop > 5 {
			want, stop = got, 6
		}
		if got != want || end != stop {
			t.Fatalf("%d: %d up to %d, want %d up to %d", v, got, end, want, stop)
		}
	}
	// Redundant bytes.
	if v, end := bin.VaruintShort([]byte("\x81\x80\x80\x00"), 0); v != 1 || end != 4 {
		t.Errorf("%d up to %d", v, end)
	}
}
