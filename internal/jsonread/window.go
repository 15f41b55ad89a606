package jsonread

import (
	"bytes"
	"io"

	"github.com/ntconv/ntconv"
)

// A window passes the text to the decoder and keeps the part that the decoder has not consumed, to find lines in it.
type window struct {
	r        io.Reader
	consumed func() int64 // bytes that the decoder has consumed
	limit    int          // bytes that the decoder may hold

	skipped int64  // bytes before the text: those of a byte order mark
	started bool   // a byte order mark was looked for
	begun   []byte // what was read for that
	total   int64  // bytes passed on
	held    []byte // the last of them
	line    int64  // of held[0], from 1
	column  int64  // bytes of that line before held[0]
	err     error

	value      func() int64 // offset of the value that is read
	passed     int64        // the value that was discarded while it was read, and where it is
	passedLine int64
	passedCol  int64
}

// byteOrderMark is what editors of some systems put at the start of text.
var byteOrderMark = []byte("\uFEFF")

// chunk is how much is read at a time at most.
const chunk = 64 << 10

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

// discard drops what lies before an offset.
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

// after returns the line of held[n] and the bytes of that line before it.
func (w *window) after(n int) (line, column int64) {
	part := w.held[:n]
	lines := bytes.Count(part, []byte("\n"))
	if lines == 0 {
		return w.line, w.column + int64(n)
	}
	return w.line + int64(lines), int64(n - bytes.LastIndexByte(part, '\n') - 1)
}

// position returns the line and the column in bytes, both from 1, of an offset that is not before what is held, or is
// that of the value that was read last.
func (w *window) position(at int64) (line, column int64) {
	if at == w.passed {
		return w.passedLine, w.passedCol
	}
	n := at - (w.total - int64(len(w.held)))
	line, column = w.after(int(min(max(n, 0), int64(len(w.held)))))
	return line, column + 1
}
