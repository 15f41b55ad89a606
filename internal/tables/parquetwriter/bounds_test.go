package parquetwriter

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestShortBounds: the index with short bounds produces the same file as the library's own, for values around the limit
// and for those whose prefix has no successor.
func TestShortBounds(t *testing.T) {
	type row struct {
		Name  string            `parquet:"name,dict"`
		Text  string            `parquet:"text,optional"`
		Raw   []byte            `parquet:"raw,optional"`
		Whole []byte            `parquet:"whole"`
		Map   map[string]string `parquet:"map"`
		List  []string          `parquet:"list,list"`
	}
	const limit = parquet.DefaultColumnIndexSizeLimit
	rng := rand.New(rand.NewPCG(1, 2))
	value := func() []byte {
		b := make([]byte, rng.IntN(3*limit))
		for i := range b {
			b[i] = []byte{0, 'a', 0xFF}[rng.IntN(3)]
		}
		if rng.IntN(50) == 0 {
			b = slices.Repeat([]byte{0xFF}, limit+rng.IntN(3)-1)
		}
		return b
	}
	rows := make([]row, 20_000)
	for i := range rows {
		text := strings.Repeat("x", rng.IntN(2*limit))
		rows[i] = row{Name: text, Text: strings.Repeat("ab", rng.IntN(limit)), Raw: value(), Whole: value(), Map: map[string]string{"k": text}, List: []string{text}}
	}
	var got, want bytes.Buffer
	o := &Options{RowGroupRows: 7000}
	options := append(o.options(), parquet.PageBufferSize(2000)) // many pages
	own := parquet.NewGenericWriter[row](&got, append(options, shortBounds[row]())...)
	library := parquet.NewGenericWriter[row](&want, options...)
	for _, w := range []*parquet.GenericWriter[row]{own, library} {
		for batch := range slices.Chunk(rows, 100) {
			if _, err := w.Write(batch); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("the files differ: %d bytes, want %d", got.Len(), want.Len())
	}
	f, err := parquet.OpenFile(bytes.NewReader(got.Bytes()), int64(got.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if pages := f.ColumnIndexes()[2].NullPages; len(pages) < 50 {
		t.Fatalf("%d pages: too few for a test", len(pages))
	}
}

// TestShortBoundsNeedLittleMemory: the memory of the index per page does not depend on the length of the values.
func TestShortBoundsNeedLittleMemory(t *testing.T) {
	const pages, size = 50, 1 << 20
	column := shortBounds[struct{ Payload string }]().Fields()[0]
	index := column.Type().NewColumnIndexer(parquet.DefaultColumnIndexSizeLimit)
	long := parquet.ByteArrayValue(bytes.Repeat([]byte("x"), size))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range pages {
		index.IndexPage(1, 0, long, long)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > size {
		t.Errorf("%d bytes for %d pages", n, pages)
	}
	if got := index.ColumnIndex(); len(got.MaxValues) != pages || string(got.MaxValues[0]) != "xxxxxxxxxxxxxxxy" || string(got.MinValues[0]) != "xxxxxxxxxxxxxxxx" {
		t.Errorf("%d bounds, %q to %q", len(got.MaxValues), got.MinValues[0], got.MaxValues[0])
	}
}
