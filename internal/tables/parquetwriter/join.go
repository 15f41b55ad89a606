package parquetwriter

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// A File is a Parquet file whose rows are copied to others. It is not safe for concurrent use.
type File struct{ f *parquet.File }

// OpenFile opens a file of size bytes that a writer of this package has written.
func OpenFile(r io.ReaderAt, size int64) (*File, error) {
	f, err := parquet.OpenFile(r, size, parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
	if err != nil {
		return nil, err
	}
	return &File{f}, nil
}

// Rows returns the number of rows.
func (f *File) Rows() int64 { return f.f.NumRows() }

// SchemaWith describes the columns of a file with constants.
func SchemaWith(f *File, constants []Constant) string {
	root := &orderedGroup{fields: f.f.Root().Fields()}
	_ = root.add((&Part{File: f, Constants: constants}).constants()) // Join reports a constant of an unknown kind
	return parquet.NewSchema("row", root).String()
}

// Bloom returns the columns with a bloom filter.
func (f *File) Bloom() (names []string) {
	groups := f.f.Metadata().RowGroups
	if len(groups) == 0 {
		return nil
	}
	for i := range groups[0].Columns {
		if m := &groups[0].Columns[i].MetaData; m.BloomFilterOffset > 0 && len(m.PathInSchema) == 1 {
			names = append(names, m.PathInSchema[0])
		}
	}
	return names
}

// Metadata returns a value of the footer, and "" if the footer does not have the key.
func (f *File) Metadata(key string) string {
	value, _ := f.f.Lookup(key)
	return value
}

// A Run is a number of consecutive rows with the same value of a column.
type Run struct {
	Value    string // "" for NULL
	From, To int64  // rows, To excluded
}

// Check compares the numbers of values that the footer states with those of rows, which readers rely on.
func (f *File) Check() error {
	for i, group := range f.f.Metadata().RowGroups {
		for _, column := range group.Columns {
			m := &column.MetaData
			leaf, ok := f.f.Schema().Lookup(m.PathInSchema...)
			if flat := ok && leaf.MaxRepetitionLevel == 0; m.NumValues < group.NumRows || flat && m.NumValues != group.NumRows {
				return fmt.Errorf("row group %d, column %s: %d values in %d rows", i, strings.Join(m.PathInSchema, "."), m.NumValues, group.NumRows)
			}
		}
	}
	return nil
}

// Runs returns the runs of a column of texts, in the order of the rows, nil if there is no such column.
func (f *File) Runs(column string) ([]Run, error) {
	leaf, ok := f.f.Schema().Lookup(column)
	if !ok {
		return nil, nil
	}
	var runs []Run
	at := int64(0)
	err := f.values(leaf.ColumnIndex, 0, f.Rows(), func(values []parquet.Value) error {
		for _, v := range values {
			if n := len(runs); n == 0 || runs[n-1].Value != string(v.ByteArray()) {
				runs = append(runs, Run{Value: string(v.ByteArray()), From: at})
			}
			at++
			runs[len(runs)-1].To = at
		}
		return nil
	})
	return runs, err
}

// joinRows is the number of rows whose values are copied at once.
const joinRows = 1024

// values passes the values of a column of the rows from and to, in pieces of whole rows.
func (f *File) values(column int, from, to int64, pass func([]parquet.Value) error) error {
	var buf []parquet.Value
	for _, group := range f.f.RowGroups() {
		first, last := max(from, 0), min(to, group.NumRows())
		from, to = from-group.NumRows(), to-group.NumRows()
		if first >= last {
			continue
		}
		pages := group.ColumnChunks()[column].Pages()
		err := pages.SeekToRow(first)
		for err == nil && first < last {
			var page parquet.Page
			if page, err = pages.ReadPage(); err != nil {
				break
			}
			n := min(page.NumRows(), last-first)
			for i := int64(0); i < n && err == nil; i += joinRows {
				buf, err = passPage(page.Slice(i, min(n, i+joinRows)), buf, pass)
			}
			first += n
			parquet.Release(page)
		}
		if cerr := pages.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return fmt.Errorf("column %d: %w", column, err)
		}
	}
	return nil
}

