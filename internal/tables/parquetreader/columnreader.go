package parquetreader

import (
	"fmt"
	"io"

	"github.com/ntconv/ntconv"
)

// maxBatchRows is the number of rows per batch: few enough that the values of some columns stay in the cache.
const maxBatchRows = 1024

// Bounds of a batch with lists. NULL elements and repeated values need no bytes, so the row count does not bound the
// number of values: a batch has at most freeValues plus valuesPerByte per byte of the column chunk.
const (
	listRows      = 256
	freeValues    = 1 << 20
	valuesPerByte = 64
)

// A columnReader reads the values of one column, row group by row group, in batches of rows. The batch is valid until
// the next call of read.
//
// Who sets the state, and who resets it:
//
//	chunk, left, dict         open, for a row group; dict is set by next, from the dictionary page
//	pageLeft, values, levels  begin, for a page; read decreases pageLeft as it decodes
//	pendingDefs, pendingReps  pendingLevels, from the current page; take moves them to the batch
//	defs, reps, length        read clears them at its start and appends to them
//	numbers, strings          the same; strings refer to the page, which therefore must not be overwritten
//
// Levels are decoded before their values: while pending levels remain, p.values has not yet yielded their values.
type columnReader struct {
	pageReader
	// defs and reps have one level per value. They are empty if the column has no such levels.
	defs, reps []uint8
	// numbers or strings contains the values that are not NULL, depending on the physical type.
	numbers []uint64
	strings []string
	// length is the number of values including NULL. For a column outside of lists it is the number of rows.
	length int

	// pendingDefs and pendingReps are levels of the current page that were decoded to find the end of a row and belong
	// to the next batch. They are parts of levels.
	pendingDefs, pendingReps []uint8
	levels                   [2][256]uint8
	heldValues               int64
	// copies is the number of bytes per value that the consumer of the batch allocates in addition.
	copies int64
}

// newColumnReader returns a reader of the column at a position in f.columns. It needs open before the first read.
func newColumnReader(f *File, column int, d *decompressor, b *budget) *columnReader {
	return &columnReader{pageReader: pageReader{file: f, column: &f.columns[column], codecs: d, budget: b}}
}

// release returns the bytes that the reader holds to the budget. The reader must not be used afterwards.
func (c *columnReader) release() {
	c.pageReader.release()
	c.budget.used -= c.heldValues
	*c = columnReader{}
}

// grow makes room for n more values in the batch.
func (c *columnReader) grow(n int) error {
	// The capacity doubles, so that the cost of growing is amortized. The budget counts values, two levels and the
	// copies of the consumer before the memory is allocated.
	need := c.length + n
	if have := max(cap(c.numbers), cap(c.strings)); need > have {
		capacity := max(need, 2*have)
		size, number := int64(16), c.column.Physical.isNumber()
		if number {
			size = 8
		}
		if err := c.hold(&c.heldValues, int64(capacity)*(size+2+c.copies)); err != nil {
			return err
		}
		if number {
			c.numbers = append(make([]uint64, 0, capacity), c.numbers...)
		} else {
			c.strings = append(make([]string, 0, capacity), c.strings...)
		}
		if c.column.MaxDefinition > 0 {
			c.defs = append(make([]uint8, 0, capacity), c.defs...)
		}
		if c.column.MaxRepetition > 0 {
			c.reps = append(make([]uint8, 0, capacity), c.reps...)
		}
	}
	return nil
}

// read decodes the values of the next rows of the row group into a new batch. The row group must have that many.
func (c *columnReader) read(rows int) error {
	c.length, c.defs, c.reps, c.numbers, c.strings = 0, c.defs[:0], c.reps[:0], c.numbers[:0], c.strings[:0]
	// The caller owns the strings of the previous batch from here on.
	if err := c.hold(&c.heldTexts, 0); err != nil {
		return err
	}
	if c.column.MaxRepetition > 0 {
		return c.readRepeated(rows)
	}
	if err := c.grow(rows); err != nil {
		return err
	}
	for c.length < rows {
		if err := c.nextPage(rows - c.length); err != nil {
			return err
		}
		n := int(min(c.pageLeft, int64(rows-c.length)))
		present := n
		if c.column.MaxDefinition > 0 {
			c.defs = c.defs[:c.length+n]
			var err error
			if present, err = c.definitionLevels(c.defs[c.length:]); err != nil {
				return c.located(err)
			}
		}
		if err := c.decode(present); err != nil {
			return c.located(err)
		}
		c.length += n
		c.pageLeft -= int64(n)
	}
	return nil
}

// nextPage starts the next page if the current one has no values left. rows is for the message only.
func (c *columnReader) nextPage(rows int) error {
	if c.pageLeft > 0 {
		return nil
	}
	err := c.next()
	if err == io.EOF {
		err = c.located(fmt.Errorf("%w: the column ends %d rows before its row group", ntconv.ErrCorrupt, rows))
	}
	return err
}

// definitionLevels fills dst with levels and returns the number of values that are not NULL.
func (c *columnReader) definitionLevels(dst []uint8) (present int, err error) {
	if err := decode(&c.definitions, dst); err != nil {
		return 0, err
	}
	maximum := uint8(c.column.MaxDefinition)
	for _, d := range dst {
		if d >= maximum {
			if d > maximum {
				return 0, errLevel
			}
			present++
		}
	}
	return present, nil
}

