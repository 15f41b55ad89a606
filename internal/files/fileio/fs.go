package fileio

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A fileSystem has the calls of the operating system that outputs use. Tests replace it to make the n-th call fail.
type fileSystem interface {
	stdout() file
	stat(name string) (fs.FileInfo, error)
	lstat(name string) (fs.FileInfo, error)
	evalSymlinks(name string) (string, error)
	readDir(name string) ([]fs.DirEntry, error)
	open(name string, flag int, perm fs.FileMode) (file, error)
	rename(from, to string) error    // replaces to
	renameNew(from, to string) error // fails with fs.ErrExist instead
	remove(name string) error
	syncDir(name string) error
	lock(name string) (io.Closer, error) // see lockName
	touch(name string) error             // sets the time stamp to now

	// The calls below are those of a directory of outputs.
	mkdir(name string, perm fs.FileMode) error // fails with fs.ErrExist
	chmod(name string, mode fs.FileMode) error
	renameDir(from, to string) error // replaces nothing but an empty directory; else fails with fs.ErrExist
	exchange(a, b string) error      // atomic, or errors.ErrUnsupported
	removeAll(name string) error     // follows no symbolic link
}

// A file is an open output. Close may be called while another goroutine is in Write or Sync, as with os.File.
type file interface {
	io.Writer
	Chmod(fs.FileMode) error
	Sync() error
	Close() error
}

// osFS is the operating system.
type osFS struct{}

func (osFS) stdout() file                               { return os.Stdout }
func (osFS) stat(name string) (fs.FileInfo, error)      { return os.Stat(name) }
func (osFS) lstat(name string) (fs.FileInfo, error)     { return os.Lstat(name) }
func (osFS) evalSymlinks(name string) (string, error)   { return filepath.EvalSymlinks(name) }
func (osFS) readDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (osFS) rename(from, to string) error               { return os.Rename(from, to) }
func (osFS) remove(name string) error                   { return os.Remove(name) }
func (osFS) syncDir(name string) error                  { return syncDir(name) }
func (osFS) lock(name string) (io.Closer, error)        { return lockName(name) }
func (osFS) mkdir(name string, m fs.FileMode) error     { return os.Mkdir(name, m) }
func (osFS) chmod(name string, m fs.FileMode) error     { return os.Chmod(name, m) }
func (osFS) renameDir(from, to string) error            { return renameDir(from, to) }
func (osFS) exchange(a, b string) error                 { return exchange(a, b) }
func (osFS) removeAll(name string) error                { return os.RemoveAll(name) }
func (osFS) touch(name string) error {
	now := time.Now()
	return os.Chtimes(name, now, now)
}
func (osFS) open(n string, f int, m fs.FileMode) (file, error) {
	h, err := os.OpenFile(n, f, m)
	if err != nil {
		return nil, err // not a nil *os.File in a file
	}
	return h, nil
}

// SyncDir makes the names in a directory durable. Where the file system does not support that, it returns nil.
func SyncDir(name string) error {
	if err := syncDir(name); err != nil {
		return &Error{Name: name, Op: "sync directory", Bytes: -1, Err: err}
	}
	return nil
}

// renameNew uses a system call that cannot overwrite, if the kernel and the file system have one. Otherwise it uses
// hard links, which have the same property.
func (osFS) renameNew(from, to string) error {
	err := renameNoReplace(from, to)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return linkNew(from, to)
}

// linkNew renames with a second name. On file systems without hard links (FAT, some network shares) it checks and then
// renames: only there, a file that appears between the two calls could be overwritten.
func linkNew(from, to string) error {
	err := os.Link(from, to)
	switch {
	case err == nil:
		return os.Remove(from)
	case errors.Is(err, fs.ErrExist):
		return err
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fs.ErrExist
		}
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return os.Rename(from, to)
}
