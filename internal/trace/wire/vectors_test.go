package wire_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/wiretest"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/internal/trace/wire/legacy"
)

// reference holds the part of TraceEvent's result for a vector that concerns bytes, not meaning.
type reference struct {
	Outcome  any
	Metadata []rowRef `json:"metadataAtEnd"`
	Threads  []struct {
		Index      uint64 `json:"indexOrId"`
		Name       *string
		PID        int64             `json:"osProcessId"`
		TID        int64             `json:"osThreadId"`
		Attributes map[string]string `json:"attributes"`
	} `json:"threadsAtEnd"`
	Events []struct {
		Ticks   uint64
		Payload string `json:"payloadHex"`
		Raw     *struct {
			MetadataID    uint32 `json:"metadataId"`
			Sequence      int32  `json:"sequenceNumber"`
			Thread        uint64 `json:"threadIndexOrId"`
			CaptureThread uint64 `json:"captureThreadIndexOrId"`
			CPU           int32  `json:"captureProcNumber"`
			StackID       uint32 `json:"stackId"`
			LabelList     uint32 `json:"labelListId"`
			Sorted        bool   `json:"isSorted"`
		}
	}
}

type rowRef struct {
	ID          uint32            `json:"metadataId"`
	Provider    string            `json:"providerName"`
	EventID     uint32            `json:"eventId"`
	Name        string            `json:"eventNameAfterTransforms"`
	Version     uint32            `json:"version"`
	Level       uint32            `json:"level"`
	Keywords    string            `json:"keywords"`
	Message     *string           `json:"messageTemplate"`
	Description *string           `json:"description"`
	Attributes  map[string]string `json:"attributes"`
	Fields      []struct{ Name string }
}

// decoded is the result of this package and package legacy for the same file.
type decoded struct {
	rows    map[uint32]rowRef
	threads map[uint64]wire.Thread
	events  []string
}

// TestVectors compares event headers, payload bytes, metadata rows and threads of the conformance vectors with the
// result of TraceEvent. It does not compare order, which is up to package reader.
func TestVectors(t *testing.T) {
	compared := 0
	for _, name := range wiretest.Names(t) {
		if !strings.HasPrefix(name, "vectors/") {
			continue
		}
		var ref reference
		b, err := os.ReadFile(corpus.Shared(t, "data", strings.TrimSuffix(name, ".nettrace")+".expect.json"))
		if err == nil {
			err = json.Unmarshal(b, &ref)
		}
		if err != nil {
			t.Fatal(err)
		}
		if ref.Outcome != "ok" {
			continue
		}
		d := decoded{rows: map[uint32]rowRef{}, threads: map[uint64]wire.Thread{}}
		for b := range wiretest.Blocks(wiretest.Read(t, name)) {
			d.block(t, &b)
		}
		compared += compareEvents(t, name, &ref, d.events)
		compareRows(t, name, &ref, d.rows)
		for _, th := range ref.Threads {
			got, ok := d.threads[th.Index]
			if !ok {
				continue // versions 4 and 5: defined by the first reference
			}
			if (th.Name == nil) == got.Has.Has(wire.ThreadName) || th.Name != nil && got.Name != *th.Name ||
				got.Has.Has(wire.ThreadTID) && int64(got.TID) != th.TID || got.Has.Has(wire.ThreadPID) && int64(got.PID) != th.PID ||
				!equalPairs(got.KeyValues, th.Attributes) {
				t.Errorf("%s: thread %+v, want %+v", name, got, th)
			}
		}
	}
	if compared < 100 {
		t.Errorf("only %d events compared", compared)
	}
}

func equalPairs(kvs []wire.KeyValue, want map[string]string) bool {
	got := map[string]string{}
	for _, kv := range kvs {
		got[kv.Key] = kv.Value
	}
	return len(got) == len(want) && (len(got) == 0 || reflect.DeepEqual(got, want))
}

func eventLine(h *wire.EventHeader, payload []byte) string {
	return fmt.Sprintf("%d metadata %d seq %d thread %d capture %d cpu %d stack %d labels %d sorted %v payload %x", h.Time, h.MetadataID, int32(h.Sequence),
		h.Thread, h.CaptureThread, int32(h.CPU), h.StackID, h.LabelList, h.Sorted, payload)
}

