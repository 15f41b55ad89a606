// Package wiretest provides real traces, split into blocks, for tests of the codecs.
package wiretest

import (
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/internal/trace/wire/legacy"
)

// TestData returns the names of the traces in the repository's testdata, such as "testdata/hello.nettrace", for [Read].
// It excludes adversarial inputs, which no recorder writes.
func TestData(tb testing.TB) []string {
	tb.Helper()
	return find(tb, filepath.Dir(corpus.Path("")), "testdata")
}

// Names returns the names of all shared traces, such as "own/hello.nettrace", for [Read]. It skips the test if there
// are none.
func Names(tb testing.TB) []string {
	tb.Helper()
	return find(tb, corpus.Shared(tb, "data"), ".")
}

// find returns the paths of traces below root/dir, relative to root and without the extension .zst.
func find(tb testing.TB, root, dir string) (names []string) {
	tb.Helper()
	err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "hostile" {
			return fs.SkipDir
		}
		name := strings.TrimSuffix(path, ".zst")
		if ext := filepath.Ext(name); err == nil && (ext == ".nettrace" || ext == ".netperf") {
			name, err = filepath.Rel(root, name)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil || len(names) == 0 {
		tb.Fatalf("no traces below %s: %v", dir, err)
	}
	slices.Sort(names)
	return names
}

// Read returns the decompressed bytes of a trace.
func Read(tb testing.TB, name string) []byte {
	tb.Helper()
	path, ours := strings.CutPrefix(filepath.FromSlash(name), "testdata"+string(filepath.Separator))
	if ours {
		path = corpus.Path(path)
	} else {
		path = filepath.Join(corpus.Shared(tb, "data"), path)
	}
	if _, err := os.Stat(path); err != nil {
		path += ".zst"
	}
	return corpus.Read(tb, path)
}

// A Block is a block or object of a trace.
type Block struct {
	Stream wire.StreamHeader
	Kind   wire.Kind
	Object legacy.Object // versions 3 to 5
	Offset int64         // offset of Body in the trace
	Body   []byte
}

// Cursor returns a cursor over the body.
func (b *Block) Cursor() bin.Cursor { return bin.New(b.Body, b.Offset) }

// Blocks yields the blocks of a trace up to its end or to the first invalid frame. It does not yield the end mark.
func Blocks(trace []byte) iter.Seq[Block] {
	return func(yield func(Block) bool) {
		c := bin.New(trace, 0)
		h, err := wire.ParseStreamHeader(&c)
		for err == nil && c.Len() > 0 {
			b := Block{Stream: h}
			if h.Objects() {
				b.Object, err = legacy.ParseObject(&c)
				b.Kind = b.Object.Kind
				b.Offset, b.Body = c.Offset(), c.Bytes(int(b.Object.Size))
				if err == nil && !b.Object.End {
					err = legacy.ParseEndObject(&c)
				}
			} else if c.Len() >= wire.BlockHeaderSize {
				bh := wire.ParseBlockHeader(c.Bytes(wire.BlockHeaderSize))
				b.Kind = bh.Kind
				b.Offset, b.Body = c.Offset(), c.Bytes(bh.Size)
				err = c.Err()
			} else {
				return
			}
			if err != nil || b.Object.End || b.Kind == wire.KindEnd || !yield(b) {
				return
			}
		}
	}
}

// Events returns the events of each event block of a shared trace with compressed headers.
func Events(tb testing.TB, name string) (blocks [][]byte) {
	tb.Helper()
	for b := range Blocks(Read(tb, name)) {
		c := b.Cursor()
		if b.Kind != wire.KindEvent {
			continue
		}
		if h, err := wire.ParseEventBlockHeader(&c); err != nil || !h.Compressed() {
			tb.Fatalf("%s: event block %+v, %v", name, h, err)
		}
		blocks = append(blocks, c.Rest())
	}
	return blocks
}

// BenchEvents benchmarks a decoder of compressed headers with all events of a shared trace, block by block in file
// order.
func BenchEvents(b *testing.B, name string, parse func([]byte, *wire.EventHeader) int) {
	blocks := Events(b, name)
	events, size := 0, 0
	for _, block := range blocks {
		size += len(block)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	var h wire.EventHeader
	var pace Pace
	for b.Loop() {
		pace.Start()
		events = 0
		for _, block := range blocks {
			h = wire.EventHeader{}
			for len(block) > 0 {
				n := parse(block, &h)
				if n <= 0 || int64(h.PayloadSize) > int64(len(block)-n) {
					b.Fatalf("block ends in the middle of an event: %+v", h)
				}
				block = block[n+int(h.PayloadSize):]
				events++
			}
		}
		pace.Stop()
	}
	pace.Report(b, events)
}

// A Pace measures individual runs of a benchmark.
type Pace struct {
	start time.Time
	least time.Duration
}

// Start begins a run.
func (p *Pace) Start() { p.start = time.Now() }

// Stop ends a run.
func (p *Pace) Stop() {
	if d := time.Since(p.start); p.least == 0 || d < p.least {
		p.least = d
	}
}

// Report reports the time per event for runs of the given number of events: ns/event is the mean, least-ns/event that
// of the fastest run, which is least disturbed by garbage collection and other load.
func (p *Pace) Report(b *testing.B, events int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
	b.ReportMetric(float64(p.least.Nanoseconds())/float64(events), "least-ns/event")
}
