package legacy_test

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/testing/wiretest"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/internal/trace/wire/legacy"
)

// TestObjectRoundTrip checks that object headers round-trip and align the body to four bytes, at any offset, also
// beyond 4 GiB.
func TestObjectRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := legacy.Object{
			Private:   rapid.Bool().Draw(t, "private"),
			Kind:      rapid.SampledFrom([]wire.Kind{wire.KindTrace, wire.KindEvent, wire.KindMetadata, wire.KindStack, wire.KindSequencePoint}).Draw(t, "kind"),
			Version:   rapid.Int32().Draw(t, "version"),
			MinReader: rapid.Int32().Draw(t, "min reader"),
			Size:      rapid.Int32Range(0, 1<<31-1).Draw(t, "size"),
		}
		o.Name = wire.Kinds[o.Kind].Object
		if o.Kind == wire.KindTrace {
			o.Size = legacy.TraceSize
		}
		base := rapid.Int64Range(0, 1<<34).Draw(t, "base")
		b := legacy.AppendObject([]byte("before"), &o, base)[len("before"):]
		c := bin.New(append(bytes.Clone(b), 1, 2), base)
		got, err := legacy.ParseObject(&c)
		if err != nil || got != o || c.Len() != 2 {
			t.Fatalf("%x: %+v, %v, %d left; want %+v", b, got, err, c.Len(), o)
		}
		if o.Kind != wire.KindTrace && c.Offset()%4 != 0 {
			t.Fatalf("body at %d", c.Offset())
		}
		cut := bin.New(b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")], base)
		if _, err := legacy.ParseObject(&cut); !errors.Is(err, bin.ErrShort) {
			t.Fatalf("cut header: %v", err)
		}
	})
}

func TestObjectDamage(t *testing.T) {
	good := string(legacy.AppendObject(nil, &legacy.Object{Private: true, Name: "SPBlock", Version: 2, MinReader: 2, Size: 12}, 0))
	at := func(i int, s string) string { return good[:i] + s + good[i+len(s):] }
	for _, tt := range []struct {
		name, in, where string
		offset          int64
		err             error
	}{
		{"other tag", at(0, "\x06"), "Object/Tag", 0, bin.ErrValue},
		{"type with another tag", at(1, "\x04"), "Object/Tag", 1, bin.ErrValue},
		{"type of type not null", at(2, "\x05"), "Object/Tag", 2, bin.ErrValue},
		{"negative name length", at(11, "\xff\xff\xff\xff"), "Object/NameLength", 11, bin.ErrValue},
		{"long name", at(11, "\x27\x00\x00\x00"), "Object/NameLength", 11, bin.ErrValue},
		{"unknown name", at(15, "XP"), "Object/Name", 15, bin.ErrUnknown},
		{"empty name", good[:11] + "\x00\x00\x00\x00" + good[22:], "Object/Name", 15, bin.ErrUnknown},
		{"type not closed", at(22, "\x05"), "Object/Tag", 22, bin.ErrValue},
		{"negative size", at(23, "\xf4\xff\xff\xff"), "Object/BlockSize", 23, bin.ErrValue},
	} {
		c := bin.New([]byte(tt.in), 0)
		_, err := legacy.ParseObject(&c)
		var e *bin.Error
		if !errors.As(err, &e) || !errors.Is(err, tt.err) || e.Where != tt.where || e.Offset != tt.offset || c.Len() != 0 {
			t.Errorf("%s: %v; want %v in %s at %d", tt.name, err, tt.err, tt.where, tt.offset)
		}
	}
	c := bin.New([]byte("\x01rest"), 0)
	if o, err := legacy.ParseObject(&c); err != nil || !o.End || c.Len() != 4 {
		t.Errorf("end of file: %+v, %v", o, err)
	}
	c = bin.New([]byte("\x01"), 9)
	if err := legacy.ParseEndObject(&c); !errors.Is(err, bin.ErrValue) {
		t.Errorf("object not closed: %v", err)
	}
}

