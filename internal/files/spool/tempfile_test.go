package spool

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
)

func create(t *testing.T) (f *File, dir string) {
	t.Helper()
	dir = t.TempDir()
	f, err := Create(dir, "ntconv-test-*", 10_000)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, dir
}

// Written bytes can be read at any offset, and no file remains after Close.
func TestFile(t *testing.T) {
	f, dir := create(t)
	want := bytes.Repeat([]byte("0123456789"), 1000)
	for _, part := range [][]byte{want[:1], want[1:4000], want[4000:]} {
		if n, err := f.Write(part); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if f.Size() != int64(len(want)) {
		t.Errorf("size %d, want %d", f.Size(), len(want))
	}
	got, err := io.ReadAll(io.NewSectionReader(f, 7, 1<<20))
	if err != nil || !bytes.Equal(got, want[7:]) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(dir); len(left) != 0 || err != nil {
		t.Errorf("left %v, %v", left, err)
	}
	if err := (*File)(nil).Close(); err != nil {
		t.Error(err)
	}
}

// A file accepts bytes up to its limit. A write that exceeds it leaves the file unchanged.
func TestLimit(t *testing.T) {
	f, _ := create(t)
	var of *ntconv.LimitError
	for size, ok := range map[int]bool{0: true, 10_000: true, 10_001: false} {
		f.size = 0
		n, err := f.Write(make([]byte, size))
		if ok != (err == nil) || ok != (n == size) || !ok && (!errors.As(err, &of) || of.Value != 10_000 || of.Asked != 10_001 || f.Size() != 0) {
			t.Errorf("%d bytes: %d, %v", size, n, err)
		}
	}
}

// Close removes a file whose name could not be removed earlier. It returns the first error of closing and removing.
func TestCloseOfNamedFile(t *testing.T) {
	named := func() (*File, string) {
		file, err := os.Create(filepath.Join(t.TempDir(), "named"))
		if err != nil {
			t.Fatal(err)
		}
		return &File{file: file, named: true}, file.Name()
	}
	f, name := named()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s still exists: %v", name, err)
	}
	f, name = named()
	os.Remove(name)
	if err := f.Close(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Close returns %v, want that of the removal", err)
	}
	f, name = named()
	os.Remove(name)
	f.file.Close()
	if err := f.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Close returns %v, want the first error", err)
	}
}

// An error is an *Error, wraps that of the system, and includes the next step.
func TestErrors(t *testing.T) {
	check := func(err, want error, advice string) {
		t.Helper()
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, want) || !strings.Contains(err.Error(), advice) {
			t.Errorf("%v, want %v and %q", err, want, advice)
		}
	}
	_, err := Create(filepath.Join(t.TempDir(), "absent"), "x*", 0)
	check(err, fs.ErrNotExist, "TMPDIR")

	f, _ := create(t)
	f.Write(make([]byte, 100))
	if err := f.file.Truncate(50); err != nil {
		t.Fatal(err)
	}
	n, err := f.ReadAt(make([]byte, 80), 10)
	check(err, ErrChanged, "other programs")
	if n != 40 {
		t.Errorf("read %d bytes, want 40", n)
	}
	f.file.Close()
	_, err = f.Write([]byte("x"))
	check(err, os.ErrClosed, "space")
	_, err = f.ReadAt(make([]byte, 1), 0)
	check(err, os.ErrClosed, "")
}
