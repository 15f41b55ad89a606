package fileio

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// As in the tests of SQLite, the first call fails, then the second, and so on, until a run completes. Whichever call
// fails, the run says so, the destination is as before or the new one, and nothing is left, with the one exception that
// nothing can undo.
func TestEveryFailingCall(t *testing.T) {
	noLeaks(t)
	file := strings.Fields("stat open write sync close syncDir")
	tree := strings.Fields("mkdir lstat open write sync close renameDir syncDir")
	few := map[string]string{"a": string(noise(3 * memberBuffer)), "sub/deep/b": "", "z": "last"} // each call costs a run
	for _, c := range []struct {
		name                  string
		old, files            map[string]string
		calls                 []string // of these each must have failed
		force, persist, short bool
		aside                 bool
	}{
		{name: "file", files: newFile(), calls: append(file, "renameNew")},
		{name: "file, persistent", files: newFile(), persist: true},
		{name: "file, short writes", files: newFile(), short: true},
		{name: "file with force", files: newFile(), force: true, calls: append(file, "rename")},
		{name: "replace a file", old: oldFile, files: newFile(), force: true, calls: append(file, "rename", "chmod")},
		{name: "replace a file, persistent, short writes", old: oldFile, files: newFile(), force: true, persist: true, short: true},
		{name: "directory", files: few, calls: tree},
		{name: "directory, persistent", files: few, persist: true},
		{name: "directory, short writes", files: few, short: true},
		{name: "over an empty directory", old: map[string]string{}, files: few, calls: append(tree, "chmod")},
		{name: "replace a directory", old: oldTree, files: few, force: true, calls: append(tree, "chmod", "exchange")},
		{name: "replace a directory, persistent", old: oldTree, files: few, force: true, persist: true},
		{name: "in two steps", old: oldTree, files: few, force: true, aside: true, calls: append(tree, "chmod")},
		{name: "in two steps, persistent", old: oldTree, files: few, force: true, aside: true, persist: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := map[string]bool{}
			for n := 1; ; n++ {
				f := &faultFS{n: n, persist: c.persist, short: c.short, aside: c.aside, noSync: true}
				if n > 200 {
					t.Fatalf("no end: %v", f.log)
				}
				dest := filepath.Join(t.TempDir(), "out")
				writeTree(t, dest, c.old)
				err := produce(dest, c.files, OutputOptions{Force: c.force, fs: f})
				if f.failed == "" {
					if got := treeOf(t, dest); err != nil || !sameTree(got, c.files) {
						t.Fatalf("nothing failed: %v, %d files", err, len(got))
					}
					break
				}
				seen[f.failed] = true
				checkFailed(t, f, err, dest, c.old, c.files)
			}
			if i := slices.IndexFunc(c.calls, func(op string) bool { return !seen[op] }); i >= 0 {
				t.Errorf("%s never failed, only %v", c.calls[i], seen)
			}
		})
	}
}

// checkFailed checks what a run with one failed call left.
func checkFailed(t *testing.T, f *faultFS, err error, dest string, old, files map[string]string) {
	t.Helper()
	var e *Error
	if !errors.Is(err, errInjected) || !errors.As(err, &e) || !strings.HasPrefix(e.Name, dest) || needsDir(files) == false && e.Name != dest {
		t.Fatalf("%s failed: %v", f.failed, err)
	}
	if !strings.Contains(err.Error(), dest) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "/somewhere") {
		t.Errorf("message %q", err)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(dest), ".ntconv-*"))
	got := treeOf(t, dest)
	switch {
	case needsDir(files) && len(left) == 1: // the repair failed as well, and the user learns where the data is
		repaired := got != nil && !sameTree(got, files)
		if !f.persist || repaired || !sameTree(treeOf(t, left[0]), old) || !strings.Contains(err.Error(), left[0]) {
			t.Errorf("%s failed: %v; %d files at the destination, left %q", f.failed, err, len(got), left)
		}
	case sameTree(got, files): // renamed already
		if f.failed != "syncDir" || len(left) > 0 {
			t.Errorf("%s failed, and the destination is the new one; left %q", f.failed, left)
		}
	case !sameTree(got, old) || len(left) > 0:
		t.Errorf("%s failed: %d files at the destination, left %q", f.failed, len(got), left)
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
		writeTree(t, dest, oldTree)
		sys := swapFS{aside: aside, before: func() {
			os.RemoveAll(dest)
			os.WriteFile(dest, []byte("precious"), 0o600)
		}}
		err := produce(dest, newFiles(), OutputOptions{Force: true, fs: sys})
		entries, _ := os.ReadDir(dir)
		if !errors.Is(err, errNotDir) || content(t, dest) != "precious" || len(entries) != 1 {
			t.Errorf("aside %v: %v, left %v", aside, err, entries)
		}
	}
}

// stuckFS removes nothing.
type stuckFS struct{ osFS }

func (stuckFS) remove(string) error    { return errInjected }
func (stuckFS) removeAll(string) error { return errInjected }

// What cannot be removed is reported with its name, so that the user can remove it: the new file or directory after an
// abort, the replaced directory after a commit.
func TestReportsWhatItLeaves(t *testing.T) {
	for _, dir := range []bool{false, true} {
		dest := filepath.Join(t.TempDir(), "out")
		opts := OutputOptions{Force: true, fs: stuckFS{}}
		err := createOutputs(t, dest, OutputsOptions{OutputOptions: opts, Dir: dir}).Abort()
		left := temps(t, filepath.Dir(dest))
		if !errors.Is(err, errInjected) || len(left) != 1 || !strings.Contains(err.Error(), left[0]) {
			t.Errorf("%v; left %q", err, left)
		}
		if !dir {
			continue
		}
		os.RemoveAll(left[0])
		writeTree(t, dest, oldTree)
		err = produce(dest, newFiles(), opts)
		left = temps(t, filepath.Dir(dest))
		if !errors.Is(err, errInjected) || len(left) != 1 || !strings.Contains(err.Error(), left[0]) {
			t.Fatalf("%v; left %q", err, left)
		}
		if !sameTree(treeOf(t, dest), newFiles()) || !sameTree(treeOf(t, left[0]), oldTree) {
			t.Error("neither the new directory is in place nor the old one is left")
		}
	}
}
