package parquetreader

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
	"github.com/parquet-go/parquet-go"
)

var (
	mutations    = flag.Int("mutations", 4000, "number of damaged files of TestMutations")
	mutationSeed = flag.Uint64("mutation-seed", 1, "seed of TestMutations")
)

// seeds returns small valid files: our own files with lists and maps, one per codec, and the files of the corpus.
func seeds(t testing.TB) map[string][]byte {
	files := map[string][]byte{
		"events": write(t, eventRows(300), &parquetwriter.Options{RowGroupRows: 200}),
		"stacks": write(t, random[tables.Stack](100), &parquetwriter.Options{}),
		"spans":  write(t, random[tables.Span](60), &parquetwriter.Options{RowGroupRows: 40}),
	}
	for name, codec := range map[string]parquet.WriterOption{"none": parquet.Compression(&parquet.Uncompressed), "snappy": parquet.Compression(&parquet.Snappy),
		"gzip": parquet.Compression(&parquet.Gzip), "lz4": parquet.Compression(&parquet.Lz4Raw), "brotli": parquet.Compression(&parquet.Brotli)} {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[tables.Mark](&b, codec, parquet.DataPageVersion(1))
		_, err := w.Write(random[tables.Mark](50))
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		files[name] = b.Bytes()
	}
	paths, _ := filepath.Glob(filepath.Join(parquetFiles(), "*.parquet"))
	for _, path := range paths {
		if data := readFile(t, path); len(data) < 30_000 {
			files[filepath.Base(path)] = data
		}
	}
	return files
}

// mutate returns a corrupted copy. Most mutations are in the footer and in the headers of pages, where the reader makes
// decisions.
func mutate(rng *rand.Rand, data []byte) []byte {
	data = slices.Clone(data)
	footer := len(data) - tailBytes - int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	grown := 0
	for range 1 + rng.IntN(3) {
		at := rng.IntN(len(data))
		if rng.IntN(2) == 0 {
			at = footer + rng.IntN(len(data)-footer-grown)
		}
		switch rng.IntN(8) {
		case 0, 1:
			data[at] ^= 1 << rng.IntN(8)
		case 2:
			data[at] = byte(rng.Uint32())
		case 3:
			data[at] = []byte{0, 0x7f, 0x80, 0xff, 0x0f, 0x1c, 0xfc}[rng.IntN(7)]
		case 4: // a large varint, with the size of the footer corrected
			large := binary.AppendUvarint(nil, rng.Uint64()>>rng.IntN(60))
			data = slices.Insert(data, at, large...)
			if at >= footer && at < len(data)-8 {
				grown += len(large)
			}
		case 5:
			data = slices.Delete(data, at, min(len(data), at+1+rng.IntN(4)))
		case 6:
			if at+4 <= len(data) {
				binary.LittleEndian.PutUint32(data[at:], rng.Uint32()>>rng.IntN(32))
			}
		case 7:
			from := rng.IntN(len(data))
			copy(data[at:], data[from:min(len(data), from+rng.IntN(64))])
		}
		if len(data) < 16 || footer >= len(data)-16 {
			return data
		}
	}
	if rng.IntN(50) == 0 {
		return data[:rng.IntN(len(data))]
	}
	copy(data[len(data)-4:], magic)
	binary.LittleEndian.PutUint32(data[len(data)-8:], uint32(max(0, len(data)-8-footer)))
	return data
}

// TestMutations: a corrupt file yields its rows or an error with a sentinel, and its size bounds the allocated memory.
func TestMutations(t *testing.T) {
	files := seeds(t)
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	rng := rand.New(rand.NewPCG(*mutationSeed, 0))
	good, worst := 0, uint64(0)
	for i := range *mutations {
		name := names[rng.IntN(len(names))]
		data := mutate(rng, files[name])
		rows, allocated, err := readCounted(data, nil)
		limit := uint64(1<<20 + 64*len(data))
		if allocated > limit {
			t.Errorf("-mutation-seed %d: mutation %d of %s: %d bytes were allocated for %d bytes and %d rows: %v", *mutationSeed, i, name, allocated, len(data), rows, err)
		}
		worst = max(worst, allocated)
		if err == nil {
			good++
		} else {
			checkKind(t, err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := readTyped(data); err != nil {
			checkKind(t, err)
		}
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > limit {
			t.Errorf("-mutation-seed %d: mutation %d of %s: %d bytes were allocated by tables of %d bytes", *mutationSeed, i, name, allocated, len(data))
		}
	}
	t.Logf("%d of %d are readable, at most %d bytes were allocated", good, *mutations, worst)
	if good == 0 || good == *mutations {
		t.Error("the mutations are too strong or too weak for a test")
	}
}

func checkKind(t *testing.T, err error) {
	t.Helper()
	for _, kind := range []error{ntconv.ErrCorrupt, ntconv.ErrTruncated, ntconv.ErrLimit, ntconv.ErrUnsupported, ntconv.ErrFormat} {
		if errors.Is(err, kind) {
			return
		}
	}
	t.Errorf("error without a sentinel: %v", err)
}

// readTyped reads a file with the types of some tables.
func readTyped(data []byte) error {
	f, err := Open(bytes.NewReader(data), int64(len(data)), nil)
	if err != nil {
		return err
	}
	f.ignoreCRC = true
	return errors.Join(readAs[tables.Event](f), readAs[tables.Span](f), readAs[tables.Stack](f), readAs[tables.Mark](f))
}

func readAs[T any](f *File) error {
	r, err := NewReader[T](f)
	if err != nil {
		return err
	}
	defer r.Close()
	rows := make([]T, 64)
	for {
		n, err := r.Read(rows)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if n != len(rows) {
			return errors.New("fewer rows without an error")
		}
	}
}

// FuzzOpen: any input yields rows or an error with a sentinel, and the number of rows is that of the footer.
func FuzzOpen(f *testing.F) {
	for _, data := range seeds(f) {
		if len(data) < 4000 {
			f.Add(data)
		}
	}
	limits := &Limits{PageValues: 1 << 16, PageBytes: 1 << 22, Decoded: 1 << 24, RowsPerByte: 8}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Open(bytes.NewReader(data), int64(len(data)), limits)
		if err != nil {
			checkKind(t, err)
			return
		}
		if file.Rows() > 1<<17 {
			return // valid, and only slow
		}
		file.ignoreCRC = true
		rows, err := drain(file)
		if err != nil {
			checkKind(t, err)
		} else if rows != file.Rows() {
			t.Fatalf("%d rows, want %d", rows, file.Rows())
		}
		for _, err := range []error{readAs[tables.Event](file), readAs[tables.Span](file), readAs[tables.Stack](file)} {
			if err != nil {
				checkKind(t, err)
			}
		}
	})
}
