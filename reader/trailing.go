package reader

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// trailing examines the bytes after the end of the trace. Zeros are padding; all other bytes are counted with
// ntconv.CodeTrailing. Another trace is an error in addition, because a caller without a Report would not notice that
// it is missing. Next calls trailing after the last event, so a live stream that stays open delays only io.EOF.
func (r *Reader) trailing() error {
	end := r.in.offset
	for {
		b := r.in.peek(1)
		zeros := len(b) - len(bytes.TrimLeft(b, "\x00"))
		r.in.skip(zeros)
		if zeros < len(b) {
			break
		}
		if len(b) == 0 {
			return r.unread()
		}
	}
	at := r.in.offset
	another := r.anotherTrace()
	for b := r.in.peek(1); len(b) > 0; b = r.in.peek(1) {
		r.in.skip(len(b))
	}
	r.report.Add(ntconv.CodeTrailing, uint64(r.in.offset-at), at)
	if !another {
		return r.unread()
	}
	return &ntconv.FormatError{Format: r.frame.format, Offset: at, Where: "after the end of the trace",
		Err: &ntconv.AdviceError{
			Err: fmt.Errorf("%w: another trace begins here", ntconv.ErrUnsupported),
			Advice: fmt.Sprintf(
				"split the decompressed input with head -c %d and tail -c +%d and give both parts", end, at+1),
		}}
}

// unread returns the error that ended the input, or nil if it ended regularly. After such an error the bytes after the
// trace are unknown.
func (r *Reader) unread() error {
	if r.in.err == nil || r.in.err == io.EOF {
		return nil
	}
	return fmt.Errorf("%s: byte %d: after the end of the trace: %w", r.frame.format, r.in.offset, r.in.err)
}

// anotherTrace reports whether the input continues with the header of a trace, which may be truncated or of an unknown
// version.
func (r *Reader) anotherTrace() bool {
	if len(r.in.peek(len(wire.Magic))) < len(wire.Magic) {
		return false
	}
	err := r.frame.parse(len(wire.Magic), func(c *bin.Cursor) error {
		_, err := wire.ParseStreamHeader(c)
		return err
	})
	return err == nil || errors.Is(err, bin.ErrShort) || errors.Is(err, bin.ErrUnknown)
}
