package firefox

import (
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
)

// none represents null in a column of integers.
const none = math.MinInt32

// noTime represents null in a column of times.
const noTime = math.MinInt64

// A column is the destination for one column of a table. Exactly one of its pointers is not nil.
type column struct {
	name   string
	ints   *[]int32
	bools  *[]int32
	times  *[]int64 // milliseconds in the file, nanoseconds here
	exact  *[]jsonio.Decimal
	values *raws
	text   *string
	sparse bool // the column may be shorter than the table
}

// raws holds JSON values in one buffer.
type raws struct {
	text []byte
	ends []int
}

// at returns the i-th value, or nil if there is none. It aliases the buffer.
func (r *raws) at(i int) []byte {
	if i >= len(r.ends) {
		return nil
	}
	begin := 0
	if i > 0 {
		begin = r.ends[i-1]
	}
	return r.text[begin:r.ends[i]]
}

// A table holds the size and position of a table that was read.
type table struct {
	rows  int
	place jsonio.Place
	bytes int64 // bytes charged for its columns
}

// readTable reads the given columns of a table, which may be null. Columns must have the length that the table states;
// rows beyond it do not belong to the table. A column that is null or absent is empty. A table of a Gecko profile has a
// schema and rows.
func (f *file) readTable(columns []column) (t table, err error) {
	if f.meta != nil && f.meta.version == 0 {
		return f.readGeckoTable(columns)
	}
	names := make([]string, len(columns)+1)
	for i, c := range columns {
		names[i] = c.name
	}
	names[len(columns)] = "length"
	length := int64(-1)
	err = f.Object(names, func(i int) (err error) {
		if i == len(columns) {
			length, err = f.Index(0, math.MaxInt32, -1)
			return err
		}
		n, err := f.readColumn(&columns[i])
		t.bytes += n
		return err
	})
	if err != nil {
		return t, err
	}
	t.place = f.Place()
	for i := range columns {
		c := &columns[i]
		n := c.rows()
		if length < 0 {
			length = int64(n)
		}
		if int64(n) > length {
			c.truncate(int(length))
			f.report.Note(ntconv.CodeRepaired, 1, t.place.Offset, "columns with more rows than their table")
		}
		if n > 0 && int64(n) < length && !c.sparse {
			return t, f.Corrupt("column %s has %d rows, the table has %d", c.name, n, length)
		}
	}
	t.rows = int(max(length, 0))
	return t, nil
}

// readGeckoTable reads a table of a Gecko profile. The schema precedes the rows.
func (f *file) readGeckoTable(columns []column) (t table, err error) {
	var at []int
	err = f.Object([]string{"schema", "data"}, func(i int) (err error) {
		if i == 0 {
			at, err = f.readSchema(columns)
			return err
		}
		if at == nil {
			return f.Corrupt("the rows of a table precede its schema")
		}
		t.rows, t.bytes, err = f.readRows(columns, at)
		return err
	})
	t.place = f.Place()
	return t, err
}

// truncate removes the rows from n on.
func (c *column) truncate(n int) {
	switch {
	case c.ints != nil:
		*c.ints = (*c.ints)[:n]
	case c.bools != nil:
		*c.bools = (*c.bools)[:n]
	case c.times != nil:
		*c.times = (*c.times)[:n]
	case c.exact != nil:
		*c.exact = (*c.exact)[:n]
	case c.values != nil:
		c.values.ends = c.values.ends[:n]
	}
}

// appendNull appends a row without a value, and returns its memory in bytes.
func (c *column) appendNull() (cost int64) {
	switch {
	case c.ints != nil:
		*c.ints = append(*c.ints, none)
		return 8
	case c.bools != nil:
		*c.bools = append(*c.bools, 0)
		return 8
	case c.times != nil:
		*c.times = append(*c.times, noTime)
		return 16
	case c.exact != nil:
		*c.exact = append(*c.exact, jsonio.Decimal{})
		return 32
	}
	c.values.text = append(c.values.text, "null"...)
	c.values.ends = append(c.values.ends, len(c.values.text))
	return 24
}

// rows returns the number of rows read so far. It is 0 for a text, which belongs to the whole table.
func (c *column) rows() int {
	switch {
	case c.ints != nil:
		return len(*c.ints)
	case c.bools != nil:
		return len(*c.bools)
	case c.times != nil:
		return len(*c.times)
	case c.exact != nil:
		return len(*c.exact)
	case c.values != nil:
		return len(c.values.ends)
	}
	return 0
}

// readColumn reads a column and returns the number of bytes charged for it.
func (f *file) readColumn(c *column) (charged int64, err error) {
	if c.text != nil {
		*c.text, err = f.String()
		return 0, err
	}
	err = f.Array(func(int) error {
		n, err := f.readCell(c)
		charged += n
		return f.charged(err, int(n))
	})
	return charged, err
}

// readCell reads an element of a column. It returns the memory of the element in bytes, including spare capacity of
// slices.
func (f *file) readCell(c *column) (cost int64, err error) {
	switch {
	case c.ints != nil:
		var n int64
		n, err = f.Index(-1, math.MaxInt32, none)
		*c.ints = append(*c.ints, int32(n))
		return 8, err
	case c.bools != nil:
		var b bool
		b, err = f.Bool()
		*c.bools = append(*c.bools, 0)
		if b {
			(*c.bools)[len(*c.bools)-1] = 1
		}
		return 8, err
	case c.times != nil:
		t, _, ok, err := f.Scaled(6)
		if !ok {
			t = noTime
		}
		*c.times = append(*c.times, t)
		return 16, err
	case c.exact != nil:
		d, _, err := f.Decimal()
		*c.exact = append(*c.exact, d)
		return 32, err
	}
	text, err := f.Raw()
	c.values.text = append(c.values.text, text...)
	c.values.ends = append(c.values.ends, len(c.values.text))
	return int64(16 + 2*len(text)), err
}

// cell returns a value of a column of integers, or none if the column is absent or the value is null.
func cell(column []int32, i int) int32 {
	if i < len(column) {
		return column[i]
	}
	return none
}
