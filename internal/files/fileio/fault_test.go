package fileio

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"testing"
)

var errInjected = errors.New("injected fault")

// faultFS is the operating system whose n-th call fails; with persist, every later one as well. Calls that only
// remove or look for leftovers do not count: they are what the tests check with.
type faultFS struct {
	osFS
	mu      sync.Mutex
	n       int // calls until the fault
	persist bool
	short   bool // a failing write writes half
	aside   bool // directories cannot be exchanged
	kill    bool // the process instead of failing
	noSync  bool // a sync that does not fail does nothing: thousands of them take seconds
	log     []string
	failed  string // the call that failed first
}

func (f *faultFS) call(op string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, op)
	f.n--
	if f.n > 0 || f.n < 0 && !f.persist {
		return nil
	}
	if f.kill {
		killSelf()
	}
	if f.failed == "" {
		f.failed = op
	}
	return &fs.PathError{Op: op, Path: "/somewhere", Err: errInjected}
}

func (f *faultFS) stat(name string) (fs.FileInfo, error) {
	if err := f.call("stat"); err != nil {
		return nil, err
	}
	return f.osFS.stat(name)
}

func (f *faultFS) lstat(name string) (fs.FileInfo, error) {
	if err := f.call("lstat"); err != nil {
		return nil, err
	}
	return f.osFS.lstat(name)
}

func (f *faultFS) open(name string, flag int, perm fs.FileMode) (file, error) {
	if err := f.call("open"); err != nil {
		return nil, err
	}
	h, err := f.osFS.open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &faultFile{h, f}, nil
}

func (f *faultFS) rename(from, to string) error {
	if err := f.call("rename"); err != nil {
		return err
	}
	return f.osFS.rename(from, to)
}

func (f *faultFS) renameNew(from, to string) error {
	if err := f.call("renameNew"); err != nil {
		return err
	}
	return f.osFS.renameNew(from, to)
}

func (f *faultFS) syncDir(name string) error {
	if err := f.call("syncDir"); err != nil {
		return err
	}
	if f.noSync {
		return nil
	}
	return f.osFS.syncDir(name)
}

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

type faultFile struct {
	file
	fs *faultFS
}

func (f *faultFile) Write(p []byte) (int, error) {
	err := f.fs.call("write")
	if err == nil {
		return f.file.Write(p)
	}
	n := 0
	if f.fs.short {
		n, _ = f.file.Write(p[:len(p)/2])
	}
	return n, err
}

func (f *faultFile) Chmod(m fs.FileMode) error {
	if err := f.fs.call("chmod"); err != nil {
		return err
	}
	return f.file.Chmod(m)
}

func (f *faultFile) Sync() error {
	if err := f.fs.call("sync"); err != nil {
		return err
	}
	if f.fs.noSync {
		return nil
	}
	return f.file.Sync()
}

// Close frees the file even when it reports an error, as the system call does.
func (f *faultFile) Close() error {
	err := f.file.Close()
	if fault := f.fs.call("close"); fault != nil {
		return fault
	}
	return err
}

func TestErrorMessages(t *testing.T) {
	cause := &fs.PathError{Op: "write", Path: ".ntconv-x.tmp", Err: errInjected}
	for want, e := range map[string]*Error{
		"a.json: write after 7 bytes: injected fault": {Name: "a.json", Op: "write", Bytes: 7, Err: cause},
		"a.json: create: injected fault":              {Name: "a.json", Op: "create", Bytes: -1, Err: cause},
		"a.json: rename after 0 bytes: injected fault": {Name: "a.json", Op: "rename",
			Err: &os.LinkError{Op: "rename", Err: errInjected}},
		"a.json: write after 0 bytes: injected fault": {Name: "a.json", Op: "write", Err: os.NewSyscallError("x", errInjected)},
		"a.json: write after 1 bytes: 5":              {Name: "a.json", Op: "write", Bytes: 1, Err: fmt.Errorf("%d", 5)},
	} {
		if e.Error() != want {
			t.Errorf("%q, want %q", e.Error(), want)
		}
	}
}
