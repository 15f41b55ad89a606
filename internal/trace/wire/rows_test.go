package wire_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/testing/wiretest"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

func TestTraceRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := wire.Trace{
			SyncTicks:   rapid.Int64().Draw(t, "ticks"),
			Frequency:   rapid.Int64().Draw(t, "frequency"),
			PointerSize: rapid.Int32().Draw(t, "pointer"),
			KeyValues:   wiretest.KeyValues().Draw(t, "key/values"),
			Extra:       wiretest.Extra().Draw(t, "extra"),
		}
		for i := range tr.Sync {
			tr.Sync[i] = rapid.Int16().Draw(t, "sync")
		}
		wiretest.CheckPair(t, "trace", tr, wire.AppendTrace(nil, &tr), nil, wire.ParseTrace)
	})
}

func TestMetadataRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := wire.Metadata{
			ID:        rapid.Uint32().Draw(t, "id"),
			Provider:  wiretest.Text().Draw(t, "provider"),
			EventID:   rapid.Uint32().Draw(t, "event"),
			Name:      wiretest.Text().Draw(t, "name"),
			Fields:    wiretest.Fields(4, wiretest.SinceV6, wiretest.Extra()).Draw(t, "fields"),
			KeyValues: wiretest.KeyValues().Draw(t, "key/values"),
			Extra:     wiretest.Extra().Draw(t, "extra"),
		}
		set := func(k wire.OptionalKind, f func()) {
			if rapid.Bool().Draw(t, k.String()) {
				m.Has |= 1 << k
				f()
			}
		}
		u8 := rapid.Uint8()
		set(wire.OptOpcode, func() { m.Opcode = u8.Draw(t, "opcode") })
		set(wire.OptLevel, func() { m.Level = u8.Draw(t, "level") })
		set(wire.OptVersion, func() { m.Version = u8.Draw(t, "version") })
		set(wire.OptKeywords, func() { m.Keywords = rapid.Uint64().Draw(t, "keywords") })
		set(wire.OptProviderGUID, func() { m.ProviderGUID = wiretest.ID().Draw(t, "guid") })
		set(wire.OptMessage, func() { m.Message = wiretest.Text().Draw(t, "message") })
		set(wire.OptDescription, func() { m.Description = wiretest.Text().Draw(t, "description") })
		b, err := wire.AppendMetadata(nil, &m)
		if err != nil {
			t.Fatal(err)
		}
		wiretest.CheckPair(t, "metadata", m, b, []byte{1, 2}, func(c *bin.Cursor) (wire.Metadata, error) {
			return wire.ParseMetadata(c, wire.Limits{})
		})
	})
}

func TestThreadRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		th := wire.Thread{Index: rapid.Uint64().Draw(t, "index"), KeyValues: wiretest.KeyValues().Draw(t, "key/values")}
		th.Has = wire.ThreadSet(rapid.Uint8Range(0, 7).Draw(t, "has")) << wire.ThreadName
		if th.Has.Has(wire.ThreadName) {
			th.Name = wiretest.Text().Draw(t, "name")
		}
		if th.Has.Has(wire.ThreadPID) {
			th.PID = rapid.Uint64().Draw(t, "pid")
		}
		if th.Has.Has(wire.ThreadTID) {
			th.TID = rapid.Uint64().Draw(t, "tid")
		}
		b, err := wire.AppendThread(nil, &th)
		if err != nil {
			t.Fatal(err)
		}
		wiretest.CheckPair(t, "thread", th, b, []byte{1, 2}, wire.ParseThread)
	})
}

func TestSequencePointRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sp := wire.SequencePoint{
			Time:  rapid.Uint64().Draw(t, "time"),
			Flags: rapid.Uint32().Draw(t, "flags"),
			Extra: wiretest.Extra().Draw(t, "extra"),
		}
		for range rapid.IntRange(0, 4).Draw(t, "threads") {
			sp.Threads = append(sp.Threads, wire.ThreadSeq{Thread: rapid.Uint64().Draw(t, "thread"), Sequence: rapid.Uint32().Draw(t, "sequence")})
		}
		wiretest.CheckPair(t, "sequence point", sp, wire.AppendSequencePoint(nil, &sp), nil, func(c *bin.Cursor) (wire.SequencePoint, error) {
			return wire.ParseSequencePoint(c, nil)
		})
	})
}

func TestLabelsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []wire.Label
		for range rapid.IntRange(1, 5).Draw(t, "labels") {
			l := wire.Label{Kind: wire.LabelKind(rapid.IntRange(1, len(wire.LabelKinds)-1).Draw(t, "kind"))}
			switch wire.LabelKinds[l.Kind].Shape {
			case wire.ShapeID16:
				l.ID = wiretest.ID().Draw(t, "id")
			case wire.ShapeID8:
				id := wiretest.ID().Draw(t, "id")
				copy(l.ID[:8], id[:])
			case wire.ShapeKeyString:
				l.Key, l.Str = wiretest.Text().Draw(t, "key"), wiretest.Text().Draw(t, "value")
			case wire.ShapeKeyNumber:
				l.Key, l.Num = wiretest.Text().Draw(t, "key"), rapid.Int64().Draw(t, "number")
			case wire.ShapeU8:
				l.Num = int64(rapid.Uint8().Draw(t, "u8"))
			case wire.ShapeU64:
				l.Num = rapid.Int64().Draw(t, "u64")
			}
			list = append(list, l)
		}
		unsigned := rapid.Bool().Draw(t, "unsigned")
		b := wire.AppendLabels(nil, list, unsigned)
		wiretest.CheckPair(t, "labels", list, b, []byte{1, 2}, func(c *bin.Cursor) ([]wire.Label, error) {
			return wire.ParseLabels(c, nil, unsigned)
		})
		wiretest.CheckPair(t, "label bytes", b, b, []byte{1, 2}, func(c *bin.Cursor) ([]byte, error) { return wire.NextLabels(c), c.Err() })
	})
}

func TestStackRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stack := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "stack")
		wiretest.CheckPair(t, "stack", stack, wire.AppendStack(nil, stack), []byte{1, 2}, func(c *bin.Cursor) ([]byte, error) { return wire.NextStack(c), c.Err() })
		r := wire.IDRange{First: rapid.Uint32().Draw(t, "first"), Count: rapid.Uint32().Draw(t, "count")}
		wiretest.CheckPair(t, "stack header", r, wire.AppendIDRange(nil, r), []byte{1, 2}, wire.ParseStackHeader)
		wiretest.CheckPair(t, "label header", r, wire.AppendIDRange(nil, r), []byte{1, 2}, wire.ParseLabelHeader)
		s := wire.ThreadSeq{Thread: rapid.Uint64().Draw(t, "thread"), Sequence: rapid.Uint32().Draw(t, "sequence")}
		wiretest.CheckPair(t, "thread sequence", s, wire.AppendThreadSeq(nil, s), []byte{1, 2}, func(c *bin.Cursor) (wire.ThreadSeq, error) {
			return wire.ParseThreadSeq(c), c.Err()
		})
	})
}

func TestHeadersRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := wire.EventBlockHeader{
			Flags: rapid.Uint16().Draw(t, "flags"),
			Min:   rapid.Uint64().Draw(t, "min"),
			Max:   rapid.Uint64().Draw(t, "max"),
			Extra: wiretest.Extra().Draw(t, "extra"),
		}
		b := wire.AppendEventBlockHeader(nil, &h)
		h.HeaderSize = uint16(len(b))
		wiretest.CheckPair(t, "event block header", h, b, []byte{1, 2}, wire.ParseEventBlockHeader)
		extra := wiretest.Extra().Draw(t, "metadata header")
		wiretest.CheckPair(t, "metadata block header", append([]byte{}, extra...), wire.AppendMetadataHeader(nil, extra), []byte{1, 2}, wire.ParseMetadataHeader)
		sh := wire.StreamHeader{Version: rapid.SampledFrom([]wire.Version{wire.V3, wire.V4, wire.V6}).Draw(t, "version")}
		if sh.Version == wire.V6 {
			sh.Minor = rapid.Uint32().Draw(t, "minor")
		}
		wiretest.CheckPair(t, "stream header", sh, wire.AppendStreamHeader(nil, sh), []byte{1, 2}, wire.ParseStreamHeader)
		bh := wire.BlockHeader{Kind: wire.Kind(rapid.Byte().Draw(t, "kind")), Size: rapid.IntRange(0, wire.MaxBlockSize).Draw(t, "size")}
		if b, err := wire.AppendBlockHeader(nil, bh); err != nil || wire.ParseBlockHeader(b) != bh {
			t.Fatalf("block header %+v: %x, %v", bh, b, err)
		}
	})
}
