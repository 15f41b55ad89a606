package parquetreader

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
	compact "github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// A crafted file is written as it is, whatever its counts and sizes say.
type crafted struct {
	schema []format.SchemaElement // after the root
	root   int32                  // children of the root
	groups []craftedGroup
}

type craftedGroup struct {
	rows    int64
	columns []craftedColumn
}

type craftedColumn struct {
	typ    format.Type
	codec  format.CompressionCodec
	values int64
	pages  []craftedPage
	shared bool // the pages are those of the column before
}

type craftedPage struct {
	header format.PageHeader
	body   []byte
}

func marshal(t testing.TB, v any) []byte {
	b, err := compact.Marshal(new(compact.CompactProtocol), v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (c crafted) bytes(t testing.TB) []byte {
	b := []byte(magic)
	m := format.FileMetaData{Version: 2, Schema: append([]format.SchemaElement{{Name: "root", NumChildren: compact.New(c.root)}}, c.schema...)}
	start := len(b)
	for _, g := range c.groups {
		rg := format.RowGroup{NumRows: g.rows}
		for _, col := range g.columns {
			if !col.shared {
				start = len(b)
			}
			for _, p := range col.pages {
				p.header.CompressedPageSize = int32(len(p.body))
				if p.header.UncompressedPageSize == 0 {
					p.header.UncompressedPageSize = int32(len(p.body))
				}
				b = append(append(b, marshal(t, &p.header)...), p.body...)
			}
			rg.Columns = append(rg.Columns, format.ColumnChunk{MetaData: format.ColumnMetaData{Type: col.typ, Codec: col.codec, NumValues: col.values,
				PathInSchema: []string{"c"}, Encoding: []format.Encoding{format.Plain}, DataPageOffset: int64(start), TotalCompressedSize: int64(len(b) - start)}})
		}
		m.RowGroups = append(m.RowGroups, rg)
		m.NumRows += g.rows
	}
	footer := marshal(t, &m)
	b = append(b, footer...)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(footer))), magic...)
}

func leafOf(typ format.Type, r format.FieldRepetitionType) format.SchemaElement {
	return format.SchemaElement{Name: "c", Type: compact.New(typ), RepetitionType: compact.New(r)}
}

func page(full, values int, e format.Encoding, body []byte) craftedPage {
	return craftedPage{format.PageHeader{Type: format.DataPage, UncompressedPageSize: int32(full), DataPageHeader: compact.New(format.DataPageHeader{
		NumValues: int32(values), Encoding: e, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})}, body}
}

func dictionaryOf(values int, body []byte) craftedPage {
	return craftedPage{format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: int32(len(body)),
		DictionaryPageHeader: compact.New(format.DictionaryPageHeader{NumValues: int32(values)})}, body}
}

// one returns a file with one column.
func one(element format.SchemaElement, codec format.CompressionCodec, rows, values int64, pages ...craftedPage) crafted {
	return crafted{schema: []format.SchemaElement{element}, root: 1,
		groups: []craftedGroup{{rows, []craftedColumn{{typ: element.Type.V, codec: codec, values: values, pages: pages}}}}}
}

// readCounted reads everything and returns the number of bytes that were allocated.
func readCounted(data []byte, l *Limits) (rows int64, allocated uint64, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := Open(bytes.NewReader(data), int64(len(data)), l)
	if err == nil {
		f.ignoreCRC = true
		rows, err = drain(f)
	}
	runtime.ReadMemStats(&after)
	return rows, after.TotalAlloc - before.TotalAlloc, err
}

// runLevels returns RLE levels of n equal values with their size, as in pages of version 1.
func runLevels(n uint64, value byte) []byte {
	run := append(binary.AppendUvarint(nil, n<<1), value)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(run))), run...)
}

// deltaValues returns DELTA_BINARY_PACKED values that are all equal.
func deltaValues(n uint64, value int64) []byte {
	b := binary.AppendUvarint(nil, 128)
	b = binary.AppendUvarint(b, 4)
	b = binary.AppendUvarint(b, n)
	b = binary.AppendVarint(b, value)
	for k := uint64(1); k < n; k += 128 {
		b = append(b, 0, 0, 0, 0, 0) // a delta of 0, and four miniblocks of 0 bits
	}
	return b
}

