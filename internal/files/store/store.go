// Package store gives files in object stores, such as s3://bucket/dir/name, the operations that packages use of the operating
// system's files. Stores are joined to a program by Register; without any, all names are those of files.
package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A Store is a bucket: a flat set of objects with keys such as dir/name. Its methods are safe for concurrent use and try again after
// errors that may pass. Errors for an object that does not exist wrap fs.ErrNotExist.
type Store interface {
	// Stat describes an object.
	Stat(ctx context.Context, key string) (*Object, error)
	// Read returns n bytes at an offset, and fewer only at the end. The error wraps ErrChanged if the object is no longer o.
	Read(ctx context.Context, o *Object, offset, n int64) ([]byte, error)
	// Create begins an object, which appears whole when it is committed.
	Create(ctx context.Context, key string, o CreateOptions) (Writer, error)
	// List yields the objects whose keys begin with prefix, in the order of their keys. With a delimiter, those with another
	// delimiter after the prefix are yielded as one element per common beginning, which ends in the delimiter.
	List(ctx context.Context, prefix, delimiter string) iter.Seq2[*Object, error]
	// Remove removes an object. Removing one that does not exist is an error of some stores.
	Remove(ctx context.Context, key string) error
}

// An Object describes an object of a store.
type Object struct {
	Key     string
	Size    int64
	ModTime time.Time
	Prefix  bool // a common beginning of keys, as List yields it
}

// CreateOptions are options of a new object. The zero value replaces an object that exists.
type CreateOptions struct {
	// Absent makes Commit fail with an error that wraps fs.ErrExist if the object exists. Of several concurrent writers one
	// succeeds.
	Absent bool
}

// A Writer writes an object. The caller must call Commit or Abort.
type Writer interface {
	io.Writer
	// Commit makes the object appear.
	Commit() error
	// Abort leaves nothing of the object. After Commit it does nothing.
	Abort() error
}

// ErrChanged means that an object was replaced while it was read.
var ErrChanged = errors.New("the file was replaced while it was read")

// An Opener opens a bucket.
type Opener func(ctx context.Context, bucket string) (Store, error)

var registry struct {
	sync.Mutex
	openers map[string]Opener
	opened  map[string]Store // by scheme://bucket
}

// Register makes the names that begin with scheme:// those of objects. It panics if the scheme is registered.
func Register(scheme string, open Opener) {
	registry.Lock()
	defer registry.Unlock()
	if registry.openers == nil {
		registry.openers, registry.opened = make(map[string]Opener), make(map[string]Store)
	}
	if registry.openers[scheme] != nil {
		panic("store: " + scheme + " is registered")
	}
	registry.openers[scheme] = open
}

// Forget closes nothing, but opens every bucket again when it is used next: for tests with several servers.
func Forget() {
	registry.Lock()
	defer registry.Unlock()
	clear(registry.opened)
}

// Is reports whether a name is that of an object: its scheme is registered.
func Is(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	if !ok {
		return false
	}
	registry.Lock()
	defer registry.Unlock()
	return registry.openers[scheme] != nil
}

// find returns the store and the key of a name for which Is is true. Each bucket is opened once.
func find(name string) (s Store, key string, err error) {
	scheme, rest, _ := strings.Cut(name, "://")
	bucket, key, _ := strings.Cut(rest, "/")
	if bucket == "" {
		return nil, "", fmt.Errorf("want %s://BUCKET/NAME", scheme)
	}
	key = path.Clean("/" + key)[1:]
	registry.Lock()
	defer registry.Unlock()
	at := scheme + "://" + bucket
	if s = registry.opened[at]; s != nil {
		return s, key, nil
	}
	if s, err = registry.openers[scheme](context.Background(), bucket); err != nil {
		return nil, "", err
	}
	registry.opened[at] = s
	return s, key, nil
}

// Join is filepath.Join for names of files and of objects.
func Join(name string, elements ...string) string {
	scheme, rest, ok := strings.Cut(name, "://")
	if !ok || !Is(name) {
		return filepath.Join(append([]string{name}, elements...)...)
	}
	for i, e := range elements {
		elements[i] = filepath.ToSlash(e)
	}
	return scheme + "://" + path.Join(append([]string{cmp.Or(rest, "/")}, elements...)...) // without a bucket, no element becomes one
}

// Split is filepath.Split for names of files and of objects, without the separator at the end of dir.
func Split(name string) (dir, base string) {
	if !Is(name) {
		dir, base = filepath.Split(filepath.Clean(name))
		return filepath.Clean(dir), base
	}
	scheme, rest, _ := strings.Cut(strings.TrimRight(name, "/"), "://")
	i := strings.LastIndexByte(rest, '/')
	if i < 0 {
		return name, ""
	}
	return scheme + "://" + rest[:i], rest[i+1:]
}

// Clean is filepath.Clean for names of files and of objects.
func Clean(name string) string { return Join(name) }
