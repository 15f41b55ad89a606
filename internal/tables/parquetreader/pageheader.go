package parquetreader

import (
	"fmt"

	"github.com/ntconv/ntconv"
)

// A pageType is a PageType of parquet.thrift.
type pageType int64

const (
	dataPage       pageType = 0
	indexPage      pageType = 1
	dictionaryPage pageType = 2
	dataPageV2     pageType = 3
)

// A pageHeader is a PageHeader with the header for its type.
type pageHeader struct {
	typ pageType
	// size is the number of bytes after the header, and full their number after decompression.
	size, full int64
	crc        uint32
	hasCRC     bool
	// complete means that the header for the page type is present.
	complete bool

	values   int64
	encoding encoding
	// The following members are of data pages. Version 1 states the encodings of the levels, version 2 their sizes.
	repetitionEncoding, definitionEncoding encoding
	repetitionBytes, definitionBytes       int64
	uncompressed                           bool
}

// pageHeader decodes the header of a page. If the error is errThriftEnds, the header may continue past the window.
func (t *thrift) pageHeader() pageHeader {
	h := pageHeader{typ: -1, values: -1, encoding: -1}
	for f := (thriftField{}); t.next(&f); {
		switch f.id {
		case 1:
			h.typ = pageType(t.int(f))
		case 2:
			h.full = t.int(f)
		case 3:
			h.size = t.int(f)
		case 4:
			h.crc, h.hasCRC = uint32(t.int(f)), true
		case 5, 7:
			if t.isStruct(f) && (f.id == 5) == (h.typ == dataPage) {
				t.dataHeader(&h)
			} else {
				t.skip(f.typ, 0)
			}
		case 8:
			if t.isStruct(f) && h.typ == dataPageV2 {
				t.dataHeaderV2(&h)
			} else {
				t.skip(f.typ, 0)
			}
		default:
			t.skip(f.typ, 0)
		}
	}
	return h
}

// dataHeader decodes a DataPageHeader, or a DictionaryPageHeader, which begins with the same fields.
func (t *thrift) dataHeader(h *pageHeader) {
	h.complete = true
	for f := (thriftField{}); t.next(&f); {
		switch {
		case f.id == 1:
			h.values = t.int(f)
		case f.id == 2:
			h.encoding = encoding(t.int(f))
		case f.id == 3 && h.typ == dataPage:
			h.definitionEncoding = encoding(t.int(f))
		case f.id == 4 && h.typ == dataPage:
			h.repetitionEncoding = encoding(t.int(f))
		default:
			t.skip(f.typ, 0)
		}
	}
}

func (t *thrift) dataHeaderV2(h *pageHeader) {
	h.complete = true
	for f := (thriftField{}); t.next(&f); {
		switch f.id {
		case 1:
			h.values = t.int(f)
		case 4:
			h.encoding = encoding(t.int(f))
		case 5:
			h.definitionBytes = t.int(f)
		case 6:
			h.repetitionBytes = t.int(f)
		case 7:
			h.uncompressed = !t.bool(f)
		default:
			t.skip(f.typ, 0)
		}
	}
}

// check compares the sizes and counts of a header with the limits and with left, the rest of the column chunk. It must
// be called before memory is allocated for the page.
func (h *pageHeader) check(c compression, left int64, l *Limits) error {
	levels := h.repetitionBytes + h.definitionBytes
	switch {
	case h.typ == indexPage && h.size >= 0 && h.size <= left:
		return nil
	case h.typ < dataPage || h.typ > dataPageV2:
		return fmt.Errorf("%w: page of type %d", ntconv.ErrUnsupported, h.typ)
	case !h.complete:
		return fmt.Errorf("%w: the page of type %d has no header of this type", ntconv.ErrCorrupt, h.typ)
	case h.size < 0 || h.size > left:
		return fmt.Errorf("%w: a page of %d bytes, but the column chunk has %d left", ntconv.ErrCorrupt, h.size, left)
	case h.full < 0 || h.values < 0:
		return fmt.Errorf("%w: a page of %d bytes after decompression and %d values", ntconv.ErrCorrupt, h.full, h.values)
	case h.repetitionBytes < 0 || h.definitionBytes < 0 || levels < 0 || levels > min(h.size, h.full):
		return fmt.Errorf("%w: %d and %d bytes of levels in a page of %d bytes",
			ntconv.ErrCorrupt, h.repetitionBytes, h.definitionBytes, h.size)
	case h.full > l.PageBytes:
		return &ntconv.LimitError{Limit: LimitPageBytes, Value: l.PageBytes, Asked: h.full, Unit: "bytes"}
	case h.values > l.PageValues:
		return &ntconv.LimitError{Limit: LimitPageValues, Value: l.PageValues, Asked: h.values}
	case h.uncompressed || h.size == levels && h.full == levels:
		return nil
	}
	return c.check(h.size-levels, h.full-levels)
}