func compareEvents(t *testing.T, name string, ref *reference, events []string) (n int) {
	var want []string
	for _, e := range ref.Events {
		payload, err := hex.DecodeString(e.Payload)
		if e.Raw == nil || err != nil {
			return 0
		}
		h := wire.EventHeader{
			Time: e.Ticks, MetadataID: e.Raw.MetadataID, Sequence: uint32(e.Raw.Sequence), Thread: e.Raw.Thread, CaptureThread: e.Raw.CaptureThread,
			CPU: uint32(e.Raw.CPU), StackID: e.Raw.StackID, LabelList: e.Raw.LabelList, Sorted: e.Raw.Sorted,
		}
		want = append(want, eventLine(&h, payload))
	}
	slices.Sort(want)
	slices.Sort(events)
	if !slices.Equal(events, want) {
		t.Errorf("%s: events\n%s\nwant\n%s", name, strings.Join(events, "\n"), strings.Join(want, "\n"))
	}
	return len(want)
}

func compareRows(t *testing.T, name string, ref *reference, rows map[uint32]rowRef) {
	for _, want := range ref.Metadata {
		got := rows[want.ID]
		// TraceEvent removes Start and Stop from names, and knows names and fields that are not in the file.
		if got.Name == "" || strings.HasPrefix(got.Name, want.Name) {
			got.Name = want.Name
		}
		if len(got.Fields) == 0 {
			got.Fields = want.Fields
		}
		if got, want := asJSON(t, got), asJSON(t, want); got != want {
			t.Errorf("%s: row\n%s, want\n%s", name, got, want)
		}
	}
}

func asJSON(t *testing.T, v rowRef) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (d *decoded) block(t *testing.T, b *wiretest.Block) {
	c := b.Cursor()
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	switch v6 := !b.Stream.Objects(); {
	case b.Kind == wire.KindMetadata && v6:
		_, err := wire.ParseMetadataHeader(&c)
		check(err)
		for c.Len() > 0 {
			m, err := wire.ParseMetadata(&c, wire.Limits{})
			check(err)
			d.rowV6(&m)
		}
	case b.Kind == wire.KindThread:
		for c.Len() > 0 {
			th, err := wire.ParseThread(&c)
			check(err)
			d.threads[th.Index] = th
		}
	case b.Kind == wire.KindEvent && b.Stream.Version == wire.V3:
		for c.Len() > 0 {
			e, err := legacy.ParseEventV3(&c)
			check(err)
			if e.Header.MetadataID == 0 {
				d.rowV4(e.Payload)
			}
		}
	case b.Kind == wire.KindEvent || b.Kind == wire.KindMetadata:
		check(d.eventBlock(&c, b.Kind, v6))
	}
}

func (d *decoded) eventBlock(c *bin.Cursor, kind wire.Kind, v6 bool) error {
	bh, err := wire.ParseEventBlockHeader(c)
	var h wire.EventHeader
	for b := c.Rest(); len(b) > 0; {
		var n int
		size := int64(0)
		switch {
		case bh.Compressed() && v6:
			n = h.ParseCompressed(b)
		case bh.Compressed():
			n = legacy.ParseCompressed(b, &h)
		case v6:
			n = h.ParseUncompressed(b)
		default:
			n = legacy.ParseUncompressed(b, &h)
			size = legacy.RowSize(&h, len(b))
		}
		end := n + int(h.PayloadSize)
		if n <= 0 || end > len(b) {
			return fmt.Errorf("event %+v in %d bytes", h, len(b))
		}
		payload := b[n:end]
		if kind == wire.KindMetadata {
			d.rowV4(payload)
		} else {
			d.events = append(d.events, eventLine(&h, payload))
		}
		b = b[max(int64(end), size):]
	}
	return err
}

func (d *decoded) rowV6(m *wire.Metadata) {
	r := rowRef{
		ID: m.ID, Provider: m.Provider, EventID: m.EventID, Name: m.Name, Version: uint32(m.Version), Level: uint32(m.Level),
		Keywords: fmt.Sprintf("%#x", m.Keywords), Attributes: map[string]string{},
	}
	if m.Has.Has(wire.OptMessage) {
		r.Message = &m.Message
	}
	if m.Has.Has(wire.OptDescription) {
		r.Description = &m.Description
	}
	for _, kv := range m.KeyValues {
		r.Attributes[kv.Key] = kv.Value
	}
	for _, f := range m.Fields {
		r.Fields = append(r.Fields, struct{ Name string }{f.Name})
	}
	d.rows[m.ID] = r
}

func (d *decoded) rowV4(payload []byte) {
	c := bin.New(payload, 0)
	m, _ := legacy.ParseMetadata(&c, wire.Limits{}) // one vector has a row with an error, which keeps its ID
	r := rowRef{
		ID: m.ID, Provider: m.Provider, EventID: m.EventID, Name: m.Name, Version: m.Version, Level: m.Level,
		Keywords: fmt.Sprintf("%#x", m.Keywords), Attributes: map[string]string{},
	}
	for _, f := range m.Fields() {
		r.Fields = append(r.Fields, struct{ Name string }{f.Name})
	}
	d.rows[m.ID] = r
}