// A adversarialCase is a file that claims much and holds little.
type adversarialCase struct {
	name string
	file crafted
	rows int64 // if there is no error
	want error
	says string
	// allocates is the largest number of bytes that may be allocated, if it is not 64 per byte of the file.
	allocates uint64
}

var (
	int64s       = leafOf(format.Int64, format.Required)
	optional64   = leafOf(format.Int64, format.Optional)
	stringColumn = leafOf(format.ByteArray, format.Required)
	zeros        = make([]byte, 64)
)

// adversarialFooters returns files whose footer is wrong.
func adversarialFooters() []adversarialCase {
	return []adversarialCase{
		{name: "a trillion rows", file: one(optional64, format.Uncompressed, 1<<40, 1<<40), want: ntconv.ErrLimit, says: LimitRows},
		{name: "negative rows", file: one(optional64, format.Uncompressed, -1, -1), want: ntconv.ErrCorrupt},
		{name: "rows that overflow", file: crafted{schema: []format.SchemaElement{int64s}, root: 1, groups: []craftedGroup{
			{math.MaxInt64, []craftedColumn{{typ: format.Int64, values: math.MaxInt64}}}, {math.MaxInt64, []craftedColumn{{typ: format.Int64, values: math.MaxInt64}}}}},
			want: ntconv.ErrCorrupt},
		{name: "column chunks that share bytes", file: crafted{schema: slices.Repeat([]format.SchemaElement{int64s}, 1000), root: 1000, groups: []craftedGroup{{8,
			append([]craftedColumn{{typ: format.Int64, values: 8, pages: []craftedPage{page(64, 8, format.Plain, slices.Repeat(zeros, 5000))}}},
				slices.Repeat([]craftedColumn{{typ: format.Int64, values: 8, shared: true}}, 999)...)}}}, want: ntconv.ErrCorrupt, says: "column chunks"},
		{name: "nesting", file: crafted{root: 1, schema: append(slices.Repeat([]format.SchemaElement{{Name: "g", NumChildren: compact.New[int32](1),
			RepetitionType: compact.New(format.Repeated)}}, 300), int64s)}, want: ntconv.ErrLimit, says: LimitDepth},
		{name: "more children than elements", file: crafted{root: math.MaxInt32, schema: []format.SchemaElement{int64s}}, want: ntconv.ErrCorrupt},
		{name: "elements past the root", file: crafted{root: 1, schema: []format.SchemaElement{int64s, int64s}}, want: ntconv.ErrCorrupt},
		{name: "values of 2 GB each", file: crafted{root: 1, schema: []format.SchemaElement{{Name: "c", Type: compact.New(format.FixedLenByteArray),
			TypeLength: compact.New[int32](math.MaxInt32)}}}, want: ntconv.ErrCorrupt},
		{name: "columns", file: crafted{root: 20_000, schema: slices.Repeat([]format.SchemaElement{int64s}, 20_000)}, want: ntconv.ErrLimit, says: LimitColumns},
		{name: "row groups", file: crafted{root: 1, schema: []format.SchemaElement{int64s}, groups: slices.Repeat([]craftedGroup{{columns: []craftedColumn{{typ: format.Int64}}}}, 40_000)},
			want: ntconv.ErrLimit, says: LimitRowGroups},
		{name: "columns of different size", file: crafted{schema: []format.SchemaElement{int64s, int64s}, root: 2, groups: []craftedGroup{{8, []craftedColumn{
			{typ: format.Int64, values: 8, pages: []craftedPage{page(0, 8, format.Plain, zeros)}}, {typ: format.Int64, values: 7, pages: []craftedPage{page(0, 7, format.Plain, zeros)}}}}}},
			want: ntconv.ErrCorrupt},
		{name: "a physical type that is none", file: one(leafOf(20, format.Required), format.Uncompressed, 3, 3), want: ntconv.ErrCorrupt},
	}
}

