package fileio

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestDiskFull(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=512k"); err != nil {
		t.Skipf("needs permission to mount a small tmpfs: %v", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	dest := filepath.Join(dir, "out")
	payload := string(noise(20 << 20))
	for _, old := range []string{"absent", "old"} {
		if old != "absent" {
			os.WriteFile(dest, []byte(old), 0o600)
		}
		err := produce(dest, payload, OutputOptions{Force: true})
		var e *Error
		if !errors.Is(err, unix.ENOSPC) || !errors.As(err, &e) || e.Bytes == 0 || e.Bytes > 512<<10 {
			t.Errorf("%v", err)
		}
		if left := temps(t, dir); content(t, dest) != old || len(left) != 0 {
			t.Errorf("destination %q, want %q; left %q", content(t, dest), old, left)
		}
	}
}

// A directory that does not fit leaves the old one, and nothing else; with members closed and open.
func TestDiskFullOfDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=512k"); err != nil {
		t.Skipf("needs permission to mount a small tmpfs: %v", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	dest := filepath.Join(dir, "out")
	files := map[string]string{"a": string(noise(200 << 10)), "b": string(noise(200 << 10)), "sub/c": string(noise(200 << 10))}
	for _, old := range []map[string]string{nil, {"old": "tree"}} {
		if old != nil {
			writeTree(t, dest, old)
		}
		err := produceTree(dest, files, OutputsOptions{OutputOptions: OutputOptions{Force: true}})
		var e *Error
		if !errors.Is(err, unix.ENOSPC) || !errors.As(err, &e) || e.Name != filepath.Join(dest, "sub", "c") {
			t.Errorf("%v", err)
		}
		if left := temps(t, dir); !maps.Equal(treeOf(t, dest), old) || len(left) != 0 {
			t.Errorf("destination %v, left %q", treeOf(t, dest), left)
		}
	}
	files["sub/c"] = "fits"
	if err := produceTree(dest, files, OutputsOptions{OutputOptions: OutputOptions{Force: true}}); err != nil {
		t.Error(err)
	}
}