func TestSupported(t *testing.T) {
	for _, tt := range []struct {
		kind    wire.Kind
		version int32
		magic   bool
		ok      bool
	}{
		{wire.KindTrace, 4, true, true},
		{wire.KindTrace, 3, true, false},
		{wire.KindTrace, 5, true, false},
		{wire.KindTrace, 3, false, true},
		{wire.KindTrace, 4, false, false},
		{wire.KindTrace, 2, false, false},
		{wire.KindEvent, 0, true, true},
		{wire.KindEvent, 2, true, true},
		{wire.KindEvent, 3, true, false},
		{wire.KindStack, -1, true, false},
	} {
		o := legacy.Object{Kind: tt.kind, Version: tt.version}
		if err := o.Supported(tt.magic); (err == nil) != tt.ok || err != nil && !errors.Is(err, bin.ErrUnknown) {
			t.Errorf("%v version %d, magic %v: %v", tt.kind, tt.version, tt.magic, err)
		}
	}
}

func TestTraceRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i32 := rapid.Int32()
		tr := wire.Trace{
			Sync:         wire.SystemTime{wire.Year: 2024, wire.Month: 2, wire.Millisecond: 999},
			SyncTicks:    rapid.Int64().Draw(t, "ticks"),
			Frequency:    rapid.Int64().Draw(t, "frequency"),
			PointerSize:  i32.Draw(t, "pointer"),
			ProcessID:    i32.Draw(t, "pid"),
			Processors:   i32.Draw(t, "processors"),
			SamplingRate: i32.Draw(t, "rate"),
		}
		b := legacy.AppendTrace(nil, &tr)
		if len(b) != legacy.TraceSize {
			t.Fatalf("%d bytes", len(b))
		}
		wiretest.CheckPair(t, "trace", tr, b, []byte{6}, legacy.ParseTrace)
	})
}

func TestSequencePointRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sp := wire.SequencePoint{Time: rapid.Uint64().Draw(t, "time"), Extra: wiretest.Extra().Draw(t, "extra")}
		for range rapid.IntRange(0, 4).Draw(t, "threads") {
			sp.Threads = append(sp.Threads, wire.ThreadSeq{Thread: rapid.Uint64().Draw(t, "thread"), Sequence: rapid.Uint32().Draw(t, "sequence")})
		}
		wiretest.CheckPair(t, "sequence point", sp, legacy.AppendSequencePoint(nil, &sp), nil, func(c *bin.Cursor) (wire.SequencePoint, error) {
			return legacy.ParseSequencePoint(c, nil)
		})
	})
}

func TestMetadataRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		none := rapid.Just[[]byte](nil)
		m := legacy.Metadata{
			ID:       rapid.Uint32().Draw(t, "id"),
			Provider: wiretest.Text().Draw(t, "provider"),
			EventID:  rapid.Uint32().Draw(t, "event"),
			Name:     wiretest.Text().Draw(t, "name"),
			Keywords: rapid.Uint64().Draw(t, "keywords"),
			Version:  rapid.Uint32().Draw(t, "version"),
			Level:    rapid.Uint32().Draw(t, "level"),
			Has:      legacy.Set(rapid.IntRange(0, 7).Draw(t, "has")),
		}
		if m.Has&^legacy.HasV1 != 0 {
			m.Has |= legacy.HasV1 // tags follow a V1 field count, possibly 0
		}
		if m.Has&legacy.HasV1 != 0 {
			m.V1 = wiretest.Fields(4, wiretest.SinceV4, none).Draw(t, "V1")
		}
		if m.Has&legacy.HasOpcode != 0 {
			m.Opcode = rapid.Uint8().Draw(t, "opcode")
		}
		if m.Has&legacy.HasV2 != 0 {
			m.V2 = wiretest.Fields(4, wiretest.SinceV5, wiretest.Extra()).Draw(t, "V2")
		}
		if m.Has&legacy.HasV1 != 0 && rapid.Bool().Draw(t, "unknown tag") {
			m.Extra = []byte("\x03\x00\x00\x00\x07abc\x00\x00\x00\x00\x08")
		}
		wiretest.CheckPair(t, "metadata", m, legacy.AppendMetadata(nil, &m), nil, func(c *bin.Cursor) (legacy.Metadata, error) {
			return legacy.ParseMetadata(c, wire.Limits{})
		})
	})
}