// adversarialValues returns files whose compressed or encoded values are wrong.
func adversarialValues() []adversarialCase {
	return []adversarialCase{
		{name: "a run of 2^31 indexes in a page of 3 values", file: one(int64s, format.Uncompressed, 3, 3, dictionaryOf(1, zeros[:8]),
			page(0, 3, format.RLEDictionary, append([]byte{1}, binary.AppendUvarint(nil, 1<<32)...))), want: ntconv.ErrCorrupt},
		{name: "the same with its value", file: one(int64s, format.Uncompressed, 3, 3, dictionaryOf(1, zeros[:8]),
			page(0, 3, format.RLEDictionary, append(append([]byte{1}, binary.AppendUvarint(nil, 1<<32)...), 0))), rows: 3},
		{name: "groups of 2^31 indexes of no bits", file: one(int64s, format.Uncompressed, 3, 3, dictionaryOf(1, zeros[:8]),
			page(0, 3, format.RLEDictionary, append([]byte{0}, binary.AppendUvarint(nil, 1<<32-1)...))), rows: 3},
		{name: "index past the dictionary", file: one(int64s, format.Uncompressed, 3, 3, dictionaryOf(1, zeros[:8]),
			page(0, 3, format.RLEDictionary, []byte{1, 6, 1})), want: ntconv.ErrCorrupt, says: "dictionary"},
		{name: "dictionary of 2^30 values", file: one(int64s, format.Uncompressed, 3, 3, dictionaryOf(1<<23, zeros[:8])), want: ntconv.ErrCorrupt},
		{name: "no dictionary", file: one(int64s, format.Uncompressed, 3, 3, page(0, 3, format.RLEDictionary, []byte{1, 6, 0})), want: ntconv.ErrCorrupt},
		{name: "2^31 deltas in a page of 3 values", file: one(int64s, format.Uncompressed, 3, 3,
			page(0, 3, format.DeltaBinaryPacked, deltaValues(2, 7))), want: ntconv.ErrCorrupt},
		{name: "prefixes of a million bytes", file: one(stringColumn, format.Uncompressed, 2000, 2000,
			page(0, 2000, format.DeltaByteArray, prefixes(2000, 1<<20))), want: ntconv.ErrLimit, says: LimitPageBytes, allocates: 80 << 20},
		{name: "prefixes of 50 MB in four columns", file: crafted{root: 4, schema: slices.Repeat([]format.SchemaElement{stringColumn}, 4), groups: []craftedGroup{{129,
			slices.Repeat([]craftedColumn{{typ: format.ByteArray, values: 129, pages: []craftedPage{page(0, 129, format.DeltaByteArray, prefixes(129, 400<<10))}}}, 4)}}},
			want: ntconv.ErrLimit, says: LimitDecoded, allocates: 160 << 20},
		{name: "snappy that says 4 GB", file: one(stringColumn, format.Snappy, 3, 3, page(1000, 3, format.Plain,
			[]byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0})), want: ntconv.ErrCorrupt},
		{name: "page header that says 2 GB", file: one(stringColumn, format.Snappy, 3, 3, page(math.MaxInt32, 3, format.Plain,
			snappy.Encode(nil, zeros))), want: ntconv.ErrLimit, says: LimitPageBytes},
		{name: "page header that says 50 MB of zstd", file: one(stringColumn, format.Zstd, 3, 3, page(50<<20, 3, format.Plain,
			zstdOf(slices.Repeat(zeros, 1<<16)))), want: ntconv.ErrCorrupt},
		{name: "LZ4 without end", file: one(stringColumn, format.Lz4Raw, 3, 3, page(1000, 3, format.Plain, []byte("\xff\xff\xff garbage"))), want: ntconv.ErrCorrupt},
		{name: "gzip that is none", file: one(stringColumn, format.Gzip, 3, 3, page(1000, 3, format.Plain, []byte("garbage"))), want: ntconv.ErrCorrupt},
		{name: "Brotli that is none", file: one(stringColumn, format.Brotli, 3, 3, page(1000, 3, format.Plain, []byte("garbage"))), want: ntconv.ErrCorrupt},
		{name: "an unknown codec", file: one(stringColumn, 99, 3, 3, page(7, 3, format.Plain, []byte("garbage"))), want: ntconv.ErrUnsupported},
		{name: "an unknown encoding", file: one(stringColumn, format.Uncompressed, 3, 3, page(7, 3, 99, []byte("garbage"))), want: ntconv.ErrUnsupported},
		{name: "a string longer than its page", file: one(stringColumn, format.Uncompressed, 3, 3, page(8, 3, format.Plain, []byte("\xff\xff\xff\xffabcd"))), want: ntconv.ErrCorrupt},
		{name: "a dictionary of -1 values", file: one(int64s, format.Uncompressed, 3, 3, dictionaryOf(-1, zeros[:8]),
			page(0, 3, format.RLEDictionary, []byte{1, 6, 0})), want: ntconv.ErrCorrupt},
	}
}

