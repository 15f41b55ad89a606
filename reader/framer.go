package reader

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/internal/trace/wire/legacy"
)

// A block is one part of the input with rows of one kind. body is borrowed until the next block is read.
type block struct {
	kind    wire.Kind
	offset  int64 // of body[0]
	body    []byte
	partial bool  // the input ends inside the block
	fault   error // error that ends the trace after this block
}

func (b *block) cursor() bin.Cursor { return bin.New(b.body, b.offset) }

// A framer splits an input into blocks.
type framer struct {
	in     *input
	format string // for errors: "nettrace 4"
	header wire.StreamHeader
	limit  int        // maximum size of a block in bytes
	cursor bin.Cursor // argument of parse; a local variable would be allocated for each block
}

// open reads the stream header. It decompresses the input if necessary.
func (f *framer) open(limits ntconv.DecompressionLimits) error {
	f.format = "nettrace"
	if err := f.in.decompress(limits); err != nil {
		return err
	}
	start := f.in.offset
	var c bin.Cursor
	err := f.parse(4, func(b *bin.Cursor) (err error) {
		f.header, err = wire.ParseStreamHeader(b)
		c = *b
		return err
	})
	head := f.in.peek(0)
	switch {
	case err == nil:
		f.in.skip(int(c.Offset() - start))
		f.format = f.header.Version.String()
		return nil
	case errors.Is(err, bin.ErrUnknown):
		return f.at(err, fmt.Errorf("%w: this reader knows versions 3 to 6", ntconv.ErrUnsupported))
	case errors.Is(err, bin.ErrShort) && len(head) == 0 && f.in.err == io.EOF:
		return f.at(err, fmt.Errorf("%w: the input is empty", ntconv.ErrFormat))
	case errors.Is(err, bin.ErrShort):
		return f.at(err, ntconv.ErrTruncated)
	case errors.Is(err, bin.ErrValue) && f.header.Version == wire.V3: // the input does not start with wire.Magic
		return &ntconv.FormatError{Format: f.format, Offset: start,
			Err: fmt.Errorf("%w: not a nettrace or netperf stream", ntconv.ErrFormat)}
	case errors.Is(err, bin.ErrValue):
		return f.at(err, ntconv.ErrFormat)
	}
	return err
}

// parse calls a parser with the buffered bytes, and again with more bytes while the parser returns ErrShort. It takes
// nothing from the input. At the end of the input the error wraps ErrShort and io.ErrUnexpectedEOF; other errors of the
// stream are returned unchanged.
func (f *framer) parse(least int, parse func(*bin.Cursor) error) error {
	b := f.in.peek(least)
	for {
		f.cursor = bin.New(b, f.in.offset)
		err := parse(&f.cursor)
		if err == nil || !errors.Is(err, bin.ErrShort) {
			return err
		}
		n := len(b)
		if b = f.in.peek(n + 1); len(b) == n {
			if f.in.err != io.EOF && !errors.Is(f.in.err, io.ErrUnexpectedEOF) {
				return f.in.err
			}
			return fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err)
		}
	}
}

// at converts an error of package wire to a *FormatError that wraps sentinel. Offset and Where come from the error if
// it has them.
func (f *framer) at(err, sentinel error) error {
	out := &ntconv.FormatError{Format: f.format, Offset: f.in.offset, Err: sentinel}
	var located *bin.Error
	if errors.As(err, &located) {
		out.Offset, out.Where = located.Offset, located.Where
		if !errors.Is(sentinel, ntconv.ErrTruncated) {
			out.Err = fmt.Errorf("%w: %w", sentinel, located.Err)
		}
	}
	return out
}

// ended converts the end of the input to ErrTruncated. Other errors of the stream are wrapped with the offset.
func (f *framer) ended(err error, where string) error {
	if err == nil || err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return &ntconv.FormatError{Format: f.format, Offset: f.in.offset, Where: where, Err: ntconv.ErrTruncated}
	}
	return fmt.Errorf("%s: byte %d: %w", f.format, f.in.offset, err)
}

// next returns the next block. The last block has the kind wire.KindEnd. If the input ends inside a block, next returns
// the block with partial set, and the next call returns the error.
func (f *framer) next() (block, error) {
	if f.header.Objects() {
		return f.object()
	}
	at := f.in.offset
	b, err := f.in.take(wire.BlockHeaderSize)
	if err != nil {
		return block{}, f.ended(err, "block header")
	}
	h := wire.ParseBlockHeader(b)
	if h.Size > f.limit {
		return block{}, f.tooLarge(at, h.Kind, int64(h.Size))
	}
	return f.body(h.Kind, h.Size)
}

// body reads the body of a block.
func (f *framer) body(kind wire.Kind, size int) (block, error) {
	b := block{kind: kind, offset: f.in.offset}
	var err error
	b.body, err = f.in.take(size)
	b.partial = err != nil
	return b, nil
}

func (f *framer) tooLarge(at int64, kind wire.Kind, size int64) error {
	return &ntconv.FormatError{Format: f.format, Offset: at, Where: kind.String() + " block",
		Err: &ntconv.LimitError{Limit: LimitBlockBytes, Value: int64(f.limit), Asked: size, Unit: "bytes"}}
}

// object returns the next object of versions 3 to 5 as a block. It also reads the tag that ends the object.
func (f *framer) object() (block, error) {
	at := f.in.offset
	var o legacy.Object
	var size int64
	err := f.parse(1, func(c *bin.Cursor) (err error) {
		o, err = legacy.ParseObject(c)
		size = c.Offset() - at
		return err
	})
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) && errors.Is(err, bin.ErrShort):
		return block{}, f.ended(io.EOF, "object header")
	case err != nil:
		var located *bin.Error
		if !errors.As(err, &located) {
			return block{}, f.ended(err, "object header")
		}
		return block{}, f.at(err, ntconv.ErrCorrupt)
	case o.End:
		f.in.skip(1)
		return block{kind: wire.KindEnd, offset: f.in.offset}, nil
	}
	if o.Kind == wire.KindTrace && f.header.Version == wire.V3 && (o.Version == 1 || o.Version == 2) {
		return block{}, &ntconv.FormatError{
			Format: fmt.Sprintf("netperf %d", o.Version), Offset: at, Where: "object " + o.Name,
			Err: &ntconv.AdviceError{
				Err:    fmt.Errorf("%w: this format of .NET Core 2.0 is not read", ntconv.ErrUnsupported),
				Advice: "record with .NET Core 2.1 or later",
			},
		}
	}
	if err := o.Supported(f.header.Version > wire.V3); err != nil {
		return block{}, f.at(&bin.Error{Offset: at, Where: "object " + o.Name, Err: err}, ntconv.ErrUnsupported)
	}
	if int64(o.Size) > int64(f.limit) || o.Size == math.MaxInt32 { // the end tag is one more byte
		return block{}, f.tooLarge(at, o.Kind, int64(o.Size))
	}
	f.in.skip(int(size))
	b, err := f.body(o.Kind, int(o.Size)+1)
	if err != nil || b.partial {
		return b, err
	}
	end := bin.New(b.body[o.Size:], b.offset+int64(o.Size))
	if err := legacy.ParseEndObject(&end); err != nil {
		b.fault = f.at(err, ntconv.ErrCorrupt)
	}
	b.body = b.body[:o.Size:o.Size]
	return b, nil
}
