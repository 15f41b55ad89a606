package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// A File is an open file or object. ReadAt is safe for concurrent use.
type File interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// Open opens a file or an object.
func Open(name string) (File, error) {
	if !Is(name) {
		return openFile(name)
	}
	s, key, err := find(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	o, err := s.Stat(context.Background(), key)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &objectFile{NewBlocks(o.Size, func(from, n int64) ([]byte, error) {
		return s.Read(context.Background(), o, from, n)
	})}, nil
}

type objectFile struct{ *Blocks }

func (objectFile) Close() error { return nil }

// A systemFile is a file of the operating system.
type systemFile struct {
	*os.File
	size int64
}

func (f *systemFile) Size() int64 { return f.size }

func openFile(name string) (File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &systemFile{f, info.Size()}, nil
}

// ReadFile is os.ReadFile for files and objects.
func ReadFile(name string) ([]byte, error) {
	if !Is(name) {
		return os.ReadFile(name)
	}
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return data, nil
}

// Create begins an object; Is must be true for its name.
func Create(name string, o CreateOptions) (Writer, error) {
	s, key, err := find(name)
	if err == nil && key == "" {
		err = errors.New("this is a bucket, and not a name in one")
	}
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: err}
	}
	w, err := s.Create(context.Background(), key, o)
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: err}
	}
	return w, nil
}

// attempts is how often a request is made.
const attempts = 4

// Retry calls f, and calls it again while it says so, after pauses that double.
func Retry(pause time.Duration, f func() (again bool, err error)) (err error) {
	for try := range attempts {
		if try > 0 {
			time.Sleep(pause << try)
		}
		var again bool
		if again, err = f(); err == nil || !again {
			return err
		}
	}
	return err
}

// writePause is that of Retry for writing.
const writePause = 200 * time.Millisecond

// Write writes an object with all that from has; Is must be true for its name. It tries again after errors that may pass. Of several
// writers of an absent object, those with equal content may all succeed: content that must have one writer names it.
func Write(name string, from io.ReadSeeker, o CreateOptions) error {
	return Retry(writePause, func() (again bool, err error) {
		if _, err := from.Seek(0, io.SeekStart); err != nil {
			return false, err
		}
		err = write(name, from, o)
		if errors.Is(err, fs.ErrExist) && isContent(name, from) {
			return false, nil // an earlier attempt, here or in the client, succeeded, and only its answer was lost
		}
		return !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission), err
	})
}

func write(name string, from io.Reader, o CreateOptions) error {
	w, err := Create(name, o)
	if err != nil {
		return err
	}
	if _, err = io.Copy(w, from); err != nil {
		return &fs.PathError{Op: "write", Path: name, Err: errors.Join(err, w.Abort())}
	}
	if err := w.Commit(); err != nil {
		return &fs.PathError{Op: "write", Path: name, Err: err}
	}
	return nil
}

// isContent reports whether an object has the content of r.
func isContent(name string, r io.ReadSeeker) bool {
	f, err := Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	size, err := r.Seek(0, io.SeekEnd)
	if err != nil || size != f.Size() {
		return false
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return false
	}
	has, want := make([]byte, BlockSize), make([]byte, BlockSize)
	for at := int64(0); at < size; at += BlockSize {
		n := min(BlockSize, size-at)
		if _, err := f.ReadAt(has[:n], at); err != nil && err != io.EOF {
			return false
		}
		if _, err := io.ReadFull(r, want[:n]); err != nil || !bytes.Equal(has[:n], want[:n]) {
			return false
		}
	}
	return true
}

// WriteBytes is Write for the bytes of an object.
func WriteBytes(name string, data []byte, o CreateOptions) error {
	return Write(name, bytes.NewReader(data), o)
}

// Copy copies a file or an object to a new file.
func Copy(name, to string) error {
	from, err := Open(name)
	if err != nil {
		return err
	}
	defer from.Close()
	return Save(from, to)
}

// Save copies an open file or object to a new file.
func Save(from File, to string) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, io.NewSectionReader(from, 0, from.Size()))
	return errors.Join(err, f.Close())
}

// Remove is os.Remove for files and objects. The error wraps fs.ErrNotExist if there is none, except for stores that do not say so.
func Remove(name string) error {
	if !Is(name) {
		return os.Remove(name)
	}
	s, key, err := find(name)
	if err == nil {
		err = s.Remove(context.Background(), key)
	}
	if err != nil {
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
	return nil
}

// Stat is os.Stat for files and objects. A key that is only the beginning of others, up to a slash, is a directory.
func Stat(name string) (fs.FileInfo, error) {
	if !Is(name) {
		return os.Stat(name)
	}
	s, key, err := find(name)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	if key != "" && !strings.HasSuffix(name, "/") {
		o, err := s.Stat(context.Background(), key)
		if err == nil {
			return info{o}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
		}
	}
	for _, err := range s.List(context.Background(), below(key), "/") {
		if err != nil {
			return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
		}
		return info{&Object{Key: key, Prefix: true}}, nil
	}
	if key == "" {
		return info{&Object{Prefix: true}}, nil // an empty bucket
	}
	return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

// below returns the prefix of the keys below a key.
func below(key string) string {
	if key == "" {
		return ""
	}
	return key + "/"
}

// ReadDir is os.ReadDir for files and objects. A directory of a store without objects does not exist.
func ReadDir(name string) ([]fs.DirEntry, error) {
	if !Is(name) {
		return os.ReadDir(name)
	}
	s, key, err := find(name)
	if err != nil {
		return nil, &fs.PathError{Op: "read directory", Path: name, Err: err}
	}
	var list []fs.DirEntry
	for o, err := range s.List(context.Background(), below(key), "/") {
		if err != nil {
			return list, &fs.PathError{Op: "read directory", Path: name, Err: err}
		}
		if o.Key != below(key) { // some programs create an object for a directory
			list = append(list, info{o})
		}
	}
	if len(list) == 0 && key != "" {
		return nil, &fs.PathError{Op: "read directory", Path: name, Err: fs.ErrNotExist}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return list, nil
}

// Walk calls visit for every object below a name, with the rest of its key; Is must be true for the name.
func Walk(name string, visit func(rel string, o *Object) error) error {
	s, key, err := find(name)
	if err != nil {
		return &fs.PathError{Op: "read directory", Path: name, Err: err}
	}
	for o, err := range s.List(context.Background(), below(key), "") {
		if err != nil {
			return &fs.PathError{Op: "read directory", Path: name, Err: err}
		}
		if err := visit(strings.TrimPrefix(o.Key, below(key)), o); err != nil {
			return err
		}
	}
	return nil
}

// info describes an object as a file.
type info struct{ o *Object }

func (i info) Name() string {
	_, base := splitKey(i.o.Key)
	return base
}

func splitKey(key string) (dir, base string) {
	key = strings.TrimRight(key, "/")
	i := strings.LastIndexByte(key, '/')
	return key[:max(i, 0)], key[i+1:]
}

func (i info) Size() int64        { return i.o.Size }
func (i info) ModTime() time.Time { return i.o.ModTime }
func (i info) IsDir() bool        { return i.o.Prefix }
func (i info) Sys() any           { return i.o }
func (i info) Type() fs.FileMode  { return i.Mode().Type() }

// Info implements fs.DirEntry.
func (i info) Info() (fs.FileInfo, error) { return i, nil }

func (i info) Mode() fs.FileMode {
	if i.o.Prefix {
		return fs.ModeDir | 0o777
	}
	return 0o666
}

func (i info) String() string { return fmt.Sprintf("%s (%d bytes)", i.o.Key, i.o.Size) }
