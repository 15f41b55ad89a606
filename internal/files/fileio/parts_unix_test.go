//go:build unix

package fileio

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// No link leads out of a directory, no pipe blocks, and what cannot be read does not hide the rest.
func TestDirectoryInputWithSpecialFiles(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "trace")
	writeTree(t, dir, map[string]string{"a": "x", "sub/b": "y"})
	os.WriteFile(filepath.Join(base, "secret"), []byte("secret"), 0o600)
	for link, to := range map[string]string{
		"inside": "a", "up": "../secret", "abs": filepath.Join(base, "secret"), "directory": "..", "loop": "loop", "nothing": "absent", "self": ".", "subdir": "sub",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Skip(err)
	}
	in := openWith(t, dir, InputOptions{Dir: true})
	names, err := in.Members()
	if err != nil || !slices.Equal(names, []string{"a", "inside", "sub/b"}) {
		t.Errorf("%q, %v", names, err)
	}
	for _, name := range []string{"inside", "subdir/b", "self/a"} {
		if got, err := contentOf(in, name); err != nil || len(got) != 1 {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"up", "abs", "directory", "directory/secret", "loop", "nothing", "self/up", "subdir/../../secret"} {
		if m, err := in.Member(name); err == nil {
			t.Errorf("%s: opened %s", name, m.Name())
		}
	}
	opened := make(chan error, 1)
	go func() {
		_, err := in.Member("fifo")
		opened <- err
	}()
	select {
	case err := <-opened:
		if !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("fifo: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("opening a FIFO waits")
	}
}

// The handle is the directory that was opened, even if its name was given to another directory.
func TestReplacedDirectoryInput(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "trace")
	writeTree(t, dir, map[string]string{"a": "old"})
	in := openWith(t, dir, InputOptions{Dir: true})
	if err := os.Rename(dir, filepath.Join(base, "aside")); err != nil {
		t.Fatal(err)
	}
	writeTree(t, dir, map[string]string{"a": "new"})
	if got, err := contentOf(in, "a"); err != nil || string(got) != "old" {
		t.Errorf("%q, %v", got, err)
	}
}
