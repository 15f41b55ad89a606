package fileio

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// errNotEmpty is the cause if a directory would be replaced without Force.
var errNotEmpty = fmt.Errorf("the directory is not empty: %w", fs.ErrExist)

// asideSuffix ends the name of a directory that is being replaced, on systems that cannot exchange two names. It
// differs from tempSuffix, because after a crash this directory may be the only copy of the user's data: it is never
// removed as stale.
const asideSuffix = ".old"

// errNotDir is the cause if the destination is not a directory.
var errNotDir = fmt.Errorf("%w: this output is a directory and never replaces a file", syscall.ENOTDIR)

func isStdout(name string) bool { return name == "-" || name == "/dev/stdout" }

// check verifies that the destination can become a directory, and records the mode of an existing directory.
func (t *tree) check() error {
	if isStdout(t.name) {
		return errors.New("this output is a directory and cannot be written to standard output")
	}
	t.path = t.name
	for t.path != "" && os.IsPathSeparator(t.path[len(t.path)-1]) {
		t.path = t.path[:len(t.path)-1]
	}
	switch base := filepath.Base(t.path); {
	case t.path == filepath.VolumeName(t.path), base == ".", base == "..":
		return fmt.Errorf("not the name of a directory that can be replaced: %w", fs.ErrInvalid)
	}
	info, err := t.fs.lstat(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := t.replaceable(info); err != nil {
		return err
	}
	entries, err := t.fs.readDir(t.path)
	switch {
	case t.force:
	case err != nil:
		return fs.ErrExist
	case len(entries) > 0:
		return errNotEmpty
	}
	t.mode = info.Mode() & (fs.ModeDir | fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
	return nil
}

// replaceable returns an error if the file at the destination must not be replaced, even with Force.
func (t *tree) replaceable(info fs.FileInfo) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("a symbolic link is not replaced by a directory; name the directory itself: %w", fs.ErrInvalid)
	}
	if !info.IsDir() {
		return errNotDir
	}
	for _, place := range []struct {
		name string
		find func() (string, error)
	}{{"current", os.Getwd}, {"home", os.UserHomeDir}} {
		dir, err := place.find()
		if err != nil || !filepath.IsAbs(dir) {
			continue // removed or not set, so the destination is not inside it
		}
		inside, err := t.holds(info, dir)
		if err != nil {
			return err
		}
		if inside {
			return fmt.Errorf("the %s directory is inside, so it is not replaced: %w", place.name, fs.ErrInvalid)
		}
	}
	return nil
}

// holds reports whether the directory info is other or a parent of it, under any name.
func (t *tree) holds(info fs.FileInfo, other string) (bool, error) {
	for {
		at, err := t.fs.stat(other)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		if err == nil && os.SameFile(info, at) {
			return true, nil
		}
		parent := filepath.Dir(other)
		if parent == other {
			return false, nil
		}
		other = parent
	}
}

// publish renames the temporary directory to the destination and removes the directory that it replaced.
func (t *tree) publish() error {
	if err := t.rename(); err != nil {
		return err
	}
	t.renamed = true
	err := t.located("sync directory", t.fs.syncDir(filepath.Dir(t.path)))
	if t.old == "" {
		return err
	}
	if rerr := t.removeTree(t.old); rerr != nil {
		err = errors.Join(err, &Error{Name: t.name, Op: "remove replaced directory " + t.old, Bytes: -1, Err: rerr})
	}
	return err
}

// rename moves the temporary directory to the destination. Other processes may create or remove the destination between
// two calls, so it retries up to 10 times.
func (t *tree) rename() error {
	for range 10 {
		err := t.fs.renameDir(t.temp, t.path)
		switch {
		case errors.Is(err, syscall.ENOTDIR):
			return t.located("rename", errNotDir)
		case err == nil || !t.force || !errors.Is(err, fs.ErrExist):
			return t.located("rename", err)
		}
		err = t.replace()
		_, lost := err.(*lostError)
		if lost || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			return t.located("replace", err)
		}
	}
	return t.located("replace", errors.New("another process keeps changing the destination"))
}

// replace exchanges the temporary directory with the directory at the destination. The error wraps fs.ErrNotExist or
// fs.ErrExist if the destination vanished or appeared meanwhile.
func (t *tree) replace() error {
	info, err := t.fs.lstat(t.path)
	if err != nil {
		return err
	}
	if err := t.replaceable(info); err != nil {
		return err
	}
	err = t.fs.exchange(t.temp, t.path)
	if errors.Is(err, errors.ErrUnsupported) {
		return t.replaceAside()
	}
	if err != nil {
		return err
	}
	// The destination may have changed since the lstat.
	was, err := t.fs.lstat(t.temp)
	if err != nil || !was.IsDir() {
		if err == nil {
			err = errNotDir
		}
		return t.restore(err, t.temp, t.fs.exchange)
	}
	t.old = t.temp
	return nil
}

// replaceAside replaces the destination in two steps, on systems that cannot exchange names.
func (t *tree) replaceAside() error {
	aside := t.asideName()
	if err := t.fs.renameDir(t.path, aside); err != nil {
		return err
	}
	was, err := t.fs.lstat(aside)
	if err == nil && !was.IsDir() {
		err = errNotDir
	}
	if err == nil {
		err = t.fs.renameDir(t.temp, t.path)
	}
	if err != nil {
		return t.restore(err, aside, t.fs.renameDir)
	}
	t.old = aside
	return nil
}

// asideName returns a new name for the directory that is being replaced.
func (t *tree) asideName() string {
	dir, base := filepath.Split(t.path)
	return filepath.Join(dir, strings.TrimSuffix(tempName(base, rand.Uint64()), tempSuffix)+asideSuffix)
}

// restore undoes a replacement after the error err. If that fails, too, it returns a lostError, which prevents another
// attempt and says where the old directory is.
func (t *tree) restore(err error, from string, rename func(from, to string) error) error {
	rerr := rename(from, t.path)
	if rerr == nil {
		return err
	}
	if from == t.temp {
		t.renamed = true // temp is now the directory of the user
		if aside := t.asideName(); t.fs.renameNew(from, aside) == nil {
			from = aside // a later run would remove the temporary name
		}
	}
	return &lostError{err: err, place: from, restore: rerr}
}

// A lostError means that a replacement failed halfway.
type lostError struct {
	err, restore error
	place        string // path of the old directory
}

func (e *lostError) Error() string {
	return fmt.Sprintf("%v; the directory that was there is now %s and could not be renamed back: %v",
		bare(e.err), e.place, bare(e.restore))
}

// Unwrap returns the cause and the error that prevented the restoration.
func (e *lostError) Unwrap() []error { return []error{e.err, e.restore} }

// removeTree removes a tree that ntconv has created or replaced. The mode of the directory may forbid that. It tries
// twice, because an error may be transient and the leftover would be in the user's way.
func (t *tree) removeTree(name string) error {
	err := t.fs.removeAll(name)
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrPermission) {
		if info, lerr := t.fs.lstat(name); lerr != nil || !info.IsDir() || t.fs.chmod(name, 0o700) != nil {
			return err
		}
	}
	return t.fs.removeAll(name)
}
