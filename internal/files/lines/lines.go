// Package lines reads texts line by line within a limit.
package lines

import (
	"bufio"
	"bytes"
	"io"

	"github.com/ntconv/ntconv"
)

// LimitLine is the name of the limit on the length of a line in errors (ntconv.LimitError.Limit).
const LimitLine = "line"

// DefaultMax is the default of the maximum number of bytes of a line.
const DefaultMax = 16 << 20

// PeekBytes is the number of bytes that Peek returns if the text is long enough.
const PeekBytes = 64 << 10

// byteOrderMark is what some editors write at the start of a text.
var byteOrderMark = []byte("\uFEFF")

// A Reader reads lines. It skips a byte order mark at the start of the text. It is not safe for concurrent use.
type Reader struct {
	Number int   // number of the line that Next returned, from 1
	Offset int64 // of the next line, in the text

	in   *bufio.Reader
	max  int
	long []byte // a line that does not fit into the buffer of in
}

// New returns a Reader of decompressed text. It reads the beginning of r. max is the maximum number of bytes of a line.
func New(r io.Reader, max int) *Reader {
	l := &Reader{in: bufio.NewReaderSize(&sticky{r: r}, PeekBytes), max: max}
	if head, _ := l.in.Peek(len(byteOrderMark)); bytes.Equal(head, byteOrderMark) { // Next returns the error
		l.Offset = int64(len(byteOrderMark))
		_, _ = l.in.Discard(len(byteOrderMark)) // Peek has read them
	}
	return l
}

// A sticky repeats the first error of a reader, because bufio.Reader drops the error that Peek returned.
type sticky struct {
	r   io.Reader
	err error
}

func (s *sticky) Read(p []byte) (n int, err error) {
	if s.err == nil {
		n, s.err = s.r.Read(p)
	}
	return n, s.err
}

// Peek returns the beginning of the text, before the first call of Next.
func (l *Reader) Peek() []byte {
	head, _ := l.in.Peek(PeekBytes - len(byteOrderMark)) // Next returns the error
	return head
}

// Next returns the next line with its line end, or io.EOF after the last line. The line is valid until the next call. A
// longer line than the maximum is an *ntconv.LimitError. Other errors of the input are returned unchanged; an incomplete
// line before them is dropped.
func (l *Reader) Next() ([]byte, error) {
	l.long = l.long[:0]
	for {
		part, err := l.in.ReadSlice('\n')
		if n := len(l.long) + len(part); n > l.max {
			l.Number++
			return nil, &ntconv.LimitError{Limit: LimitLine, Value: int64(l.max), Asked: int64(n), Unit: "bytes"}
		}
		if err == nil && len(l.long) == 0 {
			l.Number++
			l.Offset += int64(len(part))
			return part, nil
		}
		l.long = append(l.long, part...)
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil && (err != io.EOF || len(l.long) == 0) {
			return nil, err
		}
		l.Number++
		l.Offset += int64(len(l.long))
		return l.long, nil
	}
}
