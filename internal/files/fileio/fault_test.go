package fileio

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// As in the tests of SQLite, the first call fails, then the second, and so on, until a run completes. Whichever call
// fails, the run says so, the destination is as before, and nothing is left.
func TestEveryFailingCall(t *testing.T) {
	noLeaks(t)
	payload := string(noise(1 << 20)) // more than the buffers hold
	for _, c := range []struct {
		name, old      string
		force          bool
		persist, short bool
	}{
		{"new", "absent", false, false, false},
		{"new, persistent", "absent", false, true, false},
		{"new, short writes", "absent", false, false, true},
		{"new with force", "absent", true, false, false},
		{"replace", "old content", true, false, false},
		{"replace, persistent", "old content", true, true, false},
		{"replace, short writes", "old content", true, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := map[string]bool{}
			for n := 1; ; n++ {
				f := &faultFS{n: n, persist: c.persist, short: c.short}
				if n > 100 {
					t.Fatalf("no end: %v", f.log)
				}
				dest := filepath.Join(t.TempDir(), "out.json")
				if c.old != "absent" {
					os.WriteFile(dest, []byte(c.old), 0o640)
				}
				err := produce(dest, payload, OutputOptions{Force: c.force, fs: f})
				got := content(t, dest)
				if left := temps(t, filepath.Dir(dest)); len(left) > 0 {
					t.Fatalf("call %d (%s) failed: %q left", n, f.failed, left)
				}
				if f.failed == "" {
					if err != nil || got != payload {
						t.Fatalf("nothing failed: %v, %d bytes", err, len(got))
					}
					break
				}
				seen[f.failed] = true
				var e *Error
				if !errors.Is(err, errInjected) || !errors.As(err, &e) || e.Name != dest {
					t.Fatalf("call %d (%s) failed: %v", n, f.failed, err)
				}
				if !strings.Contains(err.Error(), dest) || strings.ContainsAny(err.Error(), "\n") ||
					strings.Contains(err.Error(), "/somewhere") {
					t.Errorf("message %q", err)
				}
				want := c.old
				if f.failed == "syncDir" {
					want = payload // renamed already
				}
				if got != want {
					t.Fatalf("call %d (%s) failed: destination holds %d bytes", n, f.failed, len(got))
				}
			}
			for _, op := range []string{"stat", "open", "write", "sync", "close", "syncDir"} {
				if !seen[op] {
					t.Errorf("%s never failed", op)
				}
			}
			if !seen["rename"] && !seen["renameNew"] || c.old != "absent" && !seen["chmod"] {
				t.Errorf("only these failed: %v", seen)
			}
		})
	}
}

// produce writes an output as a command does.
func produce(dest, payload string, opts OutputOptions) (err error) {
	o, err := Create(dest, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Abort()) }()
	for rest := payload; len(rest) > 0; {
		n := min(len(rest), 10007)
		if _, err := o.Write([]byte(rest[:n])); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return o.Commit()
}

// A temporary file that cannot be removed is reported with its name, so that the user can remove it.
type stickyFS struct{ osFS }

func (stickyFS) remove(string) error { return errInjected }

func TestAbortReportsWhatItLeaves(t *testing.T) {
	dir := t.TempDir()
	o, err := Create(filepath.Join(dir, "out"), OutputOptions{fs: stickyFS{}})
	if err != nil {
		t.Fatal(err)
	}
	err = o.Abort()
	left := temps(t, dir)
	if !errors.Is(err, errInjected) || len(left) != 1 || !strings.Contains(err.Error(), left[0]) {
		t.Errorf("%v; left %q", err, left)
	}
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
