package jsonio

import (
	"bytes"
	"io"

	"github.com/ntconv/ntconv"
)

// A window is the io.Reader of the decoder. It keeps the text that the decoder has not consumed, so that lines and
// columns can be computed for it.
//
// The decoder consumes a skipped value piece by piece, so its start may leave the window before an error in it is
// found. discard therefore saves the position of the latest value (passedLine, passedCol) before it drops the text.
type window struct {
	r        io.Reader
	consumed func() int64 // returns how many bytes the decoder has consumed
	limit    int          // maximum of bytes that the decoder may hold unconsumed

	skipped int64  // size of the byte order mark: 0 or 3
	started bool   // start has been called
	begun   []byte // bytes that start has read and Read must return first
	total   int64  // bytes passed to the decoder
	held    []byte // the latest of these, not yet consumed
	line    int64  // line of held[0], from 1
	column  int64  // bytes of that line before held[0]
	err     error  // of r; returned after begun

	value      func() int64 // returns the offset of the latest value
	passed     int64        // offset of the value to which passedLine and passedCol belong, or -1
	passedLine int64
	passedCol  int64
}

// byteOrderMark is the prefix that some editors write before text in UTF-8.
var byteOrderMark = []byte("\uFEFF")

// chunk is the maximum number of bytes per read.
const chunk = 64 << 10

// Read implements io.Reader for the decoder. It fails with an *ntconv.LimitError if the decoder holds a value that
// exceeds the limit.
func (w *window) Read(p []byte) (int, error) {
	w.start()
	w.discard(w.consumed())
	if len(w.held) > w.limit {
		return 0, &ntconv.LimitError{Limit: LimitValue, Value: int64(w.limit), Asked: int64(len(w.held)), Unit: "bytes"}
	}
	n := copy(p, w.begun)
	if n > 0 {
		w.begun = w.begun[n:]
	} else {
		if w.err != nil {
			return 0, w.err
		}
		n, w.err = w.r.Read(p[:min(len(p), chunk)])
	}
	w.held = append(w.held, p[:n]...)
	w.total += int64(n)
	if n > 0 {
		return n, nil
	}
	return 0, w.err
}

// start skips a byte order mark.
func (w *window) start() {
	if w.started {
		return
	}
	w.started = true
	head := make([]byte, len(byteOrderMark))
	n, err := io.ReadFull(w.r, head)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	w.err = err
	if bytes.Equal(head, byteOrderMark) {
		w.skipped = int64(n)
		return
	}
	w.begun = head[:n]
}

// discard drops the text before an offset.
func (w *window) discard(to int64) {
	n := to - (w.total - int64(len(w.held)))
	if n <= 0 {
		return
	}
	if at := w.value(); at < to && at != w.passed {
		w.passedLine, w.passedCol = w.position(at)
		w.passed = at
	}
	w.line, w.column = w.after(int(n))
	w.held = append(w.held[:0], w.held[n:]...)
}

// after returns the line of held[n], and how many bytes of that line precede it.
func (w *window) after(n int) (line, column int64) {
	part := w.held[:n]
	lines := bytes.Count(part, []byte("\n"))
	if lines == 0 {
		return w.line, w.column + int64(n)
	}
	return w.line + int64(lines), int64(n - bytes.LastIndexByte(part, '\n') - 1)
}

// position returns the line and the column in bytes, both from 1. at must be the offset of the latest value or not
// before held.
func (w *window) position(at int64) (line, column int64) {
	if at == w.passed {
		return w.passedLine, w.passedCol
	}
	n := at - (w.total - int64(len(w.held)))
	line, column = w.after(int(min(max(n, 0), int64(len(w.held)))))
	return line, column + 1
}