// adversarialPages returns files whose page headers and levels are wrong.
func adversarialPages() []adversarialCase {
	return []adversarialCase{
		{name: "ten million NULL in a run", file: one(optional64, format.Uncompressed, 10_000_000, 10_000_000,
			page(0, 10_000_000, format.Plain, runLevels(10_000_000, 0))), rows: 10_000_000},
		{name: "more NULL than a page may have", file: one(optional64, format.Uncompressed, 16<<20+1, 16<<20+1,
			page(0, 16<<20+1, format.Plain, runLevels(1<<31, 0))), want: ntconv.ErrLimit, says: LimitPageValues},
		{name: "pages without values", file: one(stringColumn, format.Uncompressed, 3, 3, slices.Repeat([]craftedPage{page(0, 0, format.Plain, nil)}, 1000)...), want: ntconv.ErrCorrupt},
		{name: "negative sizes", file: one(stringColumn, format.Uncompressed, 3, 3, page(-1, 3, format.Plain, zeros)), want: ntconv.ErrCorrupt},
		{name: "fewer levels than values", file: one(optional64, format.Uncompressed, 9, 9, page(0, 9, format.Plain, append(runLevels(5, 1), slices.Repeat(zeros, 2)...))),
			want: ntconv.ErrCorrupt},
		{name: "a level above the largest", file: one(leafOf(format.Int64, format.Optional), format.Uncompressed, 9, 9,
			page(0, 9, format.Plain, append(runLevels(9, 2), slices.Repeat(zeros, 2)...))), want: ntconv.ErrCorrupt},
		{name: "lists with rows after the last", file: one(leafOf(format.Int64, format.Repeated), format.Uncompressed, 3, 8, page(0, 8, format.Plain,
			append(append(runLevels(8, 0), runLevels(8, 1)...), zeros...))), want: ntconv.ErrCorrupt, says: "after the last row"},
		{name: "levels longer than their page", file: one(optional64, format.Uncompressed, 3, 3, craftedPage{format.PageHeader{Type: format.DataPageV2,
			DataPageHeaderV2: compact.New(format.DataPageHeaderV2{NumValues: 3, DefinitionLevelsByteLength: 99})}, zeros}), want: ntconv.ErrCorrupt},
		{name: "levels of 2 GB twice", file: one(optional64, format.Uncompressed, 3, 3, craftedPage{format.PageHeader{Type: format.DataPageV2,
			DataPageHeaderV2: compact.New(format.DataPageHeaderV2{NumValues: 3, DefinitionLevelsByteLength: math.MaxInt32, RepetitionLevelsByteLength: math.MaxInt32})}, zeros}),
			want: ntconv.ErrCorrupt},
		{name: "rows that do not begin", file: one(leafOf(format.Int64, format.Repeated), format.Uncompressed, 3, 9, page(0, 9, format.Plain,
			append(append(runLevels(9, 1), runLevels(9, 1)...), slices.Repeat(zeros, 2)...))), want: ntconv.ErrCorrupt, says: "level"},
		{name: "a list of a million NULL in one row", file: one(leafOf(format.Int64, format.Repeated), format.Uncompressed, 1, 1<<20, page(0, 1<<20, format.Plain,
			append(oneRow(1<<20), runLevels(1<<20, 0)...))), rows: 1, allocates: 96 << 20},
		{name: "lists of two million NULL", file: one(leafOf(format.Int64, format.Repeated), format.Uncompressed, 2, 2<<20, slices.Repeat([]craftedPage{page(0, 1<<20,
			format.Plain, append(oneRow(1<<20), runLevels(1<<20, 0)...))}, 2)...), want: ntconv.ErrLimit, says: LimitValues, allocates: 96 << 20},
	}
}

