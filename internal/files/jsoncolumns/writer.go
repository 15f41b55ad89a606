package jsoncolumns

import (
	"bufio"
	"io"
	"strconv"

	"github.com/ntconv/ntconv/internal/data/jsonio"
)

// A Writer writes JSON. Its methods return no errors: it keeps the first one, which Flush returns, and ignores all
// output after it. It is not safe for concurrent use.
type Writer struct {
	w   *bufio.Writer
	buf []byte
	err error
	// Replaced counts the strings whose invalid UTF-8 was replaced by U+FFFD.
	Replaced int64
}

// NewWriter returns a Writer that writes to w through a buffer. Call Flush after the last value.
func NewWriter(w io.Writer) *Writer { return &Writer{w: bufio.NewWriterSize(w, 64<<10)} }

// Text writes JSON unchanged.
func (w *Writer) Text(json string) { w.check(w.w.WriteString(json)) }

// Bytes writes JSON unchanged.
func (w *Writer) Bytes(json []byte) { w.check(w.w.Write(json)) }

// Int writes a number.
func (w *Writer) Int(n int64) {
	w.buf = strconv.AppendInt(w.buf[:0], n, 10)
	w.Bytes(w.buf)
}

// String writes s as a JSON string.
func (w *Writer) String(s string) {
	var exact bool
	if w.buf, exact = jsonio.AppendString(w.buf[:0], s); !exact {
		w.Replaced++
	}
	w.Bytes(w.buf)
}

// Column writes a column as an array. Write the columns of a Set in the order of their keys, each once.
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

// Flush writes the buffer and returns the first error of the Writer, of w, or of a column's temporary file.
func (w *Writer) Flush() error {
	w.check(0, w.w.Flush())
	return w.err
}
