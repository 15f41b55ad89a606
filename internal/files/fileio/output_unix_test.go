//go:build unix

package fileio

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func modeOf(t *testing.T, name string) fs.FileMode {
	t.Helper()
	st, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	return st.Mode()
}

// A new file has the mode that os.Create would give it; a replaced one keeps its own, whatever the umask.
func TestOutputMode(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	f, err := os.Create(plain)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	dest := filepath.Join(dir, "out")
	want := modeOf(t, plain)
	for _, mode := range []fs.FileMode{want, 0o600, 0o666, 0o640, 0o444} {
		if mode != want {
			if err := os.Chmod(dest, mode); err != nil {
				t.Fatal(err)
			}
		}
		o := create(t, dest, OutputOptions{Force: true})
		if temp := modeOf(t, temps(t, dir)[0]); temp != mode {
			t.Errorf("temporary file has mode %v, want %v", temp, mode)
		}
		if err := o.Commit(); err != nil {
			t.Fatal(err)
		}
		if got := modeOf(t, dest); got != mode {
			t.Errorf("mode %v, want %v", got, mode)
		}
	}
}

// A symbolic link is kept, and its target is replaced in its directory, only with Force; a dangling link is
// never followed.
func TestOutputThroughSymlink(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	target, link := filepath.Join(there, "target"), filepath.Join(here, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	for _, force := range []bool{false, true} {
		if _, err := Create(link, OutputOptions{Force: force}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("link to nothing, force %v: %v", force, err)
		}
	}
	os.WriteFile(target, []byte("old"), 0o600)
	if _, err := Create(link, OutputOptions{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("link to a file without force: %v", err)
	}
	o := create(t, link, OutputOptions{Force: true})
	real, _ := filepath.EvalSymlinks(target)
	if o.Path() != real || o.Name() != link || len(temps(t, there)) != 1 || len(temps(t, here)) != 0 {
		t.Errorf("Path %s, Name %s, temporary files %v %v", o.Path(), o.Name(), temps(t, here), temps(t, there))
	}
	o.Write([]byte("new"))
	if err := o.Commit(); err != nil {
		t.Fatal(err)
	}
	if content(t, target) != "new" || modeOf(t, link)&fs.ModeSymlink == 0 {
		t.Errorf("target holds %q, link is %v", content(t, target), modeOf(t, link))
	}
}

func TestDevices(t *testing.T) {
	for range 2 {
		o := create(t, "/dev/null", OutputOptions{})
		if o.Atomic() {
			t.Error("a device is atomic")
		}
		o.Write(make([]byte, 1<<20))
		if err := o.Commit(); err != nil || o.Written() != 1<<20 {
			t.Errorf("/dev/null: %v after %d", err, o.Written())
		}
	}
	if left := temps(t, "/dev"); len(left) != 0 || modeOf(t, "/dev/null")&fs.ModeCharDevice == 0 {
		t.Errorf("/dev/null is %v; left %q", modeOf(t, "/dev/null"), left)
	}
	if _, err := os.Stat("/dev/full"); err == nil {
		o := create(t, "/dev/full", OutputOptions{})
		o.Write([]byte("x"))
		if err := o.Commit(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("/dev/full: %v", err)
		}
	}
}

// A FIFO gets the bytes while they are made; nothing is created beside it.
func TestFIFO(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skipf("no FIFOs here: %v", err)
	}
	got := make(chan string)
	go func() {
		in, err := Open(fifo, InputOptions{})
		if err != nil {
			t.Error(err)
			close(got)
			return
		}
		defer in.Close()
		s, _ := in.Stream()
		buf := make([]byte, 100)
		n, _ := s.Read(buf)
		got <- string(buf[:n])
		rest, err := io.ReadAll(s)
		if err != nil {
			t.Error(err)
		}
		got <- string(rest)
	}()
	o := create(t, fifo, OutputOptions{})
	o.Write([]byte("first"))
	if err := o.Flush(); err != nil {
		t.Fatal(err)
	}
	if s := <-got; s != "first" {
		t.Errorf("read %q before Commit", s)
	}
	o.Write([]byte("second"))
	if err := o.Commit(); err != nil {
		t.Error(err)
	}
	if s := <-got; s != "second" {
		t.Errorf("read %q after Commit", s)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left: %v", entries)
	}
}

// pipedFS has a pipe for standard output.
type pipedFS struct {
	osFS
	w *os.File
}

func (p pipedFS) stdout() file { return p.w }

func TestStandardOutput(t *testing.T) {
	noLeaks(t)
	for _, name := range []string{"-", "/dev/stdout"} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		o := create(t, name, OutputOptions{fs: pipedFS{w: w}})
		if o.Atomic() || o.Name() != StdoutName || o.Path() != "" {
			t.Errorf("Atomic %v, Name %s, Path %s", o.Atomic(), o.Name(), o.Path())
		}
		o.Write([]byte("data"))
		if err := o.Commit(); err != nil {
			t.Error(err)
		}
		if _, err := w.WriteString(" more"); err != nil {
			t.Errorf("Commit closed standard output: %v", err)
		}
		w.Close()
		if got, _ := io.ReadAll(r); string(got) != "data more" {
			t.Errorf("got %q", got)
		}
		r.Close()
	}
}

// Abort must come back when the pipe's reader sleeps, and the goroutine must end when the pipe does.
func TestAbortOfAStuckPipe(t *testing.T) {
	noLeaks(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := new(Cleaner)
	o := create(t, "-", OutputOptions{Cleaner: c, fs: pipedFS{w: w}})
	wrote := make(chan error)
	go func() {
		_, err := o.Write(make([]byte, 4<<20)) // more than pipe and buffers hold
		wrote <- err
	}()
	buf := make([]byte, 1)
	r.Read(buf) // the goroutine has begun to write
	if err := c.AbortAll(); err != nil {
		t.Error(err)
	}
	if err := <-wrote; !errors.Is(err, ErrAborted) {
		t.Errorf("Write: %v", err)
	}
	r.Close()
	w.Close()
}

func TestBrokenPipe(t *testing.T) {
	noLeaks(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r.Close()
	o := create(t, "-", OutputOptions{fs: pipedFS{w: w}})
	o.Write([]byte("x"))
	if err := o.Commit(); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("Commit into a closed pipe: %v", err)
	}
}