// TestAdversarial: files that claim much and hold little cost an error, or rows, but no more memory than some buffers.
func TestAdversarial(t *testing.T) {
	for _, c := range slices.Concat(adversarialFooters(), adversarialValues(), adversarialPages()) {
		t.Run(c.name, func(t *testing.T) {
			data := c.file.bytes(t)
			rows, allocated, err := readCounted(data, &Limits{Decoded: 128 << 20, PageBytes: 64 << 20})
			if !errors.Is(err, c.want) || c.want != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %v that says %q", err, c.want, c.says)
			}
			if c.want == nil && rows != c.rows {
				t.Errorf("%d rows, want %d", rows, c.rows)
			}
			limit := uint64(1<<20 + 64*len(data))
			if c.allocates > 0 {
				limit = c.allocates
			}
			if allocated > limit {
				t.Errorf("%d bytes were allocated for a file of %d bytes", allocated, len(data))
			}
			t.Log(allocated, len(data), err)
		})
	}
}

// prefixes returns n strings of size bytes, all with the first one as their prefix.
func prefixes(n uint64, size int64) []byte {
	lengths := binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(nil, 128), 4), n)
	prefix := binary.AppendVarint(slices.Clone(lengths), 0)
	suffix := binary.AppendVarint(slices.Clone(lengths), size)
	for k := uint64(1); k < n; k += 128 {
		// The second prefix is 1 MiB longer than the first, by the smallest delta of its block; the deltas after it add
		// -size.
		prefix, suffix = block(prefix, k == 1, size), block(suffix, k == 1, 1-size)
	}
	return append(append(prefix, suffix...), make([]byte, size+int64(n))...)
}

// block appends a block whose first delta is first in the first block, and whose other deltas are 0.
func block(b []byte, isFirst bool, first int64) []byte {
	if !isFirst {
		return append(b, 0, 0, 0, 0, 0)
	}
	least := min(first, 0)
	b = append(binary.AppendVarint(b, least), 32, 32, 32, 32)
	for k := range 128 {
		v := -least
		if k == 0 {
			v = first - least
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

func zstdOf(b []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	defer w.Close()
	return w.EncodeAll(b, nil)
}

// oneRow returns repetition levels of one row of n values: a run of one 0, and one of 1.
func oneRow(n uint64) []byte {
	run := append(binary.AppendUvarint(nil, 2), 0)
	run = append(binary.AppendUvarint(run, (n-1)<<1), 1)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(run))), run...)
}

// TestTruncated: every prefix of a file gives an error, which says that it is truncated or not a Parquet file.
func TestTruncated(t *testing.T) {
	data := write(t, random[struct {
		A int64 `parquet:"a"`
	}](50), &parquetwriter.Options{})
	for n := range data {
		if _, err := Open(bytes.NewReader(data[:n]), int64(n), nil); !errors.Is(err, ntconv.ErrTruncated) && !errors.Is(err, ntconv.ErrFormat) {
			t.Fatalf("%d of %d bytes: %v", n, len(data), err)
		}
		// The input is shorter than its size says.
		if f, err := Open(io.NewSectionReader(bytes.NewReader(data), 0, int64(n)), int64(len(data)), nil); !errors.Is(err, ntconv.ErrTruncated) {
			t.Fatalf("%d of %d bytes: %v %v", n, len(data), f, err)
		}
	}
}
