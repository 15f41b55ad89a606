package parquetwriter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	pqthrift "github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// A Constant is an optional column that has the same value in all rows of a file or of a part of it.
type Constant struct {
	Name string
	Kind Kind   // KindString, KindInt32 or KindDate
	Text string // of KindString
	Int  int32  // of the other kinds
	Null bool   // the column is NULL
}

// value returns the value as parquet-go has it.
func (c *Constant) value() parquet.Value {
	switch {
	case c.Null:
		return parquet.NullValue()
	case c.Kind == KindString:
		return parquet.ByteArrayValue([]byte(c.Text)).Level(0, 1, 0)
	}
	return parquet.Int32Value(c.Int).Level(0, 1, 0)
}

// plain returns the value in the encoding PLAIN without the length of a string, which is also that of bounds.
func (c *Constant) plain() []byte {
	if c.Kind == KindString {
		return []byte(c.Text)
	}
	return binary.LittleEndian.AppendUint32(nil, uint32(c.Int))
}

// element returns the element of the schema.
func (c *Constant) element() format.SchemaElement {
	e := format.SchemaElement{Name: c.Name}
	e.RepetitionType.Set(format.Optional)
	switch c.Kind {
	case KindString:
		e.Type.Set(format.ByteArray)
		e.ConvertedType.Set(deprecated.UTF8)
		e.LogicalType.Value = new(format.StringType)
	case KindDate:
		e.Type.Set(format.Int32)
		e.ConvertedType.Set(deprecated.Date)
		e.LogicalType.Value = new(format.DateType)
	default:
		e.Type.Set(format.Int32)
	}
	return e
}

// withoutKnown returns the constants that are not columns already. Names that differ only in case are the same for DuckDB.
func withoutKnown(constants []Constant, known []string) []Constant {
	var list []Constant
	for _, c := range constants {
		if !slices.ContainsFunc(known, func(name string) bool { return strings.EqualFold(name, c.Name) }) {
			list = append(list, c)
		}
	}
	return list
}

// topLevel returns the names of the columns of a schema, without those that are nested, and without the name of its root.
func topLevel(schema []format.SchemaElement) (names []string) {
	nested := int32(0) // elements that follow below the current column
	for i := range schema {
		children := schema[i].NumChildren.V
		switch {
		case i == 0:
		case nested > 0:
			nested += children - 1
		default:
			names = append(names, schema[i].Name)
			nested = children
		}
	}
	return names
}

// A ReadWriterAt is a file that can be read and written at any offset.
type ReadWriterAt interface {
	io.ReaderAt
	io.WriterAt
}

// AddConstants adds columns to a complete file of size bytes, and returns its new size. The rows are neither read nor written:
// each new column of a row group is a page after the last row group, in the place of the footer. A column that the file has is
// not added. If AddConstants fails, the file is incomplete.
func AddConstants(file ReadWriterAt, size int64, constants []Constant) (int64, error) {
	meta, end, err := readFooter(file, size)
	if err != nil {
		return size, err
	}
	constants = withoutKnown(constants, topLevel(meta.Schema))
	out := &pageWriter{}
	if out.at, err = out.readIndexes(file, meta, end); err != nil {
		return size, err
	}
	end = out.at
	for i := range constants {
		c := &constants[i]
		meta.Schema = append(meta.Schema, c.element())
		if len(meta.ColumnOrders) > 0 {
			meta.ColumnOrders = append(meta.ColumnOrders, meta.ColumnOrders[0])
		}
		for j := range meta.RowGroups {
			out.indexes[j] = append(out.indexes[j], out.chunk(c, &meta.RowGroups[j]))
		}
	}
	if len(meta.Schema) > 0 {
		meta.Schema[0].NumChildren.Set(meta.Schema[0].NumChildren.V + int32(len(constants)))
	}
	out.writeIndexes(meta)
	out.footer(meta)
	if out.err != nil {
		return size, out.err
	}
	_, err = file.WriteAt(out.buf, end)
	return end + int64(len(out.buf)), err
}

