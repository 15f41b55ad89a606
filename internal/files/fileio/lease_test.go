package fileio

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// makeOld sets the time stamps of a file or a directory and all that is in it to before staleAge.
func makeOld(t *testing.T, name string) {
	t.Helper()
	old := time.Now().Add(-2 * staleAge)
	err := filepath.WalkDir(name, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, old, old))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// noLockFS is a file system without locks.
type noLockFS struct{ osFS }

func (noLockFS) lock(string) (io.Closer, error) { return nil, errors.ErrUnsupported }

// The files of a live run are kept regardless of their time stamps, because another run sees the lock. Without locks
// the run renews the time stamps. As soon as the run is dead, both are removed.
func TestLiveOutputsStay(t *testing.T) {
	for _, sys := range []fileSystem{osFS{}, noLockFS{}} {
		if _, ok := sys.(noLockFS); !ok && !RemovesOpenFiles {
			continue
		}
		for _, dir := range []bool{false, true} {
			dest := filepath.Join(t.TempDir(), "out")
			opts := OutputsOptions{OutputOptions: OutputOptions{fs: sys}, Dir: dir}
			create := func() *Outputs {
				t.Helper()
				o, err := CreateOutputs(dest, opts)
				if err != nil {
					t.Fatal(err)
				}
				return o
			}
			live := create()
			member := map[bool]string{true: "a/b"}[dir]
			m, err := live.Create(member)
			if err == nil {
				_, err = m.Write([]byte("text"))
			}
			if err == nil {
				err = m.Flush()
			}
			if err != nil {
				t.Fatal(err)
			}
			temp := temps(t, filepath.Dir(dest))[0]
			makeOld(t, temp)
			lease := leaseOf(live)
			if lease.lock == nil {
				lease.renew(sys, temp) // as the timer does
			}
			other := create()
			if err := errors.Join(other.Abort(), live.Commit()); err != nil {
				t.Errorf("directory %v, %T: %v", dir, sys, err)
			}
			if got := content(t, filepath.Join(dest, filepath.FromSlash(member))); got != "text" {
				t.Errorf("directory %v, %T: %q", dir, sys, got)
			}

			os.RemoveAll(dest)
			dead := create()
			temp = temps(t, filepath.Dir(dest))[0]
			leaseOf(dead).end() // as the system does
			makeOld(t, temp)
			last := create()
			if _, err := os.Lstat(temp); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("directory %v, %T: the file of a dead run: %v", dir, sys, err)
			}
			_ = dead.Abort() // its file is gone
			if err := last.Abort(); err != nil {
				t.Error(err)
			}
		}
	}
}

// leaseOf returns the lease of a set.
func leaseOf(o *Outputs) *lease {
	switch to := o.to.(type) {
	case *single:
		return to.out.(*Output).lease
	case *tree:
		return to.lease
	}
	return nil
}

// The timer renews the time stamp for as long as the lease lasts.
func TestLeaseRenews(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l := hold(noLockFS{}, name)
	makeOld(t, name)
	l.timer.Reset(0)
	for isOld(t, name) {
		time.Sleep(time.Millisecond)
	}
	l.end()
	makeOld(t, name)
	l.renew(noLockFS{}, name)
	if !isOld(t, name) {
		t.Error("renewed after its end")
	}
	l.end()
}

func isOld(t *testing.T, name string) bool {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return time.Since(info.ModTime()) > staleAge
}