func passPage(page parquet.Page, buf []parquet.Value, pass func([]parquet.Value) error) ([]parquet.Value, error) {
	want := int(page.NumValues())
	buf = slices.Grow(buf[:0], want)[:want]
	for n, values := 0, page.Values(); n < want; {
		k, err := values.ReadValues(buf[n:])
		if n += k; n < want && (err != nil || k == 0) {
			return buf, fmt.Errorf("page with %d values: want %d: %w", n, want, err)
		}
	}
	return buf, pass(buf)
}

// A Part is a number of rows of a file, and constant columns to add to them.
type Part struct {
	File      *File
	From, To  int64 // rows, To excluded
	Constants []Constant
}

// Join writes a file with the rows of parts in their order. Their columns, with those of their constants,
// must be equal. The file has the encodings and the metadata of the first part, and no sort
// order; o has the bloom filters.
func Join(w io.Writer, parts []Part, o *Options) error {
	first := parts[0].File.f
	root := &orderedGroup{fields: encodedFields(first.Root().Fields(), encodingsOf(first))}
	if err := root.add(parts[0].constants()); err != nil {
		return err
	}
	out := parquet.NewGenericWriter[any](w, append(o.options(), parquet.NewSchema(first.Schema().Name(), root))...)
	j := &joiner{out: out, columns: out.ColumnWriters(), maxRows: o.rowGroupRows()}
	columns := SchemaWith(parts[0].File, parts[0].Constants)
	for i := range parts {
		if other := SchemaWith(parts[i].File, parts[i].Constants); other != columns {
			return fmt.Errorf("parquet files with different columns: %s and %s", other, columns)
		}
		if err := j.add(&parts[i]); err != nil {
			return err
		}
	}
	return out.Close()
}

// constants returns the constants that the file of the part does not have.
func (p *Part) constants() []Constant {
	return withoutKnown(p.Constants, fieldNames(p.File.f.Root().Fields()))
}

// A joiner copies rows into a file.
type joiner struct {
	out     *parquet.GenericWriter[any]
	columns []*parquet.ColumnWriter
	group   int64 // rows of the row group
	bytes   int64 // of its values before compression, roughly
	maxRows int64
}

// joinBytes ends a row group, because parquet-go keeps its values in memory, and several files are joined at a time.
const joinBytes = 16 << 20

// joinStep is the number of rows after which the size of a row group is checked.
const joinStep = 50_000

// add copies the rows of a part, and ends row groups that are full.
func (j *joiner) add(p *Part) error {
	// The columns of constants follow those of the file. Another part may have them in its file.
	constants := p.constants()
	known := len(j.columns) - len(constants)
	if has := len(leaves(p.File.f)); has != known {
		return fmt.Errorf("parquet file with %d columns: want %d", has, known)
	}
	for from := p.From; from < p.To; {
		to := min(p.To, from+min(j.maxRows-j.group, joinStep))
		for i, column := range j.columns[:known] {
			err := p.File.values(i, from, to, func(values []parquet.Value) error {
				j.bytes += int64(len(values)) * 8
				if len(values) > 0 && values[0].Kind() == parquet.ByteArray {
					for i := range values {
						j.bytes += int64(len(values[i].ByteArray()))
					}
				}
				_, err := column.WriteRowValues(values)
				return err
			})
			if err != nil {
				return err
			}
		}
		for i, c := range constants {
			if err := repeat(j.columns[known+i], c.value(), to-from); err != nil {
				return err
			}
		}
		j.group += to - from
		if from = to; j.group >= j.maxRows || j.bytes >= joinBytes {
			if err := j.out.Flush(); err != nil {
				return err
			}
			j.group, j.bytes = 0, 0
		}
	}
	return nil
}