// readFooter returns the footer of a file and its offset.
//
//	end of a file: footer, size of the footer in 4 bytes, "PAR1"
func readFooter(file io.ReaderAt, size int64) (*format.FileMetaData, int64, error) {
	const trailer = 8
	b := make([]byte, trailer)
	if size < trailer {
		return nil, 0, fmt.Errorf("parquet file of %d bytes: want a footer", size)
	}
	if _, err := file.ReadAt(b, size-trailer); err != nil {
		return nil, 0, err
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if string(b[4:]) != "PAR1" || n > size-trailer {
		return nil, 0, errors.New("parquet file has no footer")
	}
	at := size - trailer - n
	b = make([]byte, n)
	if _, err := file.ReadAt(b, at); err != nil {
		return nil, 0, err
	}
	meta := new(format.FileMetaData)
	if err := pqthrift.Unmarshal(new(pqthrift.CompactProtocol), b, meta); err != nil {
		return nil, 0, fmt.Errorf("parquet footer: %w", err)
	}
	return meta, at, nil
}

// A pageWriter collects pages and their indexes.
type pageWriter struct {
	at      int64 // offset of buf in the file
	buf     []byte
	err     error
	indexes [][]pageIndexes // by row group and column
}

// pageIndexes are the indexes of the pages of a column, as bytes. Readers expect those of all columns without gaps.
type pageIndexes struct{ bounds, offsets []byte }

// readIndexes reads the indexes of all columns, and returns the end of what stays in the file: end, or the start of the indexes
// if nothing else is between them and end.
func (p *pageWriter) readIndexes(file io.ReaderAt, meta *format.FileMetaData, end int64) (int64, error) {
	start, total := end, int64(0)
	read := func(at int64, n int32) ([]byte, error) {
		if at == 0 || n <= 0 {
			return nil, nil
		}
		start, total = min(start, at), total+int64(n)
		b := make([]byte, min(int64(n), max(end-at, 0)))
		_, err := file.ReadAt(b, at)
		return b, err
	}
	for i := range meta.RowGroups {
		list := make([]pageIndexes, len(meta.RowGroups[i].Columns))
		for j := range list {
			c := &meta.RowGroups[i].Columns[j]
			var err, err2 error
			list[j].bounds, err = read(c.ColumnIndexOffset, c.ColumnIndexLength)
			list[j].offsets, err2 = read(c.OffsetIndexOffset, c.OffsetIndexLength)
			if err = errors.Join(err, err2); err != nil {
				return end, err
			}
		}
		p.indexes = append(p.indexes, list)
	}
	if start+total == end {
		return start, nil
	}
	return end, nil
}

// writeIndexes appends the indexes of all columns.
func (p *pageWriter) writeIndexes(meta *format.FileMetaData) {
	each := func(write func(*format.ColumnChunk, *pageIndexes)) {
		for i := range meta.RowGroups {
			for j := range meta.RowGroups[i].Columns {
				write(&meta.RowGroups[i].Columns[j], &p.indexes[i][j])
			}
		}
	}
	each(func(c *format.ColumnChunk, x *pageIndexes) {
		if len(x.bounds) > 0 {
			c.ColumnIndexOffset, c.ColumnIndexLength = p.offset(), int32(len(x.bounds))
			p.buf = append(p.buf, x.bounds...)
		}
	})
	each(func(c *format.ColumnChunk, x *pageIndexes) {
		if len(x.offsets) > 0 {
			c.OffsetIndexOffset, c.OffsetIndexLength = p.offset(), int32(len(x.offsets))
			p.buf = append(p.buf, x.offsets...)
		}
	})
}

func (p *pageWriter) offset() int64 { return p.at + int64(len(p.buf)) }

// marshal returns a structure as bytes.
func (p *pageWriter) marshal(v any) []byte {
	b, err := pqthrift.Marshal(new(pqthrift.CompactProtocol), v)
	p.err = errors.Join(p.err, err)
	return b
}

// footer appends the end of a file.
func (p *pageWriter) footer(meta *format.FileMetaData) {
	b := p.marshal(meta)
	p.buf = binary.LittleEndian.AppendUint32(append(p.buf, b...), uint32(len(b)))
	p.buf = append(p.buf, "PAR1"...)
}

// chunk appends the column of a row group: a dictionary of the value, unless it is NULL, one page whose rows all refer to it. It
// adds the column to the row group, and returns its indexes.
func (p *pageWriter) chunk(c *Constant, group *format.RowGroup) pageIndexes {
	start := p.offset()
	column := format.ColumnChunk{MetaData: format.ColumnMetaData{
		Type: format.Int32, PathInSchema: []string{c.Name}, Codec: format.Uncompressed, NumValues: group.NumRows,
		Encoding: []format.Encoding{format.RLE, format.Plain, format.RLEDictionary},
	}}
	meta := &column.MetaData
	if c.Kind == KindString {
		meta.Type = format.ByteArray
	}
	if !c.Null {
		meta.DictionaryPageOffset = start
		p.dictionary(c)
		meta.Statistics.MinValue, meta.Statistics.MaxValue = c.plain(), c.plain()
	} else {
		meta.Statistics.NullCount = group.NumRows
	}
	meta.DataPageOffset = p.offset()
	p.data(c, group.NumRows)
	meta.TotalCompressedSize = p.offset() - start
	meta.TotalUncompressedSize = meta.TotalCompressedSize
	location := format.PageLocation{Offset: meta.DataPageOffset, CompressedPageSize: int32(p.offset() - meta.DataPageOffset)}
	index := format.ColumnIndex{
		NullPages: []bool{c.Null}, MinValues: [][]byte{meta.Statistics.MinValue}, MaxValues: [][]byte{meta.Statistics.MaxValue},
		NullCounts: []int64{meta.Statistics.NullCount},
	}
	group.Columns = append(group.Columns, column)
	group.TotalByteSize += meta.TotalUncompressedSize
	group.TotalCompressedSize += meta.TotalCompressedSize
	return pageIndexes{p.marshal(&index), p.marshal(&format.OffsetIndex{PageLocations: []format.PageLocation{location}})}
}

// dictionary appends a page with the value.
func (p *pageWriter) dictionary(c *Constant) {
	var body []byte
	if c.Kind == KindString {
		body = binary.LittleEndian.AppendUint32(body, uint32(len(c.Text)))
	}
	body = append(body, c.plain()...)
	header := format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: int32(len(body)), CompressedPageSize: int32(len(body))}
	header.DictionaryPageHeader.Set(format.DictionaryPageHeader{NumValues: 1, Encoding: format.Plain})
	p.buf = append(append(p.buf, p.marshal(&header)...), body...)
}

// data appends a page of rows that all have the value at position 0 of the dictionary, or are NULL. The definition levels and the
// positions are runs of the hybrid encoding: twice the length, then the level or position.
func (p *pageWriter) data(c *Constant, rows int64) {
	level := byte(1)
	if c.Null {
		level = 0
	}
	levels := append(binary.AppendUvarint(nil, uint64(rows)<<1), level)
	body := binary.LittleEndian.AppendUint32(nil, uint32(len(levels)))
	body = append(body, levels...)
	encoding := format.Plain
	if !c.Null {
		const bitWidth = 1
		body = append(body, bitWidth)
		body = append(binary.AppendUvarint(body, uint64(rows)<<1), 0)
		encoding = format.RLEDictionary
	}
	header := format.PageHeader{Type: format.DataPage, UncompressedPageSize: int32(len(body)), CompressedPageSize: int32(len(body))}
	header.DataPageHeader.Set(format.DataPageHeader{
		NumValues: int32(rows), Encoding: encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
	})
	p.buf = append(append(p.buf, p.marshal(&header)...), body...)
}
