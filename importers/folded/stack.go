package folded

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// names holds the distinct frames of all lines.
type names struct {
	o         *Options
	frames    map[string]ntconv.Frame // by text, including its annotation
	functions map[string]*ntconv.Function
	size      int // total bytes of all keys of frames
}

func newNames(o *Options) *names {
	return &names{o: o, frames: map[string]ntconv.Frame{}, functions: map[string]*ntconv.Function{}}
}

// frame returns the frame for a text, which must not be empty. It returns an error if a limit is exceeded.
func (n *names) frame(text []byte, at int64) (ntconv.Frame, error) {
	f, ok := n.frames[string(text)]
	if ok {
		return f, nil
	}
	if l := n.o.Limits; len(n.frames) >= l.Names {
		return f, &ntconv.LimitError{Limit: LimitNames, Value: int64(l.Names), Asked: int64(l.Names) + 1}
	} else if n.size += len(text); n.size > l.NameBytes {
		return f, &ntconv.LimitError{Limit: LimitNameBytes, Value: int64(l.NameBytes), Asked: int64(n.size), Unit: "bytes"}
	}
	key := string(text)
	name, letter := cutAnnotation(text)
	switch letter {
	case 'i':
		f.Flags = ntconv.FrameInlined
	case 'k':
		f.Flags = ntconv.FrameKernel
	case 'j':
		f.Flags = ntconv.FrameManaged
	}
	f.Func = n.function(key[:len(name)], at)
	n.frames[key] = f
	return f, nil
}

// function returns the function with a name. Equal names share one pointer.
func (n *names) function(name string, at int64) *ntconv.Function {
	f := n.functions[name]
	if f == nil {
		valid := name
		if !utf8.ValidString(name) {
			valid = toValid(name)
			n.o.Report.Note(ntconv.CodeRepaired, 1, at, "names that are not UTF-8")
		}
		f = &ntconv.Function{Name: valid}
		n.functions[name] = f
	}
	return f
}

// toValid replaces each run of invalid UTF-8 by U+FFFD.
func toValid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// frames returns the frames of a stack, leaf first. text is a line without its value and roots.
func (s *source) frames(text []byte, at int64) ([]ntconv.Frame, error) {
	if len(text) == 0 || string(text) == imported.NoStackName {
		return nil, nil
	}
	limit := s.o.Limits.Stack
	frames := make([]ntconv.Frame, 0, min(limit, bytes.Count(text, []byte(";"))+1))
	var name []byte
	for end := len(text); end >= 0; {
		from := bytes.LastIndexByte(text[:end], ';') + 1
		next := bytes.TrimSpace(text[from:end])
		end = from - 1
		if len(next) == 0 { // stackcollapse-perf.pl writes such frames. Omitting one would credit its caller
			s.o.Report.Note(ntconv.CodeRepaired, 1, at, "frames without a name")
			next = []byte(imported.NoName)
		}
		if len(frames) == limit {
			s.o.Report.Add(ntconv.CodeStackCut, 1, at)
			frames[limit-1].Flags &^= ntconv.FrameInlined
			return frames, nil
		}
		f, err := s.names.frame(next, at)
		if err != nil {
			return nil, err
		}
		frames, name = append(frames, f), next
	}
	// An inlined frame needs a function into which it was inlined. For the outermost frame the suffix is part of the
	// name.
	if n := len(frames); n > 0 && frames[n-1].Flags&ntconv.FrameInlined != 0 {
		frames[n-1] = ntconv.Frame{Func: s.names.function(string(name), at)}
	}
	return frames, nil
}
