package wire_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// row builds a metadata row around a field list and optional elements.
func row(fields, optional, extra string) []byte {
	body := "\x07\x01P\x03\x01E" + fields + string(bin.AppendU16(nil, uint16(len(optional)))) + optional + extra
	return append(bin.AppendU16(nil, uint16(len(body))), body...)
}

// TestMetadataDamage checks that an element that cannot be parsed is an error with offset and cause, that the row keeps
// its ID and everything else, that the next row can be read, and that appending the row yields the same bytes.
func TestMetadataDamage(t *testing.T) {
	const i32 = "\x03\x00\x01i\x09" // a field i of type Int32
	deep := strings.Repeat("\x13", 40) + "\x09"
	for _, tt := range []struct {
		name   string
		row    []byte
		where  string
		offset int64
		err    error
		check  func(m *wire.Metadata) bool
	}{
		{"unknown type code", row("\x03\x00\x05\x00\x01x\x63zz"+i32+i32, "\x08\x04", "Q"), "Field/TypeCode", 114, bin.ErrUnknown,
			func(m *wire.Metadata) bool {
				f := m.Fields[0]
				return len(m.Fields) == 3 && f.Name == "x" && f.Opaque && f.Type.Code == 0x63 && string(f.Extra) == "\x63zz" &&
					m.Fields[2].Type.Code == wire.TypeInt32 && m.Level == 4
			}},
		{"unknown element type", row("\x02\x00\x06\x00\x01x\x16\x63\x02\x00"+i32, "", ""), "Field/TypeCode", 115, bin.ErrUnknown,
			func(m *wire.Metadata) bool {
				f := m.Fields[0]
				return f.Opaque && f.Type.Code == wire.TypeFixedLengthArray && f.Type.Elem == nil && len(f.Extra) == 4
			}},
		{"unknown type in an object", row("\x01\x00\x0f\x00\x01o\x01\x02\x00\x03\x00\x01x\x02"+i32, "", ""), "Field/TypeCode", 121, bin.ErrUnknown,
			func(m *wire.Metadata) bool {
				o := m.Fields[0]
				return !o.Opaque && len(o.Type.Fields) == 2 && o.Type.Fields[0].Opaque && !o.Type.Fields[1].Opaque
			}},
		{"RelLoc of strings", row("\x02\x00\x04\x00\x01x\x18\x12"+i32, "", ""), "Field/ElementType", 114, bin.ErrValue,
			func(m *wire.Metadata) bool { return m.Fields[0].Opaque && m.Fields[0].Type.Code == wire.TypeRelLoc }},
		{"DataLoc of an empty object", row("\x01\x00\x06\x00\x01x\x19\x01\x00\x00", "", ""), "Field/ElementType", 114, bin.ErrValue,
			func(m *wire.Metadata) bool { return m.Fields[0].Opaque }},
		{"type cut by the field size", row("\x02\x00\x03\x00\x01x\x13"+i32, "", ""), "Field/TypeCode", 115, bin.ErrShort,
			func(m *wire.Metadata) bool { return m.Fields[0].Opaque && m.Fields[1].Name == "i" }},
		{"types nested too deeply", row("\x02\x00\x2b\x00\x01x"+deep+i32, "", ""), "Field/TypeCode", 146, bin.ErrLimit,
			func(m *wire.Metadata) bool { return m.Fields[0].Opaque && m.Fields[1].Name == "i" }},
		{"unknown optional kind", row("\x00\x00", "\x08\x04\x02zz\x08\x05", "Q"), "Metadata/OptionalKind", 114, bin.ErrUnknown,
			func(m *wire.Metadata) bool { return m.Level == 4 && string(m.OptionalExtra) == "\x02zz\x08\x05" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := bin.New(append(bytes.Clone(tt.row), row("\x00\x00", "", "")...), 100)
			m, err := wire.ParseMetadata(&c, wire.Limits{})
			var e *bin.Error
			if !errors.As(err, &e) || !errors.Is(err, tt.err) || e.Where != tt.where || e.Offset != tt.offset {
				t.Errorf("error %v, want %v in %s at %#x", err, tt.err, tt.where, tt.offset)
			}
			if m.ID != 7 || m.Provider != "P" || m.EventID != 3 || m.Name != "E" || !tt.check(&m) {
				t.Errorf("row %+v", m)
			}
			if b, err := wire.AppendMetadata(nil, &m); err != nil || !bytes.Equal(b, tt.row) {
				t.Errorf("appended %x, %v\nwant     %x", b, err, tt.row)
			}
			if next, err := wire.ParseMetadata(&c, wire.Limits{}); err != nil || next.ID != 7 || c.Len() != 0 {
				t.Errorf("next row %+v, %v", next, err)
			}
		})
	}
}

