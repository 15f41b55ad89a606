package parquetreader

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/ntconv/ntconv"
)

const (
	// windowBytes is read at a time where a page is smaller.
	windowBytes = 32 << 10
	// maxHeader is the largest size of a page header. Statistics in it hold values as long as they are.
	maxHeader = 4 << 20
)

// A budget counts the bytes that the column readers of one reader hold at a time.
type budget struct{ used, limit int64 }

// add counts n bytes more, or fewer if n is negative.
func (b *budget) add(n int64) error {
	if b.used+n > b.limit {
		return &ntconv.LimitError{Limit: LimitDecoded, Value: b.limit, Asked: b.used + n, Unit: "bytes"}
	}
	b.used += n
	return nil
}

// A pageReader reads the pages of one column chunk. Levels and values of the page are decoded as they are asked for, so
// that it holds the bytes of one page and the dictionary.
type pageReader struct {
	file   *File
	column *Column
	chunk  *chunk
	group  int
	codecs *decompressor
	budget *budget

	at     int64 // of the next page header in the file
	window []byte
	// windowAt is the position of the window in the file.
	windowAt int64
	number   int // of the page in the chunk
	began    int64
	dict     *dictionary
	// data is reused for pages that no value refers to.
	data []byte
	// held is what the budget counts for this reader.
	held, heldPage, heldDict, heldTexts int64
	// expanded is the number of bytes of values of the page that are not in it.
	expanded int64

	// left is the number of values in pages that were not begun, pageLeft that of values of this page.
	left, pageLeft int64
	repetitions    hybrid
	definitions    hybrid
	values         valueDecoder
}

// located adds the place to an error.
func (p *pageReader) located(err error) error {
	if at := (*ntconv.FormatError)(nil); errors.As(err, &at) {
		return err
	}
	if !errors.Is(err, ntconv.ErrCorrupt) && !errors.Is(err, ntconv.ErrUnsupported) &&
		!errors.Is(err, ntconv.ErrLimit) &&
		!errors.Is(err, ntconv.ErrTruncated) {
		err = fmt.Errorf("%w: %w", ntconv.ErrCorrupt, err)
	}
	return failed(p.began, fmt.Sprintf("row group %d/column %s/page %d", p.group, p.column.Name(), p.number), err)
}

func failed(offset int64, where string, err error) error {
	return &ntconv.FormatError{Format: "Parquet", Offset: offset, Where: where, Err: err}
}

// hold corrects what the budget counts for something that held *p bytes and now holds n.
func (p *pageReader) hold(counted *int64, n int64) error {
	if err := p.budget.add(n - *counted); err != nil {
		return p.located(err)
	}
	*counted = n
	return nil
}

// release returns what the reader holds to the budget.
func (p *pageReader) release() {
	p.budget.used -= p.held + p.heldPage + p.heldDict + p.heldTexts
	p.held, p.heldPage, p.heldDict, p.heldTexts = 0, 0, 0, 0
}

// open begins a column chunk. Buffers of the chunk before are used again.
func (p *pageReader) open(group int) error {
	p.group, p.chunk = group, &p.file.footer.groups[group].chunks[p.column.leaf]
	p.at, p.windowAt, p.window = p.chunk.start, p.chunk.start, p.window[:0]
	p.number, p.began, p.dict = -1, p.chunk.start, nil
	p.left, p.pageLeft = p.chunk.values, 0
	return p.hold(&p.heldDict, 0)
}

// fill returns n bytes from p.at, and up to windowBytes if the chunk has them. The result is valid until the next call.
func (p *pageReader) fill(n int64) ([]byte, error) {
	have := p.windowAt + int64(len(p.window)) - p.at
	if have < n {
		size := min(max(n, windowBytes), p.chunk.end-p.at)
		if n > size {
			return nil, p.located(fmt.Errorf("%w: the column chunk ends within a page", ntconv.ErrCorrupt))
		}
		rest := p.window[int64(len(p.window))-max(have, 0):]
		window := p.window[:0]
		if int64(cap(window)) < size {
			if err := p.hold(&p.held, size); err != nil {
				return nil, err
			}
			window = make([]byte, 0, size)
		}
		k := copy(window[:size], rest)
		p.window, p.windowAt = window[:size], p.at
		if m, err := p.file.r.ReadAt(p.window[k:], p.at+int64(k)); m < int(size)-k {
			p.window = p.window[:0]
			if err == nil || err == io.EOF {
				err = ntconv.ErrTruncated
				return nil, p.located(err)
			}
			return nil, failed(p.at, "column "+p.column.Name(), err)
		}
	}
	return p.window[p.at-p.windowAt:], nil
}

// header reads the header of the next page.
func (p *pageReader) header() (pageHeader, error) {
	p.number++
	p.began = p.at
	for n := int64(1); ; n *= 8 {
		b, err := p.fill(min(n, p.chunk.end-p.at))
		if err != nil {
			return pageHeader{}, err
		}
		t := &thrift{b: b}
		h := t.pageHeader()
		n = int64(len(b))
		if t.err == errThriftEnds && n < maxHeader && n < p.chunk.end-p.at {
			continue
		}
		if t.err != nil {
			return h, p.located(t.err)
		}
		p.at += int64(t.at)
		if err := h.check(p.chunk.codec, p.chunk.end-p.at, &p.file.limits); err != nil {
			return h, p.located(err)
		}
		return h, nil
	}
}

