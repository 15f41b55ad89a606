package fileio

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func (f *faultFS) mkdir(name string, perm fs.FileMode) error {
	if err := f.call("mkdir"); err != nil {
		return err
	}
	return f.osFS.mkdir(name, perm)
}

func (f *faultFS) chmod(name string, mode fs.FileMode) error {
	if err := f.call("chmod"); err != nil {
		return err
	}
	return f.osFS.chmod(name, mode)
}

func (f *faultFS) renameDir(from, to string) error {
	if err := f.call("renameDir"); err != nil {
		return err
	}
	return f.osFS.renameDir(from, to)
}

func (f *faultFS) exchange(a, b string) error {
	if f.aside {
		return errors.ErrUnsupported
	}
	if err := f.call("exchange"); err != nil {
		return err
	}
	return f.osFS.exchange(a, b)
}

// As TestEveryFailingCall, for a directory: whichever call fails, the run says so, the destination is as before or the
// new one, and nothing is left, with the one exception that nothing can undo.
func TestEveryFailingCallOfDirectory(t *testing.T) {
	old, files := map[string]string{"old": "tree", "sub/x": "y"}, newFiles()
	for _, c := range []struct {
		name           string
		old            map[string]string
		force          bool
		aside, persist bool
		short          bool
	}{
		{name: "new"},
		{name: "new, persistent", persist: true},
		{name: "new, short writes", short: true},
		{name: "over an empty directory", old: map[string]string{}},
		{name: "replace", old: old, force: true},
		{name: "replace, persistent", old: old, force: true, persist: true},
		{name: "replace in two steps", old: old, force: true, aside: true},
		{name: "replace in two steps, persistent", old: old, force: true, aside: true, persist: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := map[string]bool{}
			for n := 1; ; n++ {
				f := &faultFS{n: n, persist: c.persist, short: c.short, aside: c.aside, noSync: true}
				if n > 200 {
					t.Fatalf("no end: %v", f.log)
				}
				dir := t.TempDir()
				dest := filepath.Join(dir, "out")
				if c.old != nil {
					writeTree(t, dest, c.old)
				}
				err := produceTree(dest, files, OutputsOptions{OutputOptions: OutputOptions{Force: c.force, fs: f}})
				if f.failed == "" {
					if got := treeOf(t, dest); err != nil || !maps.Equal(got, files) {
						t.Fatalf("nothing failed: %v, %d files", err, len(got))
					}
					break
				}
				seen[f.failed] = true
				checkFailedTree(t, f, err, dest, c.old, files)
			}
			for _, op := range []string{"mkdir", "lstat", "open", "write", "sync", "close", "renameDir", "syncDir"} {
				if !seen[op] {
					t.Errorf("%s never failed", op)
				}
			}
			if c.old != nil && !seen["chmod"] || c.force && !c.aside && !seen["exchange"] {
				t.Errorf("only these failed: %v", seen)
			}
		})
	}
}

// checkFailedTree checks what a run with one failed call left.
func checkFailedTree(t *testing.T, f *faultFS, err error, dest string, old, files map[string]string) {
	t.Helper()
	var e *Error
	if !errors.Is(err, errInjected) || !errors.As(err, &e) || !strings.HasPrefix(e.Name, dest) {
		t.Fatalf("%s failed: %v", f.failed, err)
	}
	if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "/somewhere") {
		t.Errorf("message %q", err)
	}
	aside, _ := filepath.Glob(filepath.Join(filepath.Dir(dest), ".ntconv-*"))
	got := treeOf(t, dest)
	switch {
	case len(aside) == 1: // the repair failed as well, and the user learns where the data is
		repaired := got != nil && !maps.Equal(got, files)
		if !f.persist || repaired || !maps.Equal(treeOf(t, aside[0]), old) || !strings.Contains(err.Error(), aside[0]) {
			t.Errorf("%s failed: %v; %d files at the destination, aside %q", f.failed, err, len(got), aside)
		}
	case maps.Equal(got, files): // renamed already
		if f.failed != "syncDir" {
			t.Errorf("%s failed, and the destination is the new one", f.failed)
		}
	case !maps.Equal(got, old) || (got == nil) != (old == nil) || len(aside) > 0:
		t.Errorf("%s failed: %d files at the destination, aside %q", f.failed, len(got), aside)
	}
}

// swapFS changes the destination between the look at it and the exchange.
type swapFS struct {
	osFS
	aside  bool
	before func()
}

func (s swapFS) exchange(a, b string) error {
	if s.aside {
		return errors.ErrUnsupported
	}
	s.before()
	return s.osFS.exchange(a, b)
}

func (s swapFS) renameDir(from, to string) error {
	if s.aside && strings.HasSuffix(to, asideSuffix) {
		s.before()
	}
	return s.osFS.renameDir(from, to)
}

// A file that takes the place of the directory in the last moment is not lost.
func TestFileInPlaceOfTheReplacedDirectory(t *testing.T) {
	for _, aside := range []bool{false, true} {
		dir := t.TempDir()
		dest := filepath.Join(dir, "out")
		writeTree(t, dest, map[string]string{"old": "tree"})
		sys := swapFS{aside: aside, before: func() {
			os.RemoveAll(dest)
			os.WriteFile(dest, []byte("precious"), 0o600)
		}}
		err := produceTree(dest, newFiles(), OutputsOptions{OutputOptions: OutputOptions{Force: true, fs: sys}})
		entries, _ := os.ReadDir(dir)
		if !errors.Is(err, errNotDir) || content(t, dest) != "precious" || len(entries) != 1 {
			t.Errorf("aside %v: %v, left %v", aside, err, entries)
		}
	}
}

// stuckFS removes no tree.
type stuckFS struct{ osFS }

func (stuckFS) removeAll(string) error { return errInjected }

// A tree that cannot be removed is reported by its name, whether it is the new or the old one.
func TestTreeReportsWhatItLeaves(t *testing.T) {
	dir := t.TempDir()
	dest := filepath.Join(dir, "out")
	opts := OutputsOptions{OutputOptions: OutputOptions{Force: true, fs: stuckFS{}}, Dir: true}
	err := createOutputs(t, dest, opts).Abort()
	left := temps(t, dir)
	if !errors.Is(err, errInjected) || len(left) != 1 || !strings.Contains(err.Error(), left[0]) {
		t.Errorf("%v; left %q", err, left)
	}
	os.RemoveAll(left[0])
	old := map[string]string{"old": "tree"}
	writeTree(t, dest, old)
	err = produceTree(dest, newFiles(), opts)
	left = temps(t, dir)
	if !errors.Is(err, errInjected) || len(left) != 1 || !strings.Contains(err.Error(), left[0]) {
		t.Fatalf("%v; left %q", err, left)
	}
	if !maps.Equal(treeOf(t, dest), newFiles()) || !maps.Equal(treeOf(t, left[0]), old) {
		t.Error("neither the new directory is in place nor the old one is left")
	}
}
