package chrome

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
)

// A text is a tokenizer that reads JSON value by value. Its buffer grows to hold one value, up to limit bytes.
type text struct {
	r         io.Reader
	buf       []byte // buf[pos:end] has not been consumed
	pos, end  int
	base      int64 // offset of buf[0] in the input
	lines     int64 // number of lines before buf[0]
	lineStart int64 // offset of the line that contains buf[0]
	err       error // error of r; io.EOF at its end
	limit     int   // maximum bytes of a value
}

const minBuffer = 256 << 10

func newText(r io.Reader, limit int) *text {
	return &text{r: r, buf: make([]byte, minBuffer), limit: limit}
}

// offset returns the offset of the next byte in the input.
func (t *text) offset() int64 { return t.base + int64(t.pos) }

// fill reads more input, which invalidates slices of buf. It returns false at the end of the input and after an error.
func (t *text) fill() bool {
	if t.err != nil {
		return false
	}
	if t.pos > 0 {
		consumed := t.buf[:t.pos]
		if n := bytes.Count(consumed, []byte{'\n'}); n > 0 {
			t.lines += int64(n)
			t.lineStart = t.base + int64(bytes.LastIndexByte(consumed, '\n')) + 1
		}
		t.base += int64(t.pos)
		copy(t.buf, t.buf[t.pos:t.end])
		t.end -= t.pos
		t.pos = 0
	}
	if t.end == len(t.buf) {
		larger := make([]byte, min(2*len(t.buf), t.limit+minBuffer))
		copy(larger, t.buf)
		t.buf = larger
	}
	// Fill the buffer completely. Otherwise Skip would scan a large value again after each short read.
	n, err := io.ReadFull(t.r, t.buf[t.end:])
	t.end += n
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	t.err = err
	return n > 0
}

// peek skips white space and returns the next byte without consuming it. It returns io.EOF at the end of the input.
func (t *text) peek() (byte, error) {
	for {
		t.pos = jsonio.SkipSpace(t.buf[:t.end], t.pos)
		if t.pos < t.end {
			return t.buf[t.pos], nil
		}
		if !t.fill() {
			return 0, t.err
		}
	}
}

// value consumes the next value and returns it. The result is valid until the next call of a method.
func (t *text) value() ([]byte, error) {
	if _, err := t.peek(); err != nil {
		return nil, t.atEnd(err)
	}
	for {
		end, err := jsonio.Skip(t.buf[:t.end], t.pos)
		more := err == io.ErrUnexpectedEOF ||
			err == nil && end == t.end && t.buf[end-1] != '}' && t.buf[end-1] != ']' && t.buf[end-1] != '"'
		switch size := t.end - t.pos; {
		case more && size > t.limit:
			return nil, t.at(t.offset(), &ntconv.LimitError{Limit: LimitValue, Value: int64(t.limit), Asked: int64(size), Unit: "bytes"})
		case more && t.fill():
			continue
		case err != nil:
			return nil, t.fail(err, end)
		}
		v := t.buf[t.pos:end]
		t.pos = end
		if len(v) > t.limit {
			return nil, t.at(t.offset()-int64(len(v)), &ntconv.LimitError{Limit: LimitValue, Value: int64(t.limit), Asked: int64(len(v)), Unit: "bytes"})
		}
		return v, nil
	}
}

// fail adds the position to an error of jsonio.Skip, which stopped at buf[end].
func (t *text) fail(err error, end int) error {
	var syntax *jsonio.SyntaxError
	switch at := t.base + int64(end); {
	case err == io.ErrUnexpectedEOF:
		return t.atEnd(t.err)
	case errors.As(err, &syntax):
		return t.syntax(t.base+int64(syntax.Offset), syntax.Want)
	case errors.Is(err, jsonio.ErrDepth):
		return t.at(at, &ntconv.LimitError{Limit: LimitDepth, Value: jsonio.MaxDepth, Asked: jsonio.MaxDepth + 1, Unit: "levels"})
	}
	return err
}

// syntax returns the error for an unexpected byte at an offset.
func (t *text) syntax(offset int64, want string) error {
	got := "the end"
	if i := offset - t.base; i >= 0 && i < int64(t.end) {
		got = fmt.Sprintf("%q", t.buf[i])
	}
	return t.at(offset, fmt.Errorf("%w: invalid JSON: want %s, got %s", ntconv.ErrCorrupt, want, got))
}

// expect consumes one byte, which must be c.
func (t *text) expect(c byte, want string) error {
	got, err := t.peek()
	switch {
	case err != nil:
		return t.atEnd(err)
	case got != c:
		return t.syntax(t.offset(), want)
	}
	t.pos++
	return nil
}

// atEnd returns the error for input that ends too early. It returns errors of the reader unchanged.
func (t *text) atEnd(err error) error {
	if err != io.EOF {
		return err
	}
	return t.at(t.base+int64(t.end), ntconv.ErrTruncated)
}

// at returns err with its line and column, both counted from 1. The column counts bytes.
func (t *text) at(offset int64, err error) error {
	before := t.buf[:min(max(offset-t.base, 0), int64(t.end))]
	line, start := t.lines, t.lineStart
	if n := bytes.Count(before, []byte{'\n'}); n > 0 {
		line += int64(n)
		start = t.base + int64(bytes.LastIndexByte(before, '\n')) + 1
	}
	return &ntconv.FormatError{Format: format, Offset: offset, Where: fmt.Sprintf("line %d, column %d", line+1, offset-start+1), Err: err}
}
