//go:build unix || windows

package fileio

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Only one open file can hold the lock of a file. Closing it releases the lock.
func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	var files [2]*os.File
	for i := range files {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	if err := Lock(files[0]); errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	if err := Lock(files[1]); err != ErrLocked {
		t.Fatalf("a second lock: %v", err)
	}
	files[0].Close()
	if err := Lock(files[1]); err != nil {
		t.Errorf("after the first was closed: %v", err)
	}
}
