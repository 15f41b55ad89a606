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
	// windowBytes is the size of a read from the file, unless a page is larger.
	windowBytes = 32 << 10
	// maxHeader is the maximum size of a page header, which can be large because statistics contain whole values.
	maxHeader = 4 << 20
)

// A budget counts the bytes that all column readers of a Reader or ColumnsReader hold.
type budget struct{ used, limit int64 }

// add adds n bytes, which may be negative. It returns an *ntconv.LimitError, and adds nothing, if the limit is
// exceeded.
func (b *budget) add(n int64) error {
	if b.used+n > b.limit {
		return &ntconv.LimitError{Limit: LimitDecoded, Value: b.limit, Asked: b.used + n, Unit: "bytes"}
	}
	b.used += n
	return nil
}

// A pageReader reads the pages of one column chunk. It decodes levels and values on request, so it holds the bytes of
// one page and the dictionary.
type pageReader struct {
	file   *File
	column *Column
	chunk  *chunk
	group  int
	codecs *decompressor
	budget *budget

	at     int64 // offset of the next page header in the file
	window []byte
	// windowAt is the offset of the window in the file.
	windowAt int64
	number   int // index of the page in the chunk; -1 before the first
	began    int64
	dict     *dictionary
	// data is the buffer for pages that no returned value refers to. The next page overwrites it.
	data []byte
	// Bytes that the budget counts: held for window, heldPage for data and the page that strings refer to, heldDict for
	// dict, heldTexts for the strings that DELTA_BYTE_ARRAY assembles.
	held, heldPage, heldDict, heldTexts int64
	// expanded is the number of bytes of the strings of this page that are not in it.
	expanded int64

	// left is the number of values in pages that have not started, pageLeft that of the current page.
	left, pageLeft int64
	repetitions    hybrid
	definitions    hybrid
	values         valueDecoder
}

// located adds the row group, column and page to an error. An error without a sentinel becomes ErrCorrupt.
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

// failed returns an ntconv.FormatError for an offset in the file.
func failed(offset int64, where string, err error) error {
	return &ntconv.FormatError{Format: "Parquet", Offset: offset, Where: where, Err: err}
}

// hold sets *counted, and what the budget counts for it, to n.
func (p *pageReader) hold(counted *int64, n int64) error {
	if err := p.budget.add(n - *counted); err != nil {
		return p.located(err)
	}
	*counted = n
	return nil
}

// release returns everything that the reader holds to the budget.
func (p *pageReader) release() {
	p.budget.used -= p.held + p.heldPage + p.heldDict + p.heldTexts
	p.held, p.heldPage, p.heldDict, p.heldTexts = 0, 0, 0, 0
}

// open starts the column chunk of a row group. It reuses the buffers of the previous chunk.
func (p *pageReader) open(group int) error {
	p.group, p.chunk = group, &p.file.footer.groups[group].chunks[p.column.leaf]
	p.at, p.windowAt, p.window = p.chunk.start, p.chunk.start, p.window[:0]
	p.number, p.began, p.dict = -1, p.chunk.start, nil
	p.left, p.pageLeft = p.chunk.values, 0
	return p.hold(&p.heldDict, 0)
}

// fill returns at least n bytes from p.at, and windowBytes if the chunk has them. The result is valid until the next
// call.
func (p *pageReader) fill(n int64) ([]byte, error) {
	// The window keeps the unread bytes, so every byte of the file is read once.
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
		// ReadAt may return fewer bytes only with an error. io.EOF means that the file is shorter than the size passed
		// to Open.
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

// header reads the header of the next page. It doubles the window three times per attempt while the header is
// incomplete.
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

// next starts the next data page that has values. It returns io.EOF after the last one. Dictionary pages before it set
// dict; later dictionaries and index pages are skipped.
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
					"%w: the checksum of the page is %#08x, want %#08x",
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

// readDictionary decodes the dictionary page of the chunk. Its values are kept until the next chunk, so they have their
// own memory.
func (p *pageReader) readDictionary(h pageHeader, b []byte) error {
	// Check the count against the bytes before allocating an entry per value.
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

// decompress returns the decompressed bytes of a page, without the levels of version 2. The result is valid until the
// next page starts, or forever if keep is true.
func (p *pageReader) decompress(h pageHeader, b []byte, keep bool) ([]byte, error) {
	c := p.chunk.codec
	full := int(h.full - h.repetitionBytes - h.definitionBytes)
	if h.uncompressed || len(b) == 0 && full == 0 {
		c = uncompressed
	}
	// A page that is not compressed is a part of the window. Strings that must remain valid need a copy.
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

// begin starts the data page with the header h and the bytes b.
func (p *pageReader) begin(h pageHeader, b []byte) error {
	if h.values > p.left {
		return fmt.Errorf("%w: a page of %d values, but the column chunk has %d left",
			ntconv.ErrCorrupt, h.values, p.left)
	}
	// Strings of a PLAIN or DELTA page share its memory; those of a dictionary page share the memory of the dictionary.
	keep := !p.column.Physical.isNumber() && h.encoding != rleDictionary && h.encoding != plainDictionary
	if keep {
		// The caller may still use the strings of the previous page, so this one needs its own memory.
		if err := p.hold(&p.heldPage, h.full+int64(cap(p.data))); err != nil {
			return err
		}
	}
	levels := b[:h.repetitionBytes+h.definitionBytes]
	data, err := p.decompress(h, b[len(levels):], keep)
	if err != nil {
		return err
	}
	// Version 1 stores levels with their sizes at the start of the compressed data, version 2 uncompressed before it,
	// with sizes in the header.
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

// expand counts n bytes of strings that the decoder of the page assembles. It returns an error if a limit is exceeded.
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

// levelsBefore returns the decoder for the levels at the start of a page of version 1, and the bytes after them.
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
