package spool

import (
	"io/fs"

	"github.com/ntconv/ntconv"
)

// A closing is a source that needs temporary files.
type closing struct {
	ntconv.Source
	remove func() error
	err    error // every later call of Next returns it
}

// NewSource returns an ntconv.SourceCloser of the events of src, whose first error is final. Close calls remove, which
// must be callable more than once. Do not call src.Next again.
func NewSource(src ntconv.Source, remove func() error) ntconv.SourceCloser {
	return &closing{Source: src, remove: remove}
}

func (c *closing) Next() (e *ntconv.Event, err error) {
	if c.err == nil {
		e, c.err = c.Source.Next()
	}
	if c.err != nil {
		return nil, c.err
	}
	return e, nil
}

func (c *closing) Close() error {
	if c.err == nil {
		c.err = fs.ErrClosed
	}
	return c.remove()
}
