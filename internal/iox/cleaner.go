package iox

import (
	"errors"
	"sync"
)

// A Cleaner knows the outputs that are open, so that a signal handler can abort all of them before the process
// exits. The zero value is ready for use, and a nil Cleaner knows none. It is safe for concurrent use.
type Cleaner struct {
	mu   sync.Mutex
	open map[Aborter]struct{}
	over bool
}

// An Aborter is an output, a set of them, or what contains one. Abort may be called from any goroutine.
type Aborter interface{ Abort() error }

// AbortAll aborts the outputs that are neither committed nor aborted, and makes every later Create with this Cleaner
// fail with ErrAborted: the process is about to end. An output whose data is being synced by Commit is aborted too,
// without waiting for the disk; one that is being renamed is complete. When it returns, no temporary file of an output
// is left, one that was just being created included.
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

// Add calls create, after which o can be aborted, and knows o from then on: AbortAll comes before that or after it. It
// returns the error of create, or ErrAborted if no output may be created any more.
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

// Remove makes the Cleaner discard o, which was committed or aborted.
func (c *Cleaner) Remove(o Aborter) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, o)
}