// TestMetadataDamage checks that rows with errors keep their ID. After an error in V1 fields, which have no sizes, the
// rest of the row is kept. An error in a V2 field affects only this field.
func TestMetadataDamage(t *testing.T) {
	head := string(legacy.AppendMetadata(nil, &legacy.Metadata{ID: 7, Provider: "P", EventID: 3, Name: "E"}))
	const i32V1, i32V2 = "\x09\x00\x00\x00i\x00\x00\x00", "\x0c\x00\x00\x00i\x00\x00\x00\x09\x00\x00\x00"
	v2 := func(fields string) string {
		return head + "\x00\x00\x00\x00" + string(bin.AppendU32(nil, uint32(len(fields)))) + "\x02" + fields
	}
	for _, tt := range []struct {
		name, in, where string
		err             error
		check           func(*legacy.Metadata) bool
	}{
		{"V1 unknown type", head + "\x02\x00\x00\x00" + i32V1 + "\x63\x00\x00\x00x\x00\x00\x00", "Field/TypeCode", bin.ErrUnknown,
			func(m *legacy.Metadata) bool { return m.V1 == nil && m.Has == 0 && len(m.Extra) == 20 }},
		{"V1 array", head + "\x01\x00\x00\x00\x13\x00\x00\x00" + i32V1, "Field/TypeCode", bin.ErrUnknown,
			func(m *legacy.Metadata) bool { return m.Has == 0 }},
		{"V1 negative count", head + "\xff\xff\xff\xff", "FieldCount", bin.ErrValue,
			func(m *legacy.Metadata) bool { return m.Has == 0 }},
		{"V1 huge count", head + "\xff\xff\xff\x7f" + i32V1, "FieldCount", bin.ErrLimit,
			func(m *legacy.Metadata) bool { return m.Has == 0 }},
		{"V1 nested too deeply", head + strings.Repeat("\x01\x00\x00\x00", 80), "Field/TypeCode", bin.ErrLimit,
			func(m *legacy.Metadata) bool { return m.Has == 0 }},
		{"V2 type of version 6", v2("\x02\x00\x00\x00\x0c\x00\x00\x00x\x00\x00\x00\x14\x00\x00\x00" + i32V2), "Field/TypeCode", bin.ErrUnknown,
			func(m *legacy.Metadata) bool {
				return m.Has == legacy.HasV1|legacy.HasV2 && m.Fields()[0].Opaque && m.Fields()[1].Name == "i"
			}},
		{"V2 type code beyond a byte", v2("\x01\x00\x00\x00\x0c\x00\x00\x00x\x00\x00\x00\x09\x01\x00\x00"), "Field/TypeCode", bin.ErrUnknown,
			func(m *legacy.Metadata) bool { return m.Fields()[0].Opaque && len(m.Fields()[0].Extra) == 4 }},
		{"V2 field size 3", v2("\x01\x00\x00\x00\x03\x00\x00\x00"), "Field/Size", bin.ErrValue,
			func(m *legacy.Metadata) bool { return m.Has&legacy.HasV2 != 0 }},
		{"negative tag size", head + "\x00\x00\x00\x00\xff\xff\xff\xff\x01\x05", "Metadata/TagSize", bin.ErrValue,
			func(m *legacy.Metadata) bool { return m.Has == legacy.HasV1 }},
		{"tag beyond the row", head + "\x00\x00\x00\x00\x09\x00\x00\x00\x01\x05", "Metadata/Tag", bin.ErrShort,
			func(m *legacy.Metadata) bool { return m.Has == legacy.HasV1 }},
	} {
		c := bin.New([]byte(tt.in), 0)
		m, err := legacy.ParseMetadata(&c, wire.Limits{})
		var e *bin.Error
		if !errors.As(err, &e) || !errors.Is(err, tt.err) || e.Where != tt.where {
			t.Errorf("%s: %v; want %v in %s", tt.name, err, tt.err, tt.where)
		}
		if m.ID != 7 || m.Provider != "P" || m.EventID != 3 || m.Name != "E" || !tt.check(&m) {
			t.Errorf("%s: row %+v", tt.name, m)
		}
	}
}

