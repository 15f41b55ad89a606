package fileio

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
	"time"
)

// staleAge is the time since the last write after which a temporary file may be removed as left behind.
const staleAge = time.Hour

// renewInterval is the interval at which a run renews the time stamp of its temporary file.
const renewInterval = staleAge / 4

// A lease prevents other runs from removing the temporary file or directory of this run as left behind. It holds a
// lock, which the operating system releases with the process, so a run that was suspended for an hour is still
// protected. It also renews the time stamp, because some file systems have no locks.
type lease struct {
	lock io.Closer // nil if the file system has no locks

	mu    sync.Mutex // guards what follows
	timer *time.Timer
	ended bool
}

// hold begins a lease of a file or directory that was just created. Call end.
func hold(sys fileSystem, name string) *lease {
	l := new(lease)
	if lock, err := sys.lock(name); err == nil {
		l.lock = lock
	}
	l.timer = time.AfterFunc(renewInterval, func() { l.renew(sys, name) })
	return l
}

// renew sets the time stamp to now and restarts the timer.
func (l *lease) renew(sys fileSystem, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	_ = sys.touch(name) // if it fails, the lock still protects the file
	l.timer.Reset(renewInterval)
}

// end releases the lease. Later calls, and calls on nil, do nothing.
func (l *lease) end() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.ended = true
	l.timer.Stop()
	if l.lock != nil {
		l.lock.Close() // nothing was written
	}
}

// removeStale removes the temporary files and directories of one destination that killed runs have left behind. It
// ignores errors, because the output does not depend on it. It keeps entries that are younger than staleAge or leased.
// removeTree removes a directory; nil keeps directories.
func removeStale(sys fileSystem, dest string, removeTree func(name string) error) {
	for _, temp := range temporaries(sys, dest) {
		var remove func(name string) error
		switch {
		case temp.entry.Type().IsRegular() && isStale(temp.entry):
			remove = sys.remove
		case removeTree != nil && temp.entry.IsDir() && isStaleTree(temp.path):
			remove = removeTree
		default:
			continue
		}
		lock, err := sys.lock(temp.path)
		switch {
		case err == nil:
			_ = remove(temp.path)
			lock.Close() // after the removal, so that only one run removes it
		case errors.Is(err, errors.ErrUnsupported):
			_ = remove(temp.path)
		}
	}
}

// isStale reports whether an entry has not been written for staleAge.
func isStale(e fs.DirEntry) bool {
	info, err := e.Info()
	return err == nil && time.Since(info.ModTime()) > staleAge
}

// isStaleTree reports whether nothing in a directory has been written for staleAge. The time stamp of the directory
// itself is not enough, because a run may write the same member for hours.
func isStaleTree(name string) bool {
	stale := true
	err := filepath.WalkDir(name, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if time.Since(info.ModTime()) <= staleAge {
			stale = false
			return fs.SkipAll
		}
		return nil
	})
	return err == nil && stale
}

// lockName locks a file or directory through a new descriptor, which Close releases. On systems where an open file
// cannot be removed, the error wraps errors.ErrUnsupported: there, no lock is necessary.
func lockName(name string) (io.Closer, error) {
	if !RemovesOpenFiles {
		return nil, errors.ErrUnsupported
	}
	f, err := openNoFollow(name)
	if err != nil {
		return nil, err
	}
	if err := Lock(f); err != nil {
		f.Close() // read only
		return nil, err
	}
	return f, nil
}