func TestMetadataLimits(t *testing.T) {
	const i8 = "\x03\x00\x01b\x05"
	fields := "\x02\x00" + i8 + "\x0f\x00\x01o\x01\x02\x00" + i8 + i8
	for n, want := range map[int]error{3: bin.ErrLimit, 4: nil} {
		c := bin.New(row(fields, "", ""), 0)
		m, err := wire.ParseMetadata(&c, wire.Limits{Fields: n})
		if !errors.Is(err, want) || m.ID != 7 || c.Err() != nil {
			t.Errorf("4 fields under a limit of %d: %v", n, err)
		}
	}
	for n, want := range map[int]error{1: bin.ErrLimit, 2: nil} {
		c := bin.New(row(fields, "", ""), 0)
		if _, err := wire.ParseMetadata(&c, wire.Limits{Depth: n}); !errors.Is(err, want) {
			t.Errorf("2 levels under a limit of %d: %v", n, err)
		}
	}
}

// TestNameLimit checks that a name may be as long as the limit. A longer one is an error at its offset, and the next
// row can be read.
func TestNameLimit(t *testing.T) {
	object := wire.Type{Code: wire.TypeObject, Fields: []wire.Field{{Name: "inner678", Type: wire.Type{Code: wire.TypeInt32}}}}
	b, err := wire.AppendMetadata(nil, &wire.Metadata{
		ID: 7, Provider: "provi", Name: "event6", Fields: []wire.Field{{Name: "object7", Type: object}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, where string }{
		{"provi", "Metadata/ProviderName"}, {"event6", "Metadata/EventName"}, {"object7", "Field/Name"}, {"inner678", "Field/Name"},
	} {
		c := bin.New(append(bytes.Clone(b), row("\x00\x00", "", "")...), 100)
		_, err := wire.ParseMetadata(&c, wire.Limits{Name: len(tt.name) - 1})
		var e *bin.Error
		at := 100 + int64(bytes.Index(b, []byte(tt.name))) - 1 // the length precedes the name
		if !errors.Is(err, bin.ErrLimit) || !errors.As(err, &e) || e.Where != tt.where || e.Offset != at {
			t.Errorf("%s: error %v, want a limit in %s at %#x", tt.name, err, tt.where, at)
		}
		if next, err := wire.ParseMetadata(&c, wire.Limits{}); err != nil || next.Provider != "P" || c.Len() != 0 {
			t.Errorf("%s: next row %+v, %v", tt.name, next, err)
		}
	}
	c := bin.New(b, 0)
	if _, err := wire.ParseMetadata(&c, wire.Limits{Name: len("inner678")}); err != nil {
		t.Error(err)
	}
}

// TestMetadataCut checks that a row that its size truncates yields an error, or its complete part, and never more.
func TestMetadataCut(t *testing.T) {
	whole := row("\x01\x00\x03\x00\x01i\x09", "\x08\x04", "")
	for n := range len(whole) - 2 {
		cut := append(bin.AppendU16(nil, uint16(n)), whole[2:2+n]...)
		c := bin.New(cut, 0)
		m, err := wire.ParseMetadata(&c, wire.Limits{})
		if !errors.Is(err, bin.ErrShort) || c.Err() != nil || c.Len() != 0 {
			t.Errorf("%d bytes: %+v, %v, block %v", n, m, err, c.Err())
		}
	}
}

func TestStreamHeaderDamage(t *testing.T) {
	v6 := wire.AppendStreamHeader(nil, wire.StreamHeader{Version: wire.V6})
	for _, tt := range []struct {
		name, in string
		version  wire.Version
		err      error
	}{
		{"empty", "", wire.V4, bin.ErrShort},
		{"cut magic", "Nett", wire.V4, bin.ErrShort},
		{"magic only", "Nettrace", wire.V4, bin.ErrShort},
		{"cut version", string(v6[:18]), wire.V6, bin.ErrShort},
		{"major 5", "Nettrace\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00", wire.V5, bin.ErrValue},
		{"major 7", "Nettrace\x00\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00", 7, bin.ErrUnknown},
		{"major 2^31", "Nettrace\x00\x00\x00\x00\x00\x00\x00\x80\x00\x00\x00\x00", 255, bin.ErrUnknown},
		{"gzip", "\x1f\x8b\x08\x00 and more of it", wire.V3, bin.ErrValue},
		{"length 21", "Nettrace\x15\x00\x00\x00!FastSerialization.1!", wire.V4, bin.ErrValue},
		{"other library", "\x14\x00\x00\x00!SlowSerialization.1", wire.V3, bin.ErrValue},
		{"cut netperf", "\x14\x00\x00\x00!FastSer", wire.V3, bin.ErrShort},
	} {
		c := bin.New([]byte(tt.in), 0)
		h, err := wire.ParseStreamHeader(&c)
		if !errors.Is(err, tt.err) || h.Version != tt.version {
			t.Errorf("%s: %+v, %v; want version %d, %v", tt.name, h, err, tt.version, tt.err)
		}
	}
}

func TestEventBlockHeaderDamage(t *testing.T) {
	for name, in := range map[string]string{
		"size below 20":         "\x13\x00\x01\x00" + strings.Repeat("\x00", 30),
		"size beyond the block": "\x40\x00\x01\x00" + strings.Repeat("\x00", 30),
		"cut":                   "\x14\x00\x01\x00" + strings.Repeat("\x00", 15),
	} {
		c := bin.New([]byte(in), 0)
		h, err := wire.ParseEventBlockHeader(&c)
		if err == nil || c.Len() != 0 {
			t.Errorf("%s: %+v", name, h)
		}
	}
}

// TestTooLarge checks that content that exceeds the sizes of the format is an error.
func TestTooLarge(t *testing.T) {
	long := strings.Repeat("x", 1<<16)
	dst := []byte("before")
	for name, do := range map[string]func() ([]byte, error){
		"block": func() ([]byte, error) {
			return wire.AppendBlockHeader(dst, wire.BlockHeader{Kind: wire.KindStack, Size: wire.MaxBlockSize + 1})
		},
		"thread row": func() ([]byte, error) {
			return wire.AppendThread(dst, &wire.Thread{Name: long, Has: 1 << wire.ThreadName})
		},
		"metadata row": func() ([]byte, error) { return wire.AppendMetadata(dst, &wire.Metadata{Provider: long}) },
		"field": func() ([]byte, error) {
			return wire.AppendMetadata(dst, &wire.Metadata{Fields: []wire.Field{{Name: long}}})
		},
		"optional part": func() ([]byte, error) { return wire.AppendMetadata(dst, &wire.Metadata{OptionalExtra: []byte(long)}) },
		"field count": func() ([]byte, error) {
			return wire.AppendMetadata(dst, &wire.Metadata{Fields: make([]wire.Field, 1<<16)})
		},
	} {
		if got, err := do(); !errors.Is(err, bin.ErrLimit) || string(got) != "before" {
			t.Errorf("%s: %v, %d bytes left in the buffer", name, err, len(got))
		}
	}
}
