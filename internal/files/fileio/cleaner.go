package fileio

import (
	"errors"
	"sync"
)

// A Cleaner registers open outputs, so that a signal handler can abort them before the process exits. The zero value
// and nil are ready for use; a nil Cleaner registers nothing. It is safe for concurrent use.
type Cleaner struct {
	mu   sync.Mutex
	open map[Aborter]struct{}
	over bool // AbortAll was called
}

// An Aborter is an output, a set of outputs, or their owner. Abort must be safe for concurrent use.
type Aborter interface{ Abort() error }

// AbortAll aborts all registered outputs, and makes every later Create with this Cleaner fail with ErrAborted, because
// the process is about to end. It also aborts an output that Commit is syncing, without waiting for the disk; an output
// that Commit is renaming is completed. When it returns, no temporary file of an output is left, even if one was being
// created.
func (c *Cleaner) AbortAll() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	c.over = true
	open := c.open
	c.open = nil
	c.mu.Unlock()

	var errs []error
	for o := range open {
		errs = append(errs, o.Abort())
	}
	return errors.Join(errs...)
}

// Add calls create and registers o, both before or both after AbortAll. It returns the error of create, or ErrAborted
// without a call if AbortAll was called before.
func (c *Cleaner) Add(o Aborter, create func() error) error {
	if c == nil {
		return create()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return ErrAborted
	}
	if err := create(); err != nil {
		return err
	}
	if c.open == nil {
		c.open = make(map[Aborter]struct{})
	}
	c.open[o] = struct{}{}
	return nil
}

// Remove unregisters o after it was committed or aborted.
func (c *Cleaner) Remove(o Aborter) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, o)
}
