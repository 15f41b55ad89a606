//go:build unix

package fileio

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// A new directory and its members have the modes that os.Mkdir and os.Create give; a replaced one keeps its own, and
// the temporary directory is never readable for more users than the result.
func TestDirectoryMode(t *testing.T) {
	dir := t.TempDir()
	plain, dest := filepath.Join(dir, "plain"), filepath.Join(dir, "out")
	if err := os.Mkdir(plain, 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(plain, "f"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	want := modeOf(t, plain)
	for _, mode := range []fs.FileMode{want, fs.ModeDir | 0o700, fs.ModeDir | 0o777, fs.ModeDir | fs.ModeSetgid | 0o750, fs.ModeDir | 0o500} {
		if mode != want {
			if err := os.Chmod(dest, mode); err != nil {
				t.Fatal(err)
			}
		}
		o := createOutputs(t, dest, OutputsOptions{OutputOptions: OutputOptions{Force: true}, Dir: true})
		if err := fill(o, map[string]string{"f": "", "sub/f": ""}); err != nil {
			t.Fatal(err)
		}
		if temp := modeOf(t, temps(t, dir)[0]); temp.Perm()&^0o700 != 0 && temp.Perm()&^mode.Perm() != 0 {
			t.Errorf("temporary directory has mode %v, the old one %v", temp, mode)
		}
		if err := o.Commit(); err != nil {
			t.Fatal(err)
		}
		if got := modeOf(t, dest); got != mode {
			t.Errorf("mode %v, want %v", got, mode)
		}
		if got := modeOf(t, filepath.Join(dest, "f")); got != modeOf(t, filepath.Join(plain, "f")) {
			t.Errorf("member has mode %v", got)
		}
		if got := modeOf(t, filepath.Join(dest, "sub")); got.Perm() != want.Perm() {
			t.Errorf("subdirectory has mode %v", got)
		}
	}
	if left := temps(t, dir); len(left) > 0 {
		t.Errorf("left %q", left)
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
	if err := produceTree(dest, newFiles(), OutputsOptions{OutputOptions: force}); err != nil {
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

func TestStandardOutputAsSet(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	o := createOutputs(t, "-", OutputsOptions{OutputOptions: OutputOptions{fs: pipedFS{w: w}}})
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
	r.Close()
	w.Close()
}
