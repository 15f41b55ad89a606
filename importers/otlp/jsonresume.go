package otlp

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
)

// A rewinder is a reader that can take back bytes.
type rewinder struct {
	r    io.Reader
	head []byte // bytes to return before reading r, from pos on
	pos  int
}

func (w *rewinder) Read(p []byte) (int, error) {
	if w.pos < len(w.head) {
		n := copy(p, w.head[w.pos:])
		w.pos += n
		return n, nil
	}
	w.head, w.pos = nil, 0
	return w.r.Read(p)
}

// unread makes Read return b again. b must be the last bytes that Read returned.
func (w *rewinder) unread(b []byte) {
	if len(b) <= w.pos {
		w.pos -= len(b)
		return
	}
	w.head, w.pos = append(bytes.Clone(b), w.head[w.pos:]...), 0
}

// searchSize is the number of bytes that seek reads at a time. It is small, because seek unreads everything after a
// match.
const searchSize = 4 << 10

// beginnings are the beginnings of the outermost objects of all signals.
var beginnings = func() (list [][]byte) {
	for _, names := range messageNames {
		for _, name := range names.fields {
			list = append(list, []byte(`{"`+name+`"`))
		}
	}
	return list
}()

// seek reads to the next outermost object and returns the number of bytes before it, or io.EOF. Quotation marks inside
// JSON strings are escaped, so no string contains the beginning of such an object.
func (w *rewinder) seek() (skipped int64, err error) {
	buf := make([]byte, searchSize)
	for held := 0; ; {
		n, err := w.Read(buf[held:])
		held += n
		at := -1
		for _, begin := range beginnings {
			if i := bytes.Index(buf[:held], begin); i >= 0 && (at < 0 || i < at) {
				at = i
			}
		}
		if at >= 0 {
			w.unread(buf[at:held])
			return skipped + int64(at), nil
		}
		if err != nil {
			return 0, err
		}
		const overlap = len(`{"resource_profiles"`) - 1
		if cut := held - overlap; cut > 0 {
			skipped += int64(cut)
			held = copy(buf, buf[cut:held])
		}
	}
}

// resume continues after a corrupt part of the input at the next outermost object, which is usually the next line. It
// returns false if there is none. It searches from the position of the error, so that no byte is decoded twice.
func (j *jsonReader) resume(damage error) bool {
	var at *ntconv.FormatError
	if !errors.As(damage, &at) || !errors.Is(damage, ntconv.ErrCorrupt) {
		return false
	}
	rest := j.dec.UnreadBuffer()
	begin := j.base + j.dec.InputOffset()
	decoded := min(max(0, at.Offset-begin), int64(len(rest)))
	j.in.r.unread(rest[decoded:])
	skipped, err := j.in.r.seek()
	if err != nil {
		return false
	}
	j.report.Note(ntconv.CodeCorrupt, 1, at.Offset, fmt.Sprintf("%s: %v", at.Where, at.Err))
	j.base = begin + decoded + skipped
	j.dec = jsonio.NewDecoder(j.in)
	j.inList, j.waiting = false, waitingProfiles{}
	return true
}
