package fileio

import "io"

// A Layer is one level of the compression of an input, whose content may be compressed again. All levels share the
// limits of the outermost level, which bound the output of each level relative to the stored bytes.
type Layer struct {
	name   string // of the input
	limits Limits
	stored func() int64 // number of stored bytes read so far; safe for concurrent use
}

// Layered is implemented by readers of the content of an Input, such as its streams. A reader that wraps a Layered
// reader should implement Layered.
type Layered interface{ Layer() *Layer }

// LayerOf returns the Layer of a Layered reader, and nil for other readers.
func LayerOf(r io.Reader) *Layer {
	if l, ok := r.(Layered); ok {
		return l.Layer()
	}
	return nil
}

// Layer implements Layered.
func (s *stream) Layer() *Layer {
	l := &Layer{name: s.src.name, limits: s.limits, stored: s.stored}
	if l.stored == nil {
		l.stored = s.src.n.Load
	}
	return l
}

// Layer implements Layered.
func (a *readAhead) Layer() *Layer { return LayerOf(a.r) }
