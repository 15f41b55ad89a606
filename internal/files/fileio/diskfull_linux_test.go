package fileio

import (
	"errors"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A file or directory that does not fit leaves the old one, and nothing else; with members closed and open.
func TestDiskFull(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=512k"); err != nil {
		t.Skipf("needs permission to mount a small tmpfs: %v", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	files := map[string]string{"a": string(noise(200 << 10)), "b": string(noise(200 << 10)), "sub/c": string(noise(200 << 10))}
	for _, c := range []struct {
		name       string
		old, files map[string]string
		at         string // the member that does not fit
	}{
		{"tree", nil, files, "sub/c"}, {"tree", oldTree, files, "sub/c"},
		{"file", nil, map[string]string{"": string(noise(20 << 20))}, ""}, {"file", oldFile, map[string]string{"": string(noise(20 << 20))}, ""},
	} {
		dest := filepath.Join(dir, c.name)
		writeTree(t, dest, c.old)
		err := produce(dest, c.files, OutputOptions{Force: true})
		var e *Error
		if !errors.Is(err, unix.ENOSPC) || !errors.As(err, &e) || e.Name != filepath.Join(dest, c.at) || e.Bytes > 512<<10 || c.at == "" && e.Bytes == 0 {
			t.Errorf("%v", err)
		}
		if left := temps(t, dir); !sameTree(treeOf(t, dest), c.old) || len(left) != 0 {
			t.Errorf("destination %v, left %q", treeOf(t, dest), left)
		}
	}
	files["sub/c"] = "fits"
	if err := produce(filepath.Join(dir, "tree"), files, OutputOptions{Force: true}); err != nil {
		t.Error(err)
	}
}
