package chrome

import (
	"bytes"
	"fmt"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
)

// A file parses the outermost value of the input and passes its parts to the loader.
type file struct {
	*text
	l      *loader
	report *ntconv.Report
}

// byteOrderMark is what some editors write at the start of a text.
var byteOrderMark = []byte("\uFEFF")

// read reads the file to its end or to the first error.
func (f *file) read() error {
	f.fill()
	if bytes.HasPrefix(f.buf[:f.end], byteOrderMark) {
		f.pos = len(byteOrderMark)
	}
	c, err := f.peek()
	switch {
	case err == io.EOF:
		return f.at(f.offset(), fmt.Errorf("%w: want an array of events or an object, got nothing", ntconv.ErrFormat))
	case err != nil:
		return err
	case c == '[':
		err = f.array()
	case c == '{':
		err = f.object()
	default:
		return f.at(f.offset(), fmt.Errorf("%w: want an array of events or an object, got %q", ntconv.ErrFormat, c))
	}
	if err != nil {
		return err
	}
	if _, err := f.peek(); err != nil {
		if err == io.EOF {
			err = nil
		}
		return err
	}
	f.report.Note(ntconv.CodeTrailing, 1, f.offset(), "text after the end of the trace")
	return nil
}

// array reads the array form. The closing bracket may be missing, as in files that Chrome leaves after a crash, but the
// last event must be complete.
func (f *file) array() error {
	closed, err := f.elements(f.event)
	if err == nil && !closed {
		f.report.Note(ntconv.CodeRepaired, 1, f.offset(), "the array of events has no end")
	}
	return err
}

// elements consumes an array and passes its elements to element. closed is false if the input ends where a comma, an
// element or the closing bracket may follow. A comma before the bracket is accepted.
func (f *file) elements(element func(value []byte, offset int64) error) (closed bool, err error) {
	f.pos++ // the bracket
	for first := true; ; first = false {
		c, err := f.peek()
		if !first && err == nil && c == ',' {
			f.pos++
			c, err = f.peek()
		} else if !first && err == nil && c != ']' {
			return false, f.syntax(f.offset(), "a comma or ]")
		}
		switch {
		case err == io.EOF:
			return false, nil
		case err != nil:
			return false, err
		case c == ']':
			f.pos++
			return true, nil
		}
		offset := f.offset()
		v, err := f.value()
		if err == nil {
			err = element(v, offset)
		}
		if err != nil {
			return false, err
		}
	}
}

// object reads the object form.
func (f *file) object() error {
	return f.members(func(name string) error {
		c, err := f.peek()
		if err != nil {
			return f.atEnd(err)
		}
		switch {
		case name == "traceEvents" && c == '[':
			return f.list(f.event)
		case name == "samples" && c == '[':
			return f.list(f.l.listedSample)
		case name == "stackFrames" && c == '{':
			return f.members(func(id string) error {
				v, err := f.value()
				if err == nil {
					err = f.l.stackFrame(id, v)
				}
				return err
			})
		}
		offset := f.offset()
		v, err := f.value()
		if err != nil {
			return err
		}
		return f.l.topLevel(name, v, offset)
	})
}

// list consumes an array of the object form, which must be complete.
func (f *file) list(element func(value []byte, offset int64) error) error {
	closed, err := f.elements(element)
	if err == nil && !closed {
		err = f.atEnd(io.EOF)
	}
	return err
}

// members consumes an object. value must consume the value of each member.
func (f *file) members(value func(name string) error) error {
	f.pos++ // the brace
	for first := true; ; first = false {
		c, err := f.peek()
		switch {
		case err != nil:
			return f.atEnd(err)
		case c == '}':
			f.pos++
			return nil
		case !first && c != ',':
			return f.syntax(f.offset(), "a comma or }")
		case !first:
			f.pos++
			if c, err = f.peek(); err != nil {
				return f.atEnd(err)
			}
		}
		if c != '"' {
			return f.syntax(f.offset(), "a name in quotes")
		}
		quoted, err := f.value()
		if err != nil {
			return err
		}
		name, _ := jsonio.AppendUnquoted(nil, quoted)
		if err := f.expect(':', "a colon"); err != nil {
			return err
		}
		if err := value(string(name)); err != nil {
			return err
		}
	}
}

// event passes an element of the list of events to the loader.
func (f *file) event(value []byte, offset int64) error {
	if value[0] != '{' {
		f.report.Note(ntconv.CodeRowSkipped, 1, offset, "elements of the list of events that are not objects")
		return nil
	}
	if i := jsonio.SkipSpace(value, 1); value[i] == '}' { // some programs write an empty object after the last comma
		return nil
	}
	return f.l.event(value, offset)
}