// repeat writes n rows with the same value.
func repeat(column *parquet.ColumnWriter, v parquet.Value, n int64) error {
	values := slices.Repeat([]parquet.Value{v}, int(min(n, joinRows)))
	for ; n > 0; n -= joinRows {
		if _, err := column.WriteRowValues(values[:min(n, joinRows)]); err != nil {
			return err
		}
	}
	return nil
}

func leaves(f *parquet.File) [][]string { return f.Schema().Columns() }

// encodingsOf returns the encodings of the columns of a file, by number, nil for those of parquet-go.
func encodingsOf(f *parquet.File) []encoding.Encoding {
	list := make([]encoding.Encoding, len(leaves(f)))
	groups := f.Metadata().RowGroups
	if len(groups) == 0 {
		return list
	}
	for i := range list {
		used := groups[0].Columns[i].MetaData.Encoding
		switch {
		case slices.Contains(used, format.RLEDictionary):
			list[i] = &parquet.RLEDictionary
		case slices.Contains(used, format.DeltaBinaryPacked):
			list[i] = &parquet.DeltaBinaryPacked
		}
	}
	return list
}

// encodedFields returns fields with other encodings of their columns, which are the next ones of the list.
func encodedFields(fields []parquet.Field, encodings []encoding.Encoding) []parquet.Field {
	list := make([]parquet.Field, len(fields))
	for i, f := range fields {
		var node parquet.Node = f
		if f.Leaf() {
			if encodings[0] != nil {
				node = encodedNode{f, encodings[0]}
			}
			encodings = encodings[1:]
		} else {
			below := encodedFields(f.Fields(), encodings)
			encodings = encodings[leafCount(f):]
			node = groupNode{f, below}
		}
		list[i] = &orderedField{node, f.Name()}
	}
	return list
}

func leafCount(n parquet.Node) (count int) {
	if n.Leaf() {
		return 1
	}
	for _, f := range n.Fields() {
		count += leafCount(f)
	}
	return count
}

// An encodedNode is a column with another encoding.
type encodedNode struct {
	parquet.Node
	encoding encoding.Encoding
}

func (n encodedNode) Encoding() encoding.Encoding { return n.encoding }

// A groupNode is a group with other fields.
type groupNode struct {
	parquet.Node
	fields []parquet.Field
}

func (n groupNode) Fields() []parquet.Field { return n.fields }

// WriteEmpty writes a file without rows that has the columns of a row type and constants.
func WriteEmpty(w io.Writer, row reflect.Type, constants []Constant, o *Options) error {
	return writeEmpty(w, parquet.SchemaOf(reflect.New(row).Interface()).Fields(), constants, o)
}

// WriteEmptyColumns is WriteEmpty for columns that are known only at run time.
func WriteEmptyColumns(w io.Writer, columns []ColumnSpec, constants []Constant, o *Options) error {
	var fields []parquet.Field
	for _, c := range columns {
		node, err := nodeOf(c)
		if err != nil {
			return err
		}
		fields = append(fields, &orderedField{node, c.Name})
	}
	return writeEmpty(w, fields, constants, o)
}

func writeEmpty(w io.Writer, fields []parquet.Field, constants []Constant, o *Options) error {
	root := &orderedGroup{fields: fields}
	if err := root.add(withoutKnown(constants, fieldNames(fields))); err != nil {
		return err
	}
	return parquet.NewGenericWriter[any](w, append(o.options(), parquet.NewSchema("row", root))...).Close()
}

func fieldNames(fields []parquet.Field) (names []string) {
	for _, f := range fields {
		names = append(names, f.Name())
	}
	return names
}

// add adds the columns of constants.
func (g *orderedGroup) add(constants []Constant) error {
	for _, c := range constants {
		node, err := nodeOf(ColumnSpec{Name: c.Name, Kind: c.Kind, Optional: true, Dict: true})
		if err != nil {
			return err
		}
		g.fields = append(g.fields, &orderedField{node, c.Name})
	}
	return nil
}
