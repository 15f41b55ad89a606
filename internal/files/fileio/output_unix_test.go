//go:build unix

package fileio

import (
	"errors"
	"io"
	"io/fs"
	"maps"
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

// A new file or directory has the mode that os.Create and os.Mkdir would give it; a replaced one keeps its own, whatever
// the umask. What is temporary is never open to more users than the result.
func TestOutputMode(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.Mkdir(plain, 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(plain, "f"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	newDir, newFile := modeOf(t, plain), modeOf(t, f.Name())
	for _, c := range []struct {
		files map[string]string
		modes []fs.FileMode // the first one is that of a new output
	}{
		{map[string]string{"": ""}, []fs.FileMode{newFile, 0o600, 0o666, 0o640, 0o444}},
		{map[string]string{"f": "", "sub/f": ""}, []fs.FileMode{newDir, fs.ModeDir | 0o700, fs.ModeDir | 0o777, fs.ModeDir | fs.ModeSetgid | 0o750, fs.ModeDir | 0o500}},
	} {
		dir := t.TempDir()
		dest := filepath.Join(dir, "out")
		for i, mode := range c.modes {
			if i > 0 {
				if err := os.Chmod(dest, mode); err != nil {
					t.Fatal(err)
				}
			}
			o := createOutputs(t, dest, OutputsOptions{OutputOptions: OutputOptions{Force: true}, Dir: needsDir(c.files)})
			if err := fill(o, c.files); err != nil {
				t.Fatal(err)
			}
			if temp := modeOf(t, temps(t, dir)[0]); !o.IsDir() && temp != mode || temp.Perm()&^0o700 != 0 && temp.Perm()&^mode.Perm() != 0 {
				t.Errorf("what is temporary has mode %v, the old one %v", temp, mode)
			}
			if err := o.Commit(); err != nil {
				t.Fatal(err)
			}
			if got := modeOf(t, dest); got != mode {
				t.Errorf("mode %v, want %v", got, mode)
			}
			if !o.IsDir() {
				continue
			}
			if got := modeOf(t, filepath.Join(dest, "f")); got != newFile {
				t.Errorf("member has mode %v", got)
			}
			if got := modeOf(t, filepath.Join(dest, "sub")); got.Perm() != newDir.Perm() {
				t.Errorf("subdirectory has mode %v", got)
			}
		}
		if left := temps(t, dir); len(left) > 0 {
			t.Errorf("left %q", left)
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

// No link is replaced, followed or deleted through, neither at the destination nor inside the old directory.
func TestDirectoryAndSymlinks(t *testing.T) {
	dir, there := t.TempDir(), t.TempDir()
	precious := map[string]string{"data": "precious"}
	target := filepath.Join(there, "target")
	writeTree(t, target, precious)
	empty := filepath.Join(there, "empty")
	os.Mkdir(empty, 0o755)
	force := OutputOptions{Force: true}
	for _, to := range []string{target, empty, filepath.Join(there, "absent")} {
		link := filepath.Join(dir, "link")
		os.Remove(link)
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{link, link + "/"} {
			if _, err := CreateOutputs(name, OutputsOptions{OutputOptions: force, Dir: true}); !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%s to %s: %v", name, to, err)
			}
		}
	}
	dest := filepath.Join(dir, "out")
	writeTree(t, dest, map[string]string{"old": ""})
	if err := os.Symlink(target, filepath.Join(dest, "link")); err != nil {
		t.Fatal(err)
	}
	if err := produce(dest, newFiles(), force); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(treeOf(t, target), precious) || !maps.Equal(treeOf(t, dest), newFiles()) {
		t.Errorf("the target holds %v", treeOf(t, target))
	}
	// A link that appears during the work.
	os.RemoveAll(dest)
	o := createOutputs(t, dest, OutputsOptions{OutputOptions: force, Dir: true})
	if err := os.Symlink(target, dest); err != nil {
		t.Fatal(err)
	}
	if err := o.Commit(); !errors.Is(err, errNotDir) || !maps.Equal(treeOf(t, target), precious) {
		t.Errorf("%v; the target holds %v", err, treeOf(t, target))
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
		if in.Rereadable() || in.Size() != -1 {
			t.Errorf("a pipe: Rereadable %v, Size %d", in.Rereadable(), in.Size())
		}
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
		o := createOutputs(t, name, OutputsOptions{OutputOptions: OutputOptions{fs: pipedFS{w: w}}})
		m, err := o.Create("")
		if err != nil {
			t.Fatal(err)
		}
		if o.Atomic() || o.IsDir() || o.Name() != StdoutName || m.Name() != StdoutName {
			t.Errorf("Atomic %v, IsDir %v, Name %s", o.Atomic(), o.IsDir(), o.Name())
		}
		m.Write([]byte("data"))
		if err := o.Flush(); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 9)
		if n, _ := r.Read(buf); string(buf[:n]) != "data" {
			t.Errorf("read %q after Flush", buf[:n])
		}
		if err := errors.Join(m.Close(), o.Commit()); err != nil {
			t.Error(err)
		}
		if _, err := w.WriteString("more"); err != nil {
			t.Errorf("standard output was closed: %v", err)
		}
		w.Close()
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
