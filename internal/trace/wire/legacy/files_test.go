package legacy_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/testing/wiretest"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/internal/trace/wire/legacy"
)

// TestRealFiles checks that parsing every object of the traces of versions 3 to 5 in testdata and appending it again
// yields the same bytes.
func TestRealFiles(t *testing.T) {
	rewriteAll(t, wiretest.TestData(t), map[string]int{
		"Trace": 15, "EventBlock": 10000, "MetadataBlock": 200, "StackBlock": 400, "SPBlock": 15, "version 3": 1500, "V2Params": 3,
	})
}

// TestSharedFiles does the same for many more files, of .NET Core 2.1 to .NET 10, on Windows and Linux, 32 and 64 bit.
func TestSharedFiles(t *testing.T) {
	rewriteAll(t, wiretest.Names(t), map[string]int{
		"Trace": 70, "EventBlock": 400000, "MetadataBlock": 1000, "StackBlock": 4000, "SPBlock": 100, "version 3": 25000, "V2Params": 10,
	})
}

// rewriteAll fails if the files have fewer rows of an object than expected.
func rewriteAll(t *testing.T, names []string, expect map[string]int) {
	rows := map[string]int{}
	redundant := 0
	for _, name := range names {
		for b := range wiretest.Blocks(wiretest.Read(t, name)) {
			if !b.Stream.Objects() {
				break
			}
			r := rewriter{noCPU: strings.Contains(name, "prerelease")}
			err := r.object(&b)
			if err != nil && !expected(name, err) {
				t.Errorf("%s: %s at %#x: %v", name, b.Object.Name, b.Offset, err)
			}
			if err == nil && !bytes.Equal(r.out, b.Body) {
				t.Errorf("%s: %s at %#x: %d bytes written as %d other ones", name, b.Object.Name, b.Offset, len(b.Body), len(r.out))
			}
			rows[b.Object.Name] += r.rows
			rows["version 3"] += r.rowsV3
			rows["V2Params"] += r.v2
			if !strings.HasPrefix(name, "vectors/") {
				redundant += r.redundant
			}
		}
	}
	for k, least := range expect {
		if rows[k] < least {
			t.Errorf("only %d rows of %s were seen, want %d", rows[k], k, least)
		}
	}
	if redundant != 0 {
		t.Errorf("%d event headers of real files have fields that AppendCompressedAs omits", redundant)
	}
}

var errDiffers = errors.New("metadata row written differently")

// expected reports whether a vector has this error on purpose.
func expected(name string, err error) bool {
	for part, cause := range map[string]error{
		"V5MetadataHeaderTooSmall":         bin.ErrValue,
		"V5UnparsableFields":               bin.ErrUnknown,
		"SkipExtraMetadataTagSpaceV5":      errDiffers, // surplus bytes in tags are dropped
		"RejectsEventSizeOverflow":         bin.ErrShort,
		"RejectsNegativePayloadSize":       bin.ErrValue,
		"RejectsNegativeStackSize":         bin.ErrValue,
		"RejectsStackBytesExtending":       bin.ErrShort,
		"RejectsStackSizeThatOverflowsExt": bin.ErrLimit,
	} {
		if strings.Contains(name, part) {
			return errors.Is(err, cause)
		}
	}
	return false
}

// A rewriter parses an object and appends its rows.
type rewriter struct {
	noCPU     bool // compressed headers of a preview
	out       []byte
	rows      int
	rowsV3    int
	v2        int
	redundant int // compressed headers that could be shorter
}

func (r *rewriter) object(b *wiretest.Block) (err error) {
	c := b.Cursor()
	switch b.Kind {
	case wire.KindTrace:
		tr, err := legacy.ParseTrace(&c)
		r.out = legacy.AppendTrace(nil, &tr)
		r.rows++
		return err
	case wire.KindSequencePoint:
		sp, err := legacy.ParseSequencePoint(&c, nil)
		r.out = legacy.AppendSequencePoint(nil, &sp)
		r.rows++
		return err
	case wire.KindStack:
		ids, err := wire.ParseStackHeader(&c)
		r.out = wire.AppendIDRange(nil, ids)
		for ; c.Len() > 0; r.rows++ {
			r.out = wire.AppendStack(r.out, wire.NextStack(&c))
		}
		return errors.Join(err, c.Err())
	case wire.KindEvent, wire.KindMetadata:
		if b.Stream.Version == wire.V3 {
			return r.eventsV3(&c)
		}
		return r.events(&c, b.Kind)
	}
	return nil
}

func (r *rewriter) eventsV3(c *bin.Cursor) error {
	for ; c.Len() > 0; r.rowsV3++ {
		e, err := legacy.ParseEventV3(c)
		if err != nil {
			return err
		}
		if e.Header.MetadataID == 0 {
			if err := r.metadata(e.Payload, c.Offset()); err != nil {
				return err
			}
		}
		r.out = legacy.AppendEventV3(r.out, &e, 0)
	}
	return nil
}

