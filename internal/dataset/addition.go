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

	"github.com/ntconv/ntconv/internal/iox"
)

// An ExistsError means that a trace is in the dataset already.
type ExistsError struct{ Trace Trace }

func (e *ExistsError) Error() string { return e.Trace.Path + ": the dataset has this trace" }

// Unwrap returns fs.ErrExist.
func (e *ExistsError) Unwrap() error { return fs.ErrExist }

// An Addition is a trace that is being added. Commit or Abort must be called. Outputs and Commit are for one goroutine;
// Abort may be called from any.
type Addition struct {
	d       *Dataset
	uid     string
	sum     string // SHA-256 of the content
	cleaner *iox.Cleaner

	mu    sync.Mutex
	lock  *lock
	dir   string // in which the trace is made
	out   *iox.Outputs
	ended bool // committed or aborted
}

// doneName is the name of the complete directory of a trace below that of its Addition.
const doneName = "trace"

// Begin begins to add the trace whose content has a SHA-256 sum. The error is an *ExistsError if the dataset has the
// trace, and ErrBusy if another run is adding or removing it. The cleaner can abort the addition; it may be nil.
func (d *Dataset) Begin(sum []byte, cleaner *iox.Cleaner) (*Addition, error) {
	a := &Addition{d: d, uid: UIDOf(sum), sum: hex.EncodeToString(sum), cleaner: cleaner}
	if err := cleaner.Add(a, a.begin); err != nil {
		return nil, err
	}
	return a, nil
}

// begin takes the lock and creates the directory.
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
		return a.exists(path)
	}
	a.dir = a.d.stagingDir(a.uid)
	return os.Mkdir(a.dir, 0o777)
}

// exists returns the error for a trace that is in the dataset.
func (a *Addition) exists(path string) error {
	t := Trace{UID: a.uid, Path: path}
	t.Manifest, t.Err = readManifest(path)
	if t.Err == nil && t.Manifest.SHA256 != a.sum {
		return fmt.Errorf(
			"%s: another trace has the same UID: its content has the SHA-256 sum %s, that of the new one is %s; add the new one to another dataset",
			path,
			t.Manifest.SHA256,
			a.sum,
		)
	}
	return &ExistsError{t}
}

// stagingDir returns a new name for a directory in _staging.
func (d *Dataset) stagingDir(uid string) string {
	return filepath.Join(d.staging(), fmt.Sprintf("%s-%016x", uid, rand.Uint64()))
}

// UID returns the UID of the trace.
func (a *Addition) UID() string { return a.uid }

// Outputs returns a directory for the tables, which the caller commits or aborts. If it was aborted, Outputs may be
// called again. The options decide about their limits.
func (a *Addition) Outputs(o iox.OutputOptions) (*iox.Outputs, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return nil, iox.ErrAborted
	}
	out, err := iox.CreateOutputs(
		filepath.Join(a.dir, doneName),
		iox.OutputsOptions{OutputOptions: o, Dir: true},
	)
	if err == nil {
		a.out = out
	}
	return out, err
}

// Commit adds the trace, whose Outputs were committed, to the dataset. It completes the manifest: UID, SHA256 and
// Files. It returns the directory of the trace. If it fails, the dataset is as before.
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
		return "", iox.ErrAborted
	}
	if err == nil {
		path, err = a.publish(done, &m.Properties)
	}
	return path, errors.Join(err, a.end())
}

// publish makes the trace visible.
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
			if err = iox.RenameDir(done, path); err == nil {
				return path, iox.SyncDir(parent)
			}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		// Another process has removed the last trace of a directory, and then the directory.
	}
	return "", err
}

// makeDir creates a directory that the dataset does not lose after a crash.
func (d *Dataset) makeDir(dir, parent string) error {
	err := os.Mkdir(dir, 0o777)
	_, synced := d.synced.LoadOrStore(dir, true)
	switch {
	case err != nil && !errors.Is(err, fs.ErrExist):
		return err
	case err != nil && synced:
		return nil
	}
	return iox.SyncDir(parent)
}

// Abort gives up: nothing of the trace remains. After Commit, or a second time, it does nothing.
func (a *Addition) Abort() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return nil
	}
	return a.end()
}

// end removes what is unfinished and releases the lock.
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

// removeBusy removes a directory in which another goroutine may still create a file: a signal ends an addition that is
// being committed. What is created while the directory is read makes the removal fail; once it is gone, nothing can be
// created in it.
func removeBusy(dir string) error {
	var err error
	for range 10 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
	}
	return err
}
