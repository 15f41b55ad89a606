package legacy_test

import (
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/wiretest"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/internal/trace/wire/legacy"
)

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
