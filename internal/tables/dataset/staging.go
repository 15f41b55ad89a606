package dataset

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ntconv/ntconv/internal/files/fileio"
)

// stagingUID returns the UID for a name in _staging, and "" if ntconv did not create the name. dir distinguishes a
// staging directory from a lock file.
func stagingUID(name string) (uid string, dir bool) {
	if len(name) < uidDigits || !IsUID(name[:uidDigits]) {
		return "", false
	}
	switch rest := name[uidDigits:]; {
	case rest == lockSuffix:
		return name[:uidDigits], false
	case strings.HasPrefix(rest, "-") && IsUID(rest[1:]):
		return name[:uidDigits], true
	}
	return "", false
}

// leftovers returns the directory names in _staging by UID, and the names that ntconv did not create.
func (d *Dataset) leftovers() (dirs map[string][]string, foreign []string, err error) {
	entries, err := os.ReadDir(d.staging())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	dirs = make(map[string][]string)
	for _, e := range entries {
		switch uid, dir := stagingUID(e.Name()); {
		case uid == "":
			foreign = append(foreign, e.Name())
		case dir:
			dirs[uid] = append(dirs[uid], e.Name())
		default:
			dirs[uid] = append(dirs[uid], nil...)
		}
	}
	return dirs, foreign, err
}

// Clean removes leftovers of killed runs from _staging and returns the number of unfinished traces among them. It keeps
// traces that other runs are working on, because those runs hold their locks.
func (d *Dataset) Clean() (removed int, err error) {
	dirs, _, err := d.leftovers()
	if err != nil {
		return 0, err
	}
	for uid, names := range dirs {
		// The lock shows that the run that created the directories has ended. Between listing and locking, a new run
		// may have started and finished; then the directories no longer exist.
		l, lerr := d.lock(uid)
		if errors.Is(lerr, ErrBusy) {
			continue
		}
		if lerr != nil {
			return removed, lerr
		}
		for _, name := range names {
			err = errors.Join(err, os.RemoveAll(filepath.Join(d.staging(), name)))
			removed++
		}
		l.release()
	}
	return removed, err
}

// Remove removes the trace with a UID from the dataset. One rename makes it invisible before its files are deleted. The
// error wraps ErrBusy if another run is adding or removing the trace, and fs.ErrNotExist if the dataset does not have
// it.
func (d *Dataset) Remove(uid string) error {
	l, err := d.lock(uid)
	if err != nil {
		return err
	}
	defer l.release()
	path, err := d.index.find(uid)
	if err != nil {
		return err
	}
	if path == "" {
		return &fileio.Error{Name: d.dir, Op: "remove trace " + uid, Bytes: -1, Err: fs.ErrNotExist}
	}
	// After the rename the trace is invisible. If the process is killed from here on, Clean removes the directory.
	gone := d.stagingDir(uid)
	if err := fileio.RenameDir(path, gone); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(gone), d.removeParents(path))
}

// removeParents removes the directories above a trace that was removed, unless they have other traces. Removing a directory
// that is not empty fails, so a concurrent addition to it is safe; publish creates a removed directory again.
func (d *Dataset) removeParents(path string) error {
	parent := filepath.Dir(path)
	err := fileio.SyncDir(parent)
	for range d.config.Partition {
		d.synced.Delete(parent)
		if os.Remove(parent) != nil { // it still has other traces
			break
		}
		parent = filepath.Dir(parent)
	}
	return err
}

// A Filter selects traces. All of its conditions must hold; the zero value selects every trace.
type Filter struct {
	UIDs []string
	// Recorded before this time; if the start of the recording is unknown, added before it; zero matches any time.
	Before time.Time
	Values map[string]string // decoded values of partition keys
}

// Match reports whether the filter selects a trace of d.
func (f *Filter) Match(d *Dataset, t *Trace) bool {
	if len(f.UIDs) > 0 && !hasUID(f.UIDs, t.UID) {
		return false
	}
	if !f.Before.IsZero() {
		if t.Manifest == nil {
			return false
		}
		at := t.Manifest.Start
		if at.IsZero() {
			at = t.Manifest.Added
		}
		if !at.Before(f.Before) {
			return false
		}
	}
	values := d.Values(t.Path)
	for key, want := range f.Values {
		if got, ok := values[key]; !ok || got != want {
			return false
		}
	}
	return true
}

// hasUID reports whether a UID begins with an element of the list.
func hasUID(list []string, uid string) bool {
	for _, u := range list {
		if u != "" && strings.HasPrefix(uid, u) {
			return true
		}
	}
	return false
}

// Values returns the decoded values of the partition keys in the path of a trace. An unknown value is "".
func (d *Dataset) Values(path string) map[string]string {
	values := make(map[string]string)
	for part := range strings.SplitSeq(filepath.ToSlash(d.relative(path)), "/") {
		if key, text, ok := strings.Cut(part, "="); ok && key != traceKey {
			if value, ok := unescape(text); ok {
				values[key] = value
			}
		}
	}
	return values
}
