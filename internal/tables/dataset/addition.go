package dataset

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"

	"github.com/ntconv/ntconv/internal/files/fileio"
)

// An ExistsError means that the dataset already contains the trace. It wraps fs.ErrExist.
type ExistsError struct{ Trace Trace }

func (e *ExistsError) Error() string { return e.Trace.Path + ": the dataset has this trace" }

// Unwrap returns fs.ErrExist.
func (e *ExistsError) Unwrap() error { return fs.ErrExist }

// An Addition is a trace that is being added. The caller must end it with Commit or Abort. Call Outputs and Commit from
// one goroutine; Abort may be called from any goroutine, at any time.
//
// begin sets lock and dir, which do not change afterwards. mu guards out, set by Outputs, and ended, set by end, which
// runs once: for Commit or for Abort, whichever comes first.
type Addition struct {
	d   *Dataset
	uid string
	sum string // SHA-256 sum of the content, in hexadecimal
	// replaces decides whether a trace of the dataset is replaced, whose directory is then old.
	replaces func(*Manifest) bool
	old      string
	cleaner  *fileio.Cleaner

	mu    sync.Mutex
	lock  *lock
	dir   string // staging directory of this addition
	out   *fileio.Outputs
	ended bool // by Commit or Abort
}

// doneName is the name of the directory inside Addition.dir that Commit renames to its final place.
const doneName = "trace"

// Begin starts to add the trace whose content has the given SHA-256 sum, and takes the lock of its UID. The error is an
// *ExistsError if the dataset has the trace, unless replaces is not nil and returns true for its manifest; it wraps ErrBusy
// if another run is adding or removing the trace. The cleaner, which may be nil, aborts the addition when the process is
// interrupted.
func (d *Dataset) Begin(sum []byte, replaces func(*Manifest) bool, cleaner *fileio.Cleaner) (*Addition, error) {
	a := &Addition{d: d, uid: UIDOf(sum), sum: hex.EncodeToString(sum), replaces: replaces, cleaner: cleaner}
	// The cleaner holds its lock during begin, so an interrupt either prevents the addition or aborts it.
	if err := cleaner.Add(a, a.begin); err != nil {
		return nil, err
	}
	return a, nil
}

// begin takes the lock and creates the staging directory.
func (a *Addition) begin() (err error) {
	if a.lock, err = a.d.lock(a.uid); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			a.lock.release()
		}
	}()
	path, err := a.d.index.find(a.uid)
	if err != nil {
		return err
	}
	if path != "" {
		if err := a.exists(path); err != nil {
			return err
		}
		a.old = path
	}
	a.dir = a.d.stagingDir(a.uid)
	return os.Mkdir(a.dir, 0o777)
}

// exists returns the error for a trace that the dataset contains at path, nil if it is to be replaced.
func (a *Addition) exists(path string) error {
	t := Trace{UID: a.uid, Path: path}
	t.Manifest, t.Err = readManifest(path)
	if t.Err == nil && t.Manifest.SHA256 != a.sum {
		return fmt.Errorf(
			"%s: another trace has the same UID: its content has the SHA-256 sum %s, that of the new one is %s; add the new one to another dataset",
			path, t.Manifest.SHA256, a.sum,
		)
	}
	if t.Err == nil && a.replaces != nil && a.replaces(t.Manifest) {
		return nil
	}
	return &ExistsError{t}
}

// stagingDir returns an unused name for a directory in _staging.
func (d *Dataset) stagingDir(uid string) string {
	return filepath.Join(d.staging(), fmt.Sprintf("%s-%016x", uid, rand.Uint64()))
}

// UID returns the UID of the trace.
func (a *Addition) UID() string { return a.uid }

// Outputs returns a directory for the tables. The caller commits or aborts it, and may call Outputs again after
// aborting. The options set limits of the outputs. After Commit or Abort of the addition the error is fileio.ErrAborted.
func (a *Addition) Outputs(o fileio.OutputOptions) (*fileio.Outputs, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return nil, fileio.ErrAborted
	}
	out, err := fileio.CreateOutputs(filepath.Join(a.dir, doneName), fileio.OutputsOptions{OutputOptions: o, Dir: true})
	if err == nil {
		a.out = out
	}
	return out, err
}

// Commit adds the trace to the dataset and returns its directory. The Outputs must have been committed. Commit sets
// UID, SHA256 and Files in m and writes the manifest. If it fails, the trace does not appear in the dataset. After
// Abort the error is fileio.ErrAborted.
func (a *Addition) Commit(m *Manifest) (path string, err error) {
	done := filepath.Join(a.dir, doneName)
	m.UID, m.SHA256 = a.uid, a.sum
	m.Files, err = listFiles(done)
	if err == nil {
		err = writeJSON(filepath.Join(done, ManifestName), m)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return "", fileio.ErrAborted
	}
	if err == nil {
		path, err = a.publish(done, &m.Properties)
	}
	return path, errors.Join(err, a.end())
}

// publish makes the trace visible by renaming its directory.
func (a *Addition) publish(done string, p *Properties) (path string, err error) {
	for range 100 {
		parent := a.d.dir
		for _, key := range a.d.config.Partition {
			above := parent
			parent = filepath.Join(parent, key.directory(p))
			if err = a.d.makeDir(parent, above); err != nil {
				break
			}
		}
		if err == nil {
			path = filepath.Join(parent, traceKey+"="+a.uid)
			if err = a.rename(done, path); err == nil {
				return path, fileio.SyncDir(parent)
			}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		// Another process removed the last trace of a parent directory, and then that directory. Try again.
	}
	return "", err
}

// rename makes the directory of the trace visible at path. One that it replaces is then in the staging directory, which
// end removes. If the old one has another path, both exist for a moment, so that no moment is without the trace.
func (a *Addition) rename(done, path string) error {
	if a.old == path {
		return fileio.ExchangeDirs(done, path)
	}
	if err := fileio.RenameDir(done, path); err != nil || a.old == "" {
		return err
	}
	if err := fileio.RenameDir(a.old, done); err != nil {
		return err
	}
	return a.d.removeParents(a.old)
}

// makeDir creates a directory and syncs its parent, so that it survives a crash.
func (d *Dataset) makeDir(dir, parent string) error {
	err := os.Mkdir(dir, 0o777)
	_, synced := d.synced.LoadOrStore(dir, true)
	switch {
	case err != nil && !errors.Is(err, fs.ErrExist):
		return err
	case err != nil && synced:
		return nil
	}
	return fileio.SyncDir(parent)
}

// Abort removes everything of the addition and releases the lock. It does nothing after Commit or another Abort.
func (a *Addition) Abort() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return nil
	}
	return a.end()
}

// end removes the staging directory and releases the lock. The caller holds a.mu and has checked a.ended.
func (a *Addition) end() error {
	a.ended = true
	var err error
	if a.out != nil {
		err = a.out.Abort()
	}
	err = errors.Join(err, removeBusy(a.dir))
	a.lock.release()
	a.cleaner.Remove(a)
	return err
}

// removeBusy removes a directory in which another goroutine may still create a file, because a signal may end an
// addition during Commit. If a file appears during the removal, the removal fails and is repeated. Once the directory
// is removed, no file can be created in it.
func removeBusy(dir string) error {
	var err error
	for range 10 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
	}
	return err
}