func (r *rewriter) events(c *bin.Cursor, kind wire.Kind) error {
	h, err := wire.ParseEventBlockHeader(c)
	r.out = wire.AppendEventBlockHeader(nil, &h)
	if h.Compressed() && r.noCPU && kind == wire.KindEvent {
		return r.preview(c, &h)
	}
	var prev wire.EventHeader
	for ; c.Len() > 0 && err == nil; r.rows++ {
		next, offset := prev, c.Offset()
		rest := bytesOf(*c)
		size := 0
		if h.Compressed() {
			if size = legacy.ParseCompressed(rest, &next); size == 0 {
				return legacy.CompressedError(rest, offset)
			}
			r.out = legacy.AppendCompressedAs(r.out, &prev, &next, next.Flags)
			if short := legacy.AppendCompressedAs(nil, &prev, &next, 0); len(short) != size && kind == wire.KindEvent {
				r.redundant++
			}
			c.Skip(size)
			size = int(next.PayloadSize)
		} else {
			c.Skip(legacy.ParseUncompressed(rest, &next))
			size = int(legacy.RowSize(&next, len(rest))) - legacy.UncompressedSize
			r.out = legacy.AppendUncompressed(r.out, &next)
		}
		payload := c.Bytes(size)
		r.out = append(r.out, payload...)
		prev = next
		if err = c.Err(); err == nil && kind == wire.KindMetadata {
			err = r.metadata(payload[:next.PayloadSize], offset)
		}
	}
	return err
}

func (r *rewriter) preview(c *bin.Cursor, h *wire.EventBlockHeader) error {
	events := c.Rest()
	if preview, sure := legacy.IsPreRelease(events, h); !preview || !sure {
		return errors.New("not taken for a preview's")
	}
	prev := wire.EventHeader{CPU: wire.NoCPU}
	for ; len(events) > 0; r.rows++ {
		next := prev
		n := legacy.ParsePreRelease(events, &next)
		r.out = legacy.AppendPreRelease(r.out, &prev, &next, next.Flags)
		r.out = append(r.out, events[n:n+int(next.PayloadSize)]...)
		events, prev = events[n+int(next.PayloadSize):], next
	}
	return nil
}

// metadata checks that appending a row yields the same bytes.
func (r *rewriter) metadata(payload []byte, offset int64) error {
	c := bin.New(payload, offset)
	m, err := legacy.ParseMetadata(&c, wire.Limits{})
	if err != nil {
		return err
	}
	if m.Has&legacy.HasV2 != 0 {
		r.v2++
	}
	if got := legacy.AppendMetadata(nil, &m); !bytes.Equal(got, payload) {
		return errDiffers
	}
	return nil
}

func bytesOf(c bin.Cursor) []byte { return c.Rest() }

// TestPreRelease checks that IsPreRelease recognizes every event block of the preview's file, and no block of any other
// file.
func TestPreRelease(t *testing.T) {
	blocks := map[bool]int{}
	for _, name := range wiretest.Names(t) {
		preview := strings.Contains(name, "prerelease")
		for b := range wiretest.Blocks(wiretest.Read(t, name)) {
			if b.Kind != wire.KindEvent || b.Stream.Version != wire.V4 {
				continue
			}
			c := b.Cursor()
			h, err := wire.ParseEventBlockHeader(&c)
			if err != nil || !h.Compressed() {
				continue
			}
			blocks[preview]++
			if got, _ := legacy.IsPreRelease(c.Rest(), &h); got != preview {
				t.Errorf("%s: block at %#x: %v", name, b.Offset, got)
			}
		}
	}
	if blocks[true] != 31 || blocks[false] < 1000 {
		t.Errorf("saw %d blocks of previews and %d others", blocks[true], blocks[false])
	}
}

// TestPreReleaseEvents checks that the headers of previews decode to known times and threads, without a CPU.
func TestPreReleaseEvents(t *testing.T) {
	in := []byte("\xcf\x01\x00\xf8\x3b\xf8\x3b\x01\x95\xed\xcd\xe7\xb3\x11\x1e")
	var h wire.EventHeader
	want := wire.EventHeader{Flags: 0xcf, Sorted: true, MetadataID: 1, Sequence: 1, CaptureThread: 7672, Thread: 7672, CPU: wire.NoCPU, StackID: 1, Time: 598023042709, PayloadSize: 30}
	if n := legacy.ParsePreRelease(in, &h); n != len(in) || h != want {
		t.Errorf("length %d\n%+v, want\n%+v", n, h, want)
	}
	for n := range in {
		if got := legacy.ParsePreRelease(in[:n], &h); got != 0 {
			t.Errorf("%d of %d bytes decode to a header of %d", n, len(in), got)
		}
	}
	if n := testing.AllocsPerRun(100, func() { legacy.ParsePreRelease(in, &h); legacy.ParseCompressed(in, &h) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
