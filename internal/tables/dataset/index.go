package dataset

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// An index finds the traces of a dataset. Other processes add and remove traces, so every lookup checks the
// modification time of each directory. Only directories whose time has changed are read again. Its methods are safe for
// concurrent use.
type index struct {
	dataset *Dataset
	mu      sync.Mutex
	known   map[string]*listing // by path
}

// A listing is the cached contents of a directory.
type listing struct {
	modified time.Time
	trusted  bool     // a later change would have changed modified, so names need not be read again
	names    []string // subdirectories that belong to the dataset
}

// racy is how long after a change a directory may change again with the same modification time: file systems have a
// resolution of up to 2 s (FAT). A listing that was read earlier is not trusted.
const racy = 3 * time.Second

// each calls f with each trace, until f returns an error, which each returns.
func (x *index) each(f func(uid, path string) error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.known == nil {
		x.known = make(map[string]*listing)
	}
	return x.walk(x.dataset.dir, x.dataset.config.Partition, f)
}

func (x *index) walk(dir string, keys []Key, f func(uid, path string) error) error {
	key := Key(traceKey)
	if len(keys) > 0 {
		key = keys[0]
	}
	names, err := x.list(dir, key)
	if err != nil {
		return err
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if len(keys) > 0 {
			err = x.walk(path, keys[1:], f)
		} else if uid := name[len(traceKey)+1:]; IsUID(uid) {
			err = f(uid, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// list returns the subdirectories of dir for a key. It returns none if dir does not exist, because another process may
// have removed it.
func (x *index) list(dir string, key Key) ([]string, error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		delete(x.known, dir)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if l := x.known[dir]; l != nil && l.trusted && l.modified.Equal(info.ModTime()) {
		return l.names, nil
	}
	l := &listing{modified: info.ModTime(), trusted: time.Since(info.ModTime()) > racy}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), string(key)+"=") {
			l.names = append(l.names, e.Name())
		}
	}
	x.known[dir] = l
	return l.names, nil
}

// errFound stops a walk.
var errFound = errors.New("found")

// find returns the directory of a trace, and "" if it is not in the dataset.
func (x *index) find(uid string) (path string, err error) {
	err = x.each(func(other, at string) error {
		if other == uid {
			path = at
			return errFound
		}
		return nil
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return path, err
}

// A Trace is a trace in a dataset.
type Trace struct {
	UID      string
	Path     string    // path of its directory, including that of the dataset
	Manifest *Manifest // nil if Err is not nil
	Err      error     // why the manifest cannot be read
}

// Traces returns all traces, sorted by path. A trace whose manifest cannot be read has Trace.Err.
func (d *Dataset) Traces() ([]Trace, error) {
	var list []Trace
	err := d.index.each(func(uid, path string) error {
		list = append(list, Trace{UID: uid, Path: path})
		return nil
	})
	kept := list[:0]
	for _, t := range list {
		t.Manifest, t.Err = readManifest(t.Path)
		if errors.Is(t.Err, fs.ErrNotExist) {
			if _, err := os.Stat(t.Path); errors.Is(err, fs.ErrNotExist) {
				continue // another process has removed it
			}
		}
		kept = append(kept, t)
	}
	return kept, err
}

// relative returns the path of a trace relative to the dataset.
func (d *Dataset) relative(path string) string {
	rel, err := filepath.Rel(d.dir, path)
	if err != nil {
		return path
	}
	return rel
}