// next begins the next data page. It returns io.EOF after the last one.
func (p *pageReader) next() error {
	for p.left > 0 {
		h, err := p.header()
		if err != nil {
			return err
		}
		if h.typ == indexPage || h.typ == dictionaryPage && p.dict != nil {
			p.at += h.size
			continue
		}
		b, err := p.fill(h.size)
		if err != nil {
			return err
		}
		b = b[:h.size]
		p.at += h.size
		if h.hasCRC && !p.file.ignoreCRC && crc32.ChecksumIEEE(b) != h.crc {
			return p.located(
				fmt.Errorf(
					"%w: the checksum of the page is %#08x, and its header says %#08x",
					ntconv.ErrCorrupt,
					crc32.ChecksumIEEE(b),
					h.crc,
				),
			)
		}
		if h.typ == dictionaryPage {
			err = p.readDictionary(h, b)
		} else {
			err = p.begin(h, b)
		}
		if err != nil {
			return p.located(err)
		}
		if p.pageLeft > 0 {
			return nil
		}
	}
	return io.EOF
}

func (p *pageReader) readDictionary(h pageHeader, b []byte) error {
	if h.values > h.full/int64(p.column.minSize()) {
		return errValuesEnd
	}
	if err := p.hold(&p.heldDict, h.full+h.values*16); err != nil {
		return err
	}
	data, err := p.decompress(h, b, true)
	if err != nil {
		return err
	}
	p.dict, err = newDictionary(p.column, h.encoding, data, int(h.values))
	return err
}

// decompress returns the bytes of a page or of its values. They stay valid until the next page is begun, and forever if
// keep is true.
func (p *pageReader) decompress(h pageHeader, b []byte, keep bool) ([]byte, error) {
	c := p.chunk.codec
	full := int(h.full - h.repetitionBytes - h.definitionBytes)
	if h.uncompressed || len(b) == 0 && full == 0 {
		c = uncompressed
	}
	if c == uncompressed {
		if !keep {
			return b, nil
		}
		full = len(b)
	}
	if err := c.checkFrame(b, full); err != nil {
		return nil, err
	}
	var data []byte
	switch {
	case keep:
		data = make([]byte, full)
	case cap(p.data) < full:
		if err := p.hold(&p.heldPage, int64(full)); err != nil {
			return nil, err
		}
		p.data = make([]byte, full)
		data = p.data
	default:
		data = p.data[:full]
	}
	return data, p.codecs.decode(c, data, b)
}

// begin begins the data page with the header h and the bytes b.
func (p *pageReader) begin(h pageHeader, b []byte) error {
	if h.values > p.left {
		return fmt.Errorf(
			"%w: a page of %d values where the column chunk has %d more",
			ntconv.ErrCorrupt,
			h.values,
			p.left,
		)
	}
	keep := !p.column.Physical.isNumber() && h.encoding != rleDictionary && h.encoding != plainDictionary
	if keep {
		// The strings of the page before may still be in use.
		if err := p.hold(&p.heldPage, h.full+int64(cap(p.data))); err != nil {
			return err
		}
	}
	levels := b[:h.repetitionBytes+h.definitionBytes]
	data, err := p.decompress(h, b[len(levels):], keep)
	if err != nil {
		return err
	}
	if h.typ == dataPageV2 {
		p.repetitions, err = newHybrid(levels[:h.repetitionBytes], levelWidth(p.column.MaxRepetition))
		if err == nil {
			p.definitions, err = newHybrid(levels[h.repetitionBytes:], levelWidth(p.column.MaxDefinition))
		}
	} else {
		if p.repetitions, data, err = levelsBefore(data, p.column.MaxRepetition, h.repetitionEncoding); err == nil {
			p.definitions, data, err = levelsBefore(data, p.column.MaxDefinition, h.definitionEncoding)
		}
	}
	if err != nil {
		return err
	}
	p.left -= h.values
	p.pageLeft = h.values
	p.values, p.expanded = nil, 0
	if h.values > 0 {
		p.values, err = newValueDecoder(p.column, h.encoding, data, p.dict, p.expand)
	}
	return err
}

// expand counts n bytes of values that the decoder of the page puts together.
func (p *pageReader) expand(n int64) error {
	if p.expanded += n; p.expanded > p.file.limits.PageBytes {
		return &ntconv.LimitError{
			Limit: LimitPageBytes,
			Value: p.file.limits.PageBytes,
			Asked: p.expanded,
			Unit:  "bytes",
		}
	}
	return p.hold(&p.heldTexts, p.heldTexts+n)
}

// levelsBefore returns the decoder of the levels at the start of a page of version 1, and the bytes after them.
func levelsBefore(data []byte, maximum int, e encoding) (hybrid, []byte, error) {
	if maximum == 0 {
		return hybrid{}, data, nil
	}
	if e != rle {
		return hybrid{}, nil, fmt.Errorf("%w: encoding %v of levels", ntconv.ErrUnsupported, e)
	}
	if len(data) < 4 || int64(binary.LittleEndian.Uint32(data)) > int64(len(data)-4) {
		return hybrid{}, nil, errLength
	}
	n := 4 + int(binary.LittleEndian.Uint32(data))
	h, err := newHybrid(data[4:n], levelWidth(maximum))
	return h, data[n:], err
}