// decode appends the next n values that are not NULL to the batch.
func (c *columnReader) decode(n int) error {
	if n == 0 {
		return nil
	}
	if c.column.Physical.isNumber() {
		k := len(c.numbers)
		c.numbers = c.numbers[:k+n]
		return c.values.numbers(c.numbers[k:])
	}
	k := len(c.strings)
	c.strings = c.strings[:k+n]
	return c.values.strings(c.strings[k:])
}

// readRepeated implements read for a column inside lists. A row ends before the next repetition level of 0.
func (c *columnReader) readRepeated(rows int) error {
	// started is the number of rows of which the batch has the first value. The loop ends before the first value of row
	// started+1, which may be in a later page: rows of version 1 can continue across pages.
	for started := 0; ; {
		if len(c.pendingReps) == 0 {
			// The column chunk ends, and with it the last row.
			if c.pageLeft == 0 && c.left == 0 && started == rows {
				return nil
			}
			if err := c.pendingLevels(rows - started); err != nil {
				return err
			}
		}
		n, ended := 0, false
		// A row that would exceed the batch stays pending for the next one.
		for _, r := range c.pendingReps {
			if r == 0 {
				if ended = started == rows; ended {
					break
				}
				started++
			} else if started == 0 {
				// A column chunk must not start inside a row.
				return c.located(errLevel)
			}
			n++
		}
		if err := c.take(n); err != nil {
			return err
		}
		if ended {
			return nil
		}
	}
}

// pendingLevels decodes up to 256 levels, from the next page if necessary. No levels may be pending.
func (c *columnReader) pendingLevels(rows int) error {
	if err := c.nextPage(rows); err != nil {
		return err
	}
	n := int(min(c.pageLeft, int64(len(c.levels[0]))))
	c.pageLeft -= int64(n)
	c.pendingReps, c.pendingDefs = c.levels[0][:n], c.levels[1][:n]
	if err := decode(&c.repetitions, c.pendingReps); err != nil {
		return c.located(err)
	}
	for _, r := range c.pendingReps {
		if int(r) > c.column.MaxRepetition {
			return c.located(errLevel)
		}
	}
	if _, err := c.definitionLevels(c.pendingDefs); err != nil {
		return c.located(err)
	}
	return nil
}

// take moves the first n pending levels to the batch, and decodes their values.
func (c *columnReader) take(n int) error {
	if limit := freeValues + valuesPerByte*(c.chunk.end-c.chunk.start); int64(c.length+n) > limit {
		return c.located(&ntconv.LimitError{Limit: LimitValues, Value: limit, Asked: int64(c.length + n)})
	}
	if err := c.grow(n); err != nil {
		return err
	}
	// A NULL or an empty list has a definition level below the maximum and no value in the page.
	present := 0
	for _, d := range c.pendingDefs[:n] {
		if int(d) == c.column.MaxDefinition {
			present++
		}
	}
	c.reps = append(c.reps, c.pendingReps[:n]...)
	c.defs = append(c.defs, c.pendingDefs[:n]...)
	c.pendingReps, c.pendingDefs = c.pendingReps[n:], c.pendingDefs[n:]
	c.length += n
	if err := c.decode(present); err != nil {
		return c.located(err)
	}
	return nil
}

// end checks that the row group has no values after its last row.
func (c *columnReader) end() error {
	if n := c.left + c.pageLeft + int64(len(c.pendingReps)); n > 0 {
		return c.located(fmt.Errorf("%w: %d values after the last row", ntconv.ErrCorrupt, n))
	}
	return nil
}

// A batcher reads batches of rows of some columns. After an error, which may be io.EOF, it returns the same error
// again.
type batcher struct {
	file    *File
	columns []*columnReader
	group   int   // the row group
	left    int64 // rows left in the row group
	err     error
	codecs  *decompressor
	held    *budget
	maxRows int // maximum number of rows of a batch
}

func newBatcher(f *File, columns []int) *batcher {
	b := &batcher{
		file:    f,
		group:   -1,
		maxRows: maxBatchRows,
		codecs:  new(decompressor),
		held:    &budget{limit: f.limits.Decoded},
	}
	for _, c := range columns {
		b.add(c)
	}
	return b
}

// next decodes up to n rows of all columns and returns their number. It returns io.EOF after the last row.
func (b *batcher) next(n int) (int, error) {
	for b.err == nil && b.left == 0 {
		b.err = b.nextGroup()
	}
	if b.err != nil {
		return 0, b.err
	}
	n = int(min(int64(n), b.left, int64(b.maxRows)))
	for _, c := range b.columns {
		if b.err = c.read(n); b.err != nil {
			return 0, b.err
		}
	}
	b.left -= int64(n)
	return n, nil
}

func (b *batcher) nextGroup() error {
	if b.group >= 0 {
		for _, c := range b.columns {
			if err := c.end(); err != nil {
				return err
			}
		}
	}
	if b.group+1 == len(b.file.footer.groups) {
		return io.EOF
	}
	b.group++
	b.left = b.file.footer.groups[b.group].rows
	for _, c := range b.columns {
		if err := c.open(b.group); err != nil {
			return err
		}
	}
	return nil
}

// close releases the buffers.
func (b *batcher) close() {
	for _, c := range b.columns {
		c.release()
	}
	if b.columns = nil; b.err == nil {
		b.err = errClosed
	}
}
