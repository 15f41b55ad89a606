package jsoncolumns

import (
	"bufio"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// A Writer writes JSON text. It keeps the first error, which Flush returns. It is not safe for concurrent use.
type Writer struct {
	w   *bufio.Writer
	buf []byte
	err error
	// Replaced counts the strings in which invalid UTF-8 was replaced by U+FFFD.
	Replaced int64
}

// NewWriter returns a Writer that writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: bufio.NewWriterSize(w, 64<<10)} }

// Text writes JSON as it is.
func (w *Writer) Text(json string) { w.check(w.w.WriteString(json)) }

// Bytes writes JSON as it is.
func (w *Writer) Bytes(json []byte) { w.check(w.w.Write(json)) }

// Int writes a number.
func (w *Writer) Int(n int64) {
	w.buf = strconv.AppendInt(w.buf[:0], n, 10)
	w.Bytes(w.buf)
}

// String writes a quoted string.
func (w *Writer) String(s string) {
	var exact bool
	if w.buf, exact = AppendString(w.buf[:0], s); !exact {
		w.Replaced++
	}
	w.Bytes(w.buf)
}

// Column writes a column as an array. Columns of a set must be written in the order of their keys.
func (w *Writer) Column(c *Column) {
	w.Text("[")
	if w.err == nil {
		w.err = c.set.copy(w.w, c)
	}
	w.Text("]")
}

func (w *Writer) check(_ int, err error) {
	if w.err == nil {
		w.err = err
	}
}

// Flush writes what is buffered and returns the first error of the Writer.
func (w *Writer) Flush() error {
	w.check(0, w.w.Flush())
	return w.err
}

// AppendString appends a quoted string. It returns false if it replaced invalid UTF-8 by U+FFFD.
func AppendString[S ~string | ~[]byte](dst []byte, s S) (_ []byte, exact bool) {
	dst, err := jsontext.AppendQuote(dst, s)
	return dst, err == nil
}
