package ntconvtest

import "github.com/ntconv/ntconv"

// A Trace is a trace in memory.
type Trace struct {
	Info   *ntconv.Info
	Events []*ntconv.Event
}

// Source returns a new source of the events, which are not copied.
func (t *Trace) Source() *SliceSource { return NewSource(t.Info, t.Events...) }
