package ntconvtest

import "github.com/ntconv/ntconv"

// A Trace is a trace in memory.
type Trace struct {
	Info   *ntconv.Info
	Events []*ntconv.Event
}

// Source returns a source of the trace's events.
func (t *Trace) Source() *SliceSource { return NewSource(t.Info, t.Events...) }
