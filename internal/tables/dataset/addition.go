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
// begin sets locks, replaced and dir, which do not change afterwards. mu guards out, set by Outputs, and ended, set by end, which
// runs once: for Commit or for Abort, whichever comes first.
type Addition struct {
	d        *Dataset
	uid      string
	sum      string // SHA-256 sum of the content, in hexadecimal
	o        BeginOptions
	replaced []string // UIDs of traces that it replaces

	mu       sync.Mutex
	locks    []*lock
	dir      string // staging directory of this addition
	out      *fileio.Outputs
	scratch  *fileio.Scratch // the members of out
	attempts int             // calls of Outputs
	ended    bool            // by Commit or Abort
}

// keepBytes is the size of a table that stays in memory until the trace is published.
const keepBytes = 256 << 10

// BeginOptions are options of Begin. The zero value replaces nothing.
type BeginOptions struct {
	// Replaces, if not nil, decides by its manifest whether the same trace, or a beginning of it, is replaced.
	Replaces func(*Manifest) bool
	// Beginnings are the UIDs of traces whose content is a beginning of that of the new one: it was recorded when they were added.
	Beginnings []string
	// Cleaner, which may be nil, aborts the addition when the process is interrupted.
	Cleaner *fileio.Cleaner
}

// Begin starts to add the trace whose content has the given SHA-256 sum, and takes the locks of its UID and of those that it
// replaces. The error is an *ExistsError if the dataset has the trace, or a beginning of it, that is not to be replaced; it wraps
// ErrBusy if another run is adding or removing one of them. A nil o selects the defaults.
func (d *Dataset) Begin(sum []byte, o *BeginOptions) (*Addition, error) {
	if o == nil {
		o = new(BeginOptions)
	}
	a := &Addition{d: d, uid: UIDOf(sum), sum: hex.EncodeToString(sum), o: *o}
	// The cleaner holds its lock during begin, so an interrupt either prevents the addition or aborts it.
	if err := o.Cleaner.Add(a, a.begin); err != nil {
		return nil, err
	}
	return a, nil
}

// begin takes the locks and creates the staging directory.
func (a *Addition) begin() (err error) {
	defer func() {
		if err != nil {
			a.releaseLocks()
		}
	}()
	for _, uid := range append([]string{a.uid}, a.o.Beginnings...) {
		l, err := a.d.lock(uid)
		if err != nil {
			return err
		}
		a.locks = append(a.locks, l)
		old, found, err := a.d.find(uid)
		if err == nil && found {
			err = a.exists(old)
			a.replaced = append(a.replaced, uid)
		}
		if err != nil {
			return err
		}
	}
	a.dir = a.d.stagingDir(a.uid)
	return os.Mkdir(a.dir, 0o777)
}

func (a *Addition) releaseLocks() {
	for _, l := range a.locks {
		l.release()
	}
	a.locks = nil
}

// exists returns the error for a trace that the dataset has, nil if it is to be replaced.
func (a *Addition) exists(t Trace) error {
	if t.UID == a.uid && t.Manifest.SHA256 != a.sum {
		return fmt.Errorf(
			"%s: another trace has the same UID: its content has the SHA-256 sum %s, that of the new one is %s; add the new one to another dataset",
			t.Path, t.Manifest.SHA256, a.sum,
		)
	}
	if a.o.Replaces != nil && a.o.Replaces(t.Manifest) {
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

// Outputs returns a set for the tables, one member each. The caller commits or aborts it, and may call Outputs again after
// aborting. The options set limits of the outputs. After Commit or Abort of the addition the error is fileio.ErrAborted.
func (a *Addition) Outputs(o fileio.OutputOptions) (*fileio.Outputs, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return nil, fileio.ErrAborted
	}
	a.attempts++
	dir := filepath.Join(a.dir, fmt.Sprint("trace", a.attempts))
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	a.out, a.scratch = fileio.NewScratch(dir, keepBytes, o)
	return a.out, nil
}

// tables returns the files that Outputs has written.
func (a *Addition) tables() []fileio.ScratchFile {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.tablesLocked()
}

func (a *Addition) tablesLocked() []fileio.ScratchFile {
	if a.scratch == nil {
		return nil
	}
	return a.scratch.Files()
}

// Commit adds the trace to the dataset by itself, and ends the addition. The Outputs must have been committed. It sets UID, SHA256
// and Bytes in m. If it fails, the trace does not appear in the dataset. After Abort the error is fileio.ErrAborted.
func (a *Addition) Commit(m *Manifest) (err error) {
	b := a.d.NewBatch()
	b.Add(a, m, func(e error) { err = e })
	b.Flush()
	return err
}

// Abort removes everything of the addition and releases the lock. It does nothing after Commit or another Abort.
func (a *Addition) Abort() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return nil
	}
	return a.end(nil)
}

// end removes the staging directory after a publication with that result, and releases the lock. The caller holds a.mu and has checked a.ended.
func (a *Addition) end(result error) error {
	a.ended = true
	var err error
	if a.out != nil {
		err = a.out.Abort()
	}
	err = errors.Join(err, removeStaging(a.dir, result))
	a.releaseLocks()
	a.o.Cleaner.Remove(a)
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