// TestNameLimit checks that a name may have as many UTF-16 units as the limit. A longer one is an error at its offset.
func TestNameLimit(t *testing.T) {
	i32 := wire.Type{Code: wire.TypeInt32}
	object := func(inner string) wire.Type {
		return wire.Type{Code: wire.TypeObject, Fields: []wire.Field{{Name: inner, Type: i32}}}
	}
	m := legacy.Metadata{
		ID: 7, Provider: "pro\U0001F600", Name: "event6", Has: legacy.HasV1 | legacy.HasV2,
		V1: []wire.Field{{Name: "object78", Type: object("inner67")}}, V2: []wire.Field{{Name: "object789", Type: object("inner67890")}},
	}
	b := legacy.AppendMetadata(nil, &m)
	for _, tt := range []struct{ name, where string }{
		{m.Provider, "Metadata/ProviderName"}, {m.Name, "Metadata/EventName"},
		{"inner67", "Field/Name"}, {"object78", "Field/Name"}, {"object789", "Field/Name"}, {"inner67890", "Field/Name"},
	} {
		units := bin.AppendUTF16Z(nil, tt.name)
		c := bin.New(b, 100)
		_, err := legacy.ParseMetadata(&c, wire.Limits{Name: len(units)/2 - 2})
		var e *bin.Error
		at := 100 + int64(bytes.Index(b, units))
		if !errors.Is(err, bin.ErrLimit) || !errors.As(err, &e) || e.Where != tt.where || e.Offset != at {
			t.Errorf("%s: error %v, want a limit in %s at %#x", tt.name, err, tt.where, at)
		}
	}
	c := bin.New(b, 0)
	if _, err := legacy.ParseMetadata(&c, wire.Limits{Name: len("inner67890")}); err != nil {
		t.Error(err)
	}
}

// TestLongName checks that the default limit is 65,536 units, and that a longer name is not decoded.
func TestLongName(t *testing.T) {
	parse := func(units int) error {
		c := bin.New(legacy.AppendMetadata(nil, &legacy.Metadata{Provider: strings.Repeat("x", units)}), 0)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := legacy.ParseMetadata(&c, wire.Limits{})
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%d bytes allocated for a name of %d units", n, units)
		}
		return err
	}
	for units, want := range map[int]error{1 << 16: nil, 1<<16 + 1: bin.ErrLimit, 16 << 20: bin.ErrLimit} {
		if err := parse(units); !errors.Is(err, want) {
			t.Errorf("%d units: %v, want %v", units, err, want)
		}
	}
}

var compressed = wiretest.Compressed{Append: legacy.AppendCompressedAs, Parse: legacy.ParseCompressed, Error: legacy.CompressedError}

func TestCompressedRoundTrip(t *testing.T) { rapid.Check(t, compressed.CheckRoundTrip) }

// TestMetadataSequence checks that metadata ID 0 does not increase the sequence number, unless the number is present.
func TestMetadataSequence(t *testing.T) {
	var h wire.EventHeader
	for _, step := range []struct {
		in       string
		sequence uint32
	}{
		{"\xc6\xff\xff\xff\xff\x0f\x00\xff\xff\xff\xff\x0f\x00\x00\x00", 0}, // the start of a metadata block of a runtime
		{"\x40\x00", 0},
		{"\x42\x00\x00\x00\x00", 1},
		{"\x41\x05\x00", 2}, // the ID is read before the number increases
		{"\x41\x00\x00", 2},
	} {
		if n := legacy.ParseCompressed([]byte(step.in), &h); n != len(step.in) || h.Sequence != step.sequence {
			t.Errorf("%x: length %d, sequence %d, want %d", step.in, n, h.Sequence, step.sequence)
		}
	}
}

func TestUncompressedRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := wiretest.Header(wire.EventHeader{}, false).Draw(t, "header")
		h.EventSize = rapid.Uint32().Draw(t, "event size")
		b := legacy.AppendUncompressed(nil, &h)
		got := wiretest.Header(h, true).Draw(t, "state before")
		if n := legacy.ParseUncompressed(append(bytes.Clone(b), 1, 2), &got); n != len(b) || n != legacy.UncompressedSize || got != h {
			t.Fatalf("length %d\n%+v, want\n%+v", n, got, h)
		}
		if n := legacy.ParseUncompressed(b[:len(b)-1], &got); n != 0 {
			t.Fatalf("cut header has length %d", n)
		}
	})
}

func TestRowSize(t *testing.T) {
	for _, tt := range []struct {
		name            string
		eventSize, size uint32
		avail           int
		want            int64
	}{
		{"padded, as specified", 76 + 8, 6, 500, 88},
		{"not padded", 76 + 6, 6, 86, 86},
		{"size left zero", 0, 6, 500, 86},
		{"size too small", 70, 6, 500, 86},
		{"size beyond the block", 76 + 100, 6, 90, 86},
		{"huge payload", 5, 0xffffffff, 90, 80 + 0xffffffff},
	} {
		if got := legacy.RowSize(&wire.EventHeader{EventSize: tt.eventSize, PayloadSize: tt.size}, tt.avail); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestEventV3RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytesN := rapid.SliceOfN(rapid.Byte(), 0, 20)
		e := legacy.EventV3{
			Header: wire.EventHeader{
				MetadataID: rapid.Uint32().Draw(t, "metadata"),
				Thread:     uint64(rapid.Uint32().Draw(t, "thread")),
				Time:       rapid.Uint64().Draw(t, "time"),
				Activity:   wiretest.ID().Draw(t, "activity"),
				Related:    wiretest.ID().Draw(t, "related"),
				CPU:        wire.NoCPU,
				Sorted:     true,
			},
			Payload: bytesN.Draw(t, "payload"),
			Stack:   bytesN.Draw(t, "stack"),
		}
		offset := rapid.Int64Range(0, 1<<40).Draw(t, "offset") &^ 3
		b := legacy.AppendEventV3(nil, &e, offset)
		if len(b)%4 != 0 {
			t.Fatalf("event of %d bytes", len(b))
		}
		e.Header.CaptureThread = e.Header.Thread
		e.Header.EventSize = uint32(len(b) - 4)
		e.Header.PayloadSize = uint32(len(e.Payload))
		e.Padding = make([]byte, len(b)-legacy.HeaderSizeV3-len(e.Payload)-4-len(e.Stack))
		wiretest.CheckPair(t, "event", e, b, []byte{1, 2}, legacy.ParseEventV3)
	})
}

// TestEventV3Damage covers the checks of TraceEvent.
func TestEventV3Damage(t *testing.T) {
	event := func(size, payload, stack int32, rest int) []byte {
		b := bin.AppendU32(nil, uint32(size))
		b = append(b, make([]byte, 48)...)
		b = bin.AppendU32(b, uint32(payload))
		if payload > 0 && payload < 1<<20 {
			b = append(b, make([]byte, payload)...)
		}
		b = bin.AppendU32(b, uint32(stack))
		return append(b, make([]byte, rest)...)
	}
	for _, tt := range []struct {
		name  string
		in    []byte
		where string
		err   error
	}{
		{"good", event(68, 4, 8, 8), "", nil},
		{"event size 2^31-1", event(1<<31-1, 4, 8, 8), "Event/EventSize", bin.ErrShort},
		{"negative event size", event(-1, 4, 8, 8), "Event/EventSize", bin.ErrValue},
		{"event size below the header", event(51, 4, 8, 8), "Event/EventSize", bin.ErrValue},
		{"no room for the stack size", event(52, 0, 0, 0), "Event/StackSize", bin.ErrShort},
		{"negative payload", event(68, -1, 8, 12), "Event/PayloadSize", bin.ErrValue},
		{"payload beyond the event", event(68, 40, 8, 20), "Event/PayloadSize", bin.ErrShort},
		{"negative stack", event(68, 4, -1, 8), "Event/StackSize", bin.ErrValue},
		{"stack beyond the event", event(60, 4, 8, 8), "Event/StackSize", bin.ErrShort},
		{"stack of 65527", event(60+65527, 4, 65527, 65527), "", nil},
		{"stack of 65528", event(60+65528, 4, 65528, 65528), "Event/StackSize", bin.ErrLimit},
	} {
		c := bin.New(tt.in, 1000)
		e, err := legacy.ParseEventV3(&c)
		var be *bin.Error
		if !errors.Is(err, tt.err) || errors.As(err, &be) && be.Where != tt.where {
			t.Errorf("%s: %v; want %v in %s", tt.name, err, tt.err, tt.where)
		}
		if errors.Is(err, bin.ErrLimit) && (c.Err() != nil || c.Len() != 0 || len(e.Stack) != 65528) {
			t.Errorf("%s: not delivered whole: stack of %d, %v", tt.name, len(e.Stack), c.Err())
		}
	}
}
